"""Read-modify-write through a global of the module.

Goes wrong when one task reads the global between the other's read and write. (The global is set again at the
start of each run.)
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}

hits = 0


async def hit_buggy(late):
    global hits
    if late:
        await asyncio.sleep(0)
    before = hits
    await asyncio.sleep(0)
    hits = before + 1


async def hit(late):
    global hits
    if late:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    hits += 1


async def buggy():
    global hits
    hits = 0
    await asyncio.gather(hit_buggy(False), hit_buggy(True))
    assert hits == 2, hits
    return hits


async def correct():
    global hits
    hits = 0
    await asyncio.gather(hit(False), hit(True))
    assert hits == 2, hits
    return hits
