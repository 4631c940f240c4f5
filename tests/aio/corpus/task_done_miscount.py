"""Producer and consumer: a path of the consumer forgets `task_done`, `join` waits for ever.

The consumer drops its item when it is told to stop. Goes wrong when the stop comes before the item was taken.
"""

import asyncio

EXPECTED = {"buggy": "deadlock", "correct": "holds"}


class Control:
    stop = False


async def stopper(control):
    await asyncio.sleep(0)
    control.stop = True


async def buggy():
    queue = asyncio.Queue()
    control = Control()

    async def consume():
        while True:
            await queue.get()
            if control.stop:
                continue
            queue.task_done()

    consumer = asyncio.create_task(consume())
    stop = asyncio.create_task(stopper(control))
    queue.put_nowait("item")
    await queue.join()
    await stop
    consumer.cancel()
    return queue.qsize()


async def correct():
    queue = asyncio.Queue()
    control = Control()

    async def consume():
        while True:
            await queue.get()
            try:
                if control.stop:
                    continue
            finally:
                queue.task_done()

    consumer = asyncio.create_task(consume())
    stop = asyncio.create_task(stopper(control))
    queue.put_nowait("item")
    await queue.join()
    await stop
    consumer.cancel()
    return queue.qsize()
