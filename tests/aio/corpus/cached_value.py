"""State in a cache that a decorator keeps: `functools.lru_cache` remembers what was read.

Goes wrong when the value is asked for before it is configured: it stays the old one. The twin clears the
cache.
"""

import asyncio
import functools

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    config = {"port": 1}

    @functools.lru_cache
    def port():
        return config["port"]

    async def configure():
        await asyncio.sleep(0)
        config["port"] = 2

    async def warm():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        port()

    await asyncio.gather(configure(), warm())
    assert port() == 2, port()
    return port()


async def correct():
    config = {"port": 1}

    @functools.lru_cache
    def port():
        return config["port"]

    async def configure():
        await asyncio.sleep(0)
        config["port"] = 2
        port.cache_clear()

    async def warm():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        port()

    await asyncio.gather(configure(), warm())
    assert port() == 2, port()
    return port()
