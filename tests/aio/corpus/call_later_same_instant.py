"""Two timers at the same instant: configuration is loaded at 0.02, and first used at 0.01 + 0.01.

Goes wrong when the use goes first: KeyError. The twin lets the use wait for an event.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "holds"}


async def buggy():
    config = {}
    loop = asyncio.get_running_loop()
    loop.call_later(0.02, config.update, {"port": 80})

    async def use():
        await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        return config["port"]

    return await use()


async def correct():
    config = {}
    loaded = asyncio.Event()
    loop = asyncio.get_running_loop()

    def load():
        config.update({"port": 80})
        loaded.set()

    loop.call_later(0.02, load)

    async def use():
        await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        await loaded.wait()
        return config["port"]

    return await use()
