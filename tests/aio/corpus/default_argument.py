"""State in a default argument and in an attribute of a function: both are objects that all callers share.

Goes wrong when one call reads between the other's read and write.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    async def call(late, seen=[0]):  # noqa: B006
        if late:
            await asyncio.sleep(0)
        count = seen[0]
        await asyncio.sleep(0)
        call.total = seen[0] = count + 1

    await asyncio.gather(call(False), call(True))
    assert call.total == 2, call.total
    return call.total


async def correct():
    async def call(late, seen=[0]):  # noqa: B006
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        seen[0] += 1
        call.total = seen[0]

    await asyncio.gather(call(False), call(True))
    assert call.total == 2, call.total
    return call.total
