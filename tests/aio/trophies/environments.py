"""Versions of packages, each in a folder of its own below `.trophies`, which is made once."""

import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).parents[3] / ".trophies"
_SECONDS = 300


class NotInstalled(Exception):
    """There is no such version here, or no network; the message says which."""


def folder_with(*requirements: str) -> Path:
    """The folder in which packages are installed, with what they need."""
    name = "_".join(requirements).replace("==", "-").replace("[", "-").replace("]", "")
    folder = CACHE / f"{sys.version_info.major}.{sys.version_info.minor}" / name / "site-packages"
    if not folder.exists():
        _install(requirements, folder)
    return folder


def _install(requirements: tuple[str, ...], folder: Path) -> None:
    partial = folder.with_name("partial")
    shutil.rmtree(partial, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(partial), *requirements]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"{' '.join(requirements)}: pip took more than {_SECONDS} s") from None
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise NotInstalled(f"{' '.join(requirements)}: {problem}")
    partial.rename(folder)
