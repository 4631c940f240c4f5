"""Virtual time and seeded chance for all code, however it came by its clock.

    time.time, from time import time            replaced wherever they are held: in modules, defaults, closures,
    def f(clock=time.monotonic), self.clock     classes and objects (`holders`)
    from datetime import datetime               `datetime.now` is replaced in the class itself
    random.Random()                             without a seed gets one that depends on who asks
    numpy.random                                begins every run with the same seed
    tempfile                                    draws its names anew in every run

The processor's time (`process_time`, `thread_time`) stays real: it measures work, and a loop that waits for it to
pass would never end. While no step of a run is under way, all of them do what they always do. A module that is
loaded in a step keeps what it finds there: so there is one replacement for each function, for all sessions.
"""

from __future__ import annotations

import datetime
import gc
import os
import random
import ssl
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from porcini.coroutines.holders import Undo, replace_held, set_in_class
from porcini.langs.aio import rules
from porcini.langs.aio.loop import ControlledLoop

EPOCH = 1_767_225_600.0
"""What `time.time` says when a run begins: a new year, 2026 in UTC, and the same in every process."""


class Watch:
    """Who knows which loop takes a step in this thread, if any does, and what chance gives it."""

    loop: Callable[[], ControlledLoop | None] = staticmethod(lambda: None)
    chance: Callable[[ControlledLoop, int], bytes] = staticmethod(lambda loop, size: bytes(size))


def followed(function: Any) -> Any:
    """Say of a function that all it touches is seen: it touches nothing, or the loop sees it."""
    function.__code__ = rules.mark_instrumented(function.__code__)
    return function


# What takes their place ---------------------------------------------------------------------------------------


def _clock(real: Any, offset: float = 0.0) -> Any:
    def now() -> float:
        loop = Watch.loop()
        return real() if loop is None else offset + loop.time()

    return followed(now)


def _clock_ns(real: Any, offset: float = 0.0) -> Any:
    def now() -> int:
        loop = Watch.loop()
        return real() if loop is None else round((offset + loop.time()) * 1e9)

    return followed(now)


def _clock_by_id(real: Any, factor: float) -> Any:
    def now(clk_id: int, /) -> float:
        loop = Watch.loop()
        if loop is None:
            return float(real(clk_id)) if factor == 1 else real(clk_id)
        seconds = loop.time() + (EPOCH if clk_id == time.CLOCK_REALTIME else 0.0)
        return seconds if factor == 1 else round(seconds * factor)

    return followed(now)


def _told_when(real: Any) -> Any:
    """`localtime` and its kin: without a time, that of now."""

    def tell(seconds: float | None = None, /) -> Any:
        if seconds is None and Watch.loop() is not None:
            seconds = _time()
        return real(seconds)

    return followed(tell)


def _asctime(moment: Any = None, /) -> str:
    return _real_asctime(_localtime() if moment is None else moment)


def _strftime(format: str, moment: Any = None, /) -> str:
    return _real_strftime(format, _localtime() if moment is None else moment)


def _urandom(size: int, /) -> bytes:
    """Random bytes that depend on who asks, and how often that one has asked, but not on the order."""
    loop = Watch.loop()
    return _real_urandom(size) if loop is None else Watch.chance(loop, size)


def _getrandom(size: int, flags: int = 0) -> bytes:
    loop = Watch.loop()
    return _real_getrandom(size, flags) if loop is None else Watch.chance(loop, size)


def _rand_bytes(n: int, /) -> bytes:
    loop = Watch.loop()
    return _real_rand_bytes(n) if loop is None else Watch.chance(loop, n)


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    if a is None and Watch.loop() is not None:
        a = int.from_bytes(_urandom(32))
    _real_seed(self, a, version)


_real_asctime, _real_strftime = time.asctime, time.strftime
_real_urandom, _real_seed = os.urandom, random.Random.seed
_real_getrandom: Any = getattr(os, "getrandom", None)
_real_rand_bytes = ssl.RAND_bytes
_time, _localtime = _clock(time.time, EPOCH), _told_when(time.localtime)
_REPLACED: dict[Any, Any] = {
    time.time: _time,
    time.localtime: _localtime,
    time.time_ns: _clock_ns(time.time_ns, EPOCH),
    **{f: _clock(f) for f in (time.monotonic, time.perf_counter)},
    **{f: _clock_ns(f) for f in (time.monotonic_ns, time.perf_counter_ns)},
    **{f: _told_when(f) for f in (time.gmtime, time.ctime)},
    time.asctime: followed(_asctime),
    time.strftime: followed(_strftime),
}
if sys.platform != "win32":
    _REPLACED[time.clock_gettime] = _clock_by_id(time.clock_gettime, 1)
    _REPLACED[time.clock_gettime_ns] = _clock_by_id(time.clock_gettime_ns, 1e9)


def _now(cls: Any, tz: datetime.tzinfo | None = None) -> Any:
    if Watch.loop() is None:
        return _real_now.__get__(None, cls)(tz)
    return cls.fromtimestamp(_time(), tz)


def _utcnow(cls: Any) -> Any:
    if Watch.loop() is None:
        return _real_utcnow.__get__(None, cls)()
    return cls.fromtimestamp(_time(), datetime.UTC).replace(tzinfo=None)


for _function in (_urandom, _getrandom, _rand_bytes, _seed, _now, _utcnow):
    followed(_function)
_CHANCE: dict[Any, Any] = {_real_urandom: _urandom, _real_rand_bytes: _rand_bytes}
if _real_getrandom is not None:
    _CHANCE[_real_getrandom] = _getrandom
_real_now, _real_utcnow = (vars(datetime.datetime)[name] for name in ("now", "utcnow"))


# Replacing ----------------------------------------------------------------------------------------------------


def replace_chance() -> Iterator[Undo]:
    """Let what is made from random bytes depend on who asks."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        yield partial(numpy.random.set_state, numpy.random.get_state())
    yield partial(setattr, tempfile, "_name_sequence", None)
    yield _set(random.Random, "seed", _seed)
    yield _set(uuid, "_node", 0x_02_00_00_00_00_01)  # to ask for the machine's takes other processes
    for name in ("_generate_time_safe", "_UuidCreate"):  # C, which looks at the clock by itself
        if getattr(uuid, name, None) is not None:
            yield _set(uuid, name, None)


def start_again(seed: int) -> None:
    """A run begins: what the one before has left in Python's library is forgotten."""
    setattr(uuid, "_last_timestamp", None)  # noqa: B010
    setattr(tempfile, "_name_sequence", None)  # noqa: B010
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def replace_functions(sleep: Any, others: dict[Any, Any]) -> Iterator[Undo]:
    """Let `urandom` depend on who asks; and let all code see virtual time, unless there is no function to take the
    place of `time.sleep`. Beside that, let others take the place of some functions."""
    yield from replace_held({**_CHANCE, **others, **({} if sleep is None else {**_REPLACED, time.sleep: sleep})})
    if sleep is None:
        return
    namespace: Any = gc.get_referents(vars(datetime.datetime))[0]  # of the class itself: all modules share it
    for name, function, real in (("now", _now, _real_now), ("utcnow", _utcnow, _real_utcnow)):
        yield partial(set_in_class, datetime.datetime, namespace, name, real)
        set_in_class(datetime.datetime, namespace, name, classmethod(function))


def _set(owner: Any, name: str, value: object) -> Undo:
    before = vars(owner)[name]
    setattr(owner, name, value)
    return partial(setattr, owner, name, before)
