"""False pass of other tools, 5b: the state lives in a `collections.deque` of bounded length.

Goes wrong when both tasks append before either takes its own entry back from the right end: one takes the
other's. The twin appends and takes in one step.
"""

import asyncio
from collections import deque

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    stack = deque(maxlen=4)

    async def work(name, late):
        if late:
            await asyncio.sleep(0)
        stack.append(name)
        await asyncio.sleep(0)
        assert stack.pop() == name, name

    await asyncio.gather(work("a", False), work("b", True))
    return len(stack)


async def correct():
    stack = deque(maxlen=4)

    async def work(name, late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        stack.append(name)
        assert stack.pop() == name, name

    await asyncio.gather(work("a", False), work("b", True))
    return len(stack)
