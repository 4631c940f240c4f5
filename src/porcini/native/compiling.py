"""Compiling the runtime: once for each machine and compiler, kept in the user's cache folder.

What is loaded into the process must be the user's own: the folder and the file belong to him, and nobody else can
write to them. Where there is no such folder, it is compiled into a temporary one, for this process only.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = (
    "runtime.c",
    "tables.h",
    "moves.h",
    "groups.h",
    "stubborn.h",
    "claim.h",
    "product.h",
    "search.h",
    "workers.h",
    "lines.h",
    "width.h",
    "store.h",
    "breadth.h",
    "depth.h",
    "bits.h",
    "bitstate.h",
    "together.h",
    "telling.h",
    "product_calls.h",
    "bitstate_calls.h",
)
_FLAGS = ("-std=c11", "-O2", "-w", "-fPIC", "-shared")
_SECONDS = 60


class NoCompiler(Exception):
    """Native code cannot be had here; the message says why, in one sentence."""


def compiled_runtime() -> Path:
    """The search in C (`runtime.c`)."""
    return compile_library("runtime", HERE / SOURCES[0], [HERE / name for name in SOURCES])


def compile_library(title: str, source: Path, sources: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    """A shared library; it is compiled if it is not there yet. `sources` are all files that it is made of. It is
    for this machine only, if the compiler can do that."""
    compiler = _find_compiler()
    plain = (*_FLAGS, *flags)
    if Path(compiler).name.startswith("tcc"):
        return _library(title, source, sources, (compiler, *plain))
    try:
        return _library(title, source, sources, (compiler, "-march=native", "-pthread", *plain))
    except NoCompiler:
        return _library(title, source, sources, (compiler, "-pthread", *plain))


def _library(title: str, source: Path, sources: Sequence[Path], command: Sequence[str]) -> Path:
    name = f"{title}-{_digest(command, sources)}.so"
    folder = _cache_folder()
    if folder is not None:
        found = folder / name
        if _is_own(found):
            return found
        try:
            return _compile(command, source, folder, name)
        except OSError:  # a full disk, a folder that has gone
            pass
    return _compile(command, source, Path(tempfile.mkdtemp(prefix="porcini-")), name)


def _find_compiler() -> str:
    wanted = os.environ.get("CC")
    for name in (wanted,) if wanted else ("gcc", "clang", "cc", "tcc"):
        found = shutil.which(name)
        if found is not None:
            return found
    what = f"there is no compiler `{wanted}` (CC)" if wanted else "there is no C compiler (gcc, clang, cc or tcc)"
    raise NoCompiler(what)


def _digest(command: Sequence[str], sources: Sequence[Path]) -> str:
    """All that the library depends on."""
    told = hashlib.sha256()
    for source in sources:
        told.update(source.read_bytes())
    at = Path(command[0]).resolve().stat()
    told.update(repr((command, at.st_size, at.st_mtime_ns, _processor())).encode())
    return told.hexdigest()[:24]


def _processor() -> tuple[str, ...]:
    """What this machine can do: a home may be shared by machines that are not alike."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        flags = platform.processor()
    return platform.machine(), platform.system(), flags


def _cache_folder() -> Path | None:
    """The user's own folder; None if there is none that nobody else can write to."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(base) if base else Path.home() / ".cache") / "porcini"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home
        return None
    return folder if _is_own(folder) and os.access(folder, os.W_OK) else None


def _is_own(path: Path) -> bool:
    """Is it there, of this user, no link, and for nobody else to write to?"""
    try:
        found = path.lstat()
    except OSError:
        return False
    others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid == os.getuid() and not others and not stat.S_ISLNK(found.st_mode)


def _compile(compiler: Sequence[str], source: Path, folder: Path, name: str) -> Path:
    """It appears under its name only when it is whole: others may be doing the same."""
    handle, text = tempfile.mkstemp(dir=folder, prefix=name, suffix=".new")
    os.close(handle)
    made = Path(text)
    try:
        command = [*compiler, "-o", text, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            said = f": {lines[0]}" if lines else ""
            raise NoCompiler(f"`{Path(compiler[0]).name}` does not compile the search{said}")
        made.chmod(0o700)
        made.replace(folder / name)
    except subprocess.TimeoutExpired:
        raise NoCompiler(f"`{Path(compiler[0]).name}` took longer than {_SECONDS} s") from None
    finally:
        made.unlink(missing_ok=True)
    return folder / name
