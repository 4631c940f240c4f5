"""What made whole libraries opaque although it is known what it touches: calling a `TypedDict`, and reading what C
shows of the inside of a future (`task._exception`), which async-lru does in every done callback; the keys of
`lru_cache` (`functools._HashedSeq`), and `sys.version_info`; a set of tasks, which `asyncio.wait` makes."""

import asyncio
import functools
import sys
from typing import TypedDict

from porcini import explore


class Parameters(TypedDict):
    size: int


async def call_a_typed_dict():
    async def make():
        await asyncio.sleep(0)
        return Parameters(size=1)

    assert await asyncio.gather(make(), make()) == [{"size": 1}] * 2


def test_a_typed_dict_is_a_new_dict():
    report = explore(call_a_typed_dict)
    assert report.verdict == "holds"
    assert report.coverage.opaque == 0
    assert report.counts.executions == 1


async def share_a_typed_dict():
    shared = Parameters(size=0)

    async def grow():
        size = shared["size"]
        await asyncio.sleep(0)
        shared["size"] = size + 1

    await asyncio.gather(grow(), grow())
    return shared["size"]


def test_what_is_done_to_a_typed_dict_is_seen():
    report = explore(share_a_typed_dict)
    assert {tuple(outcome.state.values()) for outcome in report.outcomes} == {(1,), (2,)}


async def look_at_an_exception():
    async def work():
        await asyncio.sleep(0)
        raise ValueError

    async def look(task):
        return task._exception is None

    task = asyncio.create_task(work())
    found = await asyncio.create_task(look(task))
    await asyncio.gather(task, return_exceptions=True)
    return found


async def look_at_a_state():
    async def work():
        await asyncio.sleep(0)

    async def look(task):
        return task._state == "PENDING"

    task = asyncio.create_task(work())
    found = await asyncio.create_task(look(task))
    await task
    return found


async def look_at_a_result():
    future = asyncio.get_running_loop().create_future()

    async def complete():
        future.set_result(1)

    async def look():
        return future._result

    task = asyncio.create_task(complete())
    found = await asyncio.create_task(look())
    await task
    return found


def test_who_looks_inside_a_future_conflicts_with_who_completes_it():
    for function in (look_at_an_exception, look_at_a_state, look_at_a_result):
        report = explore(function)
        assert report.verdict == "holds"
        assert report.coverage.opaque == 0, function
        assert len(report.outcomes) == 2, function


async def note_under_keys_of_lru_cache():
    found = {}

    async def note(name):
        key = functools._make_key((1, "a"), {}, False)
        found[key] = name
        await asyncio.sleep(0)
        assert sys.version_info >= (3, 11)
        return found[key]

    return tuple(await asyncio.gather(note("one"), note("two")))


def test_keys_of_lru_cache_are_followed():
    report = explore(note_under_keys_of_lru_cache)
    assert report.coverage.opaque == 0
    found = {value for outcome in report.outcomes for value in outcome.state.values()}
    assert found == {("one", "two"), ("one", "one"), ("two", "two")}


async def keep_tasks_in_a_set():
    kept = set()

    async def work():
        await asyncio.sleep(0)

    for _ in range(3):
        kept.add(asyncio.create_task(work()))
    done, _ = await asyncio.wait(kept)
    assert done == frozenset(kept)


def test_a_set_of_tasks_is_followed():
    report = explore(keep_tasks_in_a_set)
    assert report.verdict == "holds"
    assert report.coverage.opaque == 0


async def make_a_set_of_what_another_task_changes():
    class Name:
        def __init__(self, text):
            self.text = text

        def __eq__(self, other):
            return self.text == other.text

        def __hash__(self):
            return 0

    names = [Name("one"), Name("two")]

    async def rename():
        names[0].text = "two"

    async def count():
        return len(set(names))

    return (await asyncio.gather(count(), rename()))[0]


async def make_a_set_of_what_another_task_adds():
    things = [object()]

    async def add():
        things.append(object())

    async def count():
        return len(set(things))

    return (await asyncio.gather(count(), add()))[0]


def test_what_a_set_is_made_of_is_still_seen():
    for function in (make_a_set_of_what_another_task_changes, make_a_set_of_what_another_task_adds):
        assert len(explore(function).outcomes) == 2, function
