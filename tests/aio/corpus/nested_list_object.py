"""False pass of other tools, 4: `s.a[0].v += 1`, an object in a list in an object, with an await between read
and write.

Goes wrong when one task reads between the other's read and write.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Leaf:
    def __init__(self):
        self.v = 0


class Tree:
    def __init__(self):
        self.a = [Leaf()]


async def buggy():
    s = Tree()

    async def add(late):
        if late:
            await asyncio.sleep(0)
        v = s.a[0].v
        await asyncio.sleep(0)
        s.a[0].v = v + 1

    await asyncio.gather(add(False), add(True))
    assert s.a[0].v == 2, s.a[0].v
    return s.a[0].v


async def correct():
    s = Tree()

    async def add(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        s.a[0].v += 1

    await asyncio.gather(add(False), add(True))
    assert s.a[0].v == 2, s.a[0].v
    return s.a[0].v
