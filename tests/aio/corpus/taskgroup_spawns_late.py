"""A task of a TaskGroup spawns a sibling, after the group may have begun to abort.

Goes wrong when the failing sibling ends first: the spawned task is cancelled before it starts, and
the cleanup that it should do does not happen. The twin cleans up after the group.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def fail():
    await asyncio.sleep(0)
    raise ValueError("sibling")


async def buggy():
    cleaned = []

    async def clean():
        cleaned.append(True)

    try:
        async with asyncio.TaskGroup() as group:

            async def spawn():
                group.create_task(clean())

            group.create_task(spawn())
            group.create_task(fail())
    except* ValueError:
        pass
    assert cleaned, "not cleaned"
    return cleaned


async def correct():
    cleaned = []

    async def clean():
        cleaned.append(True)

    async def work():
        await asyncio.sleep(0)

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(work())
            group.create_task(fail())
    except* ValueError:
        pass
    await clean()
    assert cleaned, "not cleaned"
    return cleaned
