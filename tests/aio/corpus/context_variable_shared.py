"""Context variable misuse: the variable is per task, the dict in it is not.

Each task inherits the context of its creator and with it the same dict. Goes wrong when one task overwrites
the user while the other is suspended. The twin sets a new dict in its own context.
"""

import asyncio
import contextvars

EXPECTED = {"buggy": "assertion", "correct": "holds"}

request = contextvars.ContextVar("request")


async def buggy():
    request.set({})

    async def handle(user, late):
        if late:
            await asyncio.sleep(0)
        request.get()["user"] = user
        await asyncio.sleep(0)
        return request.get()["user"]

    users = await asyncio.gather(handle("ann", False), handle("bob", True))
    assert users == ["ann", "bob"], users
    return users


async def correct():
    request.set({})

    async def handle(user, late):
        if late:
            await asyncio.sleep(0)
        request.set({"user": user})
        await asyncio.sleep(0)
        return request.get()["user"]

    users = await asyncio.gather(handle("ann", False), handle("bob", True))
    assert users == ["ann", "bob"], users
    return users
