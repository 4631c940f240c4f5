"""The events of a recorded run in every order that their conflicts allow, one order per class.

For a run that was recorded without formulas, it is known what its steps touched, but not when they can happen. So
each event is taken to be enabled, with its recorded footprint, as soon as the events that must come before it have
happened: the previous event of its process, the one that spawned its process, the one that woke it, and barriers.
Any two conflicting events can then come in either order, as long as no cycle arises; each such choice is a class.

This is a transition system like any other, and `optimal` explores it: no class is left out, none is listed twice.
Each wakeup is a location of its own: the waker writes it; the woken event reads it and is blocked before. A run
never gets stuck, because the first event in the recorded order that has not happened yet is always enabled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from porcini.core.events import Action, Event, EventId
from porcini.core.execution import Dependence, Execution
from porcini.core.footprints import NOWHERE, Footprint, Location
from porcini.core.pids import Pid
from porcini.core.reports import TraceEntry
from porcini.core.systems import Final, Kind, System
from porcini.core.traces import Trace
from porcini.engines.stats import SearchStats

State = tuple[int, ...]
"""For each process, how many of its events have happened."""


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """An event, and what must come before it."""

    event: Event
    position: int
    barriers: int
    """How many events were recorded up to the last barrier before it."""
    woken_by: tuple[tuple[int, int], ...]
    """The events that woke its process, as pairs of a process and an index."""
    ready: Action
    blocked: Action


class Reordering(System):
    """A recorded trace as a program: its processes repeat their recorded events, in any order that is possible."""

    may_fail = False

    def __init__(self, trace: Trace, processes: Sequence[Pid]) -> None:
        self.pids = sorted({*processes, *(pid for event in trace for pid in event.spawned)})
        self._number = {pid: number for number, pid in enumerate(self.pids)}
        self._spawned_by: list[tuple[int, int] | None] = [None] * len(self.pids)
        self._steps: list[list[_Step]] = [[] for _ in self.pids]
        wakers, barriers = _wakers(trace), 0
        waking = {waker for those in wakers for waker in those}
        for position, (event, name) in enumerate(zip(trace, trace.ids(), strict=True)):
            number = self._number[event.pid]
            for child in event.spawned:
                self._spawned_by[self._number[child]] = number, name.index
            woken_by = tuple((self._number[pid], index) for pid, index in wakers[position])
            reads = frozenset(map(_wakeup_location, wakers[position]))
            foot = event.footprint | Footprint(
                reads, frozenset({_wakeup_location(name)}) if name in waking else NOWHERE
            )
            ready = Action(event.pid, event.choice, event.label, foot, guard_locations=reads)
            blocked = Action(event.pid, event.choice, event.label, Footprint(reads), False, reads)
            made = replace(event, footprint=foot, woke=(), failure=None, guard_locations=reads)
            self._steps[number].append(_Step(made, position, barriers, woken_by, ready, blocked))
            if event.barrier:
                barriers = position + 1

    def initial(self) -> State:
        return (0,) * len(self.pids)

    def actions(self, state: State) -> list[Action]:
        found, done = [], sum(state)
        for steps, at, spawned_by in zip(self._steps, state, self._spawned_by, strict=True):
            if at == len(steps) or (spawned_by is not None and not _is_done(spawned_by, state)):
                continue
            step = steps[at]
            if done < step.barriers or (step.event.barrier and done < step.position):
                continue  # a barrier waits for all events before it, and all events after it wait for the barrier
            awake = all(_is_done(waker, state) for waker in step.woken_by)
            found.append(step.ready if awake else step.blocked)
        return found

    def fire(self, state: State, action: Action) -> tuple[State, Event]:
        number = self._number[action.pid]
        at = state[number]
        return (*state[:number], at + 1, *state[number + 1 :]), self._steps[number][at].event

    def final(self, state: State) -> Final:
        return Final("unknown", {})


def _is_done(event: tuple[int, int], state: State) -> bool:
    process, index = event
    return state[process] > index


def _wakeup_location(waker: EventId) -> Location:
    return Location(f"\0woken by {waker}")  # locations in traces are printable, so this is not one of them


def _wakers(trace: Trace) -> list[list[EventId]]:
    """For each event, those that woke its process since the previous event of that process."""
    found: list[list[EventId]] = []
    since: dict[Pid, list[EventId]] = {}
    for event, name in zip(trace, trace.ids(), strict=True):
        found.append(since.pop(event.pid, []))
        for pid in event.woke:
            since.setdefault(pid, []).append(name)
    return found


@dataclass(slots=True)
class Orders(SearchStats):
    """Stats that keep one order of each class."""

    found: list[Trace] = field(default_factory=list)

    def complete(self, events: Any, final: Final, name: Any, ended: Any = None) -> None:
        trace = Trace(events() if callable(events) else events)
        self.found.append(trace)
        SearchStats.complete(self, trace, final, name)


def entries(recorded: Trace, kind: Kind, orders: Sequence[Trace]) -> list[TraceEntry]:
    """The recorded run, then all other classes, those with the fewest reversed conflicts first."""
    positions = {name: position for position, name in enumerate(recorded.ids())}
    others: list[TraceEntry] = []
    for order in orders:
        execution, names = Execution(Dependence()), list(order.ids())
        for event in order:
            execution.push(event)
        turned = _reversed_races(execution, names, positions)
        if turned:
            near = _nearest_order(execution, [positions[name] for name in names])
            others.append(_entry(near, "unknown", turned))
    others.sort(key=lambda entry: (len(entry.reversed or ()), entry.schedule))
    return [_entry(recorded, kind, ()), *others]


def _entry(order: Trace, kind: Kind, turned: tuple[tuple[EventId, EventId], ...]) -> TraceEntry:
    labels = tuple(str(event.label) for event in order)
    return TraceEntry(order.schedule, labels, "", {}, kind, reversed=turned)


def _reversed_races(
    execution: Execution, names: Sequence[EventId], positions: dict[EventId, int]
) -> tuple[tuple[EventId, EventId], ...]:
    """Pairs of events that conflict, with nothing between them, and were recorded in the other order.

    An order without such a pair is in the recorded class: happens-before is the transitive closure of such pairs,
    and each of them then has its recorded order.
    """
    found: list[tuple[EventId, EventId]] = []
    for name, races in zip(names, execution.races, strict=True):
        earlier = (names[k] for k in races)
        found += [(other, name) for other in earlier if positions[other] > positions[name]]
    return tuple(sorted(found))


def _nearest_order(execution: Execution, positions: Sequence[int]) -> Trace:
    """An order of the same class that is close to the recorded one: of the events that can come next, it takes the
    one that was recorded first."""
    waiting: dict[Pid, list[int]] = {}
    for k in range(len(execution) - 1, -1, -1):
        waiting.setdefault(execution.events[k].pid, []).append(k)
    done, order = 0, []
    while waiting:
        ready = [those[-1] for those in waiting.values() if not execution.past[those[-1]] & ~done]
        k = min(ready, key=lambda k: positions[k])
        order.append(execution.events[k])
        done |= 1 << k
        those = waiting[execution.events[k].pid]
        those.pop()
        if not those:
            del waiting[execution.events[k].pid]
    return Trace(order)
