"""What a search has found so far: counts, outcomes with one example each, limits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from porcini.core.errors import LimitHit
from porcini.core.events import Event
from porcini.core.reports import BitstateCoverage, Counts, Outcome, Stopped
from porcini.core.systems import Final, Observed
from porcini.core.traces import Trace
from porcini.engines.limits import Clock, Limits

Outcomes = tuple[Outcome, ...]
Watcher = Callable[["SearchStats"], None]
"""It is called now and then, for a progress line."""

T = TypeVar("T")
_BETWEEN_REPORTS = 256


class FirstViolation(Exception):
    """Raised inside an engine to stop at the first violation, when that is wanted."""


@dataclass(slots=True)
class _OutcomeExample:
    final: Final
    trace: Trace
    executions: int = 0


@dataclass(slots=True)
class SearchStats:
    """Engines report here: `step` for each event fired, `complete` for each run, `cut` for one too long."""

    limits: Limits = field(default_factory=Limits)
    observe: frozenset[str] | None = None
    violated: Callable[[Outcomes], bool] | None = None
    watch: Watcher | None = None
    hear: Callable[[SearchStats, Sequence[Event]], None] | None = None
    """It is called with each complete run of an engine that runs one after the other."""
    progress: Callable[[], float] | None = None
    counts: Counts = field(default_factory=Counts)
    stopped: Stopped = "exhausted"
    limit: str | None = None
    interrupted: bool = False
    reduction: str | None = None
    """For a search that keeps states: how its graph was reduced."""
    machine: str | None = None
    """For such a search of a packed program: the machine that takes the steps."""
    bitstate: BitstateCoverage | None = None
    """For a bitstate search: what it saw."""
    notes: tuple[str, ...] = ()
    """What a user should know about the search."""
    exact: bool = True
    """For such a search: are outcomes kept apart that differ only in names, and in what is unreachable?"""
    selection: str | None = None
    """For a search by actors: how actors and tasks were selected."""
    seconds: float = 0.0
    _seen: dict[Hashable, _OutcomeExample] = field(default_factory=dict)
    _classes: set[Hashable] = field(default_factory=set)
    _full: bool = False
    _parts: tuple[int, int] = (0, 1)
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = self.limits.clock()

    def explore(self, search: Callable[[SearchStats], None]) -> None:
        """Run a search to its end, or to a limit, the first violation or an interrupt."""
        try:
            search(self)
        except LimitHit as hit:
            self.stopped, self.limit = "limit", str(hit)
        except RecursionError:  # values of the program that are nested deeper than Python can compare or show
            self.stopped, self.limit = "limit", f"the limit of {sys.getrecursionlimit():,} nested calls"
        except FirstViolation:
            self.stopped = "first-violation"
        except KeyboardInterrupt:
            self.stopped, self.limit, self.interrupted = "limit", "an interrupt", True
        self.seconds = self.clock.seconds

    def restart(self) -> SearchStats:
        """Fresh stats for a search that has to start again, in the time that is left."""
        fresh = SearchStats(self.limits, self.observe, violated=self.violated, watch=self.watch, hear=self.hear)
        fresh.clock = self.clock
        return fresh

    def begin_part(self, done: int, known: int) -> None:
        """A search has another program to explore, of which so many are done and known: the same class is another
        one there."""
        self._classes.clear()
        self._parts = done, known

    def begin_again(self) -> None:
        """Forget what was found: another machine starts the same search from its beginning."""
        self.counts = Counts()
        self._seen.clear()
        self._classes.clear()

    def step(self) -> None:
        self.counts.events += 1
        self.counts.states += 1
        if self._full:
            raise LimitHit(f"the limit of {self.limits.max_executions:,} executions")
        if self.limits.timeout is not None:
            self.clock.check()
        if self.watch and self.counts.events % _BETWEEN_REPORTS == 0:
            self.watch(self)

    def cut(self) -> None:
        """Give up a run that is longer than allowed; if the search goes on, it can no longer prove anything."""
        self.stopped, self.limit = "limit", f"the depth limit of {self.limits.depth:,} steps"
        if self.limits.max_depth is None:
            raise LimitHit(self.limit)

    def leave_out(self, limit: str) -> None:
        """Note that something was left out on purpose: the search goes on, but can no longer prove anything."""
        self.stopped, self.limit = "limit", limit

    def check_limits(self) -> None:
        """Stop a search that does its own counting if a limit is reached; report progress."""
        if self._full:
            raise LimitHit(f"the limit of {self.limits.max_executions:,} executions")
        self.clock.check()
        if self.watch:
            self.watch(self)

    def complete(
        self,
        events: Sequence[Event] | Callable[[], Sequence[Event]],
        final: Final,
        name: Hashable,
        ended: Callable[[Sequence[Event]], Final] | None = None,
    ) -> None:
        """Report a complete run: its events, or a function that computes them if they are needed as an example.
        `name` is its class; engines that never repeat a class pass None. `ended` gives the end of the example,
        where its names differ from those in `final`."""
        self.counts.executions += 1
        if self.hear is not None and not callable(events):
            self.hear(self, events)
        if name is None:
            self.counts.classes += 1
        elif name not in self._classes:
            self._classes.add(name)
            self.counts.classes += 1
        final = self.project(final)
        key = (final.kind, *final.state.items())
        seen = self._seen.get(key)
        if seen is None:
            trace = Trace(events() if callable(events) else events)
            if ended is not None:
                final = self.project(ended(trace))
            seen = self._seen[key] = _OutcomeExample(final, trace)
        seen.executions += 1
        if self.violated and seen.executions == 1 and self.violated(self.outcomes):
            raise FirstViolation
        if self.counts.executions == self.limits.max_executions:
            self._full = True  # this was the last one allowed: the next step stops the search

    def project(self, final: Final) -> Final:
        """The end of a run, with the observed variables only."""
        if self.observe is None:
            return final
        return Final(final.kind, keep_observed(final.state, self.observe), final.waiting)

    def rewrite_examples(self, rewrite: Callable[[Trace, Final], tuple[Trace, Final]]) -> None:
        """Let another run that ends in the same way be the example of each outcome."""
        for seen in self._seen.values():
            trace, final = rewrite(seen.trace, seen.final)
            seen.trace, seen.final = trace, self.project(final)

    @property
    def estimated_executions(self) -> float | None:
        """An estimate of the number of all runs, from the part of the search tree that is done."""
        before, known = self._parts
        done = (before + self.progress()) / known if self.progress else 0.0
        return self.counts.executions / done if done else None

    @property
    def outcome_count(self) -> int:
        return len(self._seen)

    @property
    def outcomes(self) -> Outcomes:
        """All outcomes, sorted by kind and state: the order of the search does not matter."""
        return tuple(
            Outcome.of(s.trace, s.final, s.executions)
            for s in sorted(self._seen.values(), key=lambda s: (s.final.kind, _rank(s.final.state)))
        )


def _rank(state: Mapping[str, Observed]) -> list[tuple[object, ...]]:
    """A key that sorts states with any values: numbers as numbers, everything else as text."""
    return [
        (name, 0, value) if isinstance(value, int) else (name, 1, repr(value)) for name, value in state.items()
    ]


def keep_observed(state: Mapping[str, T], observe: frozenset[str]) -> dict[str, T]:
    """The observed variables of a state. A field is observed by its own name, or by its name without the
    object."""
    return {name: value for name, value in state.items() if name in observe or name.rpartition(".")[2] in observe}
