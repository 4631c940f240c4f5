"""aiorwlock: readers wait while a writer does. When that one gives up, they are not woken as long as somebody
reads, although they could read as well."""

import asyncio

import aiorwlock


async def test_a_reader_behind_a_writer_that_gave_up():
    lock = aiorwlock.RWLock(fast=True)

    async def write():
        async with lock.writer:
            pass

    async def read():
        async with lock.reader:
            return "read"

    async with lock.reader:
        writer, reader = asyncio.create_task(write()), asyncio.create_task(read())
        await asyncio.sleep(0)
        writer.cancel()
        assert await reader == "read"
