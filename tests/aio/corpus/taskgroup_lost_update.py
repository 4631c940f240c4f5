"""False pass of other tools, 1: the tasks come from a TaskGroup.

Lost update; goes wrong when one task reads between the other's read and write.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class State:
    def __init__(self):
        self.value = 0


async def buggy():
    state = State()

    async def add(late):
        if late:
            await asyncio.sleep(0)
        value = state.value
        await asyncio.sleep(0)
        state.value = value + 1

    async with asyncio.TaskGroup() as group:
        group.create_task(add(False))
        group.create_task(add(True))
    assert state.value == 2, state.value
    return state.value


async def correct():
    state = State()

    async def add(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        state.value += 1

    async with asyncio.TaskGroup() as group:
        group.create_task(add(False))
        group.create_task(add(True))
    assert state.value == 2, state.value
    return state.value
