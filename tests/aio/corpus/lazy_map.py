"""A lazy iterator reads later: `map` and a generator expression over a shared list are made in one step and
consumed in another.

Goes wrong when the list grows between the two. The twin makes a list at once.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    prices = [1, 2]

    async def bill():
        parts = map(int, (price for price in prices))
        count = len(prices)
        await asyncio.sleep(0)
        parts = list(parts)
        assert len(parts) == count, parts

    async def add():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        prices.append(3)

    await asyncio.gather(bill(), add())
    return prices


async def correct():
    prices = [1, 2]

    async def bill():
        parts = list(map(int, (price for price in prices)))
        count = len(prices)
        await asyncio.sleep(0)
        assert len(parts) == count, parts

    async def add():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        prices.append(3)

    await asyncio.gather(bill(), add())
    return prices
