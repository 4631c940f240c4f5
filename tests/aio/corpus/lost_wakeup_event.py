"""Lost wake-up: the waiter clears an Event just before it waits.

Goes wrong when the producer sets it before the waiter has cleared it: the wake-up is gone, the waiter waits
for ever. The twin asks for the work first and clears only what it is about to wait for.
"""

import asyncio

EXPECTED = {"buggy": "deadlock", "correct": "holds"}


async def buggy():
    event = asyncio.Event()
    work = []

    async def waiter():
        event.clear()
        await event.wait()
        return work.pop()

    async def producer():
        await asyncio.sleep(0)
        work.append("job")
        event.set()

    job, _ = await asyncio.gather(waiter(), producer())
    return job


async def correct():
    event = asyncio.Event()
    work = []

    async def waiter():
        while not work:
            event.clear()
            await event.wait()
        return work.pop()

    async def producer():
        await asyncio.sleep(0)
        work.append("job")
        event.set()

    job, _ = await asyncio.gather(waiter(), producer())
    return job
