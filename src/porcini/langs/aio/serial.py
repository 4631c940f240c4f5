"""Is a run with guarded locks one with asyncio's own, or equivalent to one? (`sections`, lemmas 3 and 5.)

    is_plain        it is one, as it is
    plain_order     an order of its events that is one: a search, which gives up after so many tries
    plain_schedule  the schedule of such an order, as asyncio's locks take steps

asyncio's own lock is simulated: who comes stands in line. If it is the first there, taking it comes next; else it
is its turn when it has become the first. (A semaphore has more places than one.) An order that does so, and in
which every event comes after all that happens before it, is a run with asyncio's locks that is equivalent to the
one that was made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from porcini.core.events import Event, Schedule
from porcini.core.execution import Dependence, Execution
from porcini.core.footprints import Location
from porcini.langs.aio.processes import Process

MOST_TRIES = 1_000


@dataclass(slots=True, eq=False)
class Section:
    """Of a task, by the positions of the events that come to a lock, take it and leave it."""

    lock: Location
    ordered: bool
    process: Process
    come: int
    free: bool
    """Was there a place, so that it need not wait?"""
    places: int = 1
    """How many may have the lock at a time: more than one if it is a semaphore."""
    take: int | None = None
    leave: int | None = None
    future: asyncio.Future[bool] | None = None


What = Literal["come", "take", "leave"]
Deed = tuple[int, What, Section]
"""At a position, what is done about a section."""
_Lines = dict[Location, tuple[Section, ...]]


def is_plain(sections: Sequence[Section]) -> bool:
    """Did everybody who found a lock free take it next, and did nobody else come to one that is unordered?"""
    return all(s.take == s.come + 1 or s.take is None if s.free else s.ordered for s in sections)


def plain_schedule(events: Sequence[Event], deeds: Sequence[Deed]) -> Schedule | None:
    """The schedule of an order with asyncio's own locks: what is taken at once is no step of its own."""
    found = plain_order(events, deeds)
    if found is None:
        return None
    order, at_once = found
    return tuple([events[k].move for k in order if k not in at_once])


def plain_order(events: Sequence[Event], deeds: Sequence[Deed]) -> tuple[list[int], set[int]] | None:
    """The positions of all events, in an order with asyncio's own locks, and those that are part of the step
    before them; None if no such order was found."""
    execution = Execution(Dependence())
    for event in events:
        execution.push(event)
    at: dict[int, list[Deed]] = {}
    for deed in deeds:
        at.setdefault(deed[0], []).append(deed)
    return _Simulation(execution.past, at).search()


class _Simulation:
    """A depth-first search for an order, which tries the order that was run first."""

    def __init__(self, past: Sequence[int], deeds: dict[int, list[Deed]]) -> None:
        self._past = past
        self._deeds = deeds
        self._order: list[int] = []
        self._at_once: list[int] = []
        self._seen: set[tuple[object, ...]] = set()

    def search(self) -> tuple[list[int], set[int]] | None:
        done, lines, next_one = 0, dict[Location, tuple[Section, ...]](), -1
        trail = [(done, lines, next_one, self._candidates(done, next_one))]
        while trail:
            if len(self._order) == len(self._past):
                return self._order, {k for k in self._at_once if k >= 0}
            if len(self._seen) > MOST_TRIES:
                return None
            done, lines, next_one, left = trail[-1]
            if not left:
                trail.pop()
                if trail:
                    self._order.pop()
                    self._at_once.pop()
                continue
            k = left.pop()
            after = self._lines_after(k, lines)
            if after is None:
                continue
            here = done | 1 << k, after[1], frozenset(after[0].items())
            if here in self._seen:
                continue
            self._seen.add(here)
            self._order.append(k)
            self._at_once.append(k if k == next_one else -1)
            trail.append((done | 1 << k, *after, self._candidates(done | 1 << k, after[1])))
        return None

    def _candidates(self, done: int, next_one: int) -> list[int]:
        """What may come next, the one that was run first last; only one of them where a lock is taken at once."""
        if next_one >= 0:
            return [] if self._past[next_one] & ~done else [next_one]
        return [k for k, past in enumerate(self._past) if not (done >> k & 1 or past & ~done)][::-1]

    def _lines_after(self, k: int, lines: _Lines) -> tuple[_Lines, int] | None:
        """Who is in line after an event, and which event must follow at once, or -1; None if it cannot happen."""
        follows = -1
        for _, what, section in self._deeds.get(k, ()):
            line = lines.get(section.lock, ())
            if what == "come":
                if len(line) < section.places and section.take is not None:
                    follows = section.take
                line = (*line, section)
            elif section not in line[: section.places]:
                return None
            elif what == "leave":
                line = tuple([other for other in line if other is not section])
            lines = {**lines, section.lock: line}
        return lines, follows
