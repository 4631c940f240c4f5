"""`check --search PATTERN`: which states can be reached that look like this?

A search is asked for what should not be: a state that is found is a violation, with the shortest run that leads to
it, and `holds` means that there is none. That is what exit status 0 and 1 mean everywhere else, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from porcini.commands.needs import require
from porcini.commands.reporting import build_report
from porcini.commands.requests import Request
from porcini.core.errors import InputError
from porcini.core.events import Schedule
from porcini.core.languages import FindingOptions
from porcini.core.reports import Report, Solution, Solutions
from porcini.core.systems import System
from porcini.core.traces import Trace
from porcini.engines.limits import BETWEEN_LOOKS
from porcini.engines.options import USUAL
from porcini.engines.replaying import follow
from porcini.engines.stats import FirstViolation, SearchStats
from porcini.properties.outcomes import verdict


def search(request: Request, pattern: str) -> Report:
    """All states that match a pattern, with what its variables stand for, and the ways to the first of them."""
    require("check --search PATTERN", request.subject)
    model, options = request.subject.model, request.options
    checker = model.checker
    if request.engine == USUAL["check"] and checker is not None:
        raise InputError(f"patterns are searched for by {checker.title}", hint=f"--engine {checker.name}")
    if options.fair:
        raise InputError("fairness is about runs for ever, and a search for states is not")
    system, stats = request.subject.system(), SearchStats(request.limits, watch=request.watch)
    finder = model.finder(system, pattern, None if options.reduction == "none" else options.ample)
    stats.reduction = "ample" if finder.reduced else "none"
    asked = FindingOptions(stats.limits.states, stats.limits.depth, _looking(stats), request.question.first)

    def work(_: SearchStats) -> None:
        finder.search(asked)
        if asked.first and finder.found().solutions:
            raise FirstViolation

    stats.explore(work)
    found = finder.found()
    first = tuple(_solution(system, schedule, binding) for schedule, binding in found.runs)
    notes = (*model.notes, *system.runtime_notes())
    if finder.why_not_reduced is not None and options.reduction != "none":
        notes = (*notes, f"no reduction: {finder.why_not_reduced}")
    name = checker.name if checker is not None else None
    report = build_report(request.subject, "check", stats, engine=name, property=f"search {pattern}", notes=notes)
    solutions = Solutions(pattern, found.solutions, found.states, found.exact, first)
    said = verdict(found.solutions > 0, stats.stopped == "exhausted")
    return replace(report, search=solutions, verdict=said)


def _looking(stats: SearchStats) -> Callable[[int], None]:
    def look(states: int) -> None:
        stats.counts.states = states
        if states % BETWEEN_LOOKS == 0:
            stats.check_limits()

    return look


def _solution(system: System, schedule: Schedule, binding: Mapping[str, str]) -> Solution:
    """The run, step by step: what is printed has been replayed."""
    run = system.start()
    trace = Trace(follow(run, schedule))
    return Solution(trace, system.variables(run), binding)
