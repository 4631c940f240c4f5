"""gather with an exception: the other tasks are not cancelled and go on behind the caller's back.

The caller believes that everything stopped and reads the log. Goes wrong when the failure is delivered before
the other task has written its entry. The twin uses `return_exceptions=True` and so waits for all.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    log = []

    async def work():
        await asyncio.sleep(0)
        log.append("work")

    async def fail():
        await asyncio.sleep(0)
        raise ValueError("broken")

    try:
        await asyncio.gather(work(), fail())
    except ValueError:
        log.append("failed")
    assert log == ["work", "failed"], log
    return log


async def correct():
    log = []

    async def work():
        await asyncio.sleep(0)
        log.append("work")

    async def fail():
        await asyncio.sleep(0)
        raise ValueError("broken")

    results = await asyncio.gather(work(), fail(), return_exceptions=True)
    if any(isinstance(result, ValueError) for result in results):
        log.append("failed")
    assert log == ["work", "failed"], log
    return log
