"""Cancellation inside a critical section: the lock is released, the update is half done.

Goes wrong when the transfer is cancelled between debit and credit: money is lost. The twin awaits before it
changes anything.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


async def buggy():
    lock = asyncio.Lock()
    accounts = {"a": 10, "b": 0}

    async def transfer():
        async with lock:
            accounts["a"] -= 5
            await asyncio.sleep(0)
            accounts["b"] += 5

    task = asyncio.create_task(transfer())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    async with lock:
        assert sum(accounts.values()) == 10, accounts
    return sum(accounts.values())


async def correct():
    lock = asyncio.Lock()
    accounts = {"a": 10, "b": 0}

    async def transfer():
        async with lock:
            await asyncio.sleep(0)
            accounts["a"] -= 5
            accounts["b"] += 5

    task = asyncio.create_task(transfer())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    async with lock:
        assert sum(accounts.values()) == 10, accounts
    return sum(accounts.values())
