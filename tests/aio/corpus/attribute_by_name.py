"""One attribute, four ways to it: `getattr`, `vars`, `__dict__`, `setattr` with a computed name.

Goes wrong when one task reads between the other's read and write. No attribute access is to be seen in the
source.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Bag:
    def __init__(self):
        self.count_a = 0


async def buggy():
    bag = Bag()

    async def one(name):
        value = getattr(bag, "count_" + name)
        await asyncio.sleep(0)
        bag.__dict__["count_" + name] = value + 1

    async def two(name):
        await asyncio.sleep(0)
        value = vars(bag)["count_" + name]
        await asyncio.sleep(0)
        setattr(bag, "count_" + name, value + 1)

    await asyncio.gather(one("a"), two("a"))
    assert bag.count_a == 2, bag.count_a
    return bag.count_a


async def correct():
    bag = Bag()

    async def one(name):
        await asyncio.sleep(0)
        bag.__dict__["count_" + name] = getattr(bag, "count_" + name) + 1

    async def two(name):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        setattr(bag, "count_" + name, vars(bag)["count_" + name] + 1)

    await asyncio.gather(one("a"), two("a"))
    assert bag.count_a == 2, bag.count_a
    return bag.count_a
