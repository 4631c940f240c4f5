"""Real libraries, unchanged: what exploring small scenarios of them finds.

async-lru    concurrent calls share one computation, which a cancelled caller does not take from the others: holds.
             A cancelled (or cleared, then failed) computation evicts the entry of its successor: a bug (2.4.0).
aiorwlock    readers and writers exclude each other, and cancelling a waiter leaves the lock usable: holds.
             A reader behind a writer that gave up waits for the first reader to leave: a bug (1.5.1).
aiolimiter   never faster than the rate, in virtual time, and cancelling a waiter loses no wakeup: holds.

Every scenario is explored with the library opaque, followed by `packages`, and followed as it is met. All find
the same outcomes; where steps of the library are no longer opaque, in fewer runs. A bug is shown by plain
asyncio, too; should a new version not have it any more, then Porcini must not find it either.
"""

import asyncio

import pytest

from aio.corpus_reference import run as plain_run
from porcini import Limits, explore, replay, show_schedule

async_lru = pytest.importorskip("async_lru")
aiorwlock = pytest.importorskip("aiorwlock")
aiolimiter = pytest.importorskip("aiolimiter")


OTHERS = ["some_other_package"]
"""To follow these is to follow none of those that are used here."""


def ends(report):
    return {(outcome.kind, *outcome.state.values()) for outcome in report.outcomes}


def both(scenario, package):
    """A scenario with its library opaque, for a while, and with it followed: the same outcomes in no more runs."""
    opaque = explore(scenario, packages=OTHERS, limits=Limits(max_executions=1500))
    followed = explore(scenario, packages=[package])
    assert ends(explore(scenario)) == ends(followed)
    assert followed.stopped == "exhausted"
    if opaque.stopped == "exhausted":
        assert ends(opaque) == ends(followed)
    assert ends(opaque) <= ends(followed)
    assert followed.counts.executions <= opaque.counts.executions
    return opaque, followed


def shown(scenario, report, package, kind):
    """A bug: plain asyncio runs into it as well, and its schedule replays."""
    if plain_run(scenario).outcome[0] == "ok":  # it was mended
        assert report.verdict == "holds"
        return
    assert report.verdict == "violated"
    schedule = show_schedule(report.counterexample.schedules[0])
    assert replay(scenario, schedule, packages=[package]).outcomes[0].kind == kind
    assert plain_run(scenario).outcome[0] == kind


# async-lru ----------------------------------------------------------------------------------------------------


async def stampede():
    calls = []

    @async_lru.alru_cache
    async def load(key):
        calls.append(key)
        await asyncio.sleep(0)
        return 2 * key

    assert await asyncio.gather(load(1), load(1)) == [2, 2]
    assert calls == [1]


def test_concurrent_calls_share_one_computation():
    opaque, followed = both(stampede, "async_lru")
    assert followed.verdict == "holds"
    assert followed.counts.executions * 2 < opaque.counts.executions


async def caller_cancelled():
    @async_lru.alru_cache
    async def load(key):
        await asyncio.sleep(0)
        return 2 * key

    first, second = asyncio.create_task(load(1)), asyncio.create_task(load(1))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 2


def test_a_cancelled_caller_does_not_take_the_computation_from_another():
    """Opaque, this has more orders than one wants to wait for."""
    report = explore(caller_cancelled, packages=["async_lru"])
    assert (report.verdict, report.stopped) == ("holds", "exhausted")
    assert explore(caller_cancelled, packages=OTHERS, limits=Limits(max_executions=1000)).verdict == "unknown"


async def first_call_fails():
    calls = []

    @async_lru.alru_cache
    async def load(key):
        calls.append(key)
        await asyncio.sleep(0)
        if len(calls) == 1:
            raise ValueError
        return key

    results = await asyncio.gather(load(1), load(1), return_exceptions=True)
    failed = sum(isinstance(result, ValueError) for result in results)
    return failed, len(calls)


def test_a_failure_is_shared_or_the_call_is_made_again():
    """Failures are not kept: who comes in time shares one, who comes later calls again."""
    _, followed = both(first_call_fails, "async_lru")
    assert ends(followed) == {("terminated", (2, 1)), ("terminated", (1, 2))}


async def called_again_after_a_cancellation():
    @async_lru.alru_cache
    async def load(key):
        await asyncio.sleep(1)
        return key

    first = asyncio.create_task(load(1))
    await asyncio.sleep(0.5)
    first.cancel()
    await asyncio.sleep(0)
    assert await load(1) == 1
    assert load.cache_contains(1)


