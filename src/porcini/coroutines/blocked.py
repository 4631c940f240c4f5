"""Who is blocked when nothing can move: where it stands, in which call of asyncio's, and whom it waits for."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from porcini.core.errors import Line
from porcini.core.events import Event
from porcini.core.pids import Pid
from porcini.coroutines.lines import is_users_frame
from porcini.langs.aio import standing
from porcini.langs.aio.futures import SeenTask, coroutine_of
from porcini.langs.aio.naming import StepLabel
from porcini.langs.aio.program import AioRun
from porcini.langs.aio.recorder import Recorder
from porcini.langs.aio.telling import Access

_ASYNCIO = str(Path(asyncio.__file__).parent)
_CREATOR = re.compile(r"<([\d.]+)#\d+/\d+>")
_WHY = {
    "Event.wait": "nobody sets it",
    "Queue.get": "it is empty",
    "Queue.put": "it is full",
    "Queue.join": "not all of its items are done",
    "Condition.wait": "nobody notifies it",
    "Semaphore.acquire": "none is left",
    "Barrier.wait": "not all are there",
}
_done = asyncio.Future.done
_Touched = Sequence[tuple[Event, Sequence[Access]]]


@dataclass(frozen=True, slots=True)
class Blocked:
    """A task that waits. `owner` is the name of the object that it waits at, as locations are named."""

    pid: Pid
    stack: tuple[Line, ...]
    owner: str
    call: str
    waits_for: tuple[Pid, ...]
    why: str


def blocked_in(run: AioRun, recorder: Recorder, touched: _Touched) -> Iterator[Blocked]:
    """All that are blocked, in a run that has not been closed yet."""
    for task in run.loop.pending():
        frames, _ = standing.chain(coroutine_of(task))
        inside = next((f for f in reversed(frames) if f.f_code.co_filename.startswith(_ASYNCIO)), None)
        owner: Any = inside.f_locals.get("self") if inside else None
        whom = tuple(_pids(_others(task, inside)))
        call, why = _call(task, inside), ""
        if isinstance(owner, asyncio.Lock) and owner.locked():
            holder = _holder(recorder.name_of(owner), touched)
            if holder is not None:
                whom, why = (holder,), "which holds it"
                if _ended(holder, touched):
                    why = "which has ended and not released it"
        elif not whom:
            why = _why(call, inside)
        yield Blocked(task._process.name.pid, tuple(_stack(frames)), name_object(owner, recorder), call, whom, why)


def name_object(owner: Any, recorder: Recorder) -> str:
    """As touches name it (see `touching`): a queue is known by what it holds."""
    if owner is None or type(owner) is asyncio.TaskGroup:
        return ""
    if issubclass(type(owner), asyncio.Queue):
        creator = _CREATOR.search(recorder.name_of(owner._queue))
        return f"Queue{creator[0]}" if creator else recorder.name_of(owner)
    return recorder.name_of(owner)


def _stack(frames: Sequence[FrameType]) -> list[Line]:
    """The user's lines; all of them if none is."""
    users = list(filter(is_users_frame, frames))
    return [Line(*standing.spot_of(frame)) for frame in users or frames]


def _call(task: Any, inside: FrameType | None) -> str:
    """The call of asyncio's that a task is in; empty if it just awaits another task."""
    if inside is not None:
        name = inside.f_code.co_qualname
        return {"_wait": "asyncio.wait", "TaskGroup.__aexit__": "TaskGroup", "TaskGroup._aexit": "TaskGroup"}.get(
            name, name
        )
    future = standing.awaited_future(task)
    if getattr(future, "_children", None) is not None:
        return "gather"
    return "" if isinstance(future, asyncio.Task) else "a future"


def _why(call: str, inside: FrameType | None) -> str:
    if call == "a future":
        return "nobody completes it"
    kind, _, method = call.partition(".")
    if inside is not None and kind in ("PriorityQueue", "LifoQueue"):
        call = f"Queue.{method}"
    return _WHY.get(call, "")


def _others(task: Any, inside: FrameType | None) -> list[Any]:
    """The tasks that a task waits for."""
    if inside is not None:
        values = inside.f_locals
        if inside.f_code.co_qualname.startswith("TaskGroup."):
            return list(values["self"]._tasks)
        if inside.f_code.co_qualname == "_wait":
            return list(values["fs"])
    future = standing.awaited_future(task)
    return list(getattr(future, "_children", None) or (future,))


def _pids(others: Sequence[Any]) -> list[Pid]:
    """Of the tasks that have not ended, in order."""
    found = {o._process.name.pid for o in others if isinstance(o, SeenTask) and not _done(o)}
    return sorted(found)


def _holder(lock: str, touched: _Touched) -> Pid | None:
    """Who took a lock the last time; whoever made it, if that was not to be seen."""
    for event, accesses in reversed(touched):
        for access in reversed(accesses):
            if access.kind == "write" and access.location == f"{lock}._locked":
                return event.pid if access.value == "True" else None
    creator = _CREATOR.search(lock)
    return Pid.parse(creator[1]) if creator else None


def _ended(pid: Pid, touched: _Touched) -> bool:
    last = next((event for event, _ in reversed(touched) if event.pid == pid), None)
    return last is not None and isinstance(last.label, StepLabel) and last.label.stopped is None
