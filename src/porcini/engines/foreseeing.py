"""What a step touches at a place where it has not been run: known from earlier runs, or found out by a run.

A wakeup sequence ends with a step that was moved before the event it raced with. Where footprints are discovered
by running, what it touched after that event says nothing about what it touches there: it may look at a flag which
the event set, and go another way. What counts is what it touches there (decision 15).

*Recalled.* Let c be the step of an earlier run, and P the events at the place in question. If what c depends on in
P, with all that happens before that, is what happened before c in its run, then the step in P is c: P is
equivalent to the past of c followed by events that c is independent of, and these can be swapped with it. So an
event gets a number that stands for its move and all that happens before it (the numbers of the last of these
stand for the rest): that is the event, in whatever run. (What a step *reads* and who wrote that last is not
enough. Footprints say what conflicts, and not always by what: tasks that count for a join only read it.)

*Tried.* Where nothing fits, the step is run, when somebody asks what it touches. That makes the search remember
events from then on: small searches never ask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porcini.core.events import Event, Move
from porcini.core.execution import Execution
from porcini.core.footprints import Footprint
from porcini.engines.races import Race

_MOST = 100_000
_Numbers = frozenset[int]


class Undiscovered(Footprint):
    """The footprint of a step at a place where it has not been run: found out when somebody asks."""

    __slots__ = ("_found", "_run")
    _found: Footprint | None
    _run: Callable[[], Event]

    def __init__(self, run: Callable[[], Event]) -> None:
        for name, value in (("_found", None), ("_run", run)):
            object.__setattr__(self, name, value)  # footprints are frozen

    @property
    def found(self) -> Footprint:
        found = self._found
        if found is None:
            found = self._run().footprint
            object.__setattr__(self, "_found", found)
        return found

    def conflicts(self, other: Footprint) -> bool:
        return self.found.conflicts(other.found if isinstance(other, Undiscovered) else other)

    reads = property(lambda self: self.found.reads)
    writes = property(lambda self: self.found.writes)
    opaque = property(lambda self: self.found.opaque)


class Foresight:
    """What the steps of wakeup sequences touch, in a search through `execution`; `replay` runs a step after the
    first so many events and some later ones."""

    def __init__(self, execution: Execution, replay: Callable[[int, Sequence[Move]], Event]) -> None:
        self._execution = execution
        self._replay = replay
        self._remembers = False
        self._runs = 0
        self._numbers: list[int] = []
        self._known: dict[tuple[Move, _Numbers], int] = {}
        self._seen: dict[tuple[Move, _Numbers], dict[Event, set[_Numbers]]] = {}
        """By what a process did and who let it go on: the steps that it took next, and what was before each."""

    def moved(self, race: Race, between: Sequence[int]) -> Event:
        """The step of a race before the event that it raced with, and after what stands between.

        What is undiscovered is asked for at the end of a run only, and while the search is below that place.
        """
        found = self._recall(race, between) if self._remembers else None
        if found is not None:
            return found
        events, runs = self._execution.events, self._runs
        moves = [events[k].move for k in (*between, race.step)]

        def run() -> Event:
            if not self._remembers:
                self._remembers = True
                self._number(0)
            event = self._replay(race.at, moves)
            if runs == self._runs:  # else positions are those of another run
                before = self._numbers_of(self._before(event, race, between))
                self._see(race.step, event, before)
            return event

        step = events[race.step]
        return Event(step.pid, step.choice, step.label, Undiscovered(run))

    def note(self, first_new: int) -> None:
        """Remember the events of the current execution, of which those before `first_new` were there before."""
        self._runs += 1
        if self._remembers:
            self._number(first_new)

    def _number(self, first_new: int) -> None:
        execution, numbers, known = self._execution, self._numbers, self._known
        if len(known) > _MOST:
            known.clear()
            self._seen.clear()
            numbers.clear()
        del numbers[first_new:]
        for j in range(len(numbers), len(execution)):
            event, before = execution.events[j], self._numbers_of(execution.past[j])
            key = event.move, before
            number = known.get(key)
            if number is None:
                number = known[key] = len(known)
                self._see(j, event, before)
            numbers.append(number)

    def _recall(self, race: Race, between: Sequence[int]) -> Event | None:
        """An event of an earlier run that the step of a race would be."""
        for event, befores in self._seen.get(self._process(race.step), {}).items():
            if self._numbers_of(self._before(event, race, between)) in befores:
                return event
        return None

    def _see(self, position: int, event: Event, before: _Numbers) -> None:
        """An event, at a position or where that is moved to, and what was before it."""
        self._seen.setdefault(self._process(position), {}).setdefault(event, set()).add(before)

    def _before(self, event: Event, race: Race, between: Sequence[int]) -> int:
        """What would happen before an event if the step of a race were this one: positions, as a set."""
        execution = self._execution
        events, past, depends = execution.events, execution.past, execution.dependence.of(event)
        found = execution.past_of_position(race.step)
        for k in (*reversed(between), *range(race.at - 1, -1, -1)):
            if not found >> k & 1 and depends[events[k]]:
                found |= past[k] | 1 << k
        return found

    def _process(self, position: int) -> tuple[Move, _Numbers]:
        """The move of an event, and what its process has to do with."""
        execution = self._execution
        return execution.events[position].move, self._numbers_of(execution.past_of_position(position))

    def _numbers_of(self, positions: int) -> _Numbers:
        """The numbers of the last of some events, which with each have all that happens before it."""
        numbers, past, found = self._numbers, self._execution.past, []
        while positions:
            k = positions.bit_length() - 1
            found.append(numbers[k])
            positions &= ~(past[k] | 1 << k)
        return frozenset(found)
