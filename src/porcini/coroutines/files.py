"""When a file was changed, in virtual time.

Of a file that a step opened for writing it is the moment of that; of one that was there before the exploration,
as long before the beginning of a run as it really was; and of one that was written between runs, by a fixture
say, the beginning itself. What a program sets by `os.utime` stays. Entries of `os.scandir` read real times in C.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from porcini.coroutines.clocks import EPOCH, Watch

F = TypeVar("F", bound=Callable[..., Any])

_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_FIELDS = ("atime", "mtime", "ctime", "birthtime")
_real_time, _open_file, _open_number = time.time, io.open, os.open
_changed: dict[str, float | None] = {}
"""By path, when steps of this run have changed files; None for times that were set."""
_began = 0.0


def begin_session() -> None:
    """From now on, what is written is written in a run or between runs."""
    global _began
    _began = _real_time()


def begin_run() -> None:
    """No step has written anything yet."""
    _changed.clear()


def _path(name: Any) -> str | None:
    return str(Path(os.fsdecode(name)).absolute()) if isinstance(name, str | bytes | os.PathLike) else None


def _note(name: Any, when: float | None = None, *, now: bool = True) -> None:
    path, loop = _path(name), Watch.loop()
    if path is not None and loop is not None:
        _changed[path] = EPOCH + loop.now if now else when


# What takes the place of functions ----------------------------------------------------------------------------


def _named(real: Any) -> Callable[[F], F]:
    """What takes the place of a function has its name: it is not followed, and reports say so."""

    def naming(function: F) -> F:
        function.__name__ = function.__qualname__ = real.__name__
        function.__module__ = real.__module__
        return function

    return naming


@_named(io.open)
def _open(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
    if isinstance(mode, str) and not {*"wax+"}.isdisjoint(mode):
        _note(file)
    return _open_file(file, mode, *args, **kwargs)


@_named(os.open)
def _os_open(path: Any, flags: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(flags, int) and flags & _CHANGES:
        _note(path)
    return _open_number(path, flags, *args, **kwargs)


def _making(real: Any) -> Any:
    @_named(real)
    def make(path: Any, *args: Any, **kwargs: Any) -> Any:
        _note(path)
        return real(path, *args, **kwargs)

    return make


def _moving(real: Any) -> Any:
    @_named(real)
    def move(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
        result = real(src, dst, *args, **kwargs)
        old = _path(src)
        if old in _changed:
            _note(dst, _changed.pop(old), now=False)
        return result

    return move


def _setting(real: Any) -> Any:
    @_named(real)
    def utime(path: Any, *args: Any, **kwargs: Any) -> Any:
        _note(path, now=not args and not kwargs)
        return real(path, *args, **kwargs)

    return utime


def _told(real: Any) -> Any:
    """`os.stat` and its kin."""

    @_named(real)
    def stat(path: Any, *args: Any, **kwargs: Any) -> Any:
        result = real(path, *args, **kwargs)
        return result if Watch.loop() is None else _virtual(result, _path(path))

    return stat


def _virtual(result: os.stat_result, path: str | None) -> os.stat_result:
    when = _changed.get(path, EPOCH) if path is not None else EPOCH
    if when is None:
        return result
    reduced: Any = result.__reduce__()
    values, more = reduced[1][0], dict(reduced[1][1])
    for name in _FIELDS:
        real = more.get(f"st_{name}")
        if real is None:
            continue
        told = when if path in _changed or real >= _began else EPOCH - (_began - real)
        more[f"st_{name}"] = told
        if f"st_{name}_ns" in more:
            more[f"st_{name}_ns"] = round(told * 1e9)
    values = (*values[:7], *(int(more[f"st_{name}"]) for name in _FIELDS[:3]))
    return os.stat_result(values, more)


FUNCTIONS: dict[Any, Any] = {
    io.open: _open,
    os.open: _os_open,
    os.utime: _setting(os.utime),
    **{real: _told(real) for real in (os.stat, os.lstat, os.fstat)},
    **{real: _making(real) for real in (os.mkdir, os.truncate)},
    **{real: _moving(real) for real in (os.rename, os.replace)},
}
"""What takes the place of functions that change files, or tell when they were changed."""
