"""Faults were tuples of numbers, and tuples of different kinds are equal: a call that raised in a first step of a
task was also taken for a cancellation after its first step, and for a timer that fired early.
"""

from __future__ import annotations

import asyncio

import porcini
from porcini.core.pids import Pid
from porcini.langs.aio.striking import Cancel, Raise, plan_of


async def fetch():
    await asyncio.sleep(0)
    return 1


async def asks_twice():
    found = 0
    for _ in range(2):
        try:
            found += await fetch()
        except TimeoutError:
            found += 10
    return found


def test_nobody_is_cancelled_where_a_call_raises() -> None:
    report = porcini.explore(asks_twice, errors={TimeoutError: f"{__name__}:fetch"}, max_faults=2)
    assert sorted(outcome.state["result"] for outcome in report.outcomes) == [2, 11, 20]


def test_kinds_of_faults_are_different() -> None:
    assert Cancel(Pid((0, 1)), 1, 0) != Raise(Pid((0, 1)), 1, 0)
    schedule = porcini.parse_schedule("0 0.1 1 2.0.1 0.1/2")
    faults = plan_of(schedule).faults
    assert Cancel(Pid((0, 1)), 1, 1) in faults
    assert Raise(Pid((0, 1)), 1, 1) in faults
    assert Raise(Pid((0, 1)), 1, 0) not in faults
