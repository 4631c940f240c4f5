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


async def shields() -> None:
    async def inner() -> None:
        await asyncio.sleep(0)

    async def outer() -> None:
        await asyncio.shield(inner())

    task = asyncio.create_task(
        outer()
    )  # who is cancelled while it awaits a shield: a callback tells the inner task
    await asyncio.sleep(0)
    await asyncio.gather(task, return_exceptions=True)


def test_a_callback_that_a_cancellation_makes_is_no_cancellation() -> None:
    """The first child of 2.0.0, which cancels 0.0, was 2.0.0.0, as is what cancels 0.0.0."""
    report = porcini.explore(shields, cancel=True, max_faults=2, engine="exhaustive")
    made = {pid for outcome in report.outcomes for pid, _ in outcome.schedule if pid[0] == 3}
    assert report.verdict == porcini.explore(shields, cancel=True, max_faults=2).verdict == "holds"
    assert made <= {Pid.parse("3.2.0.0.0")}
    schedule = porcini.parse_schedule("0 0.0 0.0.0 2.0.0 3.2.0.0.0")
    assert {fault for fault in plan_of(schedule).faults if isinstance(fault, Cancel)} == {
        Cancel(Pid((0, 0)), 1, 0)
    }
