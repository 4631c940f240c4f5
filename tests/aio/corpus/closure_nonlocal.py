"""Read-modify-write through a `nonlocal` closure variable.

Goes wrong when one task reads the cell between the other's read and write.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    total = 0

    async def add(late):
        nonlocal total
        if late:
            await asyncio.sleep(0)
        before = total
        await asyncio.sleep(0)
        total = before + 1

    await asyncio.gather(add(False), add(True))
    assert total == 2, total
    return total


async def correct():
    total = 0

    async def add(late):
        nonlocal total
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        total += 1

    await asyncio.gather(add(False), add(True))
    assert total == 2, total
    return total
