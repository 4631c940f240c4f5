"""docs/walk.md names modules that exist, and counts them right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WALKS = (ROOT / "docs" / "walk.md").read_text(encoding="utf-8").split("\n## ")[1:]


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.partition("\n")[0])
def test_modules_are_there(walk: str) -> None:
    named = re.findall(r"`([a-z_/]+\.py)`", walk)
    assert named
    assert [name for name in named if not (ROOT / "src" / "porcini" / name).is_file()] == []


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.partition("\n")[0])
def test_rows_are_counted(walk: str) -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", walk, re.M)]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    (said,) = re.findall(r"^(\d+) modules, and \d+ more in passing\.", walk, re.M)
    assert int(said) == numbers[-1]
