"""False pass of other tools, 3: the state is changed through `collections.Counter.update`.

A bonus is paid at the second vote. Goes wrong when both tasks vote before either looks: both see two votes
and both pay it. The twin looks in the same step.
"""

import asyncio
from collections import Counter

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    votes = Counter()
    bonus = []

    async def vote(late):
        if late:
            await asyncio.sleep(0)
        votes.update(["yes"])
        await asyncio.sleep(0)
        if votes.total() == 2:
            bonus.append("paid")

    await asyncio.gather(vote(False), vote(True))
    assert bonus == ["paid"], bonus
    return votes


async def correct():
    votes = Counter()
    bonus = []

    async def vote(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        votes.update(["yes"])
        if votes.total() == 2:
            bonus.append("paid")

    await asyncio.gather(vote(False), vote(True))
    assert bonus == ["paid"], bonus
    return votes
