"""Coroutine functions as commands ask about them: a `Subject` of requests that can be `Opened`
(`commands.subjects`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import ClassVar, NoReturn

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, InternalError, LimitHit, ScheduleError
from porcini.core.explanations import Explanation
from porcini.core.reports import Counterexample, Coverage, Outcome, PropertyName, Report
from porcini.core.systems import Program
from porcini.coroutines.explaining import compared, explained, told
from porcini.coroutines.notes import MODES, coverage_of, notes_of
from porcini.coroutines.noting import Noted
from porcini.coroutines.quiet import quiet
from porcini.coroutines.session import Session, check, name_of, session
from porcini.coroutines.setups import Setup, lines_to_paste
from porcini.coroutines.steady import SUSPECTS, NondeterministicProgram, SteadyProgram, run_twice
from porcini.engines.catalogue import Engine, explored, ranked
from porcini.engines.options import Options
from porcini.engines.replaying import replay
from porcini.engines.stats import SearchStats
from porcini.langs.aio.commuting import Commuting
from porcini.properties.outcomes import Question
from porcini.properties.shrink import in_long_turns, shrunk

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
class Code(Setup):
    """Real code: does no order of its steps fail, does none deadlock? Does it also return the same in all of them,
    if that is asked?"""

    hears: frozenset[str] = frozenset()
    """What of `output` and `logs` is let through while it is explored."""

    language: ClassVar[str] = "asyncio"
    capabilities: ClassVar[Capabilities] = CAPABILITIES
    observed: ClassVar[None] = None

    def __post_init__(self) -> None:
        check(self.function)
        if self.mode not in MODES:
            raise InputError(f"unknown mode `{self.mode}`", hint=f"known: {', '.join(MODES)}")

    @property
    def file(self) -> str:
        return name_of(self.function)

    @property
    def model(self) -> NoReturn:
        raise InputError(
            "this command is not for coroutine functions", file=self.file, hint="run, explore, replay"
        )

    def system(self, *, optimise: bool = False) -> NoReturn:
        raise InternalError("the states of real code were asked for")

    def wanted(self, question: Question) -> tuple[PropertyName, ...]:
        if question.property not in (None, "deterministic"):
            hint = "it is always asked for failures and deadlocks"
            raise InputError("`property` is not for coroutine functions", hint=hint)
        if question.property or question.deterministic:
            return ("failure-free", "deadlock-free", "deterministic")
        return ("failure-free", "deadlock-free")

    def quiet(self) -> AbstractContextManager[None]:
        """Thousands of runs are not heard."""
        return quiet(output="output" not in self.hears, logs="logs" not in self.hears)

    @contextmanager
    def opened(self, *, optimise: bool = False) -> Iterator[OpenedCode]:
        with (
            self.quiet(),
            session(self.function, args=self.args, packages=self.packages, guards=self.guards) as opened,
        ):
            yield OpenedCode(self, opened)

    @contextmanager
    def recorded(self) -> Iterator[RecordedCode]:
        with self.telling() as opened:
            yield RecordedCode(self, opened)


class OpenedCode:
    """Code that was instrumented, in a session that is open."""

    def __init__(self, code: Code, opened: Session) -> None:
        self.code = code
        self.session = opened
        self.steady = opened.program(code.mode)
        self._coverage: Coverage | None = None

    @property
    def program(self) -> Program:
        return self.steady

    def search(self, engine: Engine, stats: SearchStats, options: Options) -> SearchStats:
        stats = search(self.steady, engine, stats, options)
        self._coverage = self.coverage()
        return stats

    def simplified(self, example: Counterexample, stats: SearchStats) -> Counterexample:
        """In its closest orders, if these end as they should when they are run; with the closest run that ends
        otherwise, if there is one."""
        shorter = shrunk(example)
        if all(_ends_so(self.steady, run) for run in shorter.runs):
            example = shorter
        contrast = None
        with _as_far_as_it_goes():
            contrast = self._contrast(example, stats)
        runs = example.runs if contrast is None or len(example.runs) == 1 else (example.runs[0], contrast)
        return replace(example, runs=runs, contrast=contrast)

    def _contrast(self, example: Counterexample, stats: SearchStats) -> Outcome | None:
        run, *others = example.runs
        passing = [outcome for outcome in stats.outcomes if outcome.kind == "terminated"]
        if not passing and stats.stopped == "exhausted":
            return None
        return compared(self.steady, run) or next(iter(others or map(in_long_turns, passing)), None)

    def coverage(self) -> Coverage:
        """Of the search, if there was one: not of the runs by which it is explained."""
        return self._coverage or coverage_of(self.session, self.steady)

    def notes(self) -> tuple[str, ...]:
        return tuple(notes_of(self.code.mode, self.coverage()))

    def explained(self, report: Report) -> Report:
        """With the counterexample in lines of source, and what is known better then: who waits for whom."""
        if report.counterexample is None:
            return report
        run, contrast = report.counterexample.runs[0], report.counterexample.contrast
        explanation = None
        with self.code.quiet(), _as_far_as_it_goes():
            explanation = explained(self.code, [run] if contrast is None else [run, contrast])
        if explanation is None:
            lines = tuple(lines_to_paste(self.code, report.counterexample.schedules))
            return replace(report, explanation=Explanation(again=lines))
        report = _with_waiting(explanation, replace(report, explanation=explanation))
        deadlocks = [outcome for outcome in report.outcomes if outcome.kind == "deadlock"]
        if deadlocks and not explanation.waiting:  # it goes wrong in other ways, too
            with self.code.quiet(), _as_far_as_it_goes():
                report = _with_waiting(explained(self.code, deadlocks[:1]), report)
        return report


class RecordedCode(OpenedCode):
    """Code of which one run is kept in every detail."""

    def __init__(self, code: Code, opened: Session) -> None:
        super().__init__(code, opened)
        self.noted = Noted(self.steady)

    @property
    def program(self) -> Program:
        return self.noted

    def explained(self, report: Report) -> Report:
        if not report.outcomes or self.noted.run is None:
            return report
        explanation = told(self.code, report.outcomes, [self.noted.run])
        return replace(_with_waiting(explanation, report), explanation=explanation)


@contextmanager
def _as_far_as_it_goes() -> Iterator[None]:
    """What a search has found is not lost because there is no time to explain it, or because that goes wrong."""
    with suppress(InputError, LimitHit, KeyboardInterrupt):
        yield


def _with_waiting(explanation: Explanation, report: Report) -> Report:
    """With what is known of who waits for whom."""

    def better(outcome: Outcome) -> Outcome:
        return replace(outcome, waiting=explanation.waiting) if outcome.kind == "deadlock" else outcome

    if not explanation.waiting:
        return report
    example = report.counterexample
    if example is not None:
        example = replace(example, runs=tuple(map(better, example.runs)))
    return replace(report, outcomes=tuple(map(better, report.outcomes)), counterexample=example)


def search(program: SteadyProgram, engine: Engine, stats: SearchStats, options: Options) -> SearchStats:
    """Check that the program is a function of its schedule, then let an engine explore it."""
    commuting = Commuting() if engine.uses_footprints else None

    def all_of_it(_: Program, stats: SearchStats, options: Options) -> None:
        if program.commuting is None:
            run_twice(program, stats.clock)
            program.commute(commuting)
        engine(program, stats, options)

    with _steady():
        _, stats = explored(replace(engine, search=all_of_it), program, stats, options)
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


def _ends_so(program: SteadyProgram, outcome: Outcome) -> bool:
    try:
        final = replay(program, outcome.schedule)[1].final()
    except ScheduleError:
        return False
    return (final.kind, final.state) == (outcome.kind, outcome.state)
