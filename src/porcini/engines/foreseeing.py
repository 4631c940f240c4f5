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
from itertools import count

from porcini.core.events import Event, Move
from porcini.core.execution import Execution
from porcini.core.footprints import OPAQUE, Footprint, Location
from porcini.engines.races import Race

_MOST = 100_000
_Origins = tuple[tuple[Location, int], ...]


class Untried(Event):
    """A step that was moved before an event, to a place where it has not been run. What it touches there is found
    out when somebody asks."""

    __slots__ = ("_found", "_run", "surely")
    _found: Footprint | None
    _run: Callable[[], Event]
    surely: frozenset[Location]
    """It touches at least one of these."""

    def __init__(self, step: Event, before: Event, run: Callable[[], Event]) -> None:
        put = object.__setattr__  # events are frozen
        written, foot = before.footprint.writes, step.footprint
        put(self, "_found", None)
        put(self, "_run", run)
        put(self, "surely", written & foot.reads or written & foot.writes)
        super().__init__(step.pid, step.choice, step.label, OPAQUE)

    def _footprint(self) -> Footprint:
        found = self._found
        if found is None:
            found = self._run().footprint
            object.__setattr__(self, "_found", found)
        return found

    footprint = property(_footprint, lambda self, value: None)


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
        self._next = count(1)

    def moved(self, race: Race, between: Sequence[int]) -> Event:
        """The step of a race before the event that it raced with, and after what stands between.

        What an untried one touches is asked for at the end of a run only, and while the search is below there.
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

        return Untried(events[race.step], events[race.at], run)

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
        for j in range(len(numbers), len(execution)):
            event = execution.events[j]
            foot = event.footprint
            if foot.opaque:
                numbers.append(next(self._next))
                continue
            process = self._process(j)
            writer = execution.last_writer
            origins = tuple([(x, self._number_of(writer(x, j))) for x in (*foot.reads, *foot.writes)])
            key = process, frozenset(origins)
            number = self._known.get(key)
            if number is None:
                number = self._known[key] = next(self._next)
                self._seen.setdefault(process, []).append((origins, event))
            numbers.append(number)

    def _recall(self, race: Race, between: Sequence[int]) -> Event | None:
        """An event of an earlier run that the step of a race would be."""
        writer, number, at = self._execution.last_writer, self._number_of, race.at
        for origins, event in self._seen.get(self._process(race.step), ()):
            for location, origin in origins:
                if number(writer(location, at, between)) != origin:
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
