"""Locks and semaphores that are guarded while a search goes on (`sections`)."""

from __future__ import annotations

import contextlib
import types
from asyncio import events
from collections.abc import Generator, Iterator
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.sections import GUARDED, KINDS, PLACE, Guarded


def _guarded(lock: Any) -> Guarded | None:
    """What a lock is in this run, if it is not asyncio's own."""
    found: Guarded | None = vars(lock).get(GUARDED)
    if found is not None:
        return found
    sections = getattr(events._get_running_loop(), "sections", None)
    return None if sections is None else sections.guard(lock)


@types.coroutine
def _pause() -> Generator[None, None, None]:
    """The end of a step, after which the task is ready."""
    yield


async def _acquired(guarded: Guarded) -> bool:
    __tracebackhide__ = True
    section = guarded.come()
    try:
        await (_pause() if section.future is None else section.future)
    except BaseException:
        guarded.give_up(section)
        raise
    guarded.take(section)
    return True


def _methods(kind: Any) -> dict[str, Any]:
    """The methods of a lock or a semaphore, in place of its own."""
    make, acquire, release, locked = kind.__init__, kind.acquire, kind.release, kind.locked

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        make(self, *args, **kwargs)
        loop: Any = events._get_running_loop()
        if hasattr(loop, "sections") and getattr(self, "_value", 1) > 0 and PLACE not in vars(self):
            vars(self)[PLACE] = loop._next_place()

    def acquired(self: Any) -> Any:
        __tracebackhide__ = True
        guarded = _guarded(self)
        return acquire(self) if guarded is None else _acquired(guarded)

    def released(self: Any) -> None:
        __tracebackhide__ = True
        guarded = _guarded(self)
        if guarded is None or not guarded.leave():
            release(self)

    def is_locked(self: Any) -> bool:
        guarded = _guarded(self)
        return locked(self) if guarded is None else guarded.is_taken()

    own = {"acquire": acquired, "release": released, "locked": is_locked, "__init__": __init__}
    return {name: _pose_as(function, vars(kind)[name]) for name, function in own.items() if name in vars(kind)}


def _pose_as(function: Any, like: Any) -> Any:
    """Code that instrumented code may call: what it touches is seen by the loop."""
    function.__code__ = rules.mark_instrumented(function.__code__)
    function.__name__, function.__qualname__, function.__doc__ = like.__name__, like.__qualname__, like.__doc__
    return function


for _function in (_pause, _acquired):
    _function.__code__ = rules.mark_instrumented(_function.__code__)


@contextlib.contextmanager
def guarded_locks() -> Iterator[None]:
    """While this is open, locks and semaphores may be guarded."""
    replaced = {kind: _methods(kind) for kind in KINDS}
    before = {kind: {name: vars(kind)[name] for name in methods} for kind, methods in replaced.items()}
    _set_all(replaced)
    try:
        yield
    finally:
        _set_all(before)


def _set_all(methods: dict[Any, dict[str, Any]]) -> None:
    for kind, by_name in methods.items():
        for name, function in by_name.items():
            setattr(kind, name, function)
