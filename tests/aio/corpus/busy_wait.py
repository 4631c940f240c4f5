"""Busy waiting for a flag that is raised before the data is there.

Goes wrong when the waiter looks between the flag and the data: KeyError. The twin stores the data first. A
run in which the waiter alone goes on is endless: an explorer needs a limit, or must see that nothing changed.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "holds"}
MAX_STEPS = 14


async def buggy():
    box = {"ready": False}

    async def fill():
        box["ready"] = True
        await asyncio.sleep(0)
        box["data"] = 42

    async def wait():
        await asyncio.sleep(0)
        while not box["ready"]:
            await asyncio.sleep(0)
        return box["data"]

    _, data = await asyncio.gather(fill(), wait())
    return data


async def correct():
    box = {"ready": False}

    async def fill():
        box["data"] = 42
        await asyncio.sleep(0)
        box["ready"] = True

    async def wait():
        await asyncio.sleep(0)
        while not box["ready"]:
            await asyncio.sleep(0)
        return box["data"]

    _, data = await asyncio.gather(fill(), wait())
    return data
