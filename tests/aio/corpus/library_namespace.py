"""False pass of other tools, 5a: the state lives in a library class, `types.SimpleNamespace`.

Lost update; goes wrong when one task reads between the other's read and write.
"""

import asyncio
from types import SimpleNamespace

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    state = SimpleNamespace(value=0)

    async def add(late):
        if late:
            await asyncio.sleep(0)
        value = state.value
        await asyncio.sleep(0)
        state.value = value + 1

    await asyncio.gather(add(False), add(True))
    assert state.value == 2, state
    return state


async def correct():
    state = SimpleNamespace(value=0)

    async def add(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        state.value += 1

    await asyncio.gather(add(False), add(True))
    assert state.value == 2, state
    return state
