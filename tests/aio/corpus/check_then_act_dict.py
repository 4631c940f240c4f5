"""Check-then-act on a dict: a user name is registered if it is free.

Goes wrong when both tasks check before either registers: the second overwrites the first and both believe
they won.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "passes"}


async def buggy():
    owners = {}

    async def register(who, late):
        if late:
            await asyncio.sleep(0)
        if "name" in owners:
            return False
        await asyncio.sleep(0)
        owners["name"] = who
        return True

    won = await asyncio.gather(register("ann", False), register("bob", True))
    assert sum(won) == 1, won
    return owners["name"]


async def correct():
    owners = {}

    async def register(who, late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        return owners.setdefault("name", who) == who

    won = await asyncio.gather(register("ann", False), register("bob", True))
    assert sum(won) == 1, won
    return owners["name"]
