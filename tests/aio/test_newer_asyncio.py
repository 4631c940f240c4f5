"""Parts of asyncio that differ between versions of Python, or keep state of their own: each outcome is found."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from asyncio import create_task, gather, sleep

import pytest

from aio.agreeing import agreed

since_3_12 = pytest.mark.skipif(sys.version_info < (3, 12), reason="new in Python 3.12")
since_3_13 = pytest.mark.skipif(sys.version_info < (3, 13), reason="new in Python 3.13")


class Box:
    def __init__(self) -> None:
        self.x = 0


# as_completed ---------------------------------------------------------------------------------------------------


async def value(n, delay=0.0):
    await sleep(delay)
    return n


async def completed_or_timed_out():
    (each,) = asyncio.as_completed([create_task(value("value", 1))], timeout=1)
    try:
        return await each
    except TimeoutError:
        return "timeout"


async def completed_late_or_timed_out():
    event = asyncio.Event()

    async def waits():
        await event.wait()
        return "value"

    async def sets():
        await sleep(1)
        event.set()

    task = create_task(sets())
    (each,) = asyncio.as_completed([create_task(waits())], timeout=1)
    try:
        return await each
    except TimeoutError:
        return "timeout"
    finally:
        await task


async def completed_for_two_takers():
    """The second one finds nothing left, and does not even ask the queue in it."""
    warm = asyncio.as_completed([create_task(value(0))])
    for each in warm:
        await each
    left = asyncio.as_completed([create_task(value(1)), create_task(value(2))])
    await next(left)

    async def takes():
        each = next(left, None)
        return "nothing" if each is None else "something", await each if each else 0

    first, second = await gather(takes(), takes())
    return repr((first[0], second[0]))


async def completed_asynchronously():
    tasks = [create_task(value(1)), create_task(value(2))]
    order = asyncio.as_completed(tasks)

    async def takes():
        return [tasks.index(task) async for task in order]

    return repr((await takes(), await takes()))


async def completed_asynchronously_for_two():
    order = asyncio.as_completed([create_task(value(1))])

    async def takes():
        async for task in order:
            return await task
        return "nothing"

    return repr(await gather(takes(), takes()))


# all_tasks, contexts, groups ------------------------------------------------------------------------------------


async def number_of_tasks():
    async def counts():
        return len(asyncio.all_tasks())

    async def makes():
        task = create_task(sleep(5))
        await sleep(0)
        task.cancel()

    counting, making = create_task(counts()), create_task(makes())
    await sleep(1)
    assert making.done()
    return counting.result()


async def the_context_of_another():
    variable = contextvars.ContextVar("variable", default=0)

    async def sets():
        variable.set(1)
        await sleep(0)
        variable.set(2)

    async def looks(task):
        await sleep(0)
        return task.get_context().get(variable)

    return await create_task(looks(create_task(sets())))


async def adds(group, log, n):
    coroutine = says(log, n)
    try:
        group.create_task(coroutine)
    except RuntimeError:
        coroutine.close()
        log.append(-n)


async def says(log, n):
    log.append(n)


async def added_to_a_group_that_may_be_over():
    log = []
    async with asyncio.TaskGroup() as group:
        others = [create_task(adds(group, log, 1)), create_task(adds(group, log, 2))]
        await sleep(0)
    await gather(*others)
    await sleep(1)
    return repr(log)


async def added_to_a_group_that_may_fail():
    log = []

    async def fails():
        raise ValueError

    try:
        async with asyncio.TaskGroup() as group:
            other = create_task(adds(group, log, 1))
            group.create_task(fails())
    except ExceptionGroup:
        log.append("failed")
    await other
    return repr(log)


async def a_group_that_is_entered_twice():
    group = asyncio.TaskGroup()

    async def enters(n):
        try:
            async with group:
                await sleep(0)
            return n
        except RuntimeError:
            return -n

    return repr(await gather(enters(1), enters(2)))


async def a_group_that_is_used_before_it_is_entered():
    group, log = asyncio.TaskGroup(), []

    async def enters():
        async with group:
            await sleep(0)

    await gather(adds(group, log, 1), enters())
    return repr(log)


async def the_text_of_a_group():
    group = asyncio.TaskGroup()

    async def enters():
        async with group:
            group.create_task(sleep(0))
            await sleep(0)

    async def looks():
        return "entered" in repr(group), "tasks=" in repr(group)

    return repr(await gather(enters(), looks()))


async def cancelled_while_a_group_fails():
    log = []

    async def fails():
        await sleep(0)
        raise ValueError

    async def owns():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
        except ExceptionGroup:
            log.append("failed")
        log.append(asyncio.current_task().cancelling())
        await sleep(0)
        return "through"

    async def cancels(task):
        await sleep(0)
        task.cancel()

    task = create_task(owns())
    result, _ = await gather(task, cancels(task), return_exceptions=True)
    return repr((type(result).__name__, log))


# timeouts, locks ------------------------------------------------------------------------------------------------


async def a_timeout_that_is_moved():
    log = []
    limit = asyncio.timeout(1)

    async def moves():
        await sleep(1)
        try:
            limit.reschedule(asyncio.get_running_loop().time() + 5)
            log.append("moved")
        except RuntimeError:
            log.append("too late")

    task = create_task(moves())
    try:
        async with limit:
            await sleep(3)
        log.append("through")
    except TimeoutError:
        log.append("timeout")
    await task
    return repr((log, limit.expired()))


async def wait_for_a_stubborn_task():
    async def stubborn():
        try:
            await sleep(1)
        except asyncio.CancelledError:
            return "swallowed"
        return "in time"

    task = create_task(stubborn())
    try:
        result = await asyncio.wait_for(task, 1)
    except TimeoutError:
        result = "timeout"
    return repr((result, task.cancelled(), task.done()))


async def a_barrier_that_is_broken():
    barrier = asyncio.Barrier(2)

    async def waits():
        try:
            return await barrier.wait()
        except asyncio.BrokenBarrierError:
            return "broken"

    return repr(await gather(waits(), waits(), barrier.abort()))


async def a_condition_whose_waiter_is_cancelled():
    condition, log = asyncio.Condition(), []

    async def waits(n):
        async with condition:
            await condition.wait()
            log.append(n)

    async def notifies():
        async with condition:
            condition.notify(1)

    async def cancels():
        tasks[0].cancel()

    tasks = [create_task(waits(0)), create_task(waits(1))]
    await sleep(1)
    await gather(notifies(), cancels())
    await sleep(1)
    return repr((log, [task.done() for task in tasks]))


# queues that are shut down --------------------------------------------------------------------------------------


async def gets(queue):
    try:
        return await queue.get()
    except asyncio.QueueShutDown:
        return "shut"


async def puts(queue, n):
    try:
        await queue.put(n)
    except asyncio.QueueShutDown:
        return "shut"


async def shuts(queue, immediate=False):
    queue.shutdown(immediate=immediate)


async def shut_down():
    queue = asyncio.Queue()
    return repr(await gather(gets(queue), puts(queue, 1), shuts(queue)))


async def shut_down_at_once():
    queue = asyncio.Queue(1)
    queue.put_nowait(0)
    return repr(await gather(gets(queue), puts(queue, 1), shuts(queue, True)))


async def shut_down_and_joined():
    queue, log = asyncio.Queue(), []
    queue.put_nowait(1)

    async def joins():
        await queue.join()
        log.append("joined")

    async def works():
        try:
            await queue.get()
            await sleep(0)
            queue.task_done()
            log.append("done")
        except asyncio.QueueShutDown:
            log.append("shut")
        except ValueError:
            log.append("too many")

    await gather(joins(), works(), shuts(queue, True))
    return repr(log)


PROGRAMS = [
    completed_or_timed_out,
    completed_late_or_timed_out,
    completed_for_two_takers,
    pytest.param(completed_asynchronously, marks=since_3_13),
    pytest.param(completed_asynchronously_for_two, marks=since_3_13),
    number_of_tasks,
    pytest.param(the_context_of_another, marks=since_3_12),
    added_to_a_group_that_may_be_over,
    added_to_a_group_that_may_fail,
    a_group_that_is_entered_twice,
    a_group_that_is_used_before_it_is_entered,
    the_text_of_a_group,
    cancelled_while_a_group_fails,
    a_timeout_that_is_moved,
    wait_for_a_stubborn_task,
    a_barrier_that_is_broken,
    a_condition_whose_waiter_is_cancelled,
    pytest.param(shut_down, marks=since_3_13),
    pytest.param(shut_down_at_once, marks=since_3_13),
    pytest.param(shut_down_and_joined, marks=since_3_13),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_each_outcome_is_found(program):
    outcomes, _ = agreed(program)
    assert len(outcomes) > 1
