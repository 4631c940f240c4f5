"""`explore` and `replay` for coroutine functions: the same reports as for every other language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, LimitHit, ScheduleError
from porcini.core.events import Schedule
from porcini.core.explanations import Explanation
from porcini.core.reports import Counterexample, Outcome, PropertyName, Report
from porcini.core.systems import Program
from porcini.coroutines.explaining import compared, explained, told
from porcini.coroutines.guards import Guards
from porcini.coroutines.notes import MODES, notes_of
from porcini.coroutines.noting import Noted
from porcini.coroutines.quiet import quiet
from porcini.coroutines.recording import write_run
from porcini.coroutines.session import Function, Session, check, name_of, session
from porcini.coroutines.steady import SUSPECTS, NondeterministicProgram, SteadyProgram, run_twice
from porcini.coroutines.subjects import Subject, lines_to_paste
from porcini.engines.catalogue import ENGINES, explored, ranked
from porcini.engines.limits import Limits
from porcini.engines.options import Options
from porcini.engines.replaying import Recorded, run_freely
from porcini.engines.replaying import replay as follow_schedule
from porcini.engines.stats import SearchStats, Watcher
from porcini.langs.aio.commuting import Commuting
from porcini.langs.aio.loop import Mode
from porcini.properties.outcomes import first_violated
from porcini.properties.shrink import shrunk
from porcini.reporting import build_report, located, looked_up, moves_of, of_one_run

LANGUAGE = "asyncio"
_NO_STATES = "the state of running code cannot be saved"
_NO_FORMULAS = "the steps of real code are not formulas"
CAPABILITIES = Capabilities(
    "coroutine functions",
    {
        "states": _NO_STATES,
        "ample": _NO_STATES,
        "stubborn": _NO_STATES,
        "propositions": _NO_STATES,
        "commuting": _NO_FORMULAS,
        "formulas": _NO_FORMULAS,
        "symbolic": _NO_FORMULAS,
        "actors": "their tasks are not tasks of actors",
        "theory": "they are not rewrite theories",
    },
)


def taken() -> list[str]:
    """The engines that can run real code: those that need nothing but runs."""
    return [name for name, engine in ranked() if CAPABILITIES.missing(engine.needs) is None]


@dataclass(frozen=True, slots=True)
class _Named:
    """What a report is about (`reporting.Subject`)."""

    file: str
    language: str = LANGUAGE


def explore(
    function: Function,
    *,
    args: Sequence[object] = (),
    engine: str = "optimal",
    mode: Mode = "any",
    deterministic: bool = False,
    first: bool = False,
    limits: Limits | None = None,
    options: Options | None = None,
    packages: Sequence[str] = (),
    guards: Guards | None = None,
    watch: Watcher | None = None,
) -> Report:
    """Run a coroutine function in every order that can make a difference: does none fail, does none deadlock?
    With `deterministic`, does it also return the same in all of them?

    `packages` are instrumented too, so that their code is no longer opaque. It goes on to the end unless `first`.
    """
    check(function)
    CAPABILITIES.require(f"engine `{engine}`", ENGINES[engine].needs, name_of(function))
    looked_up("mode", mode, MODES)
    subject, wanted = Subject(function, tuple(args), mode, tuple(packages), guards), wanted_of(deterministic)
    with quiet():
        with session(function, args=args, packages=packages, guards=guards) as opened:
            program = opened.program(mode)
            stats = search(program, engine, wanted, limits or Limits(), options, watch, first=first)
            report = report_of(opened, program, stats, engine, wanted)
            other = None
            with _as_far_as_it_goes():
                other = _other(program, report)
        return _explained(subject, report, other)


@contextmanager
def _as_far_as_it_goes() -> Iterator[None]:
    """What a search has found is not lost because there is no time to explain it, or because that goes wrong."""
    with suppress(InputError, LimitHit, KeyboardInterrupt):
        yield


def _other(program: SteadyProgram, report: Report) -> Outcome | None:
    """The run to compare the counterexample with."""
    if report.counterexample is None:
        return None
    run, *others = report.counterexample.runs
    passing = [outcome for outcome in report.outcomes if outcome.kind == "terminated"]
    if not passing and report.stopped == "exhausted":
        return None
    return compared(program, run) or next(iter(others or passing), None)


def _explained(subject: Subject, report: Report, other: Outcome | None) -> Report:
    """With the counterexample in lines of source, and what is known better then: who waits for whom."""
    example = report.counterexample
    if example is None:
        return report
    if other is not None and len(example.runs) > 1:
        example = replace(example, runs=(example.runs[0], other))
    explanation = None
    with _as_far_as_it_goes():
        explanation = explained(subject, [example.runs[0], *([other] if other else [])])
    if explanation is None:
        lines = tuple(lines_to_paste(subject, example.schedules))
        return replace(report, explanation=Explanation(again=lines))
    report = _with(explanation, replace(report, counterexample=example, explanation=explanation))
    deadlocks = [outcome for outcome in report.outcomes if outcome.kind == "deadlock"]
    if deadlocks and not explanation.waiting:  # it goes wrong in other ways, too
        with _as_far_as_it_goes():
            report = _with(explained(subject, deadlocks[:1]), report)
    return report


def _with(explanation: Explanation, report: Report) -> Report:
    """With what is known of who waits for whom."""

    def better(outcome: Outcome) -> Outcome:
        return replace(outcome, waiting=explanation.waiting) if outcome.kind == "deadlock" else outcome

    if not explanation.waiting:
        return report
    example = report.counterexample
    if example is not None:
        example = replace(example, runs=tuple(map(better, example.runs)))
    return replace(report, outcomes=tuple(map(better, report.outcomes)), counterexample=example)


def wanted_of(deterministic: bool) -> tuple[PropertyName, ...]:
    return ("failure-free", "deadlock-free", *(("deterministic",) if deterministic else ()))


def search(
    program: SteadyProgram,
    engine: str,
    wanted: tuple[PropertyName, ...],
    limits: Limits,
    options: Options | None = None,
    watch: Watcher | None = None,
    *,
    first: bool = False,
) -> SearchStats:
    """Check that the program is a function of its schedule, then let an engine explore it."""
    stats, by = SearchStats(limits, None, watch=watch), ENGINES[engine]
    commuting = Commuting() if by.uses_footprints else None
    if first:
        stats.violated = lambda outcomes: first_violated(wanted, outcomes) is not None

    def all_of_it(_: Program, stats: SearchStats, options: Options) -> None:
        if program.commuting is None:
            run_twice(program, stats.clock)
            program.commute(commuting)
        by(program, stats, options)

    with _steady():
        _, stats = explored(replace(by, search=all_of_it), program, stats, options or Options())
    program.commute(None)
    return stats


@contextmanager
def _steady() -> Iterator[None]:
    """A search follows only schedules that it has seen: one that does not fit any more is the program's doing."""
    try:
        yield
    except ScheduleError as problem:
        raise NondeterministicProgram(
            f"the same schedule did not do the same again: {problem.message}", hint=SUSPECTS
        ) from None


