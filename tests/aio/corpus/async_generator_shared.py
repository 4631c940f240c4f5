"""One async generator, two consumers.

Goes wrong when a consumer asks for an item while the generator is suspended in the other's request:
RuntimeError, "asynchronous generator is already running". The twin takes turns with a lock.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "holds"}


async def numbers():
    for number in range(2):
        await asyncio.sleep(0)
        yield number


async def buggy():
    source = numbers()

    async def consume(late):
        if late:
            await asyncio.sleep(0)
        return await anext(source)

    return sorted(await asyncio.gather(consume(False), consume(True)))


async def correct():
    source = numbers()
    lock = asyncio.Lock()

    async def consume():
        async with lock:
            return await anext(source)

    return sorted(await asyncio.gather(consume(), consume()))
