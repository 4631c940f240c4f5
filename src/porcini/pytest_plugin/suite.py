"""`pytest --porcini`: every async test of a suite, explored after the suite itself has run.

First pytest runs as it always does. What fails, is skipped or is expected to fail there is left alone: it says
nothing new in other orders. Then each async test that has passed is set up once more, as if it were marked, with
a budget of its own, and gets one of four answers. Only a test that depends on the order is reported to pytest, as
a failure; so the exit status is that of plain pytest, unless there is one.

*A failure is ours to tell only if some order passes.* In our world time is virtual, and there is no network. A
test that passes without Porcini and fails here in asyncio's own order, too, does not depend on the order: it is
one that we cannot explore.

All of this happens in the process that has run the test: in each worker of pytest-xdist, which sends its answers
to the main process when it is done.
"""

from __future__ import annotations

import gc
import inspect
import sys
import unittest
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

import pytest

from porcini.core.reports import Report
from porcini.coroutines.costs import describe
from porcini.langs.aio.naming import StepLabel
from porcini.pytest_plugin import (
    BROKEN,
    BUDGET,
    EXPLORED,
    LINES,
    MARKER,
    OUTCOMES,
    REASON,
    REPORT,
    REPORTS,
    SECTION,
    run_marked,
)
from porcini.pytest_plugin.cases import called_function
from porcini.pytest_plugin.drawing import is_drawn
from porcini.pytest_plugin.life import LIFE, refusal_of
from porcini.pytest_plugin.pasting import lines_to_try

Verdict = Literal["held", "depends", "unfinished", "impossible"]
ANSWERS = pytest.StashKey[list["Answer"]]()
LEFT = pytest.StashKey[int]()
"""How many async tests did not pass without Porcini."""

_SENT = "porcini"
_LETTERS: dict[Verdict, str] = {"held": ".", "depends": "", "unfinished": "?", "impossible": "-"}
_BLOCKS = "time.sleep()"
"""A test that blocks the loop for a moment is explored as it is, in real time."""
_CALLBACKS = ' (it counts on when asyncio calls callbacks: mode="fifo")'
_PLAIN = {("setup", "passed"), ("call", "passed"), ("teardown", "passed")}


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found out about one test."""

    test: str
    verdict: Verdict
    why: str = ""
    schedules: int = 0
    lines: tuple[str, ...] = ()
    """What to paste."""


# Which tests --------------------------------------------------------------------------------------------------


def is_async(item: pytest.Item) -> bool:
    """Is it a test that awaits, and not one that is marked anyway?"""
    if not isinstance(item, pytest.Function) or item.get_closest_marker(MARKER):
        return False
    if item.cls is not None and issubclass(item.cls, unittest.TestCase):
        asynchronous = issubclass(item.cls, unittest.IsolatedAsyncioTestCase)
        return asynchronous and inspect.iscoroutinefunction(item.obj)
    return is_drawn(item) or inspect.iscoroutinefunction(called_function(item))


def _has_passed(item: pytest.Item) -> bool:
    return set(item.stash.get(OUTCOMES, ())) == _PLAIN


def mark(item: pytest.Item, **options: Any) -> None:
    """Treat a test as if it were marked."""
    mark = getattr(pytest.mark, MARKER)(timeout=item.config.stash[BUDGET], allow_unknown=True, **options)
    item.add_marker(mark, append=False)
    if item.config.pluginmanager.hasplugin("timeout"):  # it is for one run, and not for all of them
        item.add_marker(pytest.mark.timeout(0), append=False)


# One after the other ------------------------------------------------------------------------------------------


def explore_suite(session: pytest.Session) -> None:
    """Explore what has passed, and keep the answers for the end of pytest's output."""
    config = session.config
    ran = [item for item in session.items if OUTCOMES in item.stash and is_async(item)]
    chosen = [item for item in ran if _has_passed(item)]
    answers = config.stash.setdefault(ANSWERS, [])
    config.stash[LEFT] = config.stash.get(LEFT, 0) + len(ran) - len(chosen)
    progress = _Progress(config, len(chosen))
    with _unheard():
        for item, following in zip(chosen, [*chosen[1:], None], strict=False):
            assert isinstance(item, pytest.Function)
            answer, reports = _answer(item, following)
            _forget(item)
            answers.append(answer)
            progress.show(answer)
            for report in reports:
                _log(config, report)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)


