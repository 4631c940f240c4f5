"""Publish/subscribe: a dict of subscribers is iterated with an await in the loop.

Goes wrong when somebody subscribes while the publisher is suspended: RuntimeError, "dictionary changed size
during iteration". The twin iterates over a copy.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "passes"}


async def buggy():
    inboxes = {"ann": []}

    async def publish():
        for inbox in inboxes.values():
            inbox.append("news")
            await asyncio.sleep(0)

    async def subscribe():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        inboxes["bob"] = []

    await asyncio.gather(publish(), subscribe())
    return inboxes


async def correct():
    inboxes = {"ann": []}

    async def publish():
        for inbox in list(inboxes.values()):
            inbox.append("news")
            await asyncio.sleep(0)

    async def subscribe():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        inboxes["bob"] = []

    await asyncio.gather(publish(), subscribe())
    assert inboxes["ann"] == ["news"], inboxes
    return inboxes
