"""Programs that do the same in every run, and of which Porcini said that they do not: a container of a module that
is cleared where the test begins, and a generator whose `finally` ran in the first step of the next run.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest

import porcini
from porcini.core.reports import Outcome
from porcini.core.traces import Trace
from porcini.coroutines.comparing import nearest
from porcini.coroutines.session import session
from porcini.formats.schedules import parse_schedule

CONTAINERS: dict[str, Any] = {
    "dict": {},
    "list": [],
    "set": set(),
    "deque": deque(),
    "defaultdict": defaultdict(list),
    "ordered": OrderedDict(),
    "counter": Counter(),
}


def put(container: Any, n: int) -> None:
    if isinstance(container, list | deque):
        container.append(n)
    elif isinstance(container, set):
        container.add(n)
    else:
        container[n] = n


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_that_is_cleared_where_the_test_begins(name: str) -> None:
    async def cleared() -> int:
        async def work(n: int) -> None:
            if len(container) < 2:
                await asyncio.sleep(0)
                put(container, n)

        container.clear()
        await asyncio.gather(work(1), work(2), work(3))
        return len(container)

    container = CONTAINERS[name]
    report = porcini.explore(cleared)
    assert {outcome.state["result"] for outcome in report.outcomes} == {2, 3}


async def clears_beside_a_reader():
    async def clear():
        items.clear()

    async def read():
        return items.get("a")

    items = {"a": 1}
    return (await asyncio.gather(clear(), read()))[1]


def test_clearing_races_with_who_looks_at_an_item() -> None:
    assert len(porcini.explore(clears_beside_a_reader).outcomes) == 2


class Some:
    number = 1


async def looks_at_a_class():
    """`vars(cls)` is a new object each time; what comes to be at its address later must not be taken for it."""

    async def work(n):
        return n

    names = len([vars(Some) for _ in range(50)])
    done, _ = await asyncio.wait([asyncio.create_task(work(n)) for n in range(3)])
    kept = [{n} for n in range(100)]
    return names, sorted(task.result() for task in done), len(set().union(*kept))


def test_the_address_of_a_view_of_a_class() -> None:
    assert porcini.explore(looks_at_a_class).counts.executions == 1


class Ends:
    number: int = 0
    both: Any = None


def generator():
    try:
        yield 1
    finally:
        Ends.number = 1


async def left_by_a_cancelled_task():
    """Its generators are made when the test has ended, and die when the next run begins."""

    async def left():
        try:
            await asyncio.sleep(100)
        finally:
            one, two = generator(), (n for n in generator())
            next(one), next(two)
            box.both = [one, two]

    async def work(n):
        box.number = n
        await asyncio.sleep(0)

    box = Ends()
    task = asyncio.create_task(left())
    await asyncio.gather(work(1), work(2), work(3))
    return box.number, task.done()


def test_a_generator_of_the_run_before() -> None:
    assert len(porcini.explore(left_by_a_cancelled_task).outcomes) == 3


def test_a_failure_that_shows_an_address() -> None:
    """Two runs that fail alike were taken for different ones, because the text of the exception shows where an
    object is: a failure became an error that says nothing about the test."""

    async def fails() -> None:
        class Thing:
            pass

        await asyncio.sleep(0)
        raise ValueError(f"not {Thing()}")

    report = porcini.explore(fails)
    assert report.verdict == "violated"
    (outcome,) = report.outcomes
    assert "0x" not in str(outcome.state["raised"])


def test_what_fails_and_cannot_be_followed_again_is_not_compared() -> None:
    """A program that depends on more than its schedule may lack a step of the run that is to be explained. That
    was a KeyError, and the failure was lost."""

    async def steps() -> None:
        await asyncio.sleep(0)

    with session(steps) as opened:
        program = opened.program()
        trace = Trace(())
        outcome = Outcome("assertion", {}, 1, parse_schedule("0 0.0 0"), trace)
        assert nearest(program, outcome, lambda final: True) is None
