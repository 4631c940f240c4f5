"""shield and cancel: the shielded work goes on after its waiter was cancelled.

The caller cancels the waiter and closes the file. Goes wrong when the shielded write has not happened yet: it
writes to a closed file. The twin waits for the shielded task before it closes.
"""

import asyncio
import io

EXPECTED = {"buggy": "error", "correct": "holds"}


async def buggy():
    file = io.StringIO()

    async def write():
        await asyncio.sleep(0)
        file.write("saved")

    work = asyncio.create_task(write())

    async def wait():
        await asyncio.shield(work)

    waiter = asyncio.create_task(wait())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiter.cancel()
    await asyncio.wait([waiter])
    file.close()
    await work
    return "closed"


async def correct():
    file = io.StringIO()

    async def write():
        await asyncio.sleep(0)
        file.write("saved")

    work = asyncio.create_task(write())

    async def wait():
        await asyncio.shield(work)

    waiter = asyncio.create_task(wait())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiter.cancel()
    await asyncio.wait([waiter, work])
    file.close()
    await work
    return "closed"
