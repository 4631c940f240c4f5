"""Other views of a dict: a `ChainMap` reads through, `keys()` is live.

Goes wrong when the dict grows between the length of its view and the use of it. The reader never names the
dict.
"""

import asyncio
from collections import ChainMap

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    settings = {"a": 1}
    keys = settings.keys()
    chain = ChainMap({}, settings)

    async def read():
        count = len(keys)
        await asyncio.sleep(0)
        assert len(chain) == count, (count, len(chain))

    async def grow():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        settings["b"] = 2

    await asyncio.gather(read(), grow())
    return len(keys)


async def correct():
    settings = {"a": 1}
    keys = settings.keys()
    chain = ChainMap({}, settings)

    async def read():
        await asyncio.sleep(0)
        assert len(chain) == len(keys)

    async def grow():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        settings["b"] = 2

    await asyncio.gather(read(), grow())
    return len(keys)
