"""Futures and tasks that say what is done to them.

asyncio's own are written in C, and nobody sees who completes or looks at one. These are subclasses in Python: each
method notes a read or a write of the future's state, then does what it always did. C code calls methods of
subclasses by name (only exact futures are taken a short way), so waiting and waking are seen, too; what a task
itself does in C is noted by the loop: its end is a write of its state.

A step that completes a future writes its state. One that looks at it, waits for it or registers a callback reads
it. The callbacks of a future are scheduled in the order in which they were registered, and that order gives them
their names: so to register one where there are some already is a write. Wakeups of tasks need no names.

A *joint* future is completed when all of several tasks have ended (see `joins`). Then the tasks' last steps are
the ones that commute, and note reads; everybody else who touches it notes a write.
"""

from __future__ import annotations

import asyncio
from asyncio import tasks
from collections.abc import Callable, Generator
from contextvars import Context
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any
from zlib import crc32

from porcini.core.footprints import Location

if TYPE_CHECKING:
    from porcini.langs.aio.loop import ControlledLoop
    from porcini.langs.aio.processes import Process

_F, _T = asyncio.Future, asyncio.Task
_done, _set_result, _set_exception, _cancel = _F.done, _F.set_result, _F.set_exception, _F.cancel
_result, _exception, _cancelled, _await = _F.result, _F.exception, _F.cancelled, _F.__await__
_add, _remove = _F.add_done_callback, _F.remove_done_callback
_GatheringFuture: Any = tasks._GatheringFuture  # type: ignore[attr-defined]

Callback = Callable[..., Any]


def is_wakeup(callback: object) -> bool:
    """Is a callback the one by which a task waits?"""
    return type(callback) is BuiltinFunctionType and callback.__name__ == "task_wakeup"


_eager_factory: Any = getattr(asyncio, "eager_task_factory", None)  # 3.12


def makes_eager_tasks(factory: Any) -> bool:
    """Is this asyncio's own factory of tasks that start eagerly, so that our tasks may take the place of its?"""
    if _eager_factory is None or getattr(factory, "__code__", None) is not _eager_factory.__code__:
        return False
    return [cell.cell_contents for cell in factory.__closure__] == [_T]


class _Seen(asyncio.Future[Any]):
    """What futures of all kinds have in common."""

    _loop: ControlledLoop
    _place: Location
    _joint = False
    _reservations: list[tuple[Callback, Process]] | None = None

    def _look(self) -> None:
        loop = self._loop
        (loop.observed if self._joint else loop.reads).add(self._place)

    def _change(self) -> None:
        """Complete it, or find that somebody else did."""
        loop = self._loop
        (loop.observed if self._joint else loop.reads if _done(self) else loop.writes).add(self._place)

    def done(self) -> bool:
        self._look()
        return _done(self)

    def cancelled(self) -> bool:
        self._look()
        return _cancelled(self)

    def result(self) -> Any:
        __tracebackhide__ = True
        self._look()
        return _result(self)

    def exception(self) -> BaseException | None:
        self._look()
        return _exception(self)

    def set_result(self, result: Any, /) -> None:
        self._change()
        _set_result(self, result)

    def set_exception(self, exception: type | BaseException, /) -> None:
        self._change()
        _set_exception(self, exception)

    def cancel(self, msg: Any | None = None) -> bool:
        self._change()
        return _cancel(self, msg)

    def __await__(self) -> Generator[Any, None, Any]:
        self._look()
        return _await(self)

    __iter__ = __await__

    def add_done_callback(self, fn: Callback, /, *, context: Context | None = None) -> None:
        self._look()
        if not is_wakeup(fn):
            self._change_callbacks()
            self._loop.registered(self, fn)
        _add(self, fn, context=context)

    def remove_done_callback(self, fn: Callback, /) -> int:
        self._look()
        self._change_callbacks()
        return _remove(self, fn)

    def _change_callbacks(self) -> None:
        """Who comes first is called first. Who completes it conflicts already: that one was looked for."""
        self._loop.writes.add(Location(f"{self._place}.callbacks"))

    def __hash__(self) -> int:
        return crc32(self._place.encode())  # not an address: sets of futures have the same order in every run


