"""An async generator with a `finally`, left in the middle: its clean-up runs in a task that asyncio makes for
it.

When the last reference goes, the loop's finalizer hook schedules `aclose`. Goes wrong when the caller looks
before that task has run. The twin closes with `contextlib.aclosing`.
"""

import asyncio
import contextlib

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def rows(log):
    try:
        yield 1
        yield 2
    finally:
        log.append("closed")


async def first(log):
    async for row in rows(log):
        return row
    return None


async def first_closed(log):
    async with contextlib.aclosing(rows(log)) as source:
        async for row in source:
            return row
    return None


async def other():
    await asyncio.sleep(0)


async def buggy():
    log = []
    row = await first(log)
    for _ in range(3):
        await asyncio.sleep(0)
    assert log == ["closed"], log
    return row


async def correct():
    log = []
    row, _ = await asyncio.gather(first_closed(log), other())
    assert log == ["closed"], log
    return row
