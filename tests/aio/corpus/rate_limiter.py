"""A rate limiter that compares its counter, awaits, and counts then.

Goes wrong when two calls pass the comparison before either is counted: more than the limit are let through.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Limiter:
    def __init__(self, limit):
        self.limit = limit
        self.count = 0

    async def allow_buggy(self):
        if self.count >= self.limit:
            return False
        await asyncio.sleep(0)
        self.count += 1
        return True

    async def allow(self):
        if self.count >= self.limit:
            return False
        self.count += 1
        await asyncio.sleep(0)
        return True


async def buggy():
    limiter = Limiter(1)

    async def later():
        await asyncio.sleep(0)
        return await limiter.allow_buggy()

    allowed = sum(await asyncio.gather(limiter.allow_buggy(), later()))
    assert allowed <= limiter.limit, allowed
    return allowed


async def correct():
    limiter = Limiter(1)

    async def later():
        await asyncio.sleep(0)
        return await limiter.allow()

    allowed = sum(await asyncio.gather(limiter.allow(), later()))
    assert allowed <= limiter.limit, allowed
    return allowed
