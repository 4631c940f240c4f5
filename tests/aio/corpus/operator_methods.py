"""State that is read and written by operators: `in`, `==`, `bool`, `len`, a format and `+=` of a class of the
user.

Goes wrong when one task's `bag += 1` comes between the other's `not bag` and its own `+=`: no method is
called by name.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Bag:
    def __init__(self):
        self._size = 0

    def __bool__(self):
        return self._size > 0

    def __iadd__(self, more):
        self._size += more
        return self

    def __format__(self, spec):
        return f"<{self._size}>"


async def buggy():
    bag = Bag()

    async def fill(late):
        nonlocal bag
        if late:
            await asyncio.sleep(0)
        if not bag:
            await asyncio.sleep(0)
            bag += 1

    await asyncio.gather(fill(False), fill(True))
    assert f"{bag}" == "<1>", f"{bag}"
    return f"{bag}"


async def correct():
    bag = Bag()

    async def fill(late):
        nonlocal bag
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        if not bag:
            bag += 1

    await asyncio.gather(fill(False), fill(True))
    assert f"{bag}" == "<1>", f"{bag}"
    return f"{bag}"
