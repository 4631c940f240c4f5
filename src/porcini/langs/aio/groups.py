"""Task groups that tell the loop when they are entered and when they are asked for a task.

A group that is closing, or has failed, refuses to take a task and says nothing to the loop. That it was asked
must be seen nevertheless, since it might have been asked earlier. And a group must have its name before others use
it: from the task that enters it, not from whoever happens to be the first to use it.
"""

from __future__ import annotations

import contextlib
from asyncio import TaskGroup
from collections.abc import Iterator
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.joins import Joins

_enter: Any = TaskGroup.__aenter__
_create: Any = TaskGroup.create_task


async def _entering(self: Any) -> Any:
    __tracebackhide__ = True
    entered = await _enter(self)
    if isinstance(self._loop, Joins):
        self._loop.entered(self)
    return entered


def _creating(self: Any, *args: Any, **kwargs: Any) -> Any:
    __tracebackhide__ = True
    loop = self._loop  # none if the group was not entered
    if not isinstance(loop, Joins):
        return _create(self, *args, **kwargs)
    loop.asked(self)
    task = _create(self, *args, **kwargs)
    loop.took(self, task)
    return task


def _known(function: Any, like: Any) -> Any:
    """Code that instrumented code may call: what it touches is seen by the loop."""
    function.__code__ = rules.marked(function.__code__)
    function.__name__, function.__qualname__, function.__doc__ = like.__name__, like.__qualname__, like.__doc__
    return function


_SEEN = {"__aenter__": _known(_entering, _enter), "create_task": _known(_creating, _create)}


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
