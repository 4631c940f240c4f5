"""The benchmarks are not run here, but they must not break unnoticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.py")))
def test_a_benchmark_can_be_loaded(file: str) -> None:
    """As `python benchmarks/FILE` loads it, without what it does when it is run."""
    load = f"import runpy, sys; sys.path.insert(0, {str(FOLDER)!r}); runpy.run_path({str(FOLDER / file)!r})"
    subprocess.run([sys.executable, "-c", load], check=True, capture_output=True)
