"""Double close: two tasks close one connection, closing awaits a flush.

Goes wrong when the second asks `closed` before the first has set it: the handle is released twice.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "holds"}


class Handle:
    def __init__(self):
        self.open = True

    def release(self):
        if not self.open:
            raise OSError("bad file descriptor")
        self.open = False


class Connection:
    def __init__(self):
        self.handle = Handle()
        self.closed = False

    async def close_buggy(self):
        if self.closed:
            return
        await asyncio.sleep(0)
        self.handle.release()
        self.closed = True

    async def close(self):
        if self.closed:
            return
        self.closed = True
        await asyncio.sleep(0)
        self.handle.release()


async def buggy():
    connection = Connection()

    async def later():
        await asyncio.sleep(0)
        await connection.close_buggy()

    await asyncio.gather(connection.close_buggy(), later())
    return connection.handle.open


async def correct():
    connection = Connection()

    async def later():
        await asyncio.sleep(0)
        await connection.close()

    await asyncio.gather(connection.close(), later())
    return connection.handle.open
