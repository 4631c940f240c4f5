"""One marked test: explored or replayed, and what to say of it."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

import pytest

from porcini.commands.exploring import ADVICE, FAILS_AGAIN, explore
from porcini.commands.requests import Following, Request
from porcini.commands.running import replay
from porcini.core.errors import InputError, ScheduleError
from porcini.core.events import Schedule
from porcini.core.reports import Outcome, Report
from porcini.coroutines.code import Code
from porcini.coroutines.comparing import raised
from porcini.coroutines.costs import describe
from porcini.coroutines.explaining import ended, raised_in
from porcini.coroutines.guards import Blocking
from porcini.coroutines.lines import at
from porcini.coroutines.notes import MODES, show_leftovers
from porcini.coroutines.steady import NondeterministicProgram
from porcini.engines.catalogue import ENGINES
from porcini.engines.options import Options
from porcini.formats.lanes import show_lanes
from porcini.formats.schedules import parse_schedule, show_schedule
from porcini.formats.sources import deadlock_head, show_deadlock
from porcini.properties.outcomes import Question
from porcini.pytest_plugin import BROKEN, EXPLORED, LINES, MARKER, REASON, REPORT, SECTION
from porcini.pytest_plugin.cases import Function, called_function, coroutine_function_of
from porcini.pytest_plugin.drawing import explore_examples, is_drawn
from porcini.pytest_plugin.life import LIFE, Life
from porcini.pytest_plugin.options import Wanted, wanted_by
from porcini.pytest_plugin.pasting import command_for, lines_to_try

_FACTORY = (
    "fixtures with a scope wider than a function are made once for all "
    "schedules: let one that the test changes return a factory, or make its object in the test"
)
_LEAST = 0.05
"""Seconds for one more example when the budget of a test is spent."""
_MOST_IN_ASYNCIOS_ORDER = 100
"""Timers that are due together are tried in so many orders, if none passes."""


# One test -----------------------------------------------------------------------------------------------------


def problem_of(item: pytest.Function) -> BaseException | None:
    """What to raise for a marked test, if anything."""
    try:
        wanted, life = wanted_by(item), item.stash[LIFE]
        if is_drawn(item):
            options = _of_examples(item, wanted)
            return explore_examples(item, life, lambda test: MarkedTest(item, next(options), life, test).problem())
        _check(item)
        return MarkedTest(item, wanted, life, coroutine_function_of(item, life)).problem()
    except InputError as error:
        item.stash[BROKEN] = isinstance(error, Blocking)
        item.stash[REASON] = str(_placed(error, item)).splitlines()[0]
        hint = f"\n{_FACTORY}" if isinstance(error, NondeterministicProgram) and item._fixtureinfo.argnames else ""
        return failed(f"{_placed(error, item)}{hint}")


def _of_examples(item: pytest.Function, wanted: Wanted) -> Iterator[Wanted]:
    """The options for each example. The budget of a test in a suite is for all of them together."""
    ends = monotonic() + (wanted.timeout or 0)
    while True:
        shared = wanted.timeout is not None and EXPLORED in item.stash
        yield replace(wanted, timeout=max(ends - monotonic(), _LEAST)) if shared else wanted


def _placed(error: InputError, item: pytest.Function) -> InputError:
    """What is wrong with a mark is wrong where the test is."""
    line = item.reportinfo()[1]
    if error.file is not None or line is None:
        return error
    return InputError(error.message, hint=error.hint, **at(str(item.path), line + 1))


def failed(message: str) -> BaseException:
    return pytest.fail.Exception(message, pytrace=False)


def _check(item: pytest.Function) -> None:
    if not inspect.iscoroutinefunction(called_function(item)):
        raise InputError(f"@pytest.mark.{MARKER} is for async tests", hint=f"define {item.name} by `async def`")


class MarkedTest:
    """A marked test with its arguments; `test` is the coroutine function that is explored for it."""

    def __init__(self, item: pytest.Function, wanted: Wanted, life: Life, test: Function) -> None:
        self.item = item
        self.life = life
        self.test = functools.partial(test, **life.arguments)
        life.take_over()
        self.wanted = wanted
        guards = replace(
            wanted.guards,
            at_start=(self._start_run,),
            made_anew=life.made_anew,
            at_end=(life.tear_down,),
            looks_back=life.looks_back,
        )
        hears = {what for what, names in _LISTENERS.items() if names & set(item.fixturenames)}
        self.code = Code(
            self.test, (), wanted.mode, wanted.packages, guards, wanted.faults, hears=frozenset(hears)
        )
        self.stored = _Stored(item)

    def problem(self) -> BaseException | None:
        """What to raise, if anything."""
        replayed = self.item.config.getoption("--porcini-replay")
        try:
            return self.explore() if replayed is None else self.replay(replayed)
        finally:
            self.life.give_up()

    def _start_run(self) -> None:
        self.life.give_up()
        self.life.set_up()
        self.test.keywords.update(self.life.arguments)

    def explore(self) -> BaseException | None:
        """What to raise for a test that fails in some order. The schedule that failed the last time goes first."""
        wanted = self.wanted
        report = explore(
            Request(
                self.code,
                wanted.engine,
                question=Question(deterministic=wanted.deterministic, first=True),
                following=Following(self.stored.get()),
                options=Options(seed=wanted.seed),
                limits=wanted.limits,
            )
        )
        if report.interrupted:
            raise KeyboardInterrupt
        before = self.item.stash.get(REPORT, None)
        if before is None or before.verdict != "unknown" or report.verdict == "violated":
            self.item.stash[REPORT] = report  # of several examples, one that was not explored to its end counts
        if report.coverage is not None and report.coverage.leftovers:
            self.item.warn(pytest.PytestWarning(f"{show_leftovers(report.coverage)}; {_FACTORY}"))
        where = _where(report)
        self.item.user_properties.append(("porcini", where))
        if report.counterexample is not None and EXPLORED in self.item.stash and not self._passes(report):
            how = ended(report.counterexample.runs[0])
            self.item.stash[REASON] = f"asyncio's own order fails, too, but not without Porcini: {how}"
            return None
        if report.counterexample is not None:
            self.stored.put(report.counterexample.schedules[0])
            return self._explained(report, where)
        self.stored.forget()
        if report.verdict == "unknown" and not wanted.allow_unknown:
            return failed("\n".join([self._unknown(report, where), *_notes(report), *self._advice(report)]))
        return None

    def _advice(self, report: Report) -> Iterator[str]:
        if report.coverage is not None and report.coverage.unfinished is not None:
            for text in (*describe(report.coverage), *lines_to_try(self.item, report.coverage)):
                yield f"note: {text}"

    def _passes(self, report: Report) -> bool:
        """Is there an order that passes: one that was tried, or asyncio's own?"""
        if any(outcome.kind == "terminated" for outcome in report.outcomes):
            return True
        code = replace(self.code, mode="fifo")
        limits = replace(self.wanted.limits, max_executions=_MOST_IN_ASYNCIOS_ORDER)
        own = explore(Request(code, self.wanted.engine, limits=limits))
        return any(outcome.kind == "terminated" for outcome in own.outcomes)

    def _unknown(self, report: Report, where: str) -> str:
        if ENGINES[report.engine].samples:
            return (
                f"Unknown: {where}, and none of them failed. Engine `{report.engine}` can fail a test, "
                "but never prove it: allow_unknown=True lets it pass."
            )
        limit = report.limit or ""
        return (
            f"Unknown: {where}, stopped by {limit.replace('executions', 'schedules')}, and none of them failed. "
            f"A higher {_remedy(limit)} lets it go on; allow_unknown=True lets it pass."
        )

    def replay(self, text: str) -> BaseException | None:
        """What to raise for a test that fails under one schedule. Where it passes, too, it runs once as it is."""
        try:
            with self.code.quiet():
                report = replay(Request(self.code, following=Following(text)))
        except ScheduleError as problem:
            problem.hint = None if problem.step else problem.hint  # of another command
            raise
        self.item.user_properties.append(("porcini", f"replayed {text}"))
        if report.counterexample is None:
            return self._raised(report.outcomes[0])
        return self._explained(report, "the schedule given")

    # telling --------------------------------------------------------------------------------------------------

    def _raised(self, run: Outcome) -> BaseException | None:
        code = self.code
        return raised(self.test, run.schedule, mode=code.mode, guards=code.guards, faults=code.faults)

    def _explained(self, report: Report, where: str) -> BaseException:
        """The exception to raise, with the rest put where pytest's report finds it."""
        example = report.counterexample
        assert example is not None
        run = example.runs[0]
        happened = self._raised(run) if run.kind in ("assertion", "error") else None
        what = ended(run, tuple(raised_in(happened)) if happened else ())
        self.item.stash[LINES] = list(self._lines(report))
        self.item.stash[SECTION] = lambda: self._section(report, what, where)
        if run.kind == "deadlock":
            return failed("\n".join([f"{deadlock_head(run.waiting)}:", *show_deadlock(run.waiting)]))
        if run.kind == "terminated":
            return failed(f"The order matters: it {what}, or {ended(example.runs[1])}")
        return happened or failed(what)

    def _section(self, report: Report, what: str, where: str) -> str:
        head = f"{what}, in {where}, mode {self.wanted.mode}."
        example, explanation = report.counterexample, report.explanation
        if report.command == "explore" and example is not None and example.contrast is None:
            head += " No order that passes was found."
        if example is not None and example.runs[0].faults:
            head += f" Fault: {'; '.join(example.runs[0].faults)}."
        lanes = list(explanation.lanes) if explanation is not None else []
        if lanes:
            lanes[0] = replace(lanes[0], ending=what)  # pytest knows it better
        shown = [show_lanes(lanes), ""] if lanes else []
        return "\n".join([head, "", *shown, *_notes(report), *self._lines(report)])

    def _lines(self, report: Report) -> Iterator[str]:
        """What to paste."""
        config = self.item.config
        options = f" --porcini-seed {self.wanted.seed}" if config.getoption("--porcini-seed") is not None else ""
        if self.wanted.real_time and (EXPLORED in self.item.stash or config.getoption("--porcini-real-time")):
            options += " --porcini-real-time"
        assert report.counterexample is not None
        for schedule in report.counterexample.schedules:
            yield f'{command_for(self.item)}{options} --porcini-replay "{show_schedule(schedule)}"'


