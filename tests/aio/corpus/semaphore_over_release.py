"""Semaphore over-release: `acquire` inside the `try` whose `finally` releases.

Goes wrong when the task is cancelled while it waits in `acquire`: it releases what it never had, and the
holder's own release is one too many (ValueError of a BoundedSemaphore).
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "holds"}


async def holder(semaphore):
    async with semaphore:
        await asyncio.sleep(0)


async def buggy():
    semaphore = asyncio.BoundedSemaphore(1)

    async def user():
        try:
            await semaphore.acquire()
        finally:
            semaphore.release()

    task = asyncio.create_task(user())
    other = asyncio.create_task(holder(semaphore))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await other
    return "done"


async def correct():
    semaphore = asyncio.BoundedSemaphore(1)

    async def user():
        await semaphore.acquire()
        try:
            pass
        finally:
            semaphore.release()

    task = asyncio.create_task(user())
    other = asyncio.create_task(holder(semaphore))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await other
    return "done"
