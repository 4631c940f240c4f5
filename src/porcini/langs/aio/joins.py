"""asyncio's own joins: `gather`, `wait` and `TaskGroup`.

A join registers a callback on each of its tasks, and the callback counts. As a step that writes the count, n
tasks would end in n! orders for nothing. All that anybody can tell is that after the last one it is complete.

What commutes is then this. Let J be the place of the join. A callback that only counts *reads* J, whether it is
the last one or not; and it leads to the next step of all who wait for the join, which would still wait without
it (`Event.woke`, for each of the callbacks). Everybody else who touches the join (asks whether it is done, cancels
it, comes to wait for it, adds to a group that is closing) *writes* J. So callbacks commute with each other, and
with nothing else that concerns the join: reads and writes have changed their roles. While a search goes on,
callbacks write locations of their own as well, which who looks reads (`commuting`): so it is seen who depends on
whom.

If whoever makes a join waits for it in the same step, and nobody else has a reference to it, a callback that only
counts is no step (in mode `any`): it runs at the end of the step that ends the task. Else it is one, since
somebody may come in between, and find that the task is done and the join is not: a group takes a new task from
anybody until its last one was counted.

    kind_of, joint_of, only_counts      what a callback is, by its code and the variables in its closure
    Joins                               what the loop does about joins

A callback does more than count when its task failed or was cancelled, and the join cares about that, or when the
first to come completes the join. Then it is a step of its own, which writes J. Between the end of the task and the
callback others may move, as in asyncio: the siblings of a failed task may take a step before they are cancelled.

In mode `fifo` callbacks always have their place in the queue.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import sys
from asyncio import tasks
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Literal

from porcini.core.footprints import Location
from porcini.langs.aio.commuting import Commuting
from porcini.langs.aio.futures import SeenGathering, SeenTask, is_wakeup
from porcini.langs.aio.processes import Process, title_of

Kind = Literal["gather", "wait", "group"]

_NAMES: dict[str, Kind] = {
    "gather.<locals>._done_callback": "gather",
    "_wait.<locals>._on_completion": "wait",
    "TaskGroup._on_task_done": "group",
}
_done = asyncio.Future.done
_kinds: dict[CodeType, Kind | None] = {}


def kind_of(callback: Any) -> Kind | None:
    """Which join registers a callback like this?"""
    code = getattr(callback, "__code__", None) or getattr(getattr(callback, "__func__", None), "__code__", None)
    if code is None:
        return None
    try:
        return _kinds[code]
    except KeyError:
        in_asyncio = callback.__module__ in ("asyncio.tasks", "asyncio.taskgroups")
        kind = _kinds[code] = _NAMES.get(code.co_qualname) if in_asyncio else None
        return kind


def cell(callback: Callable[..., Any], name: str) -> Any:
    """A variable of the function in which a callback was defined."""
    function: Any = callback
    return function.__closure__[function.__code__.co_freevars.index(name)].cell_contents


def joint_of(kind: Kind, callback: Any) -> Any:
    """The future by which others wait for a join; None if nobody does as yet."""
    if kind == "group":
        return callback.__self__._on_completed_fut
    return cell(callback, "outer" if kind == "gather" else "waiter")


def only_counts(kind: Kind, callback: Any, future: Any) -> bool:
    """Does a callback that is called for a completed future do nothing but count?"""
    failed = future._exception is not None
    if kind == "group":
        return not failed
    if kind == "gather":
        return bool(cell(callback, "return_exceptions")) or not (failed or future._state == "CANCELLED")
    if cell(callback, "timeout_handle") is not None:
        return False
    when = cell(callback, "return_when")
    return when == "ALL_COMPLETED" or (when == "FIRST_EXCEPTION" and not failed)


def is_hidden(kind: Kind, callback: Any) -> bool:
    """Does somebody wait for a join that nobody else can look at?"""
    if kind == "group":
        return bool(callback.__self__.__dict__.get("_porcini_hidden", False))
    return kind == "wait" or bool(cell(callback, "outer")._hidden)


_OURS = 6 if sys.version_info[:2] == (3, 11) else -1
"""References to a group that are ours, while `_is_private` asks: read off CPython 3.11. Others may count less, and
then somebody else's would be taken for ours; there no group is private, which costs steps only."""
_REFERENCES = 6
"""Of a future that `await gather(...)` waits for: by the task, its await, the callbacks' closure, and by us."""


