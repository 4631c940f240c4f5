"""Timeout against completion, with `asyncio.timeout`: the item is taken, then acknowledged, and the timeout
strikes in between.

The acknowledgement and the timeout are due at the same instant. Goes wrong when the timeout goes first: the
item is neither in the list nor returned. The twin takes the item only after the last await.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "passes"}


async def buggy():
    items = ["job"]

    async def take():
        item = items.pop()
        await asyncio.sleep(0.01)
        return item

    got = None
    try:
        async with asyncio.timeout(0.01):
            got = await take()
    except TimeoutError:
        pass
    assert got == "job" or items == ["job"], (got, items)
    return got


async def correct():
    items = ["job"]

    async def take():
        await asyncio.sleep(0.01)
        return items.pop()

    got = None
    try:
        async with asyncio.timeout(0.01):
            got = await take()
    except TimeoutError:
        pass
    assert got == "job" or items == ["job"], (got, items)
    return got
