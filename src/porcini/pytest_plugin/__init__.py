"""pytest: `@pytest.mark.porcini` runs an async test in every order that can make a difference.

    @pytest.mark.porcini(mode="any", max_schedules=10_000, deterministic=False, engine="optimal",
                         allow_unknown=False, packages=(), seed=0, step_seconds=5.0, real_time=False)
    async def test_transfer(): ...

A marked test is collected as always; only how it is called is ours (`_run`), so other plugins for async tests keep
theirs. It stops at the first failure, which is then run once more in the code as pytest loaded it: the traceback
and the values in assertions are pytest's own. What Porcini knows is added to the report.

Fixtures are made once, before the first schedule, and their values are shared by all schedules. A test that
changes one carries something from one schedule into the next, which is an error where it is noticed: let the
fixture return a factory, or make the object in the test.
"""

from __future__ import annotations

import functools
from collections.abc import Generator
from typing import Any

import pytest

MARKER = "porcini"
SECTION = pytest.StashKey[str]()
"""What a test's report has to say besides its exception."""

_OPTIONS = "mode, max_schedules, deterministic, engine, allow_unknown, packages, seed, step_seconds, real_time"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("porcini", "tests in every order that can make a difference")
    group.addoption("--porcini-replay", metavar="SCHEDULE", help="run marked tests under this schedule only")
    group.addoption("--porcini-max", metavar="N", type=int, help="at most so many schedules for each marked test")
    group.addoption(
        "--porcini-seed", metavar="N", type=int, help="seed for `random`, and for engines random and pct"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARKER}({_OPTIONS}): run an async test in every order that can make a difference"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker(MARKER):
            item.runtest = functools.partial(_run, item)  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    text = item.stash.get(SECTION, None)
    if text is not None and report.when == "call" and report.failed:
        add: Any = getattr(report.longrepr, "addsection", None)
        if add is not None:
            add("porcini", text, "-")
        else:
            report.sections.append(("porcini", text))
    return report


def _hidden(excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
    """Where the test itself raised, our own frames are noise."""
    return not isinstance(excinfo.value, pytest.fail.Exception)


def _run(item: pytest.Function) -> None:
    """Explore a marked test, in place of calling it. Only now is the rest of Porcini loaded."""
    __tracebackhide__ = _hidden
    from porcini.pytest_plugin.running import problem_of

    problem = problem_of(item)
    if problem is not None:
        raise problem
