"""Lost update on an attribute: read, await, write back.

Goes wrong when one task reads between the other's read and write: one increment is lost.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Account:
    def __init__(self):
        self.balance = 0


async def buggy():
    account = Account()

    async def deposit(late):
        if late:
            await asyncio.sleep(0)
        balance = account.balance
        await asyncio.sleep(0)
        account.balance = balance + 1

    await asyncio.gather(deposit(False), deposit(True))
    assert account.balance == 2, account.balance
    return account.balance


async def correct():
    account = Account()

    async def deposit(late):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        account.balance = account.balance + 1

    await asyncio.gather(deposit(False), deposit(True))
    assert account.balance == 2, account.balance
    return account.balance
