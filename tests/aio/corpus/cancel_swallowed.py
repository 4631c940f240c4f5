"""A worker that catches CancelledError around one of its awaits and goes on.

Goes wrong when the cancellation arrives at that await: the worker waits for the next job for ever, and so
does who cancelled it.
"""

import asyncio
import contextlib

EXPECTED = {"buggy": "deadlock", "correct": "holds"}


async def buggy():
    jobs = asyncio.Queue()
    jobs.put_nowait("job")

    async def work():
        while True:
            await jobs.get()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)

    worker = asyncio.create_task(work())
    for _ in range(3):
        await asyncio.sleep(0)
    worker.cancel()
    await asyncio.wait([worker])
    return worker.cancelled()


async def correct():
    jobs = asyncio.Queue()
    jobs.put_nowait("job")

    async def work():
        while True:
            await jobs.get()
            await asyncio.sleep(0)

    worker = asyncio.create_task(work())
    for _ in range(3):
        await asyncio.sleep(0)
    worker.cancel()
    await asyncio.wait([worker])
    return worker.cancelled()
