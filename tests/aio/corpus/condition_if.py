"""Condition.wait under `if` instead of `while`.

Two consumers, two items, each announced by `notify`. Goes wrong when a consumer is notified and, before it
runs, the other one comes, finds the item without waiting and takes it: the notified one pops from an empty
list (IndexError).
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "passes"}


async def produce(condition, items):
    for item in (1, 2):
        async with condition:
            items.append(item)
            condition.notify()
        await asyncio.sleep(0)


async def buggy():
    condition = asyncio.Condition()
    items = []

    async def consume():
        async with condition:
            if not items:
                await condition.wait()
            return items.pop(0)

    *got, _ = await asyncio.gather(consume(), consume(), produce(condition, items))
    return got


async def correct():
    condition = asyncio.Condition()
    items = []

    async def consume():
        async with condition:
            while not items:
                await condition.wait()
            return items.pop(0)

    *got, _ = await asyncio.gather(consume(), consume(), produce(condition, items))
    return got
