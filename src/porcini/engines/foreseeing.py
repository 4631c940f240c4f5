"""What a step touches at a place where it has not been run: recalled from earlier runs, or discovered by a run.

A wakeup sequence ends with a step that was moved before the event that it raced with. Where footprints are
discovered by running, what the step touched after that event says nothing about what it touches before it: it may
read a flag that the event set, and go another way. What matters is what it touches there (decision 15).

*Recalled.* Let c be the step of an earlier run, and P the events at the place in question. If what c depends on in
P, with all that happens before that, is what happened before c in its run, then the step in P is c: P is
equivalent to the past of c followed by events that c is independent of, and these can be swapped with it. So an
event gets a number that stands for its move and all that happens before it (the numbers of the last of these
stand for the rest): that is the event, in whatever run. (What a step *reads* and who wrote that last is not
enough. Footprints say what conflicts, and not always by what: tasks that count for a join only read it.)

*Tried.* Where no earlier event fits, the step is run when its footprint is first needed. From then on the search
remembers events: small searches never do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porcini.core.events import Event, Move
from porcini.core.execution import Execution
from porcini.core.footprints import Footprint
from porcini.engines.races import Race

_MOST = 2_000
"""Numbers of events: a larger table recalls hardly more, and each step through it takes longer."""
_Numbers = frozenset[int]


class Undiscovered(Footprint):
    """The footprint of a step at a place where it has not been run, discovered when it is first used."""

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
    """What the steps of wakeup sequences touch, in a search along `execution`. `replay` runs some moves after the
    first so many events, and returns the event of the last one."""

    def __init__(self, execution: Execution, replay: Callable[[int, Sequence[Move]], Event]) -> None:
        self._execution = execution
        self._replay = replay
        self._remembers = False
        self._runs = 0
        self._numbers: list[int] = []
        self._number_of: dict[tuple[Move, _Numbers], int] = {}
        self._recorded: dict[tuple[Move, _Numbers], dict[Event, set[_Numbers]]] = {}
        """By what a process did and who let it go on: the steps that it took next, each with its possible
        pasts."""

    def foresee(self, race: Race, between: Sequence[int]) -> Event:
        """The step of a race as it is before the event that it raced with, and after the events in `between`.

        An undiscovered footprint is used at the end of a run only, and while the search is below that place.
        """
        found = self._recall(race, between) if self._remembers else None
        if found is not None:
            return found
        events, runs = self._execution.events, self._runs
        moves = [events[k].move for k in (*between, race.step)]

        def run() -> Event:
            if not self._remembers:
                self._remembers = True
                self._number_events(0)
            event = self._replay(race.at, moves)
            if runs == self._runs:  # otherwise positions are those of another run
                before = self._maximal_numbers(self._past_of_moved(event, race, between))
                self._remember(race.step, event, before)
            return event

        step = events[race.step]
        return Event(step.pid, step.choice, step.label, Undiscovered(run))

    def remember_run(self, first_new: int) -> None:
        """Remember the events of the current execution; those before `first_new` are remembered already."""
        self._runs += 1
        if self._remembers:
            self._number_events(first_new)

    def _number_events(self, first_new: int) -> None:
        """Number the events from `first_new` on: the same move after the same past gets the same number, in every
        run. If the table is full it is cleared, and the whole execution is numbered again."""
        execution, numbers, known = self._execution, self._numbers, self._number_of
        if len(known) > _MOST:
            known.clear()
            self._recorded.clear()
            numbers.clear()
        del numbers[first_new:]
        for j in range(len(numbers), len(execution)):
            event, before = execution.events[j], self._maximal_numbers(execution.past[j])
            key = event.move, before
            number = known.get(key)
            if number is None:
                number = known[key] = len(known)
                self._remember(j, event, before)
            numbers.append(number)

    def _recall(self, race: Race, between: Sequence[int]) -> Event | None:
        """The event of an earlier run that the step of a race would be, if there is one."""
        for event, befores in self._recorded.get(self._process_key(race.step), {}).items():
            if self._maximal_numbers(self._past_of_moved(event, race, between)) in befores:
                return event
        return None

    def _remember(self, position: int, event: Event, before: _Numbers) -> None:
        """Remember an event, at a position or at the place that it is moved to, with its past."""
        self._recorded.setdefault(self._process_key(position), {}).setdefault(event, set()).add(before)

    def _past_of_moved(self, event: Event, race: Race, between: Sequence[int]) -> int:
        """The events that would happen before an event if the step of a race were this one: a set of positions."""
        execution = self._execution
        events, past, depends = execution.events, execution.past, execution.dependence.of(event)
        found = execution.past_of_position(race.step)
        # Latest first: an event that this one depends on, and that is not in its past yet, adds its own past too.
        for k in (*reversed(between), *range(race.at - 1, -1, -1)):
            if not found >> k & 1 and depends[events[k]]:
                found |= past[k] | 1 << k
        return found

    def _process_key(self, position: int) -> tuple[Move, _Numbers]:
        """The move of an event, and the past that it has because of its process alone."""
        execution = self._execution
        return execution.events[position].move, self._maximal_numbers(execution.past_of_position(position))

    def _maximal_numbers(self, positions: int) -> _Numbers:
        """The numbers of the maximal events of a set of positions, which is closed under happens-before."""
        numbers, past, found = self._numbers, self._execution.past, []
        while positions:
            k = positions.bit_length() - 1
            found.append(numbers[k])
            positions &= ~(past[k] | 1 << k)
        return frozenset(found)
