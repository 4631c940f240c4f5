"""State in an iterator: two tasks draw from one `itertools.count`, and expect their two numbers to be
neighbours.

Goes wrong when the other task draws in between. `next` changes an object that has no attributes. The twin
draws both at once.
"""

import asyncio
import itertools

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    numbers = itertools.count()

    async def draw(late):
        if late:
            await asyncio.sleep(0)
        first = next(numbers)
        await asyncio.sleep(0)
        second = next(numbers)
        assert second == first + 1, (first, second)

    await asyncio.gather(draw(False), draw(True))
    return next(numbers)


async def correct():
    numbers = itertools.count()

    async def draw(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        first, second = itertools.islice(numbers, 2)
        assert second == first + 1, (first, second)

    await asyncio.gather(draw(False), draw(True))
    return next(numbers)
