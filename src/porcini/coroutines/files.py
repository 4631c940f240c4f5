"""When a file was changed, in virtual time.

Of a file that a step opened for writing it is the moment of that; of one that was there before the exploration, as
long before the beginning of a run as it really was; and of one that was written between runs, by a fixture say, the
beginning itself. What a program sets by `os.utime` stays. Entries of `os.scandir` read real times in C.
"""

from __future__ import annotations

import os
import time
from typing import Any

from porcini.coroutines.audits import listen
from porcini.coroutines.clocks import EPOCH, Watch
from porcini.langs.aio.loop import ControlledLoop

_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_FIELDS = ("atime", "mtime", "ctime", "birthtime")
_real_time = time.time
_changed: dict[str, float | None] = {}
"""By path, when steps of this run have changed files; None for times that were set."""
_began = 0.0


def begin_session() -> None:
    """From now on, what is written is written in a run or between runs."""
    global _began
    _began = _real_time()
    listen({"open": _opened, "os.mkdir": _made, "os.rename": _renamed, "os.utime": _set})


def begin_run() -> None:
    """No step has written anything yet."""
    _changed.clear()


def _path(name: Any) -> str | None:
    return os.path.abspath(os.fsdecode(name)) if isinstance(name, str | bytes | os.PathLike) else None


def _note(name: Any, when: float | None) -> None:
    path = _path(name)
    if path is not None:
        _changed[path] = when


def _opened(loop: ControlledLoop, args: tuple[Any, ...]) -> None:
    name, _, flags = args
    if isinstance(flags, int) and flags & _CHANGES:
        _note(name, EPOCH + loop.now)


def _made(loop: ControlledLoop, args: tuple[Any, ...]) -> None:
    _note(args[0], EPOCH + loop.now)


def _renamed(loop: ControlledLoop, args: tuple[Any, ...]) -> None:
    old, new = _path(args[0]), args[1]
    if old in _changed:
        _note(new, _changed.pop(old))


def _set(loop: ControlledLoop, args: tuple[Any, ...]) -> None:
    name, times, ns = args[0], args[1], args[2]
    _note(name, None if times or ns else EPOCH + loop.now)


def _told(real: Any) -> Any:
    """What takes the place of `os.stat` and its kin."""

    def stat(path: Any, *args: Any, **kwargs: Any) -> Any:
        result = real(path, *args, **kwargs)
        return result if Watch.loop() is None else _virtual(result, _path(path))

    stat.__name__ = stat.__qualname__ = real.__name__
    stat.__module__ = "os"
    return stat


def _virtual(result: os.stat_result, path: str | None) -> os.stat_result:
    when = _changed.get(path, EPOCH) if path is not None else EPOCH
    if when is None:
        return result
    kind, (values, more) = result.__reduce__()  # type: ignore[misc]
    more = dict(more)
    for name in _FIELDS:
        real = more.get(f"st_{name}")
        if real is None:
            continue
        told = when if path in _changed or real >= _began else EPOCH - (_began - real)
        more[f"st_{name}"] = told
        if f"st_{name}_ns" in more:
            more[f"st_{name}_ns"] = round(told * 1e9)
    values = (*values[:7], *(int(more[f"st_{name}"]) for name in _FIELDS[:3]))
    return kind(values, more)  # type: ignore[no-any-return]


STATS: dict[Any, Any] = {real: _told(real) for real in (os.stat, os.lstat, os.fstat)}
"""What takes the place of functions that tell times of files."""
