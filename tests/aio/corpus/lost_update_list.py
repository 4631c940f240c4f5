"""Lost update on a list item, through an augmented assignment whose right-hand side awaits.

`cells[0] += await one()` reads the item before the await and stores after it. Goes wrong when both read
first. The twin awaits first and adds then.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def one():
    await asyncio.sleep(0)
    return 1


async def buggy():
    cells = [0, 0]

    async def add(late):
        if late:
            await asyncio.sleep(0)
        cells[0] += await one()

    await asyncio.gather(add(False), add(True))
    assert cells[0] == 2, cells
    return cells


async def correct():
    cells = [0, 0]

    async def add(late):
        if late:
            await asyncio.sleep(0)
        more = await one()
        cells[0] += more

    await asyncio.gather(add(False), add(True))
    assert cells[0] == 2, cells
    return cells
