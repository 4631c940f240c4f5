"""Cache stampede: a value is computed on a miss, and the computation awaits.

Goes wrong when the second reader misses while the first still computes: the backend is asked twice. The twin
keeps the computing task in the cache, so that the second reader awaits the first one's.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Backend:
    def __init__(self):
        self.calls = 0

    async def fetch(self, key):
        self.calls += 1
        await asyncio.sleep(0)
        return key * 2


async def buggy():
    backend = Backend()
    cache = {}

    async def get(key, late):
        if late:
            await asyncio.sleep(0)
        if key not in cache:
            cache[key] = await backend.fetch(key)
        return cache[key]

    values = await asyncio.gather(get(7, False), get(7, True))
    assert backend.calls == 1, backend.calls
    return values


async def correct():
    backend = Backend()
    cache = {}

    async def get(key):
        if key not in cache:
            cache[key] = asyncio.ensure_future(backend.fetch(key))
        return await cache[key]

    values = await asyncio.gather(get(7), get(7))
    assert backend.calls == 1, backend.calls
    return values
