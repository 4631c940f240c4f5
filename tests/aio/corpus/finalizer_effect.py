"""A `__del__` with an effect: dropping a reference by assignment runs code that writes elsewhere.

Goes wrong when the old object is replaced before the reader looks at the log twice: the write is hidden in
`holder.item = None`. The twin looks once.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "passes"}


class Loud:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("gone")


class Holder:
    item = None


async def buggy():
    log = []
    holder = Holder()
    holder.item = Loud(log)

    async def read():
        before = len(log)
        await asyncio.sleep(0)
        assert len(log) == before, log

    async def drop():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        holder.item = None

    await asyncio.gather(read(), drop())
    return log


async def correct():
    log = []
    holder = Holder()
    holder.item = Loud(log)

    async def read():
        await asyncio.sleep(0)
        return len(log)

    async def drop():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        holder.item = None

    seen, _ = await asyncio.gather(read(), drop())
    return seen
