"""Barrier misuse: one barrier between writing and reading, none between reading and the next write.

Each task writes its cell, meets the other at the barrier and reads the other's cell. Goes wrong when one task
is in its second round already and overwrites its cell before the other has read it. The twin meets again
before writing.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    barrier = asyncio.Barrier(2)
    cells = [None, None]

    async def worker(me):
        cells[me] = "first"
        await barrier.wait()
        seen = cells[1 - me]
        await asyncio.sleep(0)
        cells[me] = "second"
        return seen

    seen = await asyncio.gather(worker(0), worker(1))
    assert seen == ["first", "first"], seen
    return seen


async def correct():
    barrier = asyncio.Barrier(2)
    cells = [None, None]

    async def worker(me):
        cells[me] = "first"
        await barrier.wait()
        seen = cells[1 - me]
        await barrier.wait()
        cells[me] = "second"
        return seen

    seen = await asyncio.gather(worker(0), worker(1))
    assert seen == ["first", "first"], seen
    return seen
