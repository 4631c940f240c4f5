"""Timeout against completion, with `wait_for`: a resource is handed to a waiter that times out at the same
instant.

`release` puts the connection into the waiter's future. Goes wrong when the timeout cancels the waiter after
that and before it ran: nobody has the connection any more. The twin gives it back when it is cancelled with a
connection in its hands.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "passes"}


class Pool:
    def __init__(self):
        self.free = []
        self.waiters = []

    def release(self, connection):
        while self.waiters:
            waiter = self.waiters.pop(0)
            if not waiter.done():
                waiter.set_result(connection)
                return
        self.free.append(connection)

    async def acquire_buggy(self):
        waiter = asyncio.get_running_loop().create_future()
        self.waiters.append(waiter)
        return await waiter

    async def acquire(self):
        waiter = asyncio.get_running_loop().create_future()
        self.waiters.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.release(waiter.result())
            raise


async def buggy():
    pool = Pool()
    asyncio.get_running_loop().call_later(0.01, pool.release, "connection")
    got = None
    try:
        got = await asyncio.wait_for(pool.acquire_buggy(), 0.01)
    except TimeoutError:
        await asyncio.sleep(0.01)
    assert got or pool.free, "the connection is lost"
    return got


async def correct():
    pool = Pool()
    asyncio.get_running_loop().call_later(0.01, pool.release, "connection")
    got = None
    try:
        got = await asyncio.wait_for(pool.acquire(), 0.01)
    except TimeoutError:
        await asyncio.sleep(0.01)
    assert got or pool.free, "the connection is lost"
    return got
