"""pytest: `@pytest.mark.porcini` runs an async test in every order that can make a difference.

    @pytest.mark.porcini(mode="any", max_schedules=10_000, timeout=60.0, max_depth=None, deterministic=False,
                         engine="optimal", allow_unknown=False, packages=(), seed=0, step_seconds=5.0,
                         real_time=False, suspend=True)
    async def test_transfer(): ...

A marked test is collected as always; only how it is called is ours (`run_marked`), so other plugins for async
tests keep theirs. It stops at the first failure, which is then run once more in the code as pytest loaded it: the
traceback and the values in assertions are pytest's own. What Porcini knows is added to the report.

Each schedule has the whole life of a test (`life`, `cases`): setup, fixtures for one function, async ones
included, and teardown. What fails there fails the schedule. Fixtures with a wider scope are made once, and shared
by all schedules. A test that changes one of those carries something from one schedule into the next, which is an
error where it is noticed: let the fixture return a factory, or make the object in the test.

Nothing hangs: `timeout` is for all schedules of a test, and a run of more than 10,000 steps ends the search
(a `max_depth` of your own only cuts runs that are longer). A search that was stopped is `unknown`, which fails
unless `allow_unknown`. What was explored is summed up at the end of pytest's output. What says nothing about the
test is an error, and not a failure that `xfail` could expect: what is refused (`coroutines.guards`), an exception
of Porcini's own, or of a fixture that is made anew.

With `--porcini` nothing has to be marked: `suite` explores all async tests after they have run as always.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import ExceptionRepr

if TYPE_CHECKING:
    from porcini.core.reports import Report

MARKER = "porcini"
SECTION = pytest.StashKey[Callable[[], str]]()
"""What a test's report has to say besides its exception; asked for when stdout is the terminal again."""

REPORT = pytest.StashKey["Report"]()
"""What was explored."""

BROKEN = pytest.StashKey[bool]()
"""Could the test not be explored, so that nothing was found out about it?"""

REASON = pytest.StashKey[str]()
"""Why it could not, in one line."""

LINES = pytest.StashKey[list[str]]()
"""What to paste to see a failure again."""

BUDGET = pytest.StashKey[float]()
"""With `--porcini`: how many seconds a test has."""

OUTCOMES = pytest.StashKey[list[tuple[str, str]]]()
"""With `--porcini`: what pytest has reported of a test, without us."""

EXPLORED = pytest.StashKey[bool]()
"""With `--porcini`: is a test run for the second time?"""

REPORTS = pytest.StashKey[list[pytest.TestReport]]()
"""What was reported of it then."""

