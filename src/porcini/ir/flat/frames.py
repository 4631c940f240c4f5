"""Processes with frames in a flat state: used for programs of points and edges, and for objects and tasks.

A layout says which processes exist and where their frames begin, ordered by pid, so that equal states are equal
tuples however they were reached. A state holds its layout in slot 0.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from weakref import WeakValueDictionary

from porcini.core.errors import LimitHit
from porcini.core.events import Action, Event
from porcini.core.pids import Pid
from porcini.core.systems import Final, System
from porcini.ir.analysis.numbering import FIRST_POINT

State = tuple[Any, ...]
"""(layout, slots...)"""

MOST_PROCESSES, MOST_GENERATIONS = 1_000, 500
"""A program that spawns more processes than this, or in longer chains, is assumed not to terminate."""
_MOST_RECENT = 2_000


def require_room(processes: int, pid: Pid) -> None:
    """Raise `LimitHit` unless there is room for one more process beside so many."""
    if processes >= MOST_PROCESSES:
        raise LimitHit(f"the limit of {MOST_PROCESSES:,} processes")
    if len(pid) > MOST_GENERATIONS:
        raise LimitHit(f"the limit of {MOST_GENERATIONS:,} generations of processes")


@dataclass(frozen=True, slots=True, eq=False)
class Process:
    """A process in a layout. `actions_by_key` holds its actions; all layouts with this process share it."""

    pid: Pid
    base: int
    template: int
    actions_by_key: dict[Any, Any]


class Layout:
    """Which processes exist and where their frames begin. Layouts are interned, and compared by identity."""

    __slots__ = ("__weakref__", "_extensions", "by_pid", "notes", "processes")

    def __init__(self, processes: tuple[Process, ...], by_pid: dict[Pid, Process]) -> None:
        self.processes = processes
        self.by_pid = by_pid
        self.notes: Any = None  # what a system computes once per layout
        self._extensions: WeakValueDictionary[tuple[Pid, int], Layout] = WeakValueDictionary()

    def with_process(self, pid: Pid, template: int, layouts: Layouts) -> Layout:
        """The layout with one more process; the frames of the processes after it move up."""
        grown = self._extensions.get((pid, template))
        if grown is None:
            grown = self._extensions[pid, template] = layouts.grow(self, pid, template)
        return grown

    def __repr__(self) -> str:
        return f"Layout({', '.join(str(pid) for pid in self.by_pid)})"


Members = tuple[tuple[Pid, int], ...]
"""Processes in order, each with its template."""


class Layouts:
    """All layouts of one program; the template of a process determines the size of its frame."""

    def __init__(self, first_frame: int, frame_sizes: Sequence[int]) -> None:
        self._first_frame = first_frame
        self._frame_sizes = frame_sizes
        self._by_members: WeakValueDictionary[Members, Layout] = WeakValueDictionary()
        self._recent: deque[Layout] = deque(maxlen=_MOST_RECENT)  # kept alive, since a search returns to them
        self._actions_of_pid: dict[Pid, dict[Any, Any]] = {}
        self.empty = Layout((), {})

    def grow(self, layout: Layout, pid: Pid, template: int) -> Layout:
        processes = layout.processes
        require_room(len(processes), pid)
        at = bisect(processes, pid, key=lambda process: process.pid)
        before, after = processes[:at], processes[at:]
        base = before[-1].base + self._frame_sizes[before[-1].template] if before else self._first_frame
        size = self._frame_sizes[template]
        added = Process(pid, base, template, self._actions_of_pid.setdefault(pid, {}))
        moved = tuple(Process(p.pid, p.base + size, p.template, p.actions_by_key) for p in after)
        members = tuple((process.pid, process.template) for process in (*before, added, *moved))
        found = self._by_members.get(members)
        if found is None:
            by_pid = layout.by_pid | {process.pid: process for process in (added, *moved)}
            found = self._keep(members, Layout((*before, added, *moved), by_pid))
        return found

    def of(self, members: Members) -> Layout:
        """The layout of some processes, which must be in order."""
        found = self._by_members.get(members)
        if found is None:
            processes: list[Process] = []
            base = self._first_frame
            for pid, template in members:
                processes.append(Process(pid, base, template, self._actions_of_pid.setdefault(pid, {})))
                base += self._frame_sizes[template]
            by_pid = {process.pid: process for process in processes}
            found = self._keep(members, Layout(tuple(processes), by_pid))
        return found

    def _keep(self, members: Members, layout: Layout) -> Layout:
        self._by_members[members] = layout
        self._recent.append(layout)
        return layout


class FrameSystem(System):
    """What all systems of processes with frames have in common: who can move, and what an event changed.

    A frame begins with the control point and the number of children. A subclass computes the actions of one
    process (`_actions_of`), takes an action in place (`apply`) and describes a state in which nothing can move
    (`final`).
    """

    _initial: State

    @abstractmethod
    def _actions_of(self, state: Sequence[Any], process: Process, found: list[Any]) -> None: ...

    @abstractmethod
    def apply(self, s: list[Any], action: Action) -> Event:
        """Take an action in place; it must be an action of the current state."""

    @abstractmethod
    def final(self, state: Sequence[Any]) -> Final: ...

    def initial(self) -> State:
        return self._initial

    def start(self) -> FrameRun:
        return FrameRun(self, list(self._initial))

    def fire(self, state: State, action: Action) -> tuple[State, Event]:
        slots = list(state)
        event = self.apply(slots, action)
        return tuple(slots), event

    def actions(self, state: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for process in state[0].processes:
            if state[process.base] >= FIRST_POINT:
                self._actions_of(state, process, found)
        return found

    def actions_of(self, state: Sequence[Any], pid: Pid) -> list[Any]:
        """The actions of one process; none if it has not been spawned or has ended."""
        found: list[Any] = []
        process = state[0].by_pid.get(pid)
        if process is not None and state[process.base] >= FIRST_POINT:
            self._actions_of(state, process, found)
        return found

    def actions_after(self, state: Sequence[Any], before: Sequence[Any], event: Event) -> list[Any]:
        """The actions after an event, given those before it: only those that it may have changed are
        recomputed."""
        found: list[Any] = []
        writes, mover, again = event.footprint.writes, event.pid, None
        for action in before:
            pid, guard_locations = action.pid, action.guard_locations
            if (guard_locations and writes and not writes.isdisjoint(guard_locations)) or pid == mover:
                if pid != again:  # the choices of one process are adjacent
                    again = pid
                    found += self.actions_of(state, pid)
            else:
                found.append(action)
        if event.spawned:
            for pid in event.spawned:
                found += self.actions_of(state, pid)
            found.sort(key=_pid)
        return found


_pid = attrgetter("pid")


@dataclass(slots=True)
class FrameRun:
    """A run that changes its state in place; `fork` copies it."""

    system: FrameSystem
    slots: list[Any]

    def actions(self) -> list[Any]:
        return self.system.actions(self.slots)

    def actions_of(self, pid: Pid) -> list[Any]:
        return self.system.actions_of(self.slots, pid)

    def actions_after(self, before: Sequence[Any], event: Event) -> list[Any]:
        return self.system.actions_after(self.slots, before, event)

    def step(self, action: Action) -> Event:
        return self.system.apply(self.slots, action)

    def final(self) -> Final:
        return self.system.final(self.slots)

    def fork(self) -> FrameRun:
        return FrameRun(self.system, self.slots.copy())

    @property
    def state(self) -> State:
        return tuple(self.slots)
