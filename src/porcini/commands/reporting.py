"""How the results of searches and runs become reports, and how all commands handle schedules and names.

build_report      a report of what a search has counted
report_one_run    a report of one run: it holds when the run terminated
locate_errors     errors about a schedule that was given as text say where they are in the text
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

from porcini.core.errors import InputError, ScheduleError
from porcini.core.events import Schedule
from porcini.core.languages import Model
from porcini.core.reports import Counterexample, Coverage, Outcome, Report, TraceEntry
from porcini.engines.options import USUAL
from porcini.engines.replaying import RunResult
from porcini.engines.stats import SearchStats
from porcini.formats.schedules import locate, parse_schedule
from porcini.properties.outcomes import EXPLORED, verdict
from porcini.properties.shrink import reorder_in_long_turns
from porcini.subjects import Opened, Subject

T = TypeVar("T")

MOST_REORDERED = 20


class About(Protocol):
    """What a report is about."""

    @property
    def file(self) -> str: ...

    @property
    def language(self) -> str: ...


def look_up(what: str, name: str, table: Mapping[str, T]) -> T:
    if name not in table:
        raise InputError(f"unknown {what} `{name}`", hint=f"known: {', '.join(table)}")
    return table[name]


def moves_of(schedule: Schedule | str) -> Schedule:
    return parse_schedule(schedule) if isinstance(schedule, str) else schedule


@contextmanager
def locate_errors(schedule: Schedule | str) -> Iterator[None]:
    """Let errors about a schedule that was given as text say where they are in the text."""
    try:
        yield
    except ScheduleError as problem:
        if isinstance(schedule, str) and problem.step is not None:
            raise locate(problem, schedule) from None
        raise


@contextmanager
def place_errors_in(model: Model) -> Iterator[None]:
    """Let errors that are found while a program runs name its file."""
    try:
        yield
    except InputError as problem:
        if problem.place is not None and problem.file is None:
            problem.file, problem.source = model.file, model.source
        raise


def note_stop(stats: SearchStats, recorded: RunResult) -> None:
    stats.stopped, stats.limit, stats.interrupted = "limit", recorded.limit, recorded.interrupted
    stats.counts.states, stats.counts.events = len(recorded.trace) + 1, len(recorded.trace)
    stats.seconds = stats.clock.seconds


def report_one_run(
    subject: Subject, opened: Opened, command: str, stats: SearchStats, recorded: RunResult
) -> Report:
    """The report of one run: it holds when the run terminated."""
    counterexample = None
    if recorded.limit is not None:
        note_stop(stats, recorded)
    else:
        trace, final = recorded.trace, recorded.run.final()
        stats.counts.states, stats.counts.events = len(trace) + 1, len(trace)
        stats.complete(trace, final, None)
        stats.seconds = stats.clock.seconds
        if final.kind != "terminated":
            counterexample = Counterexample(stats.outcomes, ())
    report = build_report(
        subject,
        command,
        stats,
        property="terminates",
        counterexample=counterexample,
        notes=opened.notes(),
        coverage=opened.coverage(),
    )
    return replace(report, said=opened.program.output_of(recorded.run))


def _readable(outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """The outcomes with examples that have few context switches, unless there are too many outcomes."""
    return tuple(map(reorder_in_long_turns, outcomes[:MOST_REORDERED])) + outcomes[MOST_REORDERED:]


def build_report(
    subject: About,
    command: str,
    stats: SearchStats,
    *,
    property: str,
    engine: str | None = None,
    independence: str = "syntactic",
    counterexample: Counterexample | None = None,
    notes: tuple[str, ...] = (),
    traces: tuple[TraceEntry, ...] | None = None,
    seeds: tuple[Schedule, ...] | None = None,
    coverage: Coverage | None = None,
) -> Report:
    """A report of what was counted; the engine is the default one of the command, unless it is given."""
    return Report(
        command=command,
        file=subject.file,
        language=subject.language,
        engine=engine or USUAL[command],
        independence=independence,
        selection=stats.selection,
        reduction=stats.reduction,
        machine=stats.machine,
        bitstate=stats.bitstate,
        property=property,
        verdict=verdict(counterexample is not None, stats.stopped == "exhausted"),
        stopped=stats.stopped,
        counts=stats.counts,
        outcomes=_readable(stats.outcomes) if command == "explore" else stats.outcomes,
        counterexample=counterexample,
        traces=traces,
        seeds=seeds,
        limit=stats.limit,
        notes=(*notes, *stats.notes),
        interrupted=stats.interrupted,
        seconds=stats.seconds,
        coverage=coverage,
    )


def no_report(
    command: str, file: str, limit: str, engine: str | None = None, property: str | None = None
) -> Report:
    """The report of a command that ran into a limit before its search began, or after it had ended."""
    stats = SearchStats()
    stats.leave_out(limit)
    if command in ("check", "verify_reduction", "check_annotations"):
        command = "check"
        stats.reduction = "none"  # nothing was searched
    return build_report(
        _Unread(file, Path(file).suffix.removeprefix(".")),
        command,
        stats,
        engine=engine or USUAL.get(command, USUAL["explore"]),
        property=property or _ASKS.get(command, _ASKS["explore"]),
        traces=() if command in ("permute", "symbolic") else None,
    )


@dataclass(frozen=True, slots=True)
class _Unread:
    """A program of which no more is known."""

    file: str
    language: str


_ASKS = {
    "run": "terminates",
    "replay": "terminates",
    "explore": ", ".join(EXPLORED),
    "check": "deadlock-free, failure-free",
    "symbolic": ", ".join(EXPLORED),
    "permute": "equivalent",
}
"""What the commands that take limits ask."""
