"""Coroutine functions as commands ask about them: a subject of requests, and the same opened (`subjects`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, NoReturn, TypeVar

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, InternalError, LimitHit, ScheduleError
from porcini.core.explanations import Explanation
from porcini.core.recordings import Recording
from porcini.core.reports import Counterexample, Coverage, Outcome, PropertyName, Report
from porcini.core.systems import Program
from porcini.coroutines.costs import Costs, describe
from porcini.coroutines.explaining import compared, explained, told
from porcini.coroutines.faults import DrawnPlans, Faults, plans
from porcini.coroutines.notes import MODES, coverage_of, notes_of
from porcini.coroutines.noting import Noted
from porcini.coroutines.plain import NotPlain, use_plain_locks
from porcini.coroutines.quiet import quiet
from porcini.coroutines.recording import recording_of
from porcini.coroutines.rehearsing import run_twice
from porcini.coroutines.session import Session, check, name_of
from porcini.coroutines.setups import NO_FAULTS, Setup, lines_to_paste, lines_to_try
from porcini.coroutines.steady import SUSPECTS, NondeterministicProgram, SteadyProgram
from porcini.engines.catalogue import Engine, engines_by_rank, run_engine
from porcini.engines.options import Options
from porcini.engines.replaying import RunResult, replay
from porcini.engines.stats import SearchStats
from porcini.langs.aio.commuting import Commuting
from porcini.langs.aio.striking import MOST_CALLS
from porcini.langs.aio.striking import NO_FAULTS as NO_PLAN
from porcini.properties.outcomes import Question
from porcini.properties.shrink import reorder_in_long_turns
from porcini.subjects import Opened, Subject

T = TypeVar("T")

_NO_STATES = "the state of running code cannot be saved"
_NO_FORMULAS = "the steps of real code are not formulas"
CAPABILITIES = Capabilities(
    "coroutine functions",
    {
        "states": _NO_STATES,
        "reduction": _NO_STATES,
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
    return [name for name, engine in engines_by_rank() if CAPABILITIES.missing(engine.needs) is None]


@dataclass(frozen=True, slots=True)
class Code(Setup, Subject):
    """Real code: does no order of its steps fail, does none deadlock? Does it also return the same in all of them,
    if that is asked?"""

    hears: frozenset[str] = frozenset()
    """What of `output` and `logs` is let through while it is explored."""

    language: ClassVar[str] = "asyncio"
    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __post_init__(self) -> None:
        check(self.function)
        if self.mode not in MODES:
            raise InputError(f"unknown mode `{self.mode}`", hint=f"known: {', '.join(MODES)}")
        self.faults.check_mode(self.mode)

    @property
    def file(self) -> str:
        return name_of(self.function)

    @property
    def model(self) -> NoReturn:
        raise InputError(
            "this command is not for coroutine functions", file=self.file, hint="run, explore, replay"
        )

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
            self.session() as opened,
        ):
            yield OpenedCode(self, opened)

    @contextmanager
    def recorded(self) -> Iterator[RecordedCode]:
        with self.telling() as opened:
            yield RecordedCode(self, opened)


class OpenedCode(Opened):
    """Code that was instrumented, in a session that is open."""

    def __init__(self, code: Code, opened: Session) -> None:
        self.code = code
        self.session = opened
        self.steady = opened.program(code.mode)
        self._coverage: Coverage | None = None
        self._interrupted = False
        super().__init__(self.steady)

    def search(self, engine: Engine, stats: SearchStats, options: Options) -> SearchStats:
        costs = Costs(self.steady)
        stats.hear = costs.hear
        stats = search(self.steady, engine, stats, options, self.code.faults)
        self._coverage = self.coverage()
        if stats.stopped == "limit" and not (stats.interrupted or engine.samples):
            self._coverage = replace(self._coverage, unfinished=costs.unfinished(stats, self._coverage))
        return stats

    def simplified(self, example: Counterexample, stats: SearchStats) -> Counterexample:
        """In its closest orders, if these end as they should when they are run; with the closest run that ends
        otherwise, if there is one."""
        shorter = super().simplified(example, stats)
        if all(_ends_so(self.steady, run) for run in shorter.runs):
            example = shorter
        contrast = self._tried(lambda: self._contrast(example, stats))
        runs = example.runs if contrast is None or len(example.runs) == 1 else (example.runs[0], contrast)
        return replace(example, runs=runs, contrast=contrast)

    def confirm(self, runs: Sequence[Outcome]) -> None:
        """What is shown of real code was run again when it was simplified."""

    def _contrast(self, example: Counterexample, stats: SearchStats) -> Outcome | None:
        run, *others = example.runs
        passing = [outcome for outcome in stats.outcomes if outcome.kind == "terminated"]
        if not passing and stats.stopped == "exhausted":
            return None
        return compared(self.steady, run) or next(iter(others or map(reorder_in_long_turns, passing)), None)

    def coverage(self) -> Coverage:
        """Of the search, if there was one: not of the runs by which it is explained."""
        return self._coverage or coverage_of(self.session, self.steady)

    def notes(self) -> tuple[str, ...]:
        coverage = self.coverage()
        told = describe(coverage) if coverage.unfinished else ()
        faults = self.code.faults.notes(self.steady.program.possible)
        return (*notes_of(self.code.mode, coverage), *faults, *told, *lines_to_try(self.code, coverage))

    def explained(self, report: Report) -> Report:
        """With the counterexample in lines of source, and what is known better then: who waits for whom."""
        if report.counterexample is None:
            return report
        run, contrast = report.counterexample.runs[0], report.counterexample.contrast
        explanation = self._tried(lambda: self._detailed([run] if contrast is None else [run, contrast]))
        if explanation is None:
            lines = tuple(lines_to_paste(self.code, report.counterexample.schedules))
            report = replace(report, explanation=Explanation(again=lines))
        else:
            report = self._with_deadlocks(replace(report, explanation=explanation), explanation)
        return replace(report, interrupted=report.interrupted or self._interrupted)

    def _with_deadlocks(self, report: Report, explanation: Explanation) -> Report:
        """With who waits for whom, in the run that is explained or in another one."""
        deadlocks = [outcome for outcome in report.outcomes if outcome.kind == "deadlock"]
        if not deadlocks or explanation.waiting:
            return _with_waiting(explanation, report)
        other = self._tried(lambda: self._detailed(deadlocks[:1]))
        return report if other is None else _with_waiting(other, report)

    def _detailed(self, runs: Sequence[Outcome]) -> Explanation:
        with self.code.quiet():
            return explained(self.code, runs)

    def _tried(self, explain: Callable[[], T]) -> T | None:
        """What was found is not lost because there is no time to explain it, or because that goes wrong."""
        try:
            return explain()
        except KeyboardInterrupt:
            self._interrupted = True
        except (InputError, LimitHit):
            pass
        return None


class RecordedCode(OpenedCode):
    """Code of which one run is kept in every detail."""

    def __init__(self, code: Code, opened: Session) -> None:
        super().__init__(code, opened)
        self.program = self.noted = Noted(self.steady)

    def follow(self, go: Callable[[Program], RunResult], *, keep: bool) -> RunResult:
        return go(self.noted)  # which keeps it

    def recording(self, *, stopped: bool) -> Recording:
        if self.noted.run is None:
            raise InternalError("nothing was run that could be written down")
        return recording_of(self.noted.run, stopped=stopped)

    def explained(self, report: Report) -> Report:
        if not report.outcomes or self.noted.run is None:
            return report
        explanation = told(self.code, report.outcomes, [self.noted.run])
        return replace(_with_waiting(explanation, report), explanation=explanation)


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


def search(
    program: SteadyProgram, engine: Engine, stats: SearchStats, options: Options, faults: Faults = NO_FAULTS
) -> SearchStats:
    """Check that the program is a function of its schedule, then let an engine explore it: without faults first,
    then with each that was possible, and so on."""
    if faults.any:
        program.levels.give_up()  # the lemmas of `sections` are about runs without faults
    commuting = Commuting(program.levels) if engine.uses_footprints else None
    whole, rehearsed = stats, False

    def all_of_it(_: Program, stats: SearchStats, options: Options) -> None:
        nonlocal rehearsed
        if not rehearsed:
            run_twice(program, stats.clock)
            faults.looked_for(program.program, program.last)
            program.commute(commuting)
            rehearsed = True
        if engine.samples and faults.any:
            program.draw_plan = DrawnPlans(program.program, faults, options.seed)
            engine(program, stats, options)
            return
        for done, known in plans(program.program, faults):
            stats.begin_part(done, known)
            engine(program, stats, options)
        if program.program.possible.too_many_calls:
            stats.leave_out(f"the limit of {MOST_CALLS} calls that may raise in one step")

    try:
        with _steady():
            while True:
                _, stats = run_engine(replace(engine, search=all_of_it), program, whole, options)
                try:
                    use_plain_locks(program, stats)
                except NotPlain:  # which the lemmas of `sections` exclude
                    program.levels.give_up()
                    program.commute(None)
                    whole, rehearsed = whole.restart(), False
                else:
                    break
    finally:
        program.program.plan, program.program.possible.noted, program.draw_plan = NO_PLAN, None, None
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
