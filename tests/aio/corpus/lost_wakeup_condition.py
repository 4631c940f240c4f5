"""Lost wake-up: Condition.notify before anybody waits.

Goes wrong when the notifier gets the lock first: a notification is not remembered. The twin waits for a
predicate.
"""

import asyncio

EXPECTED = {"buggy": "deadlock", "correct": "holds"}


async def buggy():
    condition = asyncio.Condition()
    data = []

    async def waiter():
        async with condition:
            await condition.wait()
            return data[0]

    async def notifier():
        async with condition:
            data.append(1)
            condition.notify()

    value, _ = await asyncio.gather(waiter(), notifier())
    return value


async def correct():
    condition = asyncio.Condition()
    data = []

    async def waiter():
        async with condition:
            await condition.wait_for(lambda: data)
            return data[0]

    async def notifier():
        async with condition:
            data.append(1)
            condition.notify()

    value, _ = await asyncio.gather(waiter(), notifier())
    return value
