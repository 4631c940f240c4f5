"""One marked test: explored or replayed, and what to say of it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from porcini.core.errors import InputError, ScheduleError
from porcini.core.events import Schedule
from porcini.core.explanations import Explanation
from porcini.core.reports import Counterexample, Outcome
from porcini.coroutines.comparing import raised
from porcini.coroutines.explaining import compared, explained, what_of
from porcini.coroutines.exploring import confirmed, search, wanted_of
from porcini.coroutines.guards import at
from porcini.coroutines.notes import leftovers, notes_of, opaque_places
from porcini.coroutines.quiet import quiet
from porcini.coroutines.session import Session, session
from porcini.coroutines.steady import NondeterministicProgram, SteadyProgram, run_twice
from porcini.coroutines.subjects import Subject
from porcini.engines.catalogue import ENGINES
from porcini.engines.options import Options
from porcini.engines.replaying import replay
from porcini.engines.stats import SearchStats
from porcini.formats.lanes import ending, show_lanes
from porcini.formats.schedules import locate, parse_schedule, show_schedule
from porcini.formats.sources import deadlock_head, show_deadlock
from porcini.properties.outcomes import first_violated
from porcini.pytest_plugin import MARKER, SECTION, SUMMARY
from porcini.pytest_plugin.fixtures import Fixtures
from porcini.pytest_plugin.options import Wanted, wanted_by

_MOST_PLACES = 20
_FACTORY = (
    "fixtures with a scope wider than a function, of plugins, or that take `request` are made once for all "
    "schedules: let one that the test changes return a factory, or make its object in the test"
)


# One test -----------------------------------------------------------------------------------------------------


def problem_of(item: pytest.Function) -> BaseException | None:
    """What to raise for a marked test, if anything."""
    try:
        return MarkedTest(item, wanted_by(item)).problem()
    except InputError as error:
        hint = f"\n{_FACTORY}" if isinstance(error, NondeterministicProgram) and item._fixtureinfo.argnames else ""
        return failed(f"{_placed(error, item)}{hint}")


def _placed(error: InputError, item: pytest.Function) -> InputError:
    """What is wrong with a mark is wrong where the test is."""
    line = item.reportinfo()[1]
    if error.file is not None or line is None:
        return error
    return InputError(error.message, hint=error.hint, **at(str(item.path), line + 1))


def failed(message: str) -> BaseException:
    return pytest.fail.Exception(message, pytrace=False)


class MarkedTest:
    """A marked test with its arguments."""

    def __init__(self, item: pytest.Function, wanted: Wanted) -> None:
        if not inspect.iscoroutinefunction(item.obj):
            raise InputError(
                f"@pytest.mark.{MARKER} is for async tests", hint=f"define {item.name} by `async def`"
            )
        self.item = item
        self.fixtures = Fixtures(item)
        self.test = functools.partial(item.obj, **self.fixtures.arguments)
        self.wanted = wanted
        self.guards = replace(wanted.guards, at_start=(self._start_run,), made_anew=self.fixtures.made_anew)
        self.stored = _Stored(item)
        self.shows_output = bool({"capsys", "capfd", "capsysbinary", "capfdbinary"} & set(item.fixturenames))

    def problem(self) -> BaseException | None:
        """What to raise, if anything."""
        replayed = self.item.config.getoption("--porcini-replay")
        try:
            return self.explore() if replayed is None else self.replay(replayed)
        finally:
            self.fixtures.tear_down()

    def _start_run(self) -> None:
        self.fixtures.start_run()
        self.test.keywords.update(self.fixtures.arguments)

    # exploring ------------------------------------------------------------------------------------------------

    def explore(self) -> BaseException | None:
        """What to raise for a test that fails in some order."""
        wanted = self.wanted
        asked = wanted_of(wanted.deterministic)
        with self._quiet(), session(self.test, packages=wanted.packages, guards=self.guards) as opened:
            program = opened.program(wanted.mode)
            found = self._try_stored(program)
            if found is None:
                stats = search(
                    program,
                    wanted.engine,
                    asked,
                    wanted.limits,
                    Options(seed=wanted.seed),
                    first=True,
                )
                if stats.interrupted:
                    raise KeyboardInterrupt
                notes = tuple(notes_of(opened, program, stats, wanted.engine, True))[1:]
                found = replace(_Found.of(stats, asked), notes=notes)
                self.item.stash[SUMMARY] = _summary(opened, program, stats)
            if found.run is not None:
                found = found.compared(program)
            left = leftovers(program) if program.leftovers else None
        if left is not None:
            self.item.warn(pytest.PytestWarning(f"{left}; {_FACTORY}"))
        self.item.user_properties.append(("porcini", found.said))
        if found.run is not None:
            self.stored.put(found.run.schedule)
            return self._explained(found)
        self.stored.forget()
        if found.limit is not None and not wanted.allow_unknown:
            return failed("\n".join([self._unknown(found), *(f"note: {note}" for note in found.notes)]))
        return None

    def _unknown(self, found: _Found) -> str:
        assert found.limit is not None
        if ENGINES[self.wanted.engine].samples:
            return (
                f"Unknown: {found.said}, and none of them failed. Engine `{self.wanted.engine}` can fail a test, "
                "but never prove it: allow_unknown=True lets it pass."
            )
        limit = found.limit.replace("executions", "schedules")
        return (
            f"Unknown: {found.said}, stopped by {limit}, and none of them failed. A higher {_remedy(found.limit)} "
            "lets it go on; allow_unknown=True lets it pass."
        )

    def _try_stored(self, program: SteadyProgram) -> _Found | None:
        """The schedule that failed the last time goes first."""
        schedule = self.stored.get()
        if schedule is None:
            return None
        run_twice(program)
        try:
            trace, run = replay(program, schedule)
            final = run.final()
        except ScheduleError:
            return None
        if final.kind == "terminated":
            return None
        outcome = Outcome(final.kind, final.state, 1, trace.schedule, trace, final.waiting)
        return _Found(outcome, None, "the schedule that failed the last time")

    # one schedule ---------------------------------------------------------------------------------------------

    def replay(self, text: str) -> BaseException | None:
        """What to raise for a test that fails under one schedule. Where it passes, too, it runs once as it is."""
        wanted = self.wanted
        with self._quiet(), session(self.test, packages=wanted.packages, guards=self.guards) as opened:
            try:
                trace, run = replay(opened.program(wanted.mode), parse_schedule(text))
            except ScheduleError as problem:
                problem.hint = None if problem.step else problem.hint  # of another command
                raise (locate(problem, text) if problem.step else problem) from None
            final = run.final()
        self.item.user_properties.append(("porcini", f"replayed {text}"))
        outcome = Outcome(final.kind, final.state, 1, trace.schedule, trace, final.waiting)
        if final.kind == "terminated":
            return self._raised(outcome)
        return self._explained(_Found(outcome, None, "the schedule given", replayed=True))

    def _raised(self, run: Outcome) -> BaseException | None:
        wanted = self.wanted
        return raised(self.test, run.schedule, mode=wanted.mode, packages=wanted.packages, guards=self.guards)

    # telling --------------------------------------------------------------------------------------------------

    def _explained(self, found: _Found) -> BaseException:
        """The exception to raise, with the rest put where the report finds it."""
        run, wanted = found.run, self.wanted
        assert run is not None
        happened = self._raised(run) if run.kind in ("assertion", "error") else None
        what = what_of(happened) if happened else ending(run)
        subject = Subject(self.test, (), wanted.mode, wanted.packages, self.guards)
        runs = [run, *([found.other] if found.other else [])]
        explanation = Explanation(waiting=run.waiting)
        with self._quiet(), contextlib.suppress(InputError):  # the failure is not lost if it cannot be explained
            explanation = explained(subject, runs, what)
        self.item.stash[SECTION] = lambda: self._section(found, what, explanation)
        if run.kind == "deadlock":
            head = f"{deadlock_head(explanation.waiting)}:"
            return failed("\n".join([head, *show_deadlock(explanation.waiting)]))
        if run.kind == "terminated":
            assert found.other is not None
            return failed(f"The order matters: it {what}, or {ending(found.other)}")
        return happened or failed(what)

    def _section(self, found: _Found, what: str, explanation: Explanation) -> str:
        head = f"{what}, in {found.said}, mode {self.wanted.mode}."
        if found.other is None and not found.replayed:
            head += " No order that passes was found."
        below = [*(f"note: {note}" for note in found.notes), *self._lines(found)]
        lanes = [show_lanes(explanation.lanes), ""] if explanation.lanes else []
        return "\n".join([head, "", *lanes, *below])

    def _lines(self, found: _Found) -> Iterator[str]:
        """What to paste, here: not where pytest's root is."""
        config = self.item.config
        seed = f" --porcini-seed {self.wanted.seed}" if config.getoption("--porcini-seed") is not None else ""
        path, colons, name = self.item.nodeid.partition("::")
        here = os.path.relpath(config.rootpath / path, config.invocation_params.dir)
        test = shlex.quote(f"{here}{colons}{name}")
        for run in (found.run, found.other):
            if run is not None and (run is found.run or run.kind != "terminated" or self.wanted.deterministic):
                yield f'pytest {test}{seed} --porcini-replay "{show_schedule(run.schedule)}"'

    def _quiet(self) -> contextlib.AbstractContextManager[None]:
        """Unless the test looks at its own output."""
        return quiet(output=not self.shows_output, logs="caplog" not in self.item.fixturenames)