def place_of_member(future: Any) -> Location:
    """The place of what a join waits for. What the loop did not make has none: its steps are opaque."""
    return getattr(future, "_place", _STRANGER)


_STRANGER = Location("?future")


def awaited_together(frame: FrameType | None) -> list[Any]:
    """The coroutines that `as_completed` is making tasks of, in the order in which it was given them.

    It goes through a set of them, so in the order of their addresses, which differs from run to run.
    """
    while frame is not None and frame.f_code.co_filename == tasks.__file__:
        if frame.f_code.co_qualname in ("as_completed", "_AsCompletedIterator.__init__"):
            given = frame.f_locals.get("fs") or frame.f_locals.get("aws")
            return [one for one in given if asyncio.iscoroutine(one)] if isinstance(given, list | tuple) else []
        frame = frame.f_back
    return []


def _place_of_group(loop: Joins, group: Any) -> Location:
    if "_porcini_place" not in group.__dict__:
        loop.register_group(group)  # behind the back of `groups`
        loop.entered(group)
    place: Location = group._porcini_place
    return place


class Joins:
    """A part of the loop: who joins whom, and callbacks that only count."""

    mode: Literal["any", "fifo"]
    current: Process
    untracked: str
    """Why steps are opaque from here on: something that the loop cannot see."""
    peeked: str
    """Why this step is opaque."""
    reads: set[Location]
    writes: set[Location]
    observed: set[Location]
    counted: list[tuple[Location, Location]]
    """The places of joins that are not hidden, and which of their futures they have counted in this step."""
    fresh: set[Location]
    """The places of joins that were made in this step."""
    _created: list[Any]
    """The groups, and futures of `gather`, that were made in this step."""
    commuting: Commuting | None = None
    woke: dict[Process, None]
    _counting: list[tuple[Any, Any, Any, Kind]]
    _counts = False
    """Is this the step of a callback that only counts?"""

    if TYPE_CHECKING:  # the loop's own

        def _spawn(self, title: str) -> Process: ...

        def _next_place(self) -> Location: ...

        def _call(self, callback: Any, args: Any, context: Any) -> None: ...

        def _calls(self, callback: Any, args: Any, context: Any) -> Any: ...

    def registered(self, future: Any, callback: Any) -> None:
        """A callback that is no wakeup was registered on a future."""
        kind = kind_of(callback)
        if kind == "group":
            self.asked(callback.__self__)
        elif kind == "wait":
            waiter = joint_of(kind, callback)
            if self.mode == "any":
                waiter._joint = True
                self.fresh.add(waiter._place)
        if kind == "group" and self.commuting is not None:
            self.commuting.updates(self.place_of(kind, callback), place_of_member(future))
        if future._joint and self.mode == "any":
            # Which task will complete it is not known, so the callback is named now.
            if future._reservations is None:
                future._reservations = []
            future._reservations.append((callback, self._spawn(title_of(callback))))

    def _reserved(self, future: Any, callback: Any) -> Process | None:
        reservations: list[tuple[Any, Process]] = getattr(future, "_reservations", None) or []
        for k, (registered, process) in enumerate(reservations):
            if registered == callback:
                del reservations[k]
                self.woke[process] = None
                return process
        return None

    def register_group(self, group: Any) -> None:
        """A group gets its name by who makes it."""
        group._porcini_place = self._next_place()
        self.fresh.add(group._porcini_place)
        self._created.append(group)

    def entering(self, group: Any) -> None:
        """A task is about to enter a group, which another may have entered."""
        if "_porcini_place" not in group.__dict__:
            self.peeked = "a TaskGroup that was made before the run"  # so whoever is first gives it its name
            self.register_group(group)
        self.writes.add(group._porcini_place)

    def entered(self, group: Any) -> None:
        """A task has entered a group, and will have to leave it."""
        parent = getattr(group._parent_task, "_process", None)
        if parent is None:
            self.untracked = "a TaskGroup of a task that loop.create_task() did not make"
        elif parent.groups is None:
            parent.groups = [group]
        else:
            parent.groups.append(group)

    def asked(self, group: Any) -> None:
        """A group is asked to take one more task. It may refuse to."""
        if group._exiting and self.current.task not in group._tasks:
            self.observed.add(_place_of_group(self, group))
        else:
            self.reads.add(_place_of_group(self, group))

    def took(self, group: Any, task: Any) -> None:
        """A group has one more task. One that was started eagerly and is done has done what its end does."""
        if _done(task):
            self.observed.add(_place_of_group(self, group))

    def _leave_groups(self, process: Process) -> None:
        """A step of a task with groups is over: if it is leaving one, it looked whether that is complete."""
        for group in list(process.groups or ()):
            if group._exiting:
                self.observed.add(group._porcini_place)
                waiter = group._on_completed_fut
                if waiter is not None and self.mode == "any":
                    waiter._joint, waiter._place = True, group._porcini_place
                if not group._tasks and process.groups:
                    process.groups.remove(group)

    def place_of(self, kind: Kind, callback: Any) -> Location:
        """The place of a join, by its callback."""
        if kind == "group":
            return _place_of_group(self, callback.__self__)
        return joint_of(kind, callback)._place  # type: ignore[no-any-return]

    def _hide(self) -> None:
        """Does whoever made a join wait for it, in the same step, so that nobody else can look at it? That is
        settled here for ever: it must not depend on the order."""
        for created in self._created:
            grouped = type(created) is not SeenGathering
            joint = created._on_completed_fut if grouped else created
            waits = joint is not None and any(is_wakeup(callback) for callback, _ in joint._callbacks or ())
            if grouped:
                created._porcini_hidden = waits and self._is_private(created)
            else:
                created._hidden = waits and sys.getrefcount(created) <= _REFERENCES + 1  # and `joint`
                if not created._hidden and self.commuting is not None:
                    for member in created._children:
                        self.commuting.updates(created._place, place_of_member(member))

    def _is_private(self, group: Any) -> bool:
        """Is a group referred to by nobody but the task that made it, by us, and by the callbacks of its tasks? A
        variable that functions inside share is an object of its own, and so counts as somebody else."""
        if _OURS < 0:
            return False
        registered = _OURS + len(group._tasks)
        waiting: Any = self.current.task.get_coro() if self.current.task is not None else None
        while inspect.iscoroutine(waiting):
            registered += sum(each is group for each in gc.get_referents(waiting))
            waiting = waiting.cr_await
        return sys.getrefcount(group) <= registered

    def _count(self) -> None:
        """Run the callbacks that only count, if nobody can come in between, or if this is their step. What they
        touch is the join, whatever their code does."""
        if self._created:
            self._hide()
        if not self._counting:
            return
        reads, writes, observed = self.reads, self.writes, self.observed
        self.reads, self.writes, self.observed = set(), set(), set()
        places: set[Location] = set()
        for index, (callback, args, context, kind) in enumerate(self._counting):  # which may grow
            hidden = is_hidden(kind, callback)
            if not hidden and (index or not self._counts):
                self._calls(callback, args, context)
                continue
            place = self.place_of(kind, callback)
            places.add(place)
            if not hidden:
                self.counted.append((place, place_of_member(args[0])))
            self._lets_go(joint_of(kind, callback), places)
            self._call(callback, args, context)
        self._counting.clear()
        reads |= places
        self.reads, self.writes, self.observed = reads, writes, observed

    def _note_joins(self, commuting: Commuting) -> None:
        """Say who was counted, and who looked, so that it can be seen who depends on whom."""
        for place, member in self.counted:
            self.writes.add(commuting.updates(place, member))
        for place in self.observed - self.fresh:
            self.reads.update(commuting.looks(place, self.current.name.pid))

    def _lets_go(self, joint: Any, places: set[Location]) -> None:
        """The step leads to all who wait for a join, directly or by a join of joins."""
        if joint is None or _done(joint):
            return
        reservations = joint._reservations or ()
        self.woke.update((process, None) for _, process in reservations)
        for callback, _ in joint._callbacks or ():
            if is_wakeup(callback):
                waiter = callback.__self__
                if type(waiter) is SeenTask:
                    self.woke[waiter._process] = None
                continue
            kind = kind_of(callback)
            if kind:
                places.add(self.place_of(kind, callback))
                self._lets_go(joint_of(kind, callback), places)
