"""How the answers of searches and runs become reports; what all commands do with schedules and names.

made            a report of what a search has counted
of_one_run      a report of one run: it holds when the run terminated
located         errors about a schedule that was given as text say where in the text
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol, TypeVar

from porcini.core.errors import InputError, ScheduleError
from porcini.core.events import Schedule
from porcini.core.reports import Counterexample, Outcome, Report, TraceEntry
from porcini.engines.replaying import Recorded
from porcini.engines.tally import Tally
from porcini.formats.schedules import locate, parse_schedule
from porcini.properties.outcomes import verdict
from porcini.properties.shrink import in_long_turns

T = TypeVar("T")


_MOST_READABLE = 20


class Subject(Protocol):
    """What a report is about."""

    @property
    def file(self) -> str: ...

    @property
    def language(self) -> str: ...


def looked_up(what: str, name: str, table: Mapping[str, T]) -> T:
    if name not in table:
        raise InputError(f"unknown {what} `{name}`", hint=f"known: {', '.join(table)}")
    return table[name]


def moves_of(schedule: Schedule | str) -> Schedule:
    return parse_schedule(schedule) if isinstance(schedule, str) else schedule


@contextmanager
def located(schedule: Schedule | str) -> Iterator[None]:
    """Errors about a schedule that was given as text say where in the text."""
    try:
        yield
    except ScheduleError as problem:
        if isinstance(schedule, str) and problem.step is not None:
            raise locate(problem, schedule) from None
        raise


def stopped(tally: Tally, recorded: Recorded) -> None:
    tally.stopped, tally.limit, tally.interrupted = "limit", recorded.limit, recorded.interrupted
    tally.counts.states, tally.counts.events = len(recorded.trace) + 1, len(recorded.trace)
    tally.seconds = tally.clock.seconds


def of_one_run(subject: Subject, command: str, tally: Tally, recorded: Recorded) -> Report:
    """The report of one run: it holds when the run terminated."""
    counterexample = None
    if recorded.limit is not None:
        stopped(tally, recorded)
    else:
        trace, final = recorded.trace, recorded.run.final()
        tally.counts.states, tally.counts.events = len(trace) + 1, len(trace)
        tally.complete(trace, final, None)
        tally.seconds = tally.clock.seconds
        if final.kind != "terminated":
            counterexample = Counterexample(tally.outcomes, ())
    report = made(subject, command, tally, engine="random", property="terminates", counterexample=counterexample)
    return replace(report, said=tuple(getattr(recorded.run, "said", ())))


def _readable(outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """Examples with few context switches, as far as there are not too many of them."""
    return tuple(map(in_long_turns, outcomes[:_MOST_READABLE])) + outcomes[_MOST_READABLE:]


def made(
    subject: Subject,
    command: str,
    tally: Tally,
    *,
    engine: str,
    property: str,
    independence: str = "syntactic",
    counterexample: Counterexample | None = None,
    notes: tuple[str, ...] = (),
    traces: tuple[TraceEntry, ...] | None = None,
    seeds: tuple[Schedule, ...] | None = None,
) -> Report:
    return Report(
        command=command,
        file=subject.file,
        language=subject.language,
        engine=engine,
        independence=independence,
        selection=tally.selection,
        reduction=tally.reduction,
        property=property,
        verdict=verdict(counterexample is not None, tally.stopped == "exhausted"),
        stopped=tally.stopped,
        counts=tally.counts,
        outcomes=_readable(tally.outcomes) if command == "explore" else tally.outcomes,
        counterexample=counterexample,
        traces=traces,
        seeds=seeds,
        limit=tally.limit,
        notes=notes,
        interrupted=tally.interrupted,
        seconds=tally.seconds,
    )
