"""The event is set before its waiter exists.

The waiter makes the event when it starts to wait, the signaller sets it if there is one. Goes wrong when the
signaller comes first. The twin makes the event with the object.
"""

import asyncio

EXPECTED = {"buggy": "deadlock", "correct": "holds"}


class Door:
    def __init__(self, event=None):
        self.event = event


async def buggy():
    door = Door()

    async def wait():
        door.event = asyncio.Event()
        await door.event.wait()
        return "in"

    async def signal():
        if door.event is not None:
            door.event.set()

    result, _ = await asyncio.gather(wait(), signal())
    return result


async def correct():
    door = Door(asyncio.Event())

    async def wait():
        await door.event.wait()
        return "in"

    async def signal():
        door.event.set()

    result, _ = await asyncio.gather(wait(), signal())
    return result
