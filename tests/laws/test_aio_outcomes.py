"""Generated asyncio programs: what engines find by footprints is what running every order of ready handles shows.

The reference (`aio.corpus_reference`) knows neither footprints nor instrumentation nor the controlled loop.
"""

from __future__ import annotations

import ast
import gc
import itertools
import linecache
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from aio.corpus_reference import Exploration, ReplayError
from aio.corpus_reference import explore as every_order
from aio_strategies import aio_programs, branching_programs, updating_programs
from porcini import Limits, explore
from strategies import PROGRAMS

ENGINES = ("optimal", "source", "dpor")
MOST_RUNS = 600
MOST_STEPS = 200

_numbers = itertools.count()


def main_of(source: str) -> Any:
    """The program's `main`, whose source can be found."""
    name = f"<generated {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": f"generated{name}"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["main"]


def shown(kind: str, text: object = "") -> tuple[str, str]:
    return kind, str(text) if kind == "terminated" else ""


def outcomes_agree(source: str) -> int:
    """The outcomes of every engine are those of every order; the number of those."""
    main = main_of(source)
    gc.collect()
    gc.disable()  # an asynchronous generator that is collected in a run is closed by a handle of the loop, then
    try:
        every = every_order(main, max_runs=MOST_RUNS, max_steps=MOST_STEPS)
    except ReplayError:  # asyncio's `as_completed` goes through a set of tasks
        every = Exploration()
    finally:
        gc.enable()
    assume(every.complete and not every.cut)
    expected = {
        shown("terminated", ast.literal_eval(text[0])) if kind == "ok" else (kind, "")
        for kind, *text in every.outcomes
    }
    for engine in ENGINES:
        report = explore(main, engine=engine, limits=Limits(max_executions=4 * MOST_RUNS))
        assert report.stopped == "exhausted", engine
        found = {shown(o.kind, *o.state.values()) for o in report.outcomes}
        assert found == expected, f"{engine}: lost {expected - found}, invented {found - expected}"
    return every.runs


@settings(max_examples=PROGRAMS // 40, deadline=None, suppress_health_check=list(HealthCheck))
@given(aio_programs())
def test_every_outcome_and_no_other(source: str) -> None:
    outcomes_agree(source)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks are new in Python 3.12")
@settings(max_examples=PROGRAMS // 40, deadline=None, suppress_health_check=list(HealthCheck))
@given(aio_programs())
def test_tasks_that_start_eagerly(source: str) -> None:
    begin = "async def main():\n"
    eager = "    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)\n"
    outcomes_agree(source.replace(begin, begin + eager))


@settings(max_examples=PROGRAMS // 30, deadline=None, suppress_health_check=list(HealthCheck))
@given(branching_programs())
def test_steps_that_touch_other_things_elsewhere(source: str) -> None:
    outcomes_agree(source)


@settings(max_examples=PROGRAMS // 30, deadline=None, suppress_health_check=list(HealthCheck))
@given(updating_programs())
def test_updates_that_commute(source: str) -> None:
    outcomes_agree(source)


@settings(max_examples=PROGRAMS // 40, deadline=None, suppress_health_check=list(HealthCheck))
@given(branching_programs(joined=True))
def test_who_looks_at_a_join(source: str) -> None:
    outcomes_agree(source)
