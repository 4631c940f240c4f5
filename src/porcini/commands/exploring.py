"""`explore` and `compare`: every class of executions, by one engine or by all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from porcini.commands.needs import COMMANDS
from porcini.commands.reporting import MOST_REORDERED, build_report, look_up, moves_of
from porcini.commands.requests import Request
from porcini.core.errors import InputError, InternalError, ScheduleError
from porcini.core.events import Schedule
from porcini.core.execution import Dependence
from porcini.core.reports import Report
from porcini.core.systems import Program
from porcini.engines.catalogue import ENGINES, Engine, engines_by_rank
from porcini.engines.options import PARTICULAR, USUAL, Independence, Options, particular
from porcini.engines.replaying import replay
from porcini.engines.stats import SearchStats
from porcini.properties.outcomes import EXPLORED, first_violated

ADVICE = "`--engine pct` or `random` may still find what goes wrong in a program that is too large or endless"
FAILS_AGAIN = "the schedule that was tried first fails"
_INDEPENDENCES = dict.fromkeys(get_args(Independence))


def explore(request: Request) -> Report:
    """Explore every class of executions: is the outcome always the same, does none deadlock, does none fail?"""
    subject, question, name = request.subject, request.question, request.engine or USUAL["explore"]
    engine = ENGINES[name]
    subject.capabilities.require(f"engine `{name}`", engine.needs, subject.file)
    dependence = _dependence(request, name)
    options = replace(request.options, dependence=dependence)
    _refuse_unused(options, engine)
    wanted = subject.wanted(question)
    look_up("property", wanted[0], dict.fromkeys(EXPLORED))
    trying = _ScheduleFirst(engine, moves_of(request.following.schedule) if question.first else ())
    with subject.opened(optimise=engine.keeps_states and options.optimise) as opened:
        stats = SearchStats(request.limits, subject.observed, watch=request.watch)
        if question.first:
            stats.violated = lambda outcomes: first_violated(wanted, outcomes) is not None
        stats = opened.search(replace(engine, search=trying), stats, options)
        violation = first_violated(wanted, stats.outcomes)
        report = build_report(
            subject,
            "explore",
            stats,
            engine=name,
            independence=request.independence,
            property=violation[0] if violation else ", ".join(wanted),
            counterexample=opened.simplified(violation[1], stats) if violation else None,
            notes=(
                *dependence.notes(),
                *opened.notes(),
                *note_weaker_reduction(request, stats),
                *_note_merged_outcomes(stats),
                *([ADVICE] if violation is None and _could_be_sampled(stats, engine) else []),
                *([FAILS_AGAIN] if trying.fails else []),
            ),
            coverage=opened.coverage(),
        )
        if stats.exact:
            reordered = report.counterexample.runs if report.counterexample else ()
            runs = (*report.outcomes[:MOST_REORDERED], *reordered)
            if engine.keeps_states:  # its steps may have been merged, and schedules are for the original program
                with subject.opened() as plain:
                    plain.confirm(runs)
            else:
                opened.confirm(runs)
    return opened.explained(report)


def _refuse_unused(options: Options, engine: Engine) -> None:
    """An option that is silently ignored would seem to have an effect."""
    for option in particular(options):
        if option not in engine.takes:
            known = ", ".join(f"`{name}`" for name, other in ENGINES.items() if option in other.takes)
            raise InputError(f"{PARTICULAR[option]} is for engine {known}")


class _ScheduleFirst:
    """A search that tries one schedule before all others, if one is given; that run counts if it fails."""

    def __init__(self, engine: Engine, schedule: Schedule) -> None:
        self.engine, self.schedule = engine, schedule
        self.fails = False

    def __call__(self, program: Program, stats: SearchStats, options: Options) -> None:
        if self.schedule and not stats.counts.executions:
            self._try(program, stats)
        self.engine(program, stats, options)

    def _try(self, program: Program, stats: SearchStats) -> None:
        try:
            trace, run = replay(program, self.schedule)
        except ScheduleError:
            return  # the program has changed since the schedule was recorded
        final = run.final()
        self.fails = final.kind != "terminated"
        if self.fails:
            stats.complete(trace, final, None)


def _dependence(request: Request, engine: str) -> Dependence:
    look_up("independence", request.independence, _INDEPENDENCES)
    if request.independence == "syntactic":
        return Dependence()
    needs = COMMANDS["explore --independence semantic"]
    request.subject.capabilities.require("semantic independence", needs, request.subject.file)
    if not ENGINES[engine].takes_independence:
        raise InputError(f"engine `{engine}` knows syntactic independence only")
    from porcini.engines.semantic import SemanticDependence  # which imports a solver

    return SemanticDependence()


def note_weaker_reduction(request: Request, stats: SearchStats) -> tuple[str, ...]:
    """A note if the reduction that was asked for is not available for the language."""
    wanted, able = request.options.reduction, request.subject.capabilities
    if wanted is None or wanted == "none" or "reduction" in able or stats.reduction in (None, wanted):
        return ()
    return (f"no {wanted} sets for {able.programs}: {able.lacks['reduction']}",)


def _note_merged_outcomes(stats: SearchStats) -> tuple[str, ...]:
    """A note if outcomes that differ only in names were merged, because a program may create names for ever."""
    if stats.exact or not stats.outcomes:
        return ()
    return ("outcomes are one if they differ only in names, or in objects that nobody refers to any more",)


def _could_be_sampled(stats: SearchStats, engine: Engine) -> bool:
    """Was this a search through runs that took too long to come to an answer?"""
    return stats.stopped == "limit" and not (stats.interrupted or engine.samples or engine.keeps_states)


class Disagreement(InternalError):
    """Two engines that explored everything got different results: at least one of them is wrong. `reports` has the
    reports of all engines."""

    def __init__(self, message: str, reports: Sequence[Report]) -> None:
        super().__init__(message)
        self.reports = reports


def compare(request: Request) -> list[Report]:
    """Explore with every complete engine that supports the program. Those that finish must agree in verdict,
    classes and outcomes, or this raises `Disagreement`."""
    able = request.subject.capabilities
    reports = [
        explore(replace(request, engine=name, options=options))
        for name, engine in engines_by_rank()
        if engine.complete and able.missing(engine.needs) is None
        for options in engine.selections
    ]
    ended = [report for report in reports if report.stopped == "exhausted"]
    for report in ended[1:]:
        if _compared_results(report) != _compared_results(ended[0]):
            raise Disagreement(f"engines disagree: {_describe(ended[0])}, but {_describe(report)}", reports)
    return reports


def _compared_results(report: Report) -> tuple[object, ...]:
    """What all engines must agree on."""
    outcomes = frozenset((outcome.kind, *outcome.state.items()) for outcome in report.outcomes)
    return report.verdict, report.counts.classes, outcomes


def _describe(report: Report) -> str:
    engine = f"{report.engine} ({report.selection})" if report.selection else report.engine
    return f"`{engine}`: {report.verdict}, {len(report.outcomes)} outcomes, {report.counts.classes:,} classes"
