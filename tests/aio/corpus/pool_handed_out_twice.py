"""A connection pool that hands out one connection twice.

`acquire` looks at the last free connection, awaits its health check and only then takes it off the list. Goes
wrong when the other task looks in between. The twin takes it off first.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Pool:
    def __init__(self):
        self.free = ["c1", "c2"]
        self.used = []

    async def check(self, connection):
        await asyncio.sleep(0)
        return connection

    async def acquire_buggy(self):
        connection = await self.check(self.free[-1])
        if connection in self.free:
            self.free.remove(connection)
        self.used.append(connection)

    async def acquire(self):
        self.used.append(await self.check(self.free.pop()))


async def buggy():
    pool = Pool()

    async def later():
        await asyncio.sleep(0)
        await pool.acquire_buggy()

    await asyncio.gather(pool.acquire_buggy(), later())
    assert len(set(pool.used)) == 2, pool.used
    return sorted(pool.used)


async def correct():
    pool = Pool()

    async def later():
        await asyncio.sleep(0)
        await pool.acquire()

    await asyncio.gather(pool.acquire(), later())
    assert len(set(pool.used)) == 2, pool.used
    return sorted(pool.used)
