"""Publish/subscribe: a list of subscribers is iterated with an await in the loop, and one of them leaves.

Goes wrong when the first subscriber leaves while the publisher is suspended after it: the second moves to its
place and is skipped, silently. The iterator's position is the shared state. The twin iterates over a copy.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    subscribers = ["ann", "bob"]
    reached = []

    async def publish():
        for name in subscribers:
            await asyncio.sleep(0)
            reached.append(name)

    async def leave():
        for _ in range(3):
            await asyncio.sleep(0)
        subscribers.remove("ann")

    await asyncio.gather(publish(), leave())
    assert "bob" in reached, reached
    return reached[-1]


async def correct():
    subscribers = ["ann", "bob"]
    reached = []

    async def publish():
        for name in tuple(subscribers):
            await asyncio.sleep(0)
            reached.append(name)

    async def leave():
        for _ in range(3):
            await asyncio.sleep(0)
        subscribers.remove("ann")

    await asyncio.gather(publish(), leave())
    assert "bob" in reached, reached
    return reached[-1]