@contextmanager
def _unheard() -> Iterator[None]:
    """Runs that are given up leave coroutines behind. What these do when they are thrown away is not heard,
    neither by the next test nor, where warnings are errors, by pytest when it ends."""
    usual, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
            gc.collect()
    finally:
        sys.unraisablehook = usual


def _answer(item: pytest.Function, following: pytest.Item | None) -> tuple[Answer, list[pytest.TestReport]]:
    """The answer for one test, and what pytest is told of it."""
    reason = _refused(item)
    if reason is not None:
        return Answer(item.nodeid, "impossible", reason), []
    mark(item)
    item.runtest = lambda: run_marked(item)  # type: ignore[method-assign]
    item.stash[EXPLORED] = True
    reports = _run_again(item, following)
    if item.stash.get(REASON, "").partition(": error: ")[2].startswith(_BLOCKS):
        mark(item, real_time=True)
        reports = _run_again(item, following)
    found = item.stash.get(REPORT, None)
    reason = item.stash.get(REASON, None) or _trouble(reports, found)
    if found is None or reason is not None:
        return Answer(item.nodeid, "impossible", reason or "it could not be run again"), []
    if found.verdict == "unknown":
        return _unfinished(item, found), []
    if found.verdict == "holds":
        return Answer(item.nodeid, "held", schedules=found.counts.executions), []
    failed = [report for report in reports if report.failed]
    why = (_last_line(failed[0]) if failed else "it fails") + _hint(found)
    lines = item.stash.get(LINES, [])
    return Answer(item.nodeid, "depends", why, found.counts.executions, tuple(lines)), failed


def _forget(item: pytest.Function) -> None:
    """Leave nothing of a search in a test: a suite has many."""
    keys: tuple[pytest.StashKey[Any], ...] = (BROKEN, LIFE, LINES, REASON, REPORT, REPORTS, SECTION)
    for key in keys:
        if key in item.stash:
            del item.stash[key]


def _hint(found: Report) -> str:
    """What a failure counts on, where that can be told: the step at which the run that passes goes elsewhere."""
    example = found.counterexample
    if example is None or example.contrast is None:
        return ""
    for fails, passes in zip(example.runs[0].trace, example.contrast.trace, strict=False):
        if fails.move != passes.move:
            labels = [event.label for event in (fails, passes) if isinstance(event.label, StepLabel)]
            return _CALLBACKS if any(label.end == "callback" for label in labels) else ""
    return ""


def _run_again(item: pytest.Function, following: pytest.Item | None) -> list[pytest.TestReport]:
    """Let pytest set the test up, call it, which explores it, and tear it down."""
    _forget(item)
    if item.cls is not None:
        vars(item).pop("_instance", None)
        item._obj = None
    item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
    return item.stash.get(REPORTS, [])


def _refused(item: pytest.Function) -> str | None:
    """Why a test cannot be explored, where that is known before it is run."""
    params: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    backend = params.get("anyio_backend")
    if (backend[0] if isinstance(backend, tuple) else backend) not in (None, "asyncio"):
        return "it does not run on asyncio"
    return refusal_of(item)


def _trouble(reports: Iterable[pytest.TestReport], found: Report | None) -> str | None:
    """What went wrong around the runs of a test, if that is not what they have found."""
    for report in reports:
        wanted = report.when == "call" and found is not None and found.verdict == "violated"
        if not report.passed and not wanted:
            verb = "failed" if report.failed else "was skipped"
            return f"its {report.when} {verb} when it was explored: {_last_line(report)}"
    return None


