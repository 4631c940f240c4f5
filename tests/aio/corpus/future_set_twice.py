"""Two tasks answer one future.

Goes wrong when both have asked `done` before either has answered: InvalidStateError. The twin asks in the
step that answers.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "passes"}


async def buggy():
    answer = asyncio.get_running_loop().create_future()

    async def reply(value, late):
        if late:
            await asyncio.sleep(0)
        if not answer.done():
            await asyncio.sleep(0)
            answer.set_result(value)

    await asyncio.gather(reply(1, False), reply(2, True))
    return await answer


async def correct():
    answer = asyncio.get_running_loop().create_future()

    async def reply(value, late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        if not answer.done():
            answer.set_result(value)

    await asyncio.gather(reply(1, False), reply(2, True))
    return await answer
