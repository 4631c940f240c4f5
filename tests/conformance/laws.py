"""What must hold of every generated program, for engines and for judges.

    compared     the judge's classes and outcomes against those of every engine that promises all of them:
                 the same classes, each run once, the same outcomes, and nothing given up under `optimal`
    agreeing     the same for programs whose classes no judge counts: engines against each other, outcomes
                 against the judge's
    commuting    the same with semantic independence, where only the number of classes can be compared

The judge counts classes by independence and outcomes without it, so it also notices where its own idea of what a
step touches is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from conformance import oracle
from helpers import Collecting, class_of
from porcini import InternalError, Limits
from porcini.core.reports import Counts
from porcini.core.systems import Program
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.semantic import SemanticDependence

COMPLETE = ("optimal", "source", "dpor", "sleep")
MOST_RUNS = 3_000
"""Programs with more classes than this are left to others."""


class Broken(AssertionError):
    """A law that does not hold."""


@dataclass(frozen=True, slots=True)
class Search:
    """An engine, with its options, and what it promises: each class once, or at least once."""

    engine: str
    options: Options | None = None
    once: bool = True

    def __str__(self) -> str:
        by_actors = self.options is not None and self.engine == "transdpor"
        return f"{self.engine} ({self.options.actors}, {self.options.tasks})" if by_actors else self.engine


SEARCHES = tuple(map(Search, COMPLETE))


def ran(system: Program, search: Search, most: int) -> Collecting | None:
    """All runs of a search; None if there are more than `most`."""
    stats = Collecting(Limits(max_executions=most))
    try:
        stats.explore(lambda stats: ENGINES[search.engine](system, stats, search.options or Options()))
    except InternalError as problem:
        raise Broken(f"{search}: {problem}") from problem
    return stats if stats.stopped == "exhausted" else None


def _lost(search: Search) -> Broken:
    return Broken(f"{search} does not come to an end")


def compared(
    system: Program,
    machine: oracle.Machine,
    show: Callable[[Collecting], Iterable[oracle.Outcome]],
    searches: Sequence[Search] = SEARCHES,
    most: int = MOST_RUNS,
) -> int:
    """How many classes a program has, by the judge and by all engines; `oracle.TooMany` if there are too many."""
    wanted = oracle.classes(machine, most=20 * most)
    if len(wanted) > most:
        raise oracle.TooMany
    outcomes = oracle.outcomes(machine)
    if set(wanted.values()) != outcomes:
        raise Broken("the judge's classes and its states disagree about the outcomes")
    for search in searches:
        stats = ran(system, search, 5 * most)
        if stats is None and search.once:
            # A step that fails counts as having done all of its stretch of code, so that there may be many more
            # classes than the judge's.
            raise oracle.TooMany if any(kind in ("error", "assertion") for kind, _ in outcomes) else _lost(search)
        if stats is None:  # it may come to the same class any number of times
            continue
        words = [oracle.normal_form(machine, trace.schedule) for trace, _, _ in stats.runs]
        _check(search, words, set(wanted), stats)
        if set(show(stats)) != outcomes:
            raise Broken(f"{search}: other outcomes than the judge's")
    return len(wanted)


def agreeing(
    system: Program,
    outcomes: set[oracle.Outcome],
    show: Callable[[Collecting], Iterable[oracle.Outcome]],
    searches: Sequence[Search] = SEARCHES,
    most: int = MOST_RUNS,
) -> int:
    """How many classes a program has, by all engines; the outcomes are the judge's."""
    classes: set[object] | None = None
    for search in searches:
        stats = ran(system, search, most if classes is None else 5 * most)
        if stats is None:
            raise oracle.TooMany if classes is None else _lost(search)
        words = [class_of(trace) for trace, _, _ in stats.runs]
        classes = set(words) if classes is None else classes
        _check(search, words, classes, stats)
        if set(show(stats)) != outcomes:
            raise Broken(f"{search}: other outcomes than the judge's")
    return len(classes or ())


def commuting(
    system: Program,
    outcomes: set[oracle.Outcome],
    show: Callable[[Collecting], Iterable[oracle.Outcome]],
    searches: Sequence[Search] = SEARCHES,
    most: int = MOST_RUNS,
) -> int:
    """How many classes a program has if steps that provably commute are independent: by all engines as many, each
    run once, with the judge's outcomes."""
    classes: int | None = None
    options = Options(dependence=SemanticDependence())
    for search in searches:
        stats = ran(system, replace(search, options=options), most if classes is None else 5 * most)
        if stats is None:
            raise oracle.TooMany if classes is None else _lost(search)
        classes = stats.counts.classes if classes is None else classes
        check_counts(search, stats.counts, classes)
        if set(show(stats)) != outcomes:
            raise Broken(f"{search}: other outcomes than the judge's, with semantic independence")
    return classes or 0


def _check(search: Search, words: Sequence[object], wanted: set[object], stats: Collecting) -> None:
    seen = set(words)
    if seen != wanted:
        raise Broken(f"{search}: {len(seen & wanted)} of {len(wanted)} classes, and {len(seen - wanted)} others")
    # of the engine's own classes: a footprint may be larger than the judge's
    check_counts(search, stats.counts, len({class_of(trace) for trace, _, _ in stats.runs}))


def check_counts(search: Search, counts: Counts, classes: int) -> None:
    if counts.classes != classes:
        raise Broken(f"{search}: {counts.classes} classes where there are {classes}")
    if search.once and counts.executions != classes:
        raise Broken(f"{search}: {counts.executions} runs for {classes} classes")
    if search.engine == "optimal" and counts.blocked:
        raise Broken(f"{search}: {counts.blocked} runs were given up")
