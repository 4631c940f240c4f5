"""Tasks that start eagerly (3.12): the first step belongs to the step that makes the task, others are its own."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from asyncio import create_task, gather, sleep
from typing import Any

import pytest

from aio.agreeing import agreed
from porcini import explore

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks are new in Python 3.12")


def eager(make: Any = None) -> None:
    factory = asyncio.create_eager_task_factory(make) if make else asyncio.eager_task_factory
    asyncio.get_running_loop().set_task_factory(factory)


class Box:
    def __init__(self) -> None:
        self.x = 0


class OwnTask(asyncio.Task):  # type: ignore[type-arg]
    pass


async def first_steps_have_one_order():
    eager()
    log = []

    async def says(n):
        log.append(n)
        await sleep(0)

    await gather(says(1), says(2))
    return repr(log)


async def later_steps_race():
    eager()
    box = Box()

    async def add(n):
        box.x += n
        await sleep(0)
        box.x = box.x * 2 + n

    async with asyncio.TaskGroup() as group:
        group.create_task(add(1))
        group.create_task(add(2))
    return box.x


async def a_first_step_races_with_others():
    eager()
    log = []

    async def now(n):
        log.append(n)
        return n

    async def makes(n):
        await sleep(0)
        task = create_task(now(n))
        return task.done(), task.result()

    return repr((await gather(makes(1), makes(2)), log))


async def done_at_once_in_a_group():
    eager()
    log = []

    async def now(n):
        log.append(n)

    async def later(n):
        await sleep(0)
        log.append(n)

    async with asyncio.TaskGroup() as group:
        group.create_task(now(1))
        group.create_task(later(2))
        group.create_task(now(3))
        group.create_task(later(4))
    return repr(log)


async def fails_at_once_in_a_group():
    eager()
    log = []

    async def bad(n):
        raise ValueError(n)

    async def later():
        try:
            await sleep(0)
            await sleep(0)
            log.append("later")
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    async def adds(group, n):
        await sleep(0)
        coroutine = bad(n)
        try:
            group.create_task(coroutine)
        except RuntimeError:
            coroutine.close()
            log.append("refused")

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(later())
            group.create_task(adds(group, 8))
            group.create_task(adds(group, 9))
    except ExceptionGroup as failed:
        log.append([problem.args[0] for problem in failed.exceptions])
    return repr(log)


async def added_from_outside_to_a_group_that_may_be_over():
    eager()
    log, box = [], Box()

    async def now():
        log.append("now")

    async def adds():
        await sleep(0)
        coroutine = now()
        try:
            box.group.create_task(coroutine)
        except RuntimeError:
            coroutine.close()
            log.append("refused")

    async def owns():
        async with asyncio.TaskGroup() as group:
            box.group = group
            group.create_task(sleep(0))
        log.append("left")

    await gather(create_task(owns()), create_task(adds()))
    return repr(log)


async def fails_at_once_in_gather():
    eager()
    log = []

    async def bad():
        raise ValueError

    async def later():
        await sleep(0)
        log.append("later")

    try:
        await gather(later(), bad())
    except ValueError:
        log.append("bad")
    await sleep(0)
    return repr(log)


async def waits_for_a_future():
    eager()
    log = []
    future = asyncio.get_running_loop().create_future()

    async def waits(n):
        log.append((n, await future))

    async def sets(n):
        await sleep(0)
        if not future.done():
            future.set_result(n)

    await gather(waits(1), waits(2), sets(1), sets(2))
    return repr(log)


async def a_future_by_hand():
    eager()
    box = Box()

    async def waits():
        box.future = asyncio.Future()
        return await box.future

    async def sets(n):
        await sleep(0)
        if not box.future.done():
            box.future.set_result(n)

    task = create_task(waits())
    await gather(sets(1), sets(2))
    return await task


async def holds_a_lock():
    eager()
    box, lock = Box(), asyncio.Lock()

    async def adds(n):
        async with lock:
            seen = box.x
            await sleep(0)
            box.x = seen + n

    async def sets():
        await sleep(0)
        box.x = 10

    await gather(adds(1), adds(2), sets())
    return box.x


async def is_cancelled():
    eager()
    log = []

    async def victim():
        log.append("start")
        try:
            await sleep(0)
            log.append("middle")
            await sleep(0)
            log.append("end")
        finally:
            log.append("over")

    async def cancels(task):
        await sleep(0)
        task.cancel()

    task = create_task(victim())
    await gather(task, cancels(task), return_exceptions=True)
    return repr(log)


async def cancels_itself():
    eager()

    async def victim():
        asyncio.current_task().cancel()
        await sleep(0)

    try:
        await create_task(victim())
    except asyncio.CancelledError:
        return "cancelled"


async def makes_and_schedules():
    eager()
    log, tasks = [], []

    async def leaf(n):
        await sleep(0)
        log.append(n)

    async def makes(n):
        tasks.append(create_task(leaf(n)))
        asyncio.get_running_loop().call_soon(log.append, -n)
        asyncio.current_task().add_done_callback(lambda task: log.append(n * 10))

    await create_task(makes(1))
    await gather(*tasks)
    return repr(log)


async def as_they_are_completed():
    eager()

    async def later(n):
        await sleep(0)
        return n

    async def now():
        return 7

    tasks = [create_task(later(1)), create_task(now()), create_task(later(2))]
    return repr([await each for each in asyncio.as_completed(tasks)])


async def in_a_context_of_its_own():
    eager()
    variable = contextvars.ContextVar("variable", default=0)

    async def adds():
        variable.set(variable.get() + 1)
        await sleep(0)
        return variable.get()

    variable.set(5)
    return repr((await gather(adds(), adds()), variable.get()))


async def when_the_factory_is_set():
    log = []

    async def now():
        log.append("now")

    async def sets():
        eager()

    async def makes():
        task = create_task(now())
        log.append("made")
        await task

    await gather(sets(), makes())
    return repr(log)


async def asyncio_task_given():
    eager(asyncio.Task)
    box = Box()

    async def add(n):
        await sleep(0)
        box.x = box.x * 2 + n

    await gather(add(1), add(2))
    return box.x


async def a_task_class_of_ones_own():
    eager(OwnTask)
    box = Box()

    async def add(n):
        box.x += n
        await sleep(0)
        box.x = box.x * 2 + n

    async def now():
        box.x += 100

    async with asyncio.TaskGroup() as group:
        group.create_task(add(1))
        group.create_task(add(2))
        group.create_task(now())
    return box.x


async def a_task_by_hand():
    box = Box()

    async def add(n):
        box.x += n
        await sleep(0)
        box.x = box.x * 2 + n

    async with asyncio.TaskGroup() as group:
        group.create_task(add(3))
        loop = asyncio.get_running_loop()
        await gather(*[asyncio.Task(add(n), loop=loop, eager_start=True) for n in (1, 2)])
    return box.x


async def deadlock():
    eager()
    one, two = asyncio.Lock(), asyncio.Lock()

    async def takes(first, second):
        async with first:
            await sleep(0)
            async with second:
                pass

    await gather(takes(one, two), takes(two, one))


PROGRAMS = {
    first_steps_have_one_order: 1,
    later_steps_race: 2,
    a_first_step_races_with_others: 2,
    done_at_once_in_a_group: 2,
    fails_at_once_in_a_group: 4,
    added_from_outside_to_a_group_that_may_be_over: 3,
    fails_at_once_in_gather: 2,
    waits_for_a_future: 4,
    a_future_by_hand: 2,
    holds_a_lock: 3,
    is_cancelled: 3,
    cancels_itself: 1,
    makes_and_schedules: 11,
    as_they_are_completed: 6,
    in_a_context_of_its_own: 1,
    when_the_factory_is_set: 2,
    asyncio_task_given: 2,
    a_task_class_of_ones_own: 2,
    a_task_by_hand: 12,
    deadlock: 1,
}


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_each_outcome_is_found(program):
    outcomes, _ = agreed(program)
    assert len(outcomes) == PROGRAMS[program]


@pytest.mark.parametrize("engine", ["optimal", "source", "dpor", "exhaustive"])
def test_engines_agree(engine):
    found = {o.state["result"] for o in explore(later_steps_race, engine=engine).outcomes}
    assert found == {16, 17}


def opaque(report):
    return [note for note in report.notes if "opaque" in note]


def test_what_is_opaque_is_said():
    (note,) = opaque(agreed(later_steps_race)[1])
    assert "loop.set_task_factory" in note  # and nothing else
    assert ";" not in note
    (note,) = opaque(agreed(a_task_class_of_ones_own)[1])
    assert "made by hand" in note


def test_a_first_step_in_code_that_is_not_followed_is_opaque():
    async def program():
        eager()
        box = Box()
        await gather(stranger(box, 1), stranger(box, 2))
        return box.x

    namespace: dict[str, Any] = {"sleep": sleep}
    code = "async def stranger(box, n):\n    await sleep(0)\n    box.x = box.x * 2 + n\n"
    exec(compile(code, "<nowhere>", "exec"), namespace)
    stranger = namespace["stranger"]
    outcomes, report = agreed(program)
    assert len(outcomes) == 2
    assert "started eagerly" in " ".join(opaque(report))


def test_in_mode_fifo_there_is_one_order():
    report = explore(later_steps_race, mode="fifo")
    assert [o.state["result"] for o in report.outcomes] == [16]
