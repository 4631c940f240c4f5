"""Task groups that tell the loop when they are made and entered, and when they are asked for a task.

A group that is closing, or has failed, refuses to take a task and says nothing to the loop. That it was asked
must be seen nevertheless, since it might have been asked earlier. And a group must have the same name in every
order: from who makes it, not from whoever happens to be the first to use it.
"""

from __future__ import annotations

import contextlib
from asyncio import TaskGroup, events
from collections.abc import Iterator
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.joins import Joins

_make: Any = TaskGroup.__init__
_enter: Any = TaskGroup.__aenter__
_create: Any = TaskGroup.create_task
_show: Any = TaskGroup.__repr__


def _loop() -> Joins | None:
    loop = events._get_running_loop()
    return loop if isinstance(loop, Joins) else None


def _making(self: Any, *args: Any, **kwargs: Any) -> None:
    __tracebackhide__ = True
    _make(self, *args, **kwargs)
    if loop := _loop():
        loop.register_group(self)


async def _entering(self: Any) -> Any:
    __tracebackhide__ = True
    loop = _loop()
    if loop is None:
        return await _enter(self)
    loop.entering(self)
    entered = await _enter(self)
    loop.entered(self)
    return entered


def _creating(self: Any, *args: Any, **kwargs: Any) -> Any:
    __tracebackhide__ = True
    loop = _loop()
    if loop is None:
        return _create(self, *args, **kwargs)
    if not self._entered:
        loop.entering(self)  # it will refuse, and would not have done so later
        return _create(self, *args, **kwargs)
    loop.asked(self)
    task = _create(self, *args, **kwargs)
    loop.took(self, task)
    return task


def _showing(self: Any) -> Any:
    if loop := _loop():
        loop.peeked = "the text of a TaskGroup"
    return _show(self)


def _pose_as(function: Any, like: Any) -> Any:
    """Code that instrumented code may call: what it touches is seen by the loop."""
    function.__code__ = rules.mark_instrumented(function.__code__)
    function.__name__, function.__qualname__, function.__doc__ = like.__name__, like.__qualname__, like.__doc__
    return function


_SEEN = {
    "__init__": _pose_as(_making, _make),
    "__aenter__": _pose_as(_entering, _enter),
    "create_task": _pose_as(_creating, _create),
    "__repr__": _pose_as(_showing, _show),
}


@contextlib.contextmanager
def seen_groups() -> Iterator[None]:
    """While this is open, task groups tell the loop."""
    before = {name: vars(TaskGroup)[name] for name in _SEEN}
    for name, function in _SEEN.items():
        setattr(TaskGroup, name, function)
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(TaskGroup, name, function)
