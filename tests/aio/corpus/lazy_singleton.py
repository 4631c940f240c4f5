"""A lazily made singleton, with an await between the check and the assignment.

Goes wrong when both callers find none: there are two. The twin checks again under a lock.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Client:
    pass


class Holder:
    instance = None

    def __init__(self):
        self.lock = asyncio.Lock()

    async def get_buggy(self):
        if self.instance is None:
            await asyncio.sleep(0)
            self.instance = Client()
        return self.instance

    async def get(self):
        if self.instance is None:
            async with self.lock:
                if self.instance is None:
                    await asyncio.sleep(0)
                    self.instance = Client()
        return self.instance


async def buggy():
    holder = Holder()

    async def later():
        await asyncio.sleep(0)
        return await holder.get_buggy()

    first, second = await asyncio.gather(holder.get_buggy(), later())
    assert first is second, "two clients"
    return "one"


async def correct():
    holder = Holder()
    first, second = await asyncio.gather(holder.get(), holder.get())
    assert first is second, "two clients"
    return "one"