def _remedy(limit: str) -> str:
    """The option for a limit that was hit."""
    if "depth" in limit:
        return "max_depth"
    return "timeout or --porcini-timeout" if "time" in limit else "max_schedules or --porcini-max"


def _summary(opened: Session, program: SteadyProgram, stats: SearchStats) -> dict[str, Any]:
    return {
        "schedules": stats.counts.executions,
        "steps": program.steps,
        "opaque": program.opaque,
        "places": [list(place) for place in opaque_places(opened, program)[:_MOST_PLACES]],
        "unretrieved": [list(one) for one in program.unretrieved.most_common(_MOST_PLACES)],
        "limit": stats.limit,
    }


@dataclass(frozen=True, slots=True)
class _Found:
    """A run that fails, if any, and one that does not; or why nothing is known."""

    run: Outcome | None
    other: Outcome | None
    said: str
    limit: str | None = None
    replayed: bool = False
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(stats: SearchStats, asked: tuple[Any, ...]) -> _Found:
        number = stats.counts.executions
        said = f"{number:,} schedule{'' if number == 1 else 's'}"
        violation = first_violated(asked, stats.outcomes)
        if violation is None:
            return _Found(None, None, said, stats.limit)
        runs = violation[1].runs
        passing = [outcome for outcome in stats.outcomes if outcome.kind == "terminated"]
        other = runs[1] if len(runs) > 1 else passing[0] if passing else None
        return _Found(runs[0], other, f"schedule {number:,}")

    def compared(self, program: SteadyProgram) -> _Found:
        """In an order with long turns, with the closest run that ends otherwise."""
        assert self.run is not None
        run = confirmed(program, Counterexample((self.run,), ())).runs[0]
        return replace(self, run=run, other=compared(program, run) or self.other)


class _Stored:
    """Where pytest's cache keeps the schedule by which a test failed; one file each, for workers write at once."""

    def __init__(self, item: pytest.Function) -> None:
        self._cache: Any = getattr(item.config, "cache", None)
        self._key = f"porcini/{hashlib.sha256(item.nodeid.encode()).hexdigest()[:16]}"

    def get(self) -> Schedule | None:
        text = self._cache.get(self._key, None) if self._cache is not None else None
        try:
            return parse_schedule(text) if isinstance(text, str) and text else None
        except ScheduleError:
            return None

    def put(self, schedule: Schedule) -> None:
        if self._cache is not None:
            self._cache.set(self._key, show_schedule(schedule))

    def forget(self) -> None:
        if self._cache is not None and self._cache.get(self._key, None):
            self._cache.set(self._key, "")
