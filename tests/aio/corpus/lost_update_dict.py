"""Lost update on a dict item, the twin with a lock.

Goes wrong when one task reads the item between the other's read and write.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    stock = {"apples": 10, "pears": 5}

    async def sell(late):
        if late:
            await asyncio.sleep(0)
        left = stock["apples"]
        await asyncio.sleep(0)
        stock["apples"] = left - 1

    await asyncio.gather(sell(False), sell(True))
    assert stock["apples"] == 8, stock
    return stock


async def correct():
    stock = {"apples": 10, "pears": 5}
    lock = asyncio.Lock()

    async def sell():
        async with lock:
            left = stock["apples"]
            await asyncio.sleep(0)
            stock["apples"] = left - 1

    await asyncio.gather(sell(), sell())
    assert stock["apples"] == 8, stock
    return stock
