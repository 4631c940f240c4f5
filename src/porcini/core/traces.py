"""Traces, happens-before, and the Foata normal form that names a Mazurkiewicz class.

Two events are dependent when they are of one process, when one spawned or woke the other's process, or when
their footprints conflict (P0, Def. 9). A trace's class is the set of traces that swapping adjacent
independent events gives; `normal_form` names it. P0's Def. 12 does not (erratum 1).

`Foata` is the same thing for a growing trace: adding an event costs its footprint, not the length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from porcini.core.events import Event, EventId, Label, Move, Schedule
from porcini.core.footprints import Location
from porcini.core.pids import Pid

Independence = Callable[[Event, Event], bool]
"""A symmetric relation: may two adjacent events of different processes be swapped?"""

Letter = tuple[EventId, int, Label]
"""(event, choice, label): what a class is made of."""

NormalForm = tuple[frozenset[Letter], ...]


def leads_to(a: Event, b: Event) -> bool:
    """Did event `a` spawn or wake the process of `b`?"""
    return b.pid in a.spawned or b.pid in a.woke


def independent(a: Event, b: Event) -> bool:
    """Syntactic independence: P0, Def. 9."""
    return not (a.pid == b.pid or leads_to(a, b) or leads_to(b, a) or a.footprint.conflicts(b.footprint))


class Trace(tuple[Event, ...]):
    """Events in the order in which they happened."""

    __slots__ = ()

    @property
    def schedule(self) -> Schedule:
        return tuple([event.move for event in self])

    def ids(self) -> Iterator[EventId]:
        return ids_of(self)

    def happens_before(self, independence: Independence = independent) -> list[frozenset[int]]:
        """For each position, all earlier positions that come before it in every trace of the class."""
        past: list[frozenset[int]] = []
        for j, event in enumerate(self):
            before: set[int] = set()
            for i in range(j - 1, -1, -1):
                if i not in before and not independence(self[i], event):
                    before.add(i)
                    before |= past[i]
            past.append(frozenset(before))
        return past


def ids_of(steps: Iterable[Event | Move]) -> Iterator[EventId]:
    """The event identifiers of a trace, or of a schedule."""
    seen: dict[Pid, int] = {}
    for step in steps:
        index = seen.get(step.pid, 0)
        seen[step.pid] = index + 1
        yield EventId(step.pid, index)


def count_context_switches(schedule: Schedule) -> int:
    """How often the next step belongs to another process."""
    return sum(a.pid != b.pid for a, b in pairwise(schedule))


def common_prefix(a: Schedule, b: Schedule) -> int:
    """How many steps two schedules share before they differ."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((k for k, (x, y) in pairs if x != y), min(len(a), len(b)))


def normal_form(trace: Iterable[Event], independence: Independence = independent) -> NormalForm:
    """The Foata normal form: each step holds the events whose latest dependency is in the step before.

    It works for every independence relation; `Foata` is faster for the syntactic one.
    """
    trace = Trace(trace)
    levels: list[int] = []
    steps: list[set[Letter]] = []
    for j, (event, name) in enumerate(zip(trace, trace.ids(), strict=True)):
        level = 1 + max((levels[i] for i in range(j) if not independence(trace[i], event)), default=-1)
        levels.append(level)
        if level == len(steps):
            steps.append(set())
        steps[level].add((name, event.choice, event.label))
    return tuple(map(frozenset, steps))


class ProcessChains:
    """Interned sequences of (level, choice, label), one per process: equal ids, equal sequences."""

    __slots__ = ("_ids",)

    def __init__(self) -> None:
        self._ids: dict[tuple[int, Pid, int, int, Label], int] = {}

    def extend(self, chain: int, event: Event, level: int) -> int:
        key = (chain, event.pid, level, event.choice, event.label)
        return self._ids.setdefault(key, len(self._ids) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Foata:
    """The normal form of a growing trace under syntactic independence; `key` names its class.

    The levels of all events determine a class. So it is enough to keep, for each process, the interned sequence of
    its levels and the last level, and for each location the levels of its last write and of its latest read. Keys
    are comparable between forms that were extended from the same `Foata.empty()`.
    """

    chains: ProcessChains
    processes: dict[Pid, tuple[int, int]]
    locations: dict[Location, tuple[int, int]]
    top: int
    opaque: int

    @staticmethod
    def empty() -> Foata:
        return Foata(ProcessChains(), {}, {}, 0, 0)

    @property
    def key(self) -> frozenset[int]:
        return frozenset(chain for chain, _ in self.processes.values())

    def level_of(self, event: Event) -> int:
        """One more than the level of the latest event that this one depends on."""
        foot = event.footprint
        if foot.opaque:
            return self.top + 1
        below = max(self.processes.get(event.pid, _NEVER)[1], self.opaque)
        known = self.locations.get
        for location in foot.reads:
            written = known(location, _NEVER)[0]
            if written > below:
                below = written
        for location in foot.writes:
            below = max(below, *known(location, _NEVER))
        return below + 1

    def extend(self, event: Event) -> Foata:
        level = self.level_of(event)
        pid, foot = event.pid, event.footprint
        processes, locations = self.processes.copy(), self.locations
        chain = self.chains.extend(processes.get(pid, _NEVER)[0], event, level)
        processes[pid] = chain, level
        for spawned in event.spawned:
            processes[spawned] = 0, level
        for woken in event.woke:
            known, before = processes.get(woken, _NEVER)
            processes[woken] = known, max(before, level)
        if foot.reads or foot.writes:
            locations = locations.copy()
            for location in foot.reads:
                written, read = locations.get(location, _NEVER)
                locations[location] = written, max(level, read)
            for location in foot.writes:
                locations[location] = level, locations.get(location, _NEVER)[1]
        opaque = level if foot.opaque else self.opaque
        return Foata(self.chains, processes, locations, max(self.top, level), opaque)


_NEVER = (0, 0)
