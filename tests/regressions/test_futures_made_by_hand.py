"""`asyncio.Future()` and `asyncio.Task(...)` made all later steps of a run opaque, and whole libraries with them
that
make their futures so. In code that is followed, the loop makes them now, and sees what is done to them.
"""

from __future__ import annotations

import asyncio
from asyncio import Future, Task
from typing import Any

import pytest

import porcini
from aio.agreeing import agreed


async def completed_by_two():
    async def completes(n):
        await asyncio.sleep(0)
        if not future.done():
            future.set_result(n)

    async def waits():
        return await future

    future = asyncio.Future()
    waiting = asyncio.create_task(waits())
    await asyncio.gather(completes(1), completes(2))
    return await waiting


async def cancelled_by_one():
    async def cancels():
        future.cancel()

    async def completes():
        if not future.done():
            future.set_result(2)

    future = Future(loop=asyncio.get_running_loop())
    tasks = [asyncio.create_task(cancels()), asyncio.create_task(completes())]
    try:
        return await future, len(tasks)
    except asyncio.CancelledError:
        return "cancelled"


async def tasks_by_hand():
    async def appends(n):
        found.append(n)

    found: list[int] = []
    for task in [Task(appends(n), name=f"a{n}") for n in range(2)]:
        await task
    return found


async def callbacks_in_order():
    found: list[int] = []
    future = asyncio.Future()

    async def adds(n):
        future.add_done_callback(lambda _: found.append(n))

    await asyncio.gather(adds(1), adds(2))
    future.set_result(0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return found


@pytest.mark.parametrize(
    ("program", "outcomes"),
    [(completed_by_two, 2), (cancelled_by_one, 2), (tasks_by_hand, 2), (callbacks_in_order, 3)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_they_are_seen(program: Any, outcomes: int) -> None:
    found, report = agreed(program)
    assert len(found) >= min(outcomes, 2)
    assert not [note for note in report.notes if "opaque" in note]


async def wrong_arguments():
    problems = []
    for make in (lambda: Future(1), lambda: Task(), lambda: Task(1), lambda: Future(other=1)):
        try:
            make()
        except TypeError as problem:
            problems.append(str(problem))
    return problems


def test_what_is_wrong_with_them_is_said_by_asyncio() -> None:
    plain = asyncio.run(wrong_arguments())
    (outcome,) = porcini.explore(wrong_arguments).outcomes
    assert outcome.state["result"] == tuple(plain)
