"""Processes for Maude that may die or run on: the bindings are C++, and a model is data.

A child starts without the environment, without the current folder on `sys.path` (a `maude.py` beside a model
is not the bindings), in an empty folder of its own, with a stack that may grow and a bounded part of the memory.
"""

from __future__ import annotations

import json
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
_START = """
import importlib.util, json, sys
packages, path = json.loads(sys.argv.pop(1))
sys.path += path
for name, folder in packages.items():
    init = folder + "/__init__.py"
    spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[folder])
    sys.modules[name] = importlib.util.module_from_spec(spec)
    if name != "porcini":
        spec.loader.exec_module(sys.modules[name])
"""
"""The same Porcini and the same bindings as here; what they need besides may be where it is found here, if it is
not where Python looks first. Of Porcini, submodules are enough."""


def run_child(
    code: str, arguments: Sequence[str], *, bindings: Path, given: str = "", timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a piece of Python. `bindings` is the package of the Maude bindings."""
    packages = {"porcini": str(Path(__file__).resolve().parents[2]), "maude": str(bindings.resolve())}
    here = str(Path.cwd())
    path = [each for each in sys.path if Path(each).is_absolute() and each != here]
    with tempfile.TemporaryDirectory(prefix="porcini-") as folder:
        return subprocess.run(
            [sys.executable, "-I", "-X", "utf8", "-c", _START + code, json.dumps([packages, path]), *arguments],
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
