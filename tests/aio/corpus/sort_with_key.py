"""A callback from C: `list.sort` and `max` call a key function that reads shared state.

Goes wrong when the weights change between two sorts by the same key. The twin keeps the first result.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "passes"}


async def buggy():
    weights = {"a": 1, "b": 2}
    names = ["a", "b"]

    async def choose():
        best = max(names, key=weights.__getitem__)
        await asyncio.sleep(0)
        names.sort(key=weights.get)
        assert names[-1] == best, (names, best)

    async def change():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        weights["a"] = 3

    await asyncio.gather(choose(), change())
    return weights["a"]


async def correct():
    weights = {"a": 1, "b": 2}
    names = ["a", "b"]

    async def choose():
        best = max(names, key=weights.__getitem__)
        names.sort(key=weights.get)
        await asyncio.sleep(0)
        assert names[-1] == best, (names, best)

    async def change():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        weights["a"] = 3

    await asyncio.gather(choose(), change())
    return names[-1]