_OPTIONS = (
    "mode, max_schedules, timeout, max_depth, deterministic, engine, allow_unknown, packages, seed, step_seconds, "
    "real_time, suspend"
)
_MOST_PLACES = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("porcini", "tests in every order that can make a difference")
    group.addoption(
        "--porcini",
        action="store_true",
        help="explore every async test that passes, marked or not, and end with a table",
    )
    group.addoption(
        "--porcini-budget", metavar="S", type=float, default=2.0, help="with --porcini: seconds for each test (2)"
    )
    group.addoption(
        "--porcini-real-time",
        action="store_const",
        const=True,
        help="leave time.time() and time.sleep() alone, as by real_time=True of the mark",
    )
    group.addoption("--porcini-replay", metavar="SCHEDULE", help="run marked tests under this schedule only")
    group.addoption("--porcini-max", metavar="N", type=int, help="at most so many schedules for each marked test")
    group.addoption(
        "--porcini-timeout", metavar="S", type=float, help="at most so many seconds for each marked test"
    )
    group.addoption(
        "--porcini-seed", metavar="N", type=int, help="seed for `random`, and for engines random and pct"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARKER}({_OPTIONS}): run an async test in every order that can make a difference"
    )
    budget = config.getoption("--porcini-budget")
    if not budget > 0:
        raise pytest.UsageError(f"--porcini-budget is {budget:g}: it must be a number of seconds above 0")
    config.stash[BUDGET] = budget
    if config.getoption("--porcini"):
        config.pluginmanager.register(Suite(config), "porcini-suite")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--porcini") and config.getoption("--porcini-replay") is not None:
        from porcini.pytest_plugin.suite import is_async, mark

        for item in filter(is_async, items):
            mark(item)
    marked = [item for item in items if isinstance(item, pytest.Function) and item.get_closest_marker(MARKER)]
    if len(marked) > 1 and config.getoption("--porcini-replay") is not None:
        raise pytest.UsageError(
            f"--porcini-replay: a schedule is of one test, and {len(marked)} are selected; "
            f"name it, such as {marked[0].nodeid}"
        )
    for item in marked:
        item.runtest = functools.partial(run_marked, item)  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before an async fixture is made on somebody else's loop."""
    if isinstance(item, pytest.Function) and item.get_closest_marker(MARKER):
        from porcini.pytest_plugin.life import LIFE, Life, refusal_of

        refusal = refusal_of(item)
        if refusal is not None:
            pytest.fail(f"@pytest.mark.{MARKER}: {refusal}.", pytrace=False)
        item.stash[LIFE] = Life(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        if item.get_closest_marker(MARKER):
            from porcini.pytest_plugin.life import LIFE

            if LIFE in item.stash:
                item.stash[LIFE].restore()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        found = item.stash.get(REPORT, None) if EXPLORED not in item.stash else None
        report.porcini = None if found is None else _portable(found)  # type: ignore[attr-defined]
        if item.stash.get(BROKEN, False):
            report.porcini_broken = True  # type: ignore[attr-defined]
            report.outcome = "failed"
            vars(report).pop("wasxfail", None)
    section = item.stash.get(SECTION, None)
    if section is not None and report.when == "call" and report.failed:
        if isinstance(report.longrepr, ExceptionRepr):
            report.longrepr.addsection("porcini", section(), "-")
        else:
            report.sections.append(("porcini", section()))
    return report


def _portable(report: Report) -> dict[str, Any]:
    """What is summed up, in types that pytest's reports carry from one process to another."""
    seen = report.coverage
    assert seen is not None
    return {
        "schedules": report.counts.executions,
        "limit": report.limit,
        "steps": seen.steps,
        "opaque": seen.opaque,
        "places": [list(place) for place in seen.places],
        "unretrieved": [list(one) for one in seen.unretrieved],
    }


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    """What says nothing about the test is an error, and not a failure."""
    broken = report.failed and vars(report).get("porcini_broken")  # not all reports are made by us
    return ("error", "E", "ERROR") if broken else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """A green dot says little: how much was explored, and what made it dear?"""
    found = {
        report.nodeid: told
        for reports in terminalreporter.stats.values()
        for report in reports
        if (told := vars(report).get("porcini")) is not None
    }
    if not found or terminalreporter.verbosity < -1:
        return
    if terminalreporter.verbosity > 0:
        for test, told in found.items():
            terminalreporter.write_line(f"porcini: {test}: {_told([told])}")
    number = f"{len(found):,} test{'' if len(found) == 1 else 's'}, "
    terminalreporter.write_line(f"porcini: {number}{_told(list(found.values()))}")
    unretrieved = [(test, *one) for test, told in found.items() for one in told["unretrieved"]]
    if unretrieved:
        from porcini.coroutines.notes import show_unretrieved

        for test, text, times in unretrieved:
            terminalreporter.write_line(f"porcini: {test}: {show_unretrieved(text, times)}")


def _told(all_told: list[dict[str, Any]]) -> str:
    schedules, steps, opaque = (sum(told[name] for told in all_told) for name in ("schedules", "steps", "opaque"))
    text = f"{schedules:,} schedule{'' if schedules == 1 else 's'}"
    unknown = sum(told["limit"] is not None for told in all_told)
    if unknown:
        text += f" ({unknown:,} not to the end)" if len(all_told) > 1 else " (not to the end)"
    if not opaque:
        return text
    places: Counter[str] = Counter()
    for told in all_told:
        for place, times in told["places"]:
            places[place] += times
    named = "; ".join(f"{place} ({times:,})" for place, times in places.most_common(_MOST_PLACES))
    more = "; ..." if len(places) > _MOST_PLACES else ""
    return f"{text}; {opaque:,} of {steps:,} steps opaque: {named}{more}"


def _hidden(excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
    """Where the test itself raised, our own frames are noise."""
    return not isinstance(excinfo.value, pytest.fail.Exception)


def run_marked(item: pytest.Function) -> None:
    """Explore a marked test, in place of calling it. Only now is the rest of Porcini loaded."""
    __tracebackhide__ = _hidden
    from porcini.pytest_plugin.running import problem_of

    try:
        problem = problem_of(item)
    except Exception as raised:
        item.stash[BROKEN] = True
        item.stash[REASON] = f"a bug in Porcini: {type(raised).__name__}: {raised}".splitlines()[0]
        if EXPLORED in item.stash:
            return
        raise
    if problem is not None and (EXPLORED not in item.stash or REASON not in item.stash):
        raise problem


class Suite:
    """What `--porcini` adds: the suite runs as always, and is explored when it has."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        result = yield
        if self.config.getoption("--porcini-replay") is None:
            from porcini.pytest_plugin.suite import explore_suite, send

            try:
                explore_suite(session)
            finally:
                send(self.config)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """The second time, pytest is not told of everything."""
        if EXPLORED not in item.stash:
            return None
        from _pytest.runner import runtestprotocol

        item.stash[REPORTS] = runtestprotocol(item, log=False, nextitem=nextitem)
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        outcome = "expected" if hasattr(report, "wasxfail") else report.outcome
        item.stash.setdefault(OUTCOMES, []).append((report.when or "", outcome))
        return report

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker of pytest-xdist is done."""
        from porcini.pytest_plugin.suite import receive

        receive(self.config, getattr(node, "workeroutput", {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from porcini.pytest_plugin.suite import ANSWERS, LEFT, table

        answers, left = self.config.stash.get(ANSWERS, None), self.config.stash.get(LEFT, None)
        if answers or left:
            terminalreporter.section("porcini")
            for line in table(answers or [], left or 0):
                terminalreporter.write_line(line)
