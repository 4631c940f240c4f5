"""A lock is released by a clean-up that believes it is its own: `if lock.locked(): lock.release()`.

Goes wrong when the other task holds the lock at that moment: two are in the critical section, or the holder's
own release fails (RuntimeError). The twin keeps to `async with`.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "holds"}


async def buggy():
    lock = asyncio.Lock()

    async def holder():
        async with lock:
            await asyncio.sleep(0)

    async def cleaner():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if lock.locked():
            lock.release()

    await asyncio.gather(holder(), cleaner())
    return lock.locked()


async def correct():
    lock = asyncio.Lock()

    async def holder():
        async with lock:
            await asyncio.sleep(0)

    async def cleaner():
        await asyncio.sleep(0)
        async with lock:
            pass

    await asyncio.gather(holder(), cleaner())
    return lock.locked()
