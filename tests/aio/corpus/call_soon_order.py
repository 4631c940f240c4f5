"""Two tasks schedule a callback each and the order of the callbacks is taken for granted.

The log differs when the second task or its callback goes first. The twin sorts.
"""

import asyncio

EXPECTED = {"buggy": "nondeterministic", "correct": "holds"}


async def record():
    log = []
    loop = asyncio.get_running_loop()

    async def announce(name):
        loop.call_soon(log.append, name)

    await asyncio.gather(announce("first"), announce("second"))
    while len(log) < 2:
        await asyncio.sleep(0.01)
    return log


async def buggy():
    return await record()


async def correct():
    return sorted(await record())
