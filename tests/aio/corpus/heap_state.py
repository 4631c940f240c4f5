"""State changed by a C function that gets it as an argument: `heapq` on a shared list.

The smallest is looked at, then an await, then it is popped. Goes wrong when both look before either pops: one
job is run twice, the other dropped. The twin pops what it looks at.
"""

import asyncio
import heapq

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    heap = [1, 2]
    ran = []

    async def work(late):
        if late:
            await asyncio.sleep(0)
        job = min(heap)
        await asyncio.sleep(0)
        heapq.heappop(heap)
        ran.append(job)

    await asyncio.gather(work(False), work(True))
    assert sorted(ran) == [1, 2], ran
    return sorted(ran)


async def correct():
    heap = [1, 2]
    ran = []

    async def work(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        ran.append(heapq.heappop(heap))

    await asyncio.gather(work(False), work(True))
    assert sorted(ran) == [1, 2], ran
    return sorted(ran)
