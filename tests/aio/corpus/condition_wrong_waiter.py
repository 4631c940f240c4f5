"""Two kinds of waiters on one Condition, and `notify` wakes one: the wrong one.

The waiter for "b" waits before the waiter for "a", "a" comes and only the longest waiting is woken; it looks
and sleeps again. Goes wrong in exactly that order of arrival. The twin uses `notify_all`.
"""

import asyncio

EXPECTED = {"buggy": "deadlock", "correct": "holds"}


async def wait(condition, have, name):
    async with condition:
        await condition.wait_for(lambda: name in have)
        return name


async def buggy():
    condition = asyncio.Condition()
    have = set()
    a = asyncio.create_task(wait(condition, have, "a"))
    b = asyncio.create_task(wait(condition, have, "b"))
    for name in "ab":
        await asyncio.sleep(0)
        async with condition:
            have.add(name)
            condition.notify()
        await (a if name == "a" else b)
    return "both"


async def correct():
    condition = asyncio.Condition()
    have = set()
    a = asyncio.create_task(wait(condition, have, "a"))
    b = asyncio.create_task(wait(condition, have, "b"))
    for name in "ab":
        await asyncio.sleep(0)
        async with condition:
            have.add(name)
            condition.notify_all()
        await (a if name == "a" else b)
    return "both"
