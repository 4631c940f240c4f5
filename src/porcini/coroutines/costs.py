"""What the schedules of a search were for, and what would help one that hit a limit.

A search goes depth first, so each run parts from the run before it at one step: there a step `e` went, and now
others go, up to one that conflicts with `e`. To try these two in the other order is what the run is for. What both
of them touch is charged with it; or, if one of them is opaque, whatever made it so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from porcini.core.events import Event
from porcini.core.footprints import Footprint, Location
from porcini.core.pids import Pid
from porcini.core.reports import Advice, Coverage, Unfinished
from porcini.coroutines.notes import show_reason
from porcini.coroutines.steady import SteadyProgram
from porcini.engines.stats import SearchStats
from porcini.formats.lanes import short_names

_MOST_NAMED = 3
_WITHIN_REACH = 20
"""A search is worth going on with if there are at most so many times as many schedules as it has seen."""


class Costs:
    """Listens to a search."""

    def __init__(self, program: SteadyProgram) -> None:
        self._program = program
        self._last: list[Event] = []
        self._locations: Counter[Location] = Counter()
        self._opaque: Counter[str] = Counter()
        self._met: dict[Location, set[Pid]] = {}

    def hear(self, stats: SearchStats, events: Sequence[Event]) -> None:
        """A run is complete."""
        last, self._last = self._last, list(events)
        if stats.counts.executions == 1:  # the search has begun, or has begun again
            self._locations.clear()
            self._opaque.clear()
            self._met.clear()
            return
        for at, (old, new) in enumerate(zip(last, events, strict=False)):
            if old is not new and old.move != new.move:
                self._charge(old, events[at:])
                return

    def _charge(self, first: Event, others: Sequence[Event]) -> None:
        for event in others:
            if event.pid == first.pid:
                return
            if event.footprint.conflicts(first.footprint):
                self._charge_conflict(first, event)
                return

    def _charge_conflict(self, one: Event, other: Event) -> None:
        for event in (one, other):
            if event.footprint.opaque:
                reason = self._program.reasons.get(event.label, str(event.label))
                self._opaque[show_reason(reason)] += 1
                return
        for location in _shared(one.footprint, other.footprint):
            self._locations[location] += 1
            self._met.setdefault(location, set()).update((one.pid, other.pid))

    def unfinished(self, stats: SearchStats, coverage: Coverage) -> Unfinished:
        """What is known of a search that hit a limit."""
        seen, estimate = stats.counts.executions, stats.estimated_executions
        dearest = self._locations.most_common(_MOST_NAMED)
        names = short_names([location for location, _ in dearest])
        in_all = max(int(estimate), seen + 1) if estimate and seen else None
        return Unfinished(
            in_all,
            tuple((names[location], times) for location, times in dearest),
            tuple(self._opaque.most_common(_MOST_NAMED)),
            len(self._met[dearest[0][0]]) if dearest else 0,
            tuple(self._advice(seen, in_all, coverage)),
        )

    def _advice(self, seen: int, in_all: int | None, coverage: Coverage) -> Iterator[Advice]:
        opaque, located = self._opaque.total(), self._locations.total()
        if coverage.packages and opaque >= located:
            yield "follow"
        if in_all is not None and in_all <= _WITHIN_REACH * seen:
            yield "longer"
        elif located > opaque:
            yield "smaller"
        yield "sample"


def _shared(one: Footprint, other: Footprint) -> list[Location]:
    """The locations for which two steps conflict; those that users have names for, if there are any."""
    found = (one.writes & (other.reads | other.writes)) | (one.reads & other.writes)
    users = [location for location in found if not location.startswith(("task ", "future ", "handle "))]
    return sorted(users or found)


def describe(coverage: Coverage) -> Iterator[str]:
    """How much is left, and what was dear."""
    unfinished = coverage.unfinished
    assert unfinished is not None
    if unfinished.estimate is not None:
        yield f"there are about {_rounded(unfinished.estimate)} schedules, or more"
    dear = [f"{name} ({times:,})" for name, times in unfinished.locations]
    if dear:
        yield f"most schedules were for other orders at {', '.join(dear)}"
    opaque = [f"{name} ({times:,})" for name, times in unfinished.opaque]
    if opaque:
        yield f"schedules that opaque steps cost: {', '.join(opaque)}"
    if "smaller" in unfinished.advice and unfinished.tasks:
        name = unfinished.locations[0][0]
        yield f"at least {unfinished.tasks} tasks meet at {name}: with fewer of them the test may come to its end"


def _rounded(number: int) -> str:
    """Two digits of it: an estimate is not more exact."""
    unit = 10 ** max(len(str(number)) - 2, 0)
    text = f"{number // unit * unit:,}"
    return text if number < 10**12 else f"{number:.0e}".replace("e+", " times 10 to the ")
