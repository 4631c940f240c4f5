"""What a step touches at a place where it has not been run: known from earlier runs, or found out by a run.

A wakeup sequence ends with a step that was moved before the event it raced with. Where footprints are discovered
by running, what it touched after that event says nothing about what it touches there: it may look at a flag which
the event set, and go another way. What counts is what it touches there (decision 15).

*Recalled.* A step does the same where its process has done the same, was woken by the same, and all that it looks
at was written last by the same: it has no other way to know where it is. So an event gets a number that stands for
its process, the event before it, the events that woke it and, for each location it touches, the last event to
write that. What is written counts like what is read: names of locations can depend on it (where does an appended
item go?), and objects that share a name are told apart only by all of their writers.

*Tried.* Where nothing fits, the step is run, when somebody asks what it touches. That makes the search remember
events from then on: small searches never ask.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from porcini.core.events import Event, Move
from porcini.core.execution import Execution
from porcini.core.footprints import NOWHERE, Footprint, Location
from porcini.engines.races import Race

_MOST = 100_000
_Origins = list[tuple[Location, int]]


class Undiscovered(Footprint):
    """The footprint of a step at a place where it has not been run: found out when somebody asks.

    `surely` are the locations of which it touches at least one: it does what it did after the event that it raced
    with, until it reads something which that event wrote.
    """

    __slots__ = ("_found", "_run", "_surely")
    _found: Footprint | None
    _run: Callable[[], Event]
    _surely: frozenset[Location]

    def __init__(self, run: Callable[[], Event], surely: frozenset[Location]) -> None:
        for name, value in (("_found", None), ("_run", run), ("_surely", surely)):
            object.__setattr__(self, name, value)  # footprints are frozen

    @property
    def found(self) -> Footprint:
        found = self._found
        if found is None:
            found = self._run().footprint
            object.__setattr__(self, "_found", found)
        return found

    def conflicts(self, other: Footprint) -> bool:
        if isinstance(other, Undiscovered):
            other = other.found
        return bool(self._surely and self._surely <= other.writes) or self.found.conflicts(other)

    reads = property(lambda self: self.found.reads)
    writes = property(lambda self: self.found.writes)
    opaque = property(lambda self: self.found.opaque)


def _touched_first(step: Footprint, before: Footprint) -> frozenset[Location]:
    """The locations of which a step touches at least one where an event has not happened; empty if none is known.

    It does what it did until it reads something which the event wrote."""
    if step.opaque or before.opaque:
        return NOWHERE
    return before.writes & step.reads or before.writes & step.writes


class Foresight:
    """What the steps of wakeup sequences touch, in a search through `execution`; `replay` runs a step after the
    first so many events and some later ones."""

    def __init__(self, execution: Execution, replay: Callable[[int, Sequence[Move]], Event]) -> None:
        self._execution = execution
        self._replay = replay
        self._remembers = False
        self._numbers: list[int] = []
        self._known: dict[Hashable, int] = {}
        self._seen: dict[Hashable, list[tuple[_Origins, Event]]] = {}

    def moved(self, race: Race, between: Sequence[int]) -> Event:
        """The step of a race before the event that it raced with, and after what stands between.

        What is undiscovered is asked for at the end of a run only, and while the search is below that place.
        """
        found = self._recall(race, between) if self._remembers else None
        if found is not None:
            return found
        events = self._execution.events
        moves = [events[k].move for k in (*between, race.step)]

        def run() -> Event:
            if not self._remembers:
                self._remembers = True
                self.note(0)
            return self._replay(race.at, moves)

        step = events[race.step]
        surely = _touched_first(step.footprint, events[race.at].footprint)
        return Event(step.pid, step.choice, step.label, Undiscovered(run, surely))

    def note(self, first_new: int) -> None:
        """Remember the events of the current execution, of which those before `first_new` were there before."""
        if not self._remembers:
            return
        execution, numbers = self._execution, self._numbers
        if len(self._known) > _MOST:
            self._known.clear()
            self._seen.clear()
            numbers.clear()
        del numbers[first_new:]
        start, events = len(numbers), execution.events
        last: dict[Location, int] = {}  # who wrote it last, as far as we had to know
        opaque: int | None = None
        for j in range(start, len(events)):
            foot = events[j].footprint
            if foot.opaque:  # depends on all that happened
                before = execution.last_opaque(j)
                opaque = self._number(
                    (self._process(j), self._number_of(before), frozenset(numbers[before + 1 :]))
                )
                numbers.append(opaque)
                last.clear()
                continue
            origins: _Origins = []
            for location in (*foot.reads, *foot.writes):
                origin = last.get(location)
                if origin is None:
                    origin = self._number_of(execution.last_writer(location, start)) if opaque is None else opaque
                    last[location] = origin
                origins.append((location, origin))
            process = self._process(j)
            key = process, frozenset(origins)
            if key not in self._known:
                self._seen.setdefault(process, []).append((origins, events[j]))
            number = self._number(key)
            numbers.append(number)
            for location in foot.writes:
                last[location] = number

    def _number(self, key: Hashable) -> int:
        return self._known.setdefault(key, len(self._known) + 1)

    def _recall(self, race: Race, between: Sequence[int]) -> Event | None:
        """An event of an earlier run that the step of a race would be."""
        writer, at = self._execution.last_writer, race.at
        there: dict[Location, int] = {}
        for origins, event in self._seen.get(self._process(race.step), ()):
            for location, origin in origins:
                found = there.get(location)
                if found is None:
                    found = there[location] = self._number_of(writer(location, at, between))
                if found != origin:
                    break
            else:
                return event
        return None

    def _process(self, position: int) -> Hashable:
        """What the process of an event knows before it."""
        event = self._execution.events[position]
        return event.move, tuple(map(self._number_of, self._execution.causes(position)))

    def _number_of(self, position: int) -> int:
        return self._numbers[position] if position >= 0 else 0
