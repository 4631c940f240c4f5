"""`empty()` is asked, then an await, then `get_nowait`.

Goes wrong when both consumers see the one item: QueueEmpty. The twin does not await in between.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "holds"}


async def buggy():
    queue = asyncio.Queue()
    queue.put_nowait("item")

    async def consume(late):
        if late:
            await asyncio.sleep(0)
        if not queue.empty():
            await asyncio.sleep(0)
            return queue.get_nowait()
        return ""

    return "".join(await asyncio.gather(consume(False), consume(True)))


async def correct():
    queue = asyncio.Queue()
    queue.put_nowait("item")

    async def consume(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        if not queue.empty():
            return queue.get_nowait()
        return ""

    return "".join(await asyncio.gather(consume(False), consume(True)))
