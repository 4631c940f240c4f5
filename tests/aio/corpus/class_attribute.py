"""State in a class, read through an instance of a subclass: `self.limit` finds nothing in the object and looks
further up.

Goes wrong when the class is changed between the two reads of the attribute. The twin reads it once.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


def make():
    class Base:
        limit = 1

    class Derived(Base):
        pass

    return Base, Derived()


async def buggy():
    base, thing = make()

    async def use():
        before = thing.limit
        await asyncio.sleep(0)
        assert thing.limit == before, (before, thing.limit)

    async def configure():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        base.limit = 2

    await asyncio.gather(use(), configure())
    return thing.limit


async def correct():
    base, thing = make()

    async def use():
        before = thing.limit
        await asyncio.sleep(0)
        return before

    async def configure():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        base.limit = 2

    await asyncio.gather(use(), configure())
    return thing.limit
