"""Two names for one memory: one task reads a `bytearray`, the other writes through a `memoryview` of it.

Goes wrong when the write comes between the check of the header and the use of the byte: objects with
different identities share their content. The twin copies before it awaits.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    buffer = bytearray(b"ok")
    view = memoryview(buffer)

    async def read():
        if buffer[0] == ord("o"):
            await asyncio.sleep(0)
            assert bytes(buffer) == b"ok", bytes(buffer)

    async def write():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        view[0] = ord("k")

    await asyncio.gather(read(), write())
    return bytes(buffer)


async def correct():
    buffer = bytearray(b"ok")
    view = memoryview(buffer)

    async def read():
        copy = bytes(buffer)
        if copy[0] == ord("o"):
            await asyncio.sleep(0)
            assert copy == b"ok", copy

    async def write():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        view[0] = ord("k")

    await asyncio.gather(read(), write())
    return bytes(buffer)
