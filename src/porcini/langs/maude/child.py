"""Processes for Maude that may die or run on: the bindings are C++, and a model is data.

A child starts without the environment, without the current folder on `sys.path` (a `maude.py` beside a model
is not the bindings), in an empty folder of its own, with a stack that may grow and a bounded part of the memory.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_SHARE = 2
"""The child may take one part in so many of the machine's memory."""
_PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Without these, some builds of Python do not start."""
_START = "import sys; sys.path += sys.argv.pop(1).split({separator!r})\n"


def run_child(
    code: str, arguments: Sequence[str], *, bindings: Path, given: str = "", timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a piece of Python. `bindings` is the folder that has the Maude bindings in it."""
    roots = [str(Path(__file__).resolve().parents[3]), str(bindings.resolve())]
    start = _START.format(separator=os.pathsep)
    with tempfile.TemporaryDirectory(prefix="porcini-") as folder:
        return subprocess.run(
            [sys.executable, "-I", "-X", "utf8", "-c", start + code, os.pathsep.join(roots), *arguments],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            cwd=folder,
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            preexec_fn=_bounded,
            check=False,
        )


def _bounded() -> None:
    """In the child, before it begins: a stack as large as may be, not all of the memory, and no core."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = total // _SHARE
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
