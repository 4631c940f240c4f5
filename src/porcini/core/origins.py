"""Whose file is it: Python's own, an installed package's, Porcini's, or the user's? This module alone decides."""

from __future__ import annotations

import site
import sysconfig
from functools import lru_cache
from pathlib import Path
from typing import Literal

Origin = Literal["python", "installed", "porcini", "user"]

_FOLDERS = ("site-packages", "dist-packages")
_PORCINI = Path(__file__).resolve().parents[1]
_PYTHON = tuple({Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple(
    {
        Path(path).resolve()
        for path in (
            *(sysconfig.get_path(name) for name in ("purelib", "platlib")),
            *site.getsitepackages(),
            site.getusersitepackages(),
        )
    }
)


@lru_cache(maxsize=4096)
def origin_of(path: str) -> Origin:
    """Whose file this is. Code that was executed from a string is the user's, unless it is frozen into Python."""
    if path.startswith("<"):
        return "python" if path.startswith("<frozen") else "user"
    file = Path(path).resolve()
    if file.is_relative_to(_PORCINI):
        return "porcini"
    if in_packages(str(file)) is not None or any(map(file.is_relative_to, _INSTALLED)):
        return "installed"
    return "python" if any(map(file.is_relative_to, _PYTHON)) else "user"


def in_packages(path: str) -> Path | None:
    """The path of an installed file relative to the folder of packages: it begins with the name of its package."""
    parts = Path(path).parts
    for folder in _FOLDERS:
        if folder in parts[:-1]:
            return Path(*parts[parts.index(folder) + 1 :])
    return None


def in_library(path: str) -> Path | None:
    """The path of one of Python's own files relative to the standard library."""
    if path.startswith("<") or origin_of(path) != "python":
        return None
    file = Path(path).resolve()
    return next((file.relative_to(folder) for folder in _PYTHON if file.is_relative_to(folder)), None)
