"""A task that is cancelled before its first step never enters its `try`, so its `finally` never runs.

Goes wrong when the cancellation comes before the task has started: the connection stays open. The twin closes
where it opened.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Connection:
    def __init__(self):
        self.open = True

    def close(self):
        self.open = False


async def buggy():
    connection = Connection()

    async def serve():
        try:
            await asyncio.sleep(0)
        finally:
            connection.close()

    task = asyncio.create_task(serve())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert not connection.open, "leaked"
    return connection.open


async def correct():
    connection = Connection()

    async def serve():
        await asyncio.sleep(0)

    task = asyncio.create_task(serve())
    task.add_done_callback(lambda _: connection.close())
    await asyncio.sleep(0)
    task.cancel()
    while connection.open:
        await asyncio.sleep(0.01)
    assert not connection.open, "leaked"
    return connection.open