class SeenFuture(_Seen):
    """What `loop.create_future()` gives."""

    def __init__(self, loop: ControlledLoop, place: Location) -> None:
        self._place = place
        _F.__init__(self, loop=loop)


class SeenGathering(_Seen, _GatheringFuture):  # type: ignore[misc]
    """What `gather` waits by: asyncio makes it and the loop changes its class, when it is made."""

    _joint = True
    _hidden = False
    """Can nobody look at it but who waits for it?"""

    def cancel(self, msg: Any | None = None) -> bool:
        self._look()
        return bool(_GatheringFuture.cancel(self, msg))


_task_init, _task_cancel, _uncancel, _cancelling = _T.__init__, _T.cancel, _T.uncancel, _T.cancelling
_set_name, _get_name, _get_stack, _print_stack = _T.set_name, _T.get_name, _T.get_stack, _T.print_stack
coroutine_of: Any = _T.get_coro
_must_cancel: Any = _T.__dict__["_must_cancel"].__get__
waiter_of: Any = _T.__dict__["_fut_waiter"].__get__
"""What a task waits for, without a note of it."""


class SeenTask(asyncio.Task[Any]):
    """What `create_task` gives. Each of its steps reads whether it was cancelled: cancelling races with them."""

    _loop: ControlledLoop
    _joint = False
    _reservations: list[tuple[Callback, Process]] | None = None

    def __init__(
        self, coro: Any, loop: ControlledLoop, process: Process, name: str, context: Context | None, **options: Any
    ) -> None:
        self._process = process
        self._place = process.name.state
        process.task = self  # before it is made: it may run at once
        _task_init(self, coro, loop=loop, name=name, context=context, **options)

    _look = _Seen._look
    done = _Seen.done
    cancelled = _Seen.cancelled
    result = _Seen.result
    exception = _Seen.exception
    __await__ = _Seen.__await__
    __iter__ = _Seen.__await__
    add_done_callback = _Seen.add_done_callback
    remove_done_callback = _Seen.remove_done_callback
    _change_callbacks = _Seen._change_callbacks

    def cancel(self, msg: Any | None = None) -> bool:
        loop = self._loop
        loop.reads.add(self._place)
        if not _done(self):
            loop.writes.add(self._process.name.cancelling)
        return _task_cancel(self, msg)

    def uncancel(self) -> int:
        self._loop.writes.add(self._process.name.cancelling)
        return _uncancel(self)

    def cancelling(self) -> int:
        self._loop.reads.add(self._process.name.cancelling)
        return _cancelling(self)

    def __hash__(self) -> int:
        return hash(self._process.name.pid)

    @property
    def _must_cancel(self) -> bool:
        """Whether it was cancelled, and what it waits for, change with each of its steps."""
        self._loop.reads.add(self._process.name.cancelling)
        return bool(_must_cancel(self))

    @property
    def _fut_waiter(self) -> Any:
        self._loop.reads.add(self._process.name.cancelling)
        return waiter_of(self)

    def get_coro(self) -> Any:
        self._peek("Task.get_coro()")
        return coroutine_of(self)

    def get_stack(self, *, limit: int | None = None) -> Any:
        self._peek("Task.get_stack()")
        return _get_stack(self, limit=limit)

    def print_stack(self, *, limit: int | None = None, file: Any = None) -> None:
        self._peek("Task.print_stack()")
        _print_stack(self, limit=limit, file=file)

    def _peek(self, how: str) -> None:
        """Where another task stands changes with each of its steps."""
        if self._process is not self._loop.current:
            self._loop.peeked = how

    def get_name(self) -> str:
        self._loop.reads.add(Location(f"task {self._process.name.text}.name"))
        return _get_name(self)

    def set_name(self, value: object, /) -> None:
        self._loop.writes.add(Location(f"task {self._process.name.text}.name"))
        self._process.title = name = self._loop.name_of_task(value)
        _set_name(self, name)