def report_of(
    opened: Session, program: SteadyProgram, stats: SearchStats, engine: str, wanted: tuple[PropertyName, ...]
) -> Report:
    violation = first_violated(wanted, stats.outcomes)
    example = confirmed(program, violation[1]) if violation else None
    return build_report(
        _Named(name_of(opened.function)),
        "explore",
        stats,
        engine=engine,
        property=violation[0] if violation else ", ".join(wanted),
        counterexample=example,
        notes=tuple(notes_of(opened, program, stats, engine, violation is not None)),
    )


def confirmed(program: SteadyProgram, example: Counterexample) -> Counterexample:
    """The counterexample in its closest orders, if these end as they should when they are run."""
    shorter = shrunk(example)
    if all(_ends_so(program, run) for run in shorter.runs):
        return shorter
    return example


def _ends_so(program: SteadyProgram, outcome: Outcome) -> bool:
    try:
        final = follow_schedule(program, outcome.schedule)[1].final()
    except ScheduleError:
        return False
    return (final.kind, final.state) == (outcome.kind, outcome.state)


def replay(
    function: Function,
    schedule: Schedule | str,
    *,
    args: Sequence[object] = (),
    mode: Mode = "any",
    packages: Sequence[str] = (),
    guards: Guards | None = None,
    trace: str | Path | None = None,
) -> Report:
    """Run one complete schedule again; one that does not fit is a `ScheduleError` that names the step."""
    check(function)
    looked_up("mode", mode, MODES)
    subject = Subject(function, tuple(args), mode, tuple(packages), guards)
    with subject.telling() as opened:
        noted = Noted(opened.program(mode))
        with located(schedule):
            recorded = Recorded(*follow_schedule(noted, moves_of(schedule)))
        return _of_one_run(subject, opened, noted, SearchStats(), recorded, "replay", trace)


def _of_one_run(
    subject: Subject,
    opened: Session,
    noted: Noted,
    stats: SearchStats,
    recorded: Recorded,
    command: str,
    trace: str | Path | None,
) -> Report:
    name = name_of(subject.function)
    report = of_one_run(_Named(name), command, stats, recorded)
    if trace is not None and noted.run is not None:
        write_run(noted.run, next(iter(report.outcomes), None), LANGUAGE, name, trace)
    failed = report.counterexample is not None
    report = replace(report, notes=tuple(notes_of(opened, noted.program, stats, "random", failed)))
    if not report.outcomes or noted.run is None:
        return report
    explanation = told(subject, report.outcomes, [noted.run])
    return replace(_with(explanation, report), explanation=explanation)


def run(
    function: Function,
    *,
    args: Sequence[object] = (),
    mode: Mode = "any",
    packages: Sequence[str] = (),
    seed: int = 0,
    schedule: Schedule | str = (),
    limits: Limits | None = None,
    guards: Guards | None = None,
    trace: str | Path | None = None,
) -> Report:
    """One execution: follow a schedule as far as it goes, then let a seeded scheduler choose."""
    check(function)
    looked_up("mode", mode, MODES)
    subject = Subject(function, tuple(args), mode, tuple(packages), guards)
    with subject.telling() as opened:
        noted, stats = Noted(opened.program(mode)), SearchStats(limits or Limits())
        with located(schedule):
            recorded = run_freely(noted, moves_of(schedule), Random(seed), stats.limits)
        return _of_one_run(subject, opened, noted, stats, recorded, "run", trace)
