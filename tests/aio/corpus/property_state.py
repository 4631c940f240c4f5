"""State behind a property and a descriptor of its own: reading an attribute runs code that reads another object.

Goes wrong when one task reads between the other's read and write.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Stored:
    """A descriptor that keeps its values in a dict beside the objects."""

    def __init__(self):
        self.values = {}

    def __get__(self, owner, kind=None):
        return self.values.get(id(owner), 0)

    def __set__(self, owner, value):
        self.values[id(owner)] = value


def make():
    class Meter:
        level = Stored()

        @property
        def shown(self):
            return self.level

        @shown.setter
        def shown(self, value):
            self.level = value

    return Meter()


async def buggy():
    meter = make()

    async def add(late):
        if late:
            await asyncio.sleep(0)
        level = meter.shown
        await asyncio.sleep(0)
        meter.level = level + 1

    await asyncio.gather(add(False), add(True))
    assert meter.shown == 2, meter.shown
    return meter.shown


async def correct():
    meter = make()

    async def add(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        meter.shown += 1

    await asyncio.gather(add(False), add(True))
    assert meter.shown == 2, meter.shown
    return meter.shown
