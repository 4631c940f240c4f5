"""A ticker by `sleep(0)` that is left running made every test unknown, and so did a callback that has itself
called again until a task has heard that it is cancelled, as anyio's cancel scopes do. What does the same for
ever is stopped; what only looks like it goes on.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

import porcini
from aio.agreeing import agreed
from porcini.langs.aio import rounds


async def ticker():
    async def tick():
        while True:
            ticks[0] += 1
            await asyncio.sleep(0)

    ticks = [0]
    task = asyncio.create_task(tick())
    await asyncio.sleep(0)
    return task.done()


def test_a_ticker_is_stopped() -> None:
    report = porcini.explore(ticker, limits=porcini.Limits(timeout=60))
    assert report.verdict == "holds"


async def counts_what_it_looks_at():
    async def work():
        while state["n"] < 15:
            state["n"] += 1
            await asyncio.sleep(0)
        state["x"] = 1

    state = {"n": 0, "x": 0}
    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    return state["x"], task.done()


async def counts_in_a_variable():
    x = 0

    async def work():
        nonlocal x
        n = 0
        while n < 15:
            n += 1
            await asyncio.sleep(0)
        x = 1

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    return x, len([task])


async def goes_through_a_range():
    x = 0

    async def work():
        nonlocal x
        for _ in range(15):
            await asyncio.sleep(0)
        x = 1

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    return x, len([task])


async def takes_from_a_list():
    x = 0

    async def work():
        nonlocal x
        while numbers.pop():
            await asyncio.sleep(0)
        x = 1

    numbers = list(range(15))
    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    return x, len([task])


FINITE = [counts_what_it_looks_at, counts_in_a_variable, goes_through_a_range, takes_from_a_list]


@pytest.mark.parametrize("program", FINITE, ids=lambda program: program.__name__)
def test_a_loop_with_an_end_goes_on_to_it(program: Any) -> None:
    report = porcini.explore(program)
    assert report.verdict == "holds"
    assert len(report.outcomes) >= 2


def test_each_condition_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who only counts how often a task has done the same loses what it does in the end."""

    def alike(self: Any, ready: Any) -> bool:
        return all(p in self._steps and self._steps[p][self._last[p]] >= 10 for p in ready)

    monkeypatch.setattr(rounds.Rounds, "go_on_for_ever", alike)
    assert len(porcini.explore(counts_what_it_looks_at).outcomes) < 2
    monkeypatch.setattr(rounds, "_stands", lambda frame: frame.f_code)
    assert len(porcini.explore(counts_in_a_variable).outcomes) < 2


async def throws_dice():
    x = 0

    async def work():
        nonlocal x
        while True:
            if random.random() < 0.05:
                x = 1
            await asyncio.sleep(0)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    return x, len([task])


async def one_waits_for_the_other():
    x = n = 0

    async def tick():
        nonlocal n
        while True:
            n += 1
            await asyncio.sleep(0)

    async def work():
        nonlocal x
        while n < 15:
            await asyncio.sleep(0)
        x = 1

    tasks = [asyncio.create_task(tick()), asyncio.create_task(work())]
    await asyncio.sleep(0)
    return x, len(tasks)


@pytest.mark.parametrize("program", [throws_dice, one_waits_for_the_other], ids=lambda program: program.__name__)
def test_nothing_is_claimed_of_what_may_do_something_else(program: Any) -> None:
    report = porcini.explore(program, limits=porcini.Limits(timeout=3))
    assert report.verdict == "unknown" or len(report.outcomes) == 2


# Callbacks that have themselves called again --------------------------------------------------------------------


async def polls_by_callback():
    def poll():
        if not found:
            loop.call_soon(poll)
        else:
            found.append("seen")

    async def work():
        await asyncio.sleep(0)
        found.append("set")

    found: list[str] = []
    loop = asyncio.get_running_loop()
    loop.call_soon(poll)
    await work()
    await asyncio.sleep(0.1)
    return found


class Scope:
    """Cancels a task, and asks again until that has ended, as anyio's does."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self.task = task
        self._cancel_handle: Any = None

    def deliver(self) -> None:
        waiter = self.task._fut_waiter
        if self.task.done():
            self._cancel_handle = None
            return
        if waiter is not None and not waiter.done() and not self.task._must_cancel:
            self.task.cancel()
        self._cancel_handle = asyncio.get_running_loop().call_soon(self.deliver)


async def cancels_again_and_again():
    async def works():
        for n in range(2):
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                found.append(n)

    found: list[int] = []
    task = asyncio.create_task(works())
    await asyncio.sleep(0)
    Scope(task).deliver()
    await asyncio.wait([task])
    return found


def test_a_callback_that_repeats_itself_waits_for_others() -> None:
    assert agreed_outcomes(polls_by_callback) == {"('set', 'seen')"}
    report = porcini.explore(cancels_again_and_again)
    assert (report.verdict, report.stopped) == ("holds", "exhausted")


def agreed_outcomes(program: Any) -> set[str]:
    report = porcini.explore(program)
    assert report.stopped == "exhausted"
    return {str(outcome.state["result"]) for outcome in report.outcomes}


async def wakes_in_the_order_of_a_set():
    class Waiter:
        def __init__(self) -> None:
            self.future = asyncio.get_running_loop().create_future()

    async def waits(waiter, n):
        await waiter.future
        found.append(n)

    found: list[int] = []
    waiters = {Waiter() for _ in range(3)}
    by_name = sorted(waiters, key=lambda waiter: waiter.future._place)
    tasks = [asyncio.create_task(waits(waiter, n)) for n, waiter in enumerate(by_name)]
    await asyncio.sleep(0.1)
    for waiter in waiters:
        waiter.future.set_result(None)
    await asyncio.gather(*tasks)
    return sorted(found)


def test_who_is_woken_first_makes_no_difference() -> None:
    assert porcini.explore(wakes_in_the_order_of_a_set).verdict == "holds"


async def ends_by_itself():
    async def work():
        await asyncio.sleep(0)
        state["x"] += 1

    state = {"x": 0}
    tasks = [asyncio.create_task(work()) for _ in range(2)]
    await asyncio.sleep(0)
    return state["x"], len(tasks)


def test_every_order_is_found_beside_brute_force() -> None:
    assert len(agreed(ends_by_itself)[0]) == 3