async def called_again_after_a_failure():
    fails = True

    @async_lru.alru_cache
    async def load(key):
        failing = fails
        await asyncio.sleep(1)
        if failing:
            raise ValueError
        return key

    first = asyncio.create_task(load(1))
    await asyncio.sleep(0.5)
    load.cache_clear()
    fails = False
    assert await load(1) == 1
    assert isinstance(first.exception(), ValueError)
    assert load.cache_contains(1)


@pytest.mark.parametrize("scenario", [called_again_after_a_cancellation, called_again_after_a_failure])
def test_a_computation_that_is_given_up_evicts_its_successor(scenario):
    """`_task_done_callback` removes its key from the cache without looking whether the entry is still its own: a
    value that was computed in the meantime is dropped, and calls that should share it start again."""
    _, followed = both(scenario, "async_lru")
    shown(scenario, followed, "async_lru", "assertion")


# aiorwlock ----------------------------------------------------------------------------------------------------


async def readers_and_writers():
    lock, readers, writers = aiorwlock.RWLock(fast=True), 0, 0

    async def read():
        nonlocal readers
        async with lock.reader:
            readers += 1
            assert not writers
            await asyncio.sleep(0)
            readers -= 1

    async def write():
        nonlocal writers
        async with lock.writer:
            writers += 1
            assert (readers, writers) == (0, 1)
            await asyncio.sleep(0)
            writers -= 1

    await asyncio.gather(read(), write(), write())


async def waiting_writer_cancelled():
    lock = aiorwlock.RWLock(fast=True)

    async def write():
        async with lock.writer:
            await asyncio.sleep(0)

    one, two = asyncio.create_task(write()), asyncio.create_task(write())
    await asyncio.sleep(0)
    one.cancel()
    await asyncio.wait([one, two])
    assert not lock.writer.locked
    assert not lock.reader.locked
    async with lock.writer:
        return two.cancelled()


@pytest.mark.parametrize("scenario", [readers_and_writers, waiting_writer_cancelled])
def test_readers_and_writers_exclude_each_other(scenario):
    _, followed = both(scenario, "aiorwlock")
    assert followed.verdict == "holds"


async def reader_behind_a_writer_that_gave_up():
    lock = aiorwlock.RWLock(fast=True)

    async def write():
        async with lock.writer:
            return "written"

    async def read():
        async with lock.reader:
            return "read"

    async with lock.reader:
        writer, reader = asyncio.create_task(write()), asyncio.create_task(read())
        await asyncio.sleep(0)
        writer.cancel()
        assert await reader == "read"


def test_a_reader_behind_a_writer_that_gave_up_is_not_let_in():
    """Readers wait while a writer does. When that is cancelled, `_wake_up` wakes nobody as long as somebody reads:
    the second reader waits for the first, which here waits for the second. In other orders it gets in."""
    _, followed = both(reader_behind_a_writer_that_gave_up, "aiorwlock")
    shown(reader_behind_a_writer_that_gave_up, followed, "aiorwlock", "deadlock")


# aiolimiter ---------------------------------------------------------------------------------------------------


async def three_at_one_per_second(cancel=False):
    limit, loop, began = aiolimiter.AsyncLimiter(1, 1), asyncio.get_running_loop(), []

    async def work():
        async with limit:
            began.append(loop.time())

    tasks = [asyncio.create_task(work()) for _ in range(3)]
    if cancel:
        await asyncio.sleep(1)
        tasks[1].cancel()
    await asyncio.wait(tasks)
    assert all(begun <= 1 + at + 1e-6 for begun, at in enumerate(began, 1)), began
    return [round(at) for at in began]


async def one_of_three_cancelled():
    return await three_at_one_per_second(cancel=True)


def test_a_rate_is_kept_in_virtual_time():
    _, followed = both(three_at_one_per_second, "aiolimiter")
    assert ends(followed) == {("terminated", (0, 1, 2))}


def test_a_cancelled_waiter_loses_no_wakeup():
    """Cancelled at the very moment that it may go on: it has gone on, or the next one takes its place."""
    _, followed = both(one_of_three_cancelled, "aiolimiter")
    assert followed.verdict == "holds"
    assert ends(followed) == {("terminated", (0, 1, 2)), ("terminated", (0, 1))}
