"""Cancellation while a lock is held: acquire and release without `finally`.

Goes wrong when the cancellation arrives while the holder is suspended in its critical section: the lock stays
locked.
"""

import asyncio

EXPECTED = {"buggy": "deadlock", "correct": "holds"}


async def buggy():
    lock = asyncio.Lock()

    async def holder():
        await lock.acquire()
        await asyncio.sleep(0)
        lock.release()

    task = asyncio.create_task(holder())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    async with lock:
        return "done"


async def correct():
    lock = asyncio.Lock()

    async def holder():
        async with lock:
            await asyncio.sleep(0)

    task = asyncio.create_task(holder())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    async with lock:
        return "done"
