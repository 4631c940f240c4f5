"""as_completed yields in the order of completion, not in the order given.

The results differ when the second task completes first. The twin uses gather, which keeps the order of its
arguments.
"""

import asyncio

EXPECTED = {"buggy": "nondeterministic", "correct": "holds"}


async def square(number):
    await asyncio.sleep(0)
    return number * number


async def buggy():
    return [await done for done in asyncio.as_completed([asyncio.ensure_future(square(n)) for n in (2, 3)])]


async def correct():
    return await asyncio.gather(square(2), square(3))
