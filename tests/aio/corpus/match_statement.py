"""Reads in patterns: `match` reads attributes and items without an expression that says so.

Goes wrong when the state changes between the match and the step that relies on it. The twin changes it in the
step of the match.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Job:
    def __init__(self):
        self.state = {"phase": "new"}
        self.starts = 0


async def buggy():
    job = Job()

    async def start(late):
        if late:
            await asyncio.sleep(0)
        match job:
            case Job(state={"phase": "new"}):
                await asyncio.sleep(0)
                job.state["phase"] = "running"
                job.starts += 1

    await asyncio.gather(start(False), start(True))
    assert job.starts == 1, job.starts
    return job.starts


async def correct():
    job = Job()

    async def start(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        match job:
            case Job(state={"phase": "new"}):
                job.state["phase"] = "running"
                job.starts += 1

    await asyncio.gather(start(False), start(True))
    assert job.starts == 1, job.starts
    return job.starts
