"""Deadlock by two locks in opposite order.

Goes wrong when each task has its first lock and waits for its second.
"""

import asyncio

EXPECTED = {"buggy": "deadlock", "correct": "holds"}


async def use(first, second, late):
    if late:
        await asyncio.sleep(0)
    async with first:
        await asyncio.sleep(0)
        async with second:
            return 1


async def buggy():
    left, right = asyncio.Lock(), asyncio.Lock()
    return sum(await asyncio.gather(use(left, right, False), use(right, left, True)))


async def correct():
    left, right = asyncio.Lock(), asyncio.Lock()
    return sum(await asyncio.gather(use(left, right, False), use(left, right, True)))
