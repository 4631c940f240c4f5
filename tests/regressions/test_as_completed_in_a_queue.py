"""In mode `fifo`, `as_completed` started coroutines in the order in which it was given them. asyncio makes a set
of them first, so that plain asyncio failed 20 times of 20 where Porcini said "holds".
"""

from __future__ import annotations

import asyncio
import itertools

import porcini


async def starting():
    order: list[int] = []

    async def work(n):
        order.append(n)

    for each in asyncio.as_completed([work(n) for n in range(3)]):
        await each
    return tuple(order)


async def ending():
    async def work(n):
        await asyncio.sleep(0)
        return n

    return tuple([await each for each in asyncio.as_completed([work(n) for n in range(3)])])


async def of_tasks():
    async def work(n):
        return n

    return tuple([await e for e in asyncio.as_completed([asyncio.create_task(work(n)) for n in range(3)])])


def outcomes(function) -> set[object]:
    report = porcini.explore(function, mode="fifo")
    assert report.stopped == "exhausted"
    return {outcome.state["result"] for outcome in report.outcomes}


def test_coroutines_start_in_any_order() -> None:
    every = set(itertools.permutations(range(3)))
    assert outcomes(starting) == every
    assert outcomes(ending) == every
    assert {asyncio.run(starting()) for _ in range(20)} <= every


def test_tasks_are_in_the_queue_already() -> None:
    assert outcomes(of_tasks) == {asyncio.run(of_tasks())} == {(0, 1, 2)}
