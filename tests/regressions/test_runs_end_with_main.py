"""Steps after the end of the main coroutine were still permuted, also those that it comes before in any case; and
in mode `fifo`, a task that goes on for ever made every test unknown. What cannot go before the end of the main
coroutine is cancelled then, as `asyncio.run` has it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import porcini
from aio.agreeing import agreed

LEFT: list[Any] = []


async def ticker():
    async def tick():
        while True:
            await asyncio.sleep(0.1)
            counter.append(1)

    counter: list[int] = []
    task = asyncio.create_task(tick())
    await asyncio.sleep(0.35)
    return len(counter), task.done()


async def queue_of_handles():
    """In asyncio's own order, nothing that is behind the main coroutine's last step can go before it."""

    async def tick():
        while True:
            await asyncio.sleep(0)
            counter.append(1)

    counter: list[int] = []
    task = asyncio.create_task(tick())
    await asyncio.sleep(0)
    return len(counter), task.done()


async def woken_at_the_end():
    async def work(n):
        await event.wait()
        for _ in range(3):
            shared.append(n)
            await asyncio.sleep(0)

    shared: list[int] = []
    event = asyncio.Event()
    tasks = [asyncio.create_task(work(n)) for n in range(3)]
    await asyncio.sleep(0)
    event.set()
    return len(tasks)


async def busy_after_the_end():
    async def work(n):
        for _ in range(3):
            shared.append(n)
            await asyncio.sleep(0)

    shared: list[int] = []
    tasks = [asyncio.create_task(work(n)) for n in range(3)]
    return len(tasks)


async def cancelled_at_the_end():
    """What tasks do when they are cancelled is part of the run, but not of its outcome."""

    async def work():
        try:
            await asyncio.sleep(10)
        finally:
            await asyncio.sleep(0)
            LEFT.append("cleaned up")

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    return task.done()


async def last_step_against_others():
    """The end of the main coroutine decides which steps others still take, but what it returns does not."""

    async def work():
        await asyncio.sleep(0)
        state["x"] = 1

    state = {"x": 0}
    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    return state["x"], task.done()


async def fails_after_the_end():
    """An assertion in a task that is left running is not reached in all orders, and is nobody's failure."""

    async def work():
        await asyncio.sleep(0)
        raise ValueError

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    return task.done()


def test_a_ticker_that_is_left_running_is_cancelled() -> None:
    assert porcini.explore(ticker).verdict == "holds"
    report = porcini.explore(queue_of_handles, mode="fifo", limits=porcini.Limits(timeout=20))
    assert (report.verdict, report.counts.executions) == ("holds", 1)


def test_steps_after_the_end_are_not_permuted() -> None:
    report = porcini.explore(busy_after_the_end)
    assert (report.verdict, report.counts.executions) == ("holds", 1)


def test_who_is_woken_by_the_last_step_comes_too_late() -> None:
    assert porcini.explore(woken_at_the_end).counts.executions < 30


def test_what_is_left_is_cancelled_and_cleans_up() -> None:
    LEFT.clear()
    report = porcini.explore(cancelled_at_the_end)
    assert report.verdict == "holds"
    assert len(LEFT) >= report.counts.executions


def test_outcomes_are_those_of_every_order() -> None:
    assert len(agreed(last_step_against_others)[0]) == 2
    assert len(agreed(fails_after_the_end)[0]) == 2


async def found_out_late():
    """The step of `late` tells whether it gets in the way of the main coroutine only after that of `early`."""

    async def early():
        await asyncio.sleep(0)
        state["flag"] = 1

    async def late():
        await asyncio.sleep(0)
        if state["flag"]:
            state["x"] = 1

    state = {"x": 0, "flag": 0}
    tasks = [asyncio.create_task(late()), asyncio.create_task(early())]
    await asyncio.sleep(0)
    return state["x"], len(tasks)


def test_others_are_run_to_see_what_they_would_have_done() -> None:
    assert len(agreed(found_out_late)[0]) == 2