def _unfinished(item: pytest.Function, found: Report) -> Answer:
    schedules = found.counts.executions
    why = f"{schedules:,} schedule{'' if schedules == 1 else 's'}, stopped by {found.limit}"
    coverage = found.coverage
    if coverage is None or coverage.unfinished is None:
        return Answer(item.nodeid, "unfinished", why.replace("executions", "schedules"), schedules)
    why = "; ".join([why.replace("executions", "schedules"), *describe(coverage)])
    return Answer(item.nodeid, "unfinished", why, schedules, tuple(lines_to_try(item, coverage)))


def _last_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message) if crash is not None else report.longreprtext
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason was given")


# Telling ------------------------------------------------------------------------------------------------------


class _Progress:
    """A letter for each test; dependent ones have theirs from pytest. Workers have no terminal."""

    def __init__(self, config: pytest.Config, number: int) -> None:
        self._terminal: Any = config.pluginmanager.get_plugin("terminalreporter") if not _sends(config) else None
        if self._terminal is not None and number:
            self._terminal.write("\n")
            tests = f"{number:,} async test{'' if number == 1 else 's'}"
            budget = f"{config.stash[BUDGET]:g} s"
            self._terminal.write_line(f"porcini: {tests} in every order, at most {budget} each")

    def show(self, answer: Answer) -> None:
        if self._terminal is None or self._terminal.verbosity < 0:
            return
        if self._terminal.verbosity > 0:
            self._terminal.write_line(f"{answer.test} {answer.verdict}")
        else:
            self._terminal.write(_LETTERS[answer.verdict], flush=True)


def _sends(config: pytest.Config) -> bool:
    """Is this a worker of pytest-xdist?"""
    return hasattr(config, "workeroutput")


def _log(config: pytest.Config, report: pytest.TestReport) -> None:
    """Tell pytest, or have the main process do so."""
    if _sends(config):
        config.stash.setdefault(REPORTS, []).append(report)
    else:
        config.hook.pytest_runtest_logreport(report=report)


def send(config: pytest.Config) -> None:
    """Hand what a worker has found to the main process."""
    if not _sends(config) or ANSWERS not in config.stash:
        return
    reports = config.stash.get(REPORTS, [])
    sent = {
        "answers": [asdict(answer) for answer in config.stash[ANSWERS]],
        "left": config.stash[LEFT],
        "reports": [config.hook.pytest_report_to_serializable(config=config, report=each) for each in reports],
    }
    config.workeroutput[_SENT] = sent  # type: ignore[attr-defined]


def receive(config: pytest.Config, output: dict[str, Any]) -> None:
    """Take what a worker has found."""
    sent = output.get(_SENT)
    if sent is None:
        return
    answers = config.stash.setdefault(ANSWERS, [])
    answers += (Answer(**{**answer, "lines": tuple(answer["lines"])}) for answer in sent["answers"])
    config.stash[LEFT] = config.stash.get(LEFT, 0) + sent["left"]
    for data in sent["reports"]:
        report = config.hook.pytest_report_from_serializable(config=config, data=data)
        config.hook.pytest_runtest_logreport(report=report)


# The table ----------------------------------------------------------------------------------------------------

_TITLES: dict[Verdict, str] = {
    "held": "held in every order",
    "depends": "depends on the order",
    "unfinished": "not finished",
    "impossible": "not possible",
}


def table(answers: list[Answer], left: int) -> Iterator[str]:
    """What is shown at the end: a line for each kind of answer, and below it the tests that need a look."""
    found = sorted(answers, key=lambda answer: answer.test)
    for verdict, title in _TITLES.items():
        these = [answer for answer in found if answer.verdict == verdict]
        if these or verdict == "held":
            yield f"{title:<24}{len(these):>6,}"
        for answer in these:
            if verdict != "held":
                yield f"  {answer.test}: {answer.why}"
                yield from (f"    {line}" for line in answer.lines)
    if left:
        yield f"{'not explored':<24}{left:>6,}  as they do not pass without Porcini"
