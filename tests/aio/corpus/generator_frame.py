"""State in the frame of a plain generator: a running total that is sent to and read from.

Goes wrong when one task reads the total, awaits, and sends the new one while the other did the same.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


def register():
    total = 0
    while True:
        told = yield total
        if told is not None:
            total = told


async def buggy():
    cell = register()
    next(cell)

    async def add(late):
        if late:
            await asyncio.sleep(0)
        total = next(cell)
        await asyncio.sleep(0)
        cell.send(total + 1)

    await asyncio.gather(add(False), add(True))
    assert next(cell) == 2
    return next(cell)


async def correct():
    cell = register()
    next(cell)

    async def add(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        cell.send(next(cell) + 1)

    await asyncio.gather(add(False), add(True))
    assert next(cell) == 2
    return next(cell)
