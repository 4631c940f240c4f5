"""False pass of other tools, 5c: a least-recently-used cache in a `collections.OrderedDict`.

`move_to_end` changes the order only. Goes wrong when the other task touches another key between a touch and
the eviction that relies on it: the wrong entry is evicted and the lookup fails (KeyError). The twin reads its
entry in the step of the touch.
"""

import asyncio
from collections import OrderedDict

EXPECTED = {"buggy": "error", "correct": "holds"}


async def buggy():
    cache = OrderedDict(a=1, b=2)

    async def read():
        cache.move_to_end("a")
        await asyncio.sleep(0)
        return cache["a"]

    async def write():
        await asyncio.sleep(0)
        cache.move_to_end("b")
        await asyncio.sleep(0)
        cache["c"] = 3
        cache.popitem(last=False)

    value, _ = await asyncio.gather(read(), write())
    return value


async def correct():
    cache = OrderedDict(a=1, b=2)

    async def read():
        cache.move_to_end("a")
        value = cache["a"]
        await asyncio.sleep(0)
        return value

    async def write():
        await asyncio.sleep(0)
        cache.move_to_end("b")
        cache["c"] = 3
        if next(iter(cache)) != "a":
            cache.popitem(last=False)

    value, _ = await asyncio.gather(read(), write())
    return value
