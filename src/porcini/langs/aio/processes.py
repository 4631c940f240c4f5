"""Processes of a run, and the handles by which they go on."""

from __future__ import annotations

import asyncio
from asyncio import events
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

from porcini.langs.aio import standing
from porcini.langs.aio.naming import Name, Spot
from porcini.langs.aio.standing import Snapshot

if TYPE_CHECKING:
    from porcini.langs.aio.loop import ControlledLoop


class Process:
    """A task or a callback: its name, its ready handle if it has one, and how many others it has made."""

    __slots__ = (
        "born",
        "children",
        "created",
        "due",
        "eager",
        "end",
        "fault",
        "followed",
        "groups",
        "handle",
        "name",
        "snapshot",
        "spot",
        "steps",
        "task",
        "title",
    )

    def __init__(self, name: Name, title: str) -> None:
        self.name = name
        self.title = title
        self.handle: ReadyHandle | Timer | None = None
        self.task: Any = None
        self.children = 0
        self.created = 0
        self.born = False
        self.eager: Any = None  # the code whose first step was taken inside of the step that made it, if so
        self.groups: list[Any] | None = None
        self.steps = 0
        self.spot: Spot | None = None  # where it stands, whether in code that is followed, and with which values
        self.followed = False
        self.snapshot: Snapshot | None = None
        self.end = "callback"  # how its step ends, if it is a callback
        self.fault = ""  # what its step is, if it is a fault; and the time that it sees, if it comes early
        self.due = 0.0


class ReadyHandle(events.Handle):
    """What `call_soon` gives. To cancel it, even when it is ready, is a write that its own step reads."""

    __slots__ = ("process",)

    _callback: Any
    _context: Any

    def __init__(self, process: Process, callback: Any, args: Any, loop: ControlledLoop, context: Any) -> None:
        self.process = process
        self._context = copy_context() if context is None else context
        self._loop = loop
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._repr = None
        self._source_traceback = None

    def cancel(self) -> None:
        self._loop.writes.add(self.process.name.handle)
        self._cancelled = True
        self._callback = self._args = None  # type: ignore[assignment]

    def cancelled(self) -> bool:
        self._loop.reads.add(self.process.name.handle)
        return bool(self._cancelled)


class Timer(events.TimerHandle):
    """What `call_later` and `call_at` give: the same, with a time. (Slots of two bases do not go together.)"""

    __slots__ = ("process",)

    process: Process
    _when: float
    _callback: Any
    _args: Any
    _context: Any
    _loop: Any
    _scheduled: bool  # not so any more: one of `asyncio.sleep` that is over, which nobody but the sleeper knows
    __init__: Any = ReadyHandle.__init__

    def cancel(self) -> None:
        if self._scheduled:
            ReadyHandle.cancel(self)  # type: ignore[arg-type]

    cancelled: Any = ReadyHandle.cancelled


def _step_type() -> Any:
    """The type of the callbacks by which tasks take their steps: asyncio's C code does not export it."""
    seen: list[Any] = []

    class Probe:
        def get_debug(self) -> bool:
            return False

        def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Any:
            seen.append(callback)

    async def nothing() -> None: ...

    coroutine = nothing()
    loop: Any = Probe()
    task = asyncio.Task(coroutine, loop=loop)
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    coroutine.close()
    return type(seen[0])


STEP = _step_type()


def title_of(callback: Any) -> str:
    """A callback's name, without where it was defined."""
    while isinstance(callback, partial):
        callback = callback.func
    if isinstance(getattr(callback, "__self__", None), asyncio.AbstractEventLoop):
        return f"loop.{callback.__name__}"
    name = getattr(callback, "__qualname__", None)
    if name is None:
        code = standing.code_of(callback)  # of the generator: `agen.aclose()` has no name itself
        name = code.co_qualname if code else type(callback).__name__
    return str(name).rpartition(">.")[2]


def close(coroutine: Any) -> None:
    """Throw a coroutine away, whatever it has to say to that."""
    for _ in range(3):  # one that waits in `finally` refuses the first time
        try:
            coroutine.close()
            return
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt):
                raise
