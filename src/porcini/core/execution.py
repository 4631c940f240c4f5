"""The current execution: its events with happens-before, extended and cut back at its end.

Positions count from 0, and sets of positions are integers: bit k stands for position k. `past[j]` is the set of
events that happen before event j, and `races[j]` lists the events that j depends on directly, with nothing between
them. Both are computed from the last writer of each location and its readers since then, without a scan of all
earlier events.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field

from porcini.core.events import Action, Event
from porcini.core.footprints import Location
from porcini.core.pids import Pid
from porcini.core.traces import Trace, leads_to


class DependenceRow(dict[Event, bool]):
    """Which events one event depends on; each answer is computed once."""

    __slots__ = ("dependence", "event")

    def __init__(self, dependence: Dependence, event: Event) -> None:
        super().__init__()
        self.dependence = dependence
        self.event = event

    def __missing__(self, other: Event) -> bool:
        answer = self[other] = self.dependence.decide(self.event, other)
        return answer


class Dependence:
    """The syntactic dependence relation (P0, Def. 9).

    `direct` says that footprints determine dependence, so that tables by location find all dependent events.
    """

    direct = True
    _most = 2_000
    """Rows: as searches go on, there are ever new events."""

    def __init__(self) -> None:
        self._rows: dict[Event, DependenceRow] = {}

    def notes(self) -> tuple[str, ...]:
        """What a user should know about the answers."""
        return ()

    def of(self, event: Event) -> DependenceRow:
        """A table that says for each other event whether it depends on this one."""
        row = self._rows.get(event)
        if row is None:
            if len(self._rows) > self._most:
                self._rows.clear()
            row = self._rows[event] = DependenceRow(self, event)
        return row

    def dependent(self, a: Event, b: Event) -> bool:
        return self.of(a)[b]

    def decide(self, a: Event, b: Event) -> bool:
        return a.pid == b.pid or leads_to(a, b) or leads_to(b, a) or self.conflict(a, b)

    def conflict(self, a: Event | Action, b: Event | Action) -> bool:
        """Do two steps of different processes interfere?"""
        return a.footprint.conflicts(b.footprint)


@dataclass(slots=True)
class Execution:
    """Events, and for each what happens before it and what it races with.

    `contested` are the positions of events with a guard that an earlier event might have decided differently: it
    writes what the guard reads, and need not come before.
    """

    dependence: Dependence
    events: list[Event] = field(default_factory=list)
    past: list[int] = field(default_factory=list)
    races: list[list[int]] = field(default_factory=list)
    contested: list[int] = field(default_factory=list)
    _own: dict[Pid, list[int]] = field(default_factory=dict)
    _spawned_by: dict[Pid, int] = field(default_factory=dict)
    _woken_by: dict[Pid, list[int]] = field(default_factory=dict)
    _barriers: list[int] = field(default_factory=list)
    _writers: defaultdict[Location, list[int]] = field(default_factory=lambda: defaultdict(list))
    _readers: defaultdict[Location, list[int]] = field(default_factory=lambda: defaultdict(list))
    _opaque: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.events)

    def trace(self) -> Trace:
        return Trace(self.events)

    def push(self, event: Event) -> None:
        position = len(self.events)
        before = (1 << position) - 1 if event.barrier else self.past_of_next(event.pid)
        if event.awaits:
            before |= self._awaited(event, position)
        races: list[int] = []
        foot = event.footprint
        if event.guard_locations and self._is_contested(event.guard_locations, before):
            self.contested.append(position)
        # `before` grows with each race, latest first: what happens before a racing event is no direct dependency.
        if event.barrier:
            pass
        elif foot.opaque and self.dependence.direct:  # it depends on every event
            while left := ~before & (1 << position) - 1:
                k = left.bit_length() - 1
                races.append(k)
                before |= self.past[k] | 1 << k
        elif foot.reads or foot.writes or foot.opaque or self._opaque or not self.dependence.direct:
            for k in self._direct_dependencies(event):
                if not before >> k & 1:
                    races.append(k)
                    before |= self.past[k] | 1 << k
        self.events.append(event)
        self.past.append(before)
        self.races.append(races)
        own = self._own.get(event.pid)
        if own is None:
            own = self._own[event.pid] = []
        own.append(position)
        for pid in event.spawned:
            self._spawned_by[pid] = position
        for pid in event.woke:
            self._woken_by.setdefault(pid, []).append(position)
        if event.barrier:
            self._barriers.append(position)
        if foot.opaque:
            self._opaque.append(position)
        if foot.reads:
            readers = self._readers
            for location in foot.reads:
                readers[location].append(position)
        if foot.writes:
            writers = self._writers
            for location in foot.writes:
                writers[location].append(position)

    def pop(self) -> Event:
        event = self.events.pop()
        self.past.pop()
        self.races.pop()
        self._own[event.pid].pop()
        if self.contested and self.contested[-1] == len(self.events):
            self.contested.pop()
        for pid in event.spawned:
            del self._spawned_by[pid]
        for pid in event.woke:
            self._woken_by[pid].pop()
        if event.barrier:
            self._barriers.pop()
        if event.footprint.opaque:
            self._opaque.pop()
        for location in event.footprint.reads:
            self._readers[location].pop()
        for location in event.footprint.writes:
            self._writers[location].pop()
        return event

    def past_of_next(self, pid: Pid) -> int:
        """The events that must come before the next step of a process, whatever that step is."""
        previous = self.last_of(pid)
        before = 0 if previous < 0 else self.past[previous] | 1 << previous
        if self._woken_by or self._barriers:
            before |= self._released_by(pid, previous, len(self.events))
        return before

    def previous(self, position: int) -> int:
        """The position of the previous event of the same process, or of the event that spawned it; -1 if there is
        neither."""
        pid = self.events[position].pid
        own = self._own[pid]
        index = bisect_left(own, position)
        return own[index - 1] if index else self._spawned_by.get(pid, -1)

    def past_of_position(self, position: int) -> int:
        """The events that must come before an event because of its process alone: `past_of_next` at that time."""
        pid, previous = self.events[position].pid, self.previous(position)
        before = 0 if previous < 0 else self.past[previous] | 1 << previous
        if self._woken_by or self._barriers:
            before |= self._released_by(pid, previous, position)
        event = self.events[position]
        return before | self._awaited(event, position) if event.awaits else before

    def _awaited(self, event: Event, position: int) -> int:
        """The writes without which an event could not have happened at a position, each with its past."""
        before = 0
        for location in event.awaits:
            writers = self._writers.get(location, ())
            index = bisect_left(writers, position)
            if index:
                k = writers[index - 1]
                before |= self.past[k] | 1 << k
        return before

    def _released_by(self, pid: Pid, previous: int, position: int) -> int:
        """The events that had to happen between two steps of a process: those that woke it, and barriers, each
        with its past."""
        before = 0
        for k in reversed(self._woken_by.get(pid, ())):
            if k <= previous:
                break
            if k < position:
                before |= self.past[k] | 1 << k
        for k in reversed(self._barriers):
            if k < position:
                return before | (2 << k) - 1
        return before

    def _direct_dependencies(self, step: Event | Action) -> list[int]:
        """The earlier events that a step may depend on directly, latest first. A read depends on the last writer
        of its location; a write depends on that writer and on all readers since."""
        foot = step.footprint
        if foot.opaque or not self.dependence.direct:
            return [k for k in range(len(self.events) - 1, -1, -1) if self._depends(k, step)]
        found: set[int] = {self._opaque[-1]} if self._opaque else set()
        writers_of, readers_of = self._writers.get, self._readers.get
        for location in foot.reads:
            writers = writers_of(location)
            if writers:
                found.add(writers[-1])
        for location in foot.writes:
            last = -1
            writers = writers_of(location)
            if writers:
                last = writers[-1]
                found.add(last)
            readers = readers_of(location)
            if readers:
                for k in reversed(readers):
                    if k < last:
                        break
                    found.add(k)
        return sorted(found, reverse=True) if len(found) > 1 else list(found)

    def _depends(self, k: int, step: Event | Action) -> bool:
        if isinstance(step, Event):
            return self.dependence.dependent(self.events[k], step)
        return self.dependence.conflict(self.events[k], step)

    def writers(self, locations: frozenset[Location]) -> list[int]:
        """The positions of all events that write one of some locations, in order."""
        found = [written for location in locations if (written := self._writers.get(location))]
        return found[0] if len(found) == 1 else sorted({k for written in found for k in written})

    def _is_contested(self, locations: frozenset[Location], before: int) -> bool:
        """Does one of these locations have a writer that is not in `before`?"""
        if not self.dependence.direct:
            return any(not before >> k & 1 for k in self.writers(locations))
        for location in locations:  # its writers are totally ordered, so the last one decides
            writers = self._writers.get(location)
            if writers and not before >> writers[-1] & 1:
                return True
        return False

    def last_of(self, pid: Pid) -> int:
        """The position of the last event of a process, or of the one that spawned it; -1 if there is none."""
        own = self._own.get(pid)
        return own[-1] if own else self._spawned_by.get(pid, -1)
