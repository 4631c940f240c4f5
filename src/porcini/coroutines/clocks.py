"""Virtual time and seeded chance for all code, however it came by its clock.

    import time                                 the functions of `time` are replaced
    from time import time                       and so are they in every module that is loaded
    def f(clock=time.monotonic), clock = time   in defaults, closures and classes of modules that are not Python's
    from datetime import datetime               `datetime.now` is replaced in the class itself
    random.Random()                             without a seed gets one that depends on who asks

The processor's time (`process_time`, `thread_time`) stays real: it measures work, and a loop that waits for it to
pass would never end. While no step of a run is under way, all of them do what they always do. A module that is
loaded in a step keeps what it finds there: so there is one replacement for each function, for all sessions.
"""

from __future__ import annotations

import ctypes
import datetime
import gc
import os
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any
from weakref import WeakSet

from porcini.core.origins import origin_of
from porcini.langs.aio import hook, rules
from porcini.langs.aio.loop import ControlledLoop

EPOCH = 1_767_225_600.0
"""What `time.time` says when a run begins: a new year, 2026 in UTC, and the same in every process."""

Undo = Callable[[], object]


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


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    if a is None and Watch.loop() is not None:
        a = int.from_bytes(_urandom(32))
    _real_seed(self, a, version)


_real_asctime, _real_strftime = time.asctime, time.strftime
_real_urandom, _real_seed = os.urandom, random.Random.seed
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


for _function in (_urandom, _seed, _now, _utcnow):
    followed(_function)
_real_now, _real_utcnow = (vars(datetime.datetime)[name] for name in ("now", "utcnow"))


# Replacing ----------------------------------------------------------------------------------------------------


def replace_chance() -> Iterator[Undo]:
    """Let what is made from random bytes depend on who asks."""
    yield _set(random.Random, "seed", _seed)
    yield _set(uuid, "_node", 0x_02_00_00_00_00_01)  # to ask for the machine's takes other processes
    for name in ("_generate_time_safe", "_UuidCreate"):  # C, which looks at the clock by itself
        if getattr(uuid, name, None) is not None:
            yield _set(uuid, name, None)


def start_again() -> None:
    """A run begins: what the one before has left in Python's library is forgotten."""
    setattr(uuid, "_last_timestamp", None)  # noqa: B010


def replace_functions(sleep: Any) -> Iterator[Undo]:
    """Let `urandom` depend on who asks; and let all code see virtual time, unless there is no function to take the
    place of `time.sleep`."""
    table = {os.urandom: _urandom, **({} if sleep is None else {**_REPLACED, time.sleep: sleep})}
    yield from _replace_everywhere(table)
    if sleep is None:
        return
    namespace: Any = gc.get_referents(vars(datetime.datetime))[0]  # of the class itself: all modules share it
    for name, function, real in (("now", _now, _real_now), ("utcnow", _utcnow, _real_utcnow)):
        yield partial(_set_in_type, namespace, name, real)
        _set_in_type(namespace, name, classmethod(function))


def _set_in_type(namespace: dict[str, Any], name: str, value: Any) -> None:
    namespace[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))


_HOLD_NOTHING: WeakSet[ModuleType] = WeakSet()
"""Modules of packages whose functions and classes hold no clocks: to look costs more than all the rest."""


def _replace_everywhere(table: dict[Any, Any]) -> Iterator[Undo]:
    wanted = {id(function): other for function, other in table.items()}

    def replaced(value: object) -> Any:
        return wanted.get(id(value), value) if type(value) is BuiltinFunctionType else value

    for module in list(sys.modules.values()):
        if not isinstance(module, ModuleType) or module.__name__.partition(".")[0] == "porcini":
            continue
        for name, value in list(vars(module).items()):
            if type(value) is BuiltinFunctionType and id(value) in wanted:
                yield _set(module, name, wanted[id(value)])
        path = vars(module).get("__file__")
        if not isinstance(path, str) or origin_of(path) == "python" or module in _HOLD_NOTHING:
            continue
        undos = list(_replace_inside(module, replaced))
        yield from undos
        if not undos and origin_of(path) == "installed" and len(table) > 1:
            _HOLD_NOTHING.add(module)


def _replace_inside(module: ModuleType, replaced: Callable[[object], Any]) -> Iterator[Undo]:
    """What functions and classes of a module got when they were defined."""
    for function in hook.functions_of(module):
        yield from _replace_held(function, replaced)
    for cls in [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]:
        for name, value in list(vars(cls).items()):
            inner = value.__func__ if isinstance(value, staticmethod) else value
            if replaced(inner) is not inner:
                yield partial(setattr, cls, name, value)
                setattr(cls, name, staticmethod(replaced(inner)))


def _replace_held(function: FunctionType, replaced: Callable[[object], Any]) -> Iterator[Undo]:
    """What a function got when it was defined: a clock as a default, or a dataclass's factory in a closure."""
    defaults, options = function.__defaults__ or (), function.__kwdefaults__ or {}
    if any(replaced(value) is not value for value in (*defaults, *options.values())):
        yield partial(setattr, function, "__defaults__", function.__defaults__)
        yield partial(setattr, function, "__kwdefaults__", function.__kwdefaults__)
        function.__defaults__ = tuple(map(replaced, defaults))
        function.__kwdefaults__ = {name: replaced(value) for name, value in options.items()}
    for cell in function.__closure__ or ():
        with suppress(ValueError):
            value = cell.cell_contents
            if replaced(value) is not value:
                yield partial(setattr, cell, "cell_contents", value)
                cell.cell_contents = replaced(value)


def _set(owner: Any, name: str, value: object) -> Undo:
    before = vars(owner)[name]
    setattr(owner, name, value)
    return partial(setattr, owner, name, before)
