"""False pass of other tools, 2: the state sits behind `__slots__`.

Lost update; goes wrong when one task reads between the other's read and write.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Slotted:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 0


async def buggy():
    state = Slotted()

    async def add(late):
        if late:
            await asyncio.sleep(0)
        value = state.value
        await asyncio.sleep(0)
        state.value = value + 1

    await asyncio.gather(add(False), add(True))
    assert state.value == 2, state.value
    return state.value


async def correct():
    state = Slotted()

    async def add(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        state.value += 1

    await asyncio.gather(add(False), add(True))
    assert state.value == 2, state.value
    return state.value
