"""asyncio.wait with FIRST_COMPLETED: "first" may be more than one.

Goes wrong when both tasks are done before the waiter runs: unpacking one element fails (ValueError). The twin
takes any of them.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "holds"}


async def fast():
    return "answer"


async def slow():
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return "answer"


async def buggy():
    tasks = [asyncio.create_task(fast()), asyncio.create_task(slow())]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    (winner,) = done
    return winner.result()


async def correct():
    tasks = [asyncio.create_task(fast()), asyncio.create_task(slow())]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    return done.pop().result()