_LISTENERS = {"output": {"capsys", "capfd", "capsysbinary", "capfdbinary"}, "logs": {"caplog"}}
"""Fixtures by which a test looks at its own output."""


def _where(report: Report) -> str:
    """How many schedules were tried, or the number of the one that fails."""
    number = report.counts.executions
    if FAILS_AGAIN in report.notes:
        return "the schedule that failed the last time"
    if report.counterexample is not None:
        return f"schedule {number:,}"
    return f"{number:,} schedule{'' if number == 1 else 's'}"


def _notes(report: Report) -> list[str]:
    """Without what is said elsewhere, or is about another command."""
    coverage = report.coverage
    told = describe(coverage) if coverage is not None and coverage.unfinished else ()
    left_out = (ADVICE, FAILS_AGAIN, *MODES.values(), *told)
    return [f"note: {note}" for note in report.notes if note not in left_out]


def _remedy(limit: str) -> str:
    """The option for a limit that was hit."""
    if "depth" in limit:
        return "max_depth"
    return "timeout or --porcini-timeout" if "time" in limit else "max_schedules or --porcini-max"


class _Stored:
    """Where pytest's cache keeps the schedule by which a test failed; one file each, for workers write at once."""

    def __init__(self, item: pytest.Function) -> None:
        self._cache: Any = vars(item.config).get("cache")  # there is none without the plugin of this name
        self._key = f"porcini/{hashlib.sha256(item.nodeid.encode()).hexdigest()[:16]}"

    def get(self) -> Schedule:
        text = self._cache.get(self._key, None) if self._cache is not None else None
        try:
            return parse_schedule(text) if isinstance(text, str) else ()
        except ScheduleError:
            return ()

    def put(self, schedule: Schedule) -> None:
        if self._cache is not None:
            self._cache.set(self._key, show_schedule(schedule))

    def forget(self) -> None:
        if self._cache is not None and self._cache.get(self._key, None):
            self._cache.set(self._key, "")
