"""Queue shutdown: the sentinel does not fit and is dropped.

The queue holds one item. Goes wrong when the producer wants to stop before the consumer has taken the item:
QueueFull is swallowed, the consumer waits for ever. The twin awaits `put`.
"""

import asyncio
import contextlib

EXPECTED = {"buggy": "deadlock", "correct": "holds"}


async def consume(queue):
    seen = []
    while (item := await queue.get()) is not None:
        seen.append(item)
    return seen


async def buggy():
    queue = asyncio.Queue(maxsize=1)

    async def produce():
        await queue.put(1)
        await asyncio.sleep(0)
        with contextlib.suppress(asyncio.QueueFull):
            queue.put_nowait(None)

    _, seen = await asyncio.gather(produce(), consume(queue))
    return seen


async def correct():
    queue = asyncio.Queue(maxsize=1)

    async def produce():
        await queue.put(1)
        await queue.put(None)

    _, seen = await asyncio.gather(produce(), consume(queue))
    return seen
