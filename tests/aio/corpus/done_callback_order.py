"""A done callback stores the result, the awaiter of the task reads it from there.

Both are scheduled when the task ends. asyncio runs the callback first, since it was added first; in any order
of ready handles the awaiter may be first: KeyError. The twin takes the result from the await.
"""

import asyncio

EXPECTED = {"buggy": "error", "correct": "holds"}


async def answer():
    return 42


async def buggy():
    results = {}
    task = asyncio.create_task(answer())
    task.add_done_callback(lambda done: results.update(answer=done.result()))
    await task
    return results["answer"]


async def correct():
    results = {}
    task = asyncio.create_task(answer())
    task.add_done_callback(lambda done: results.update(answer=done.result()))
    return await task
