"""Transfers that lock both accounts: in opposite orders they wait for each other."""

import asyncio


class Account:
    def __init__(self, number, balance):
        self.number = number
        self.balance = balance
        self.lock = asyncio.Lock()


async def transfer(source, target, amount):
    async with source.lock:
        await asyncio.sleep(0)  # stands for a call to some server
        async with target.lock:
            source.balance -= amount
            target.balance += amount


async def transfer_in_order(source, target, amount):
    first, second = sorted((source, target), key=lambda account: account.number)
    async with first.lock:
        await asyncio.sleep(0)  # stands for a call to some server
        async with second.lock:
            source.balance -= amount
            target.balance += amount


async def crossing():
    a, b = Account(1, 100), Account(2, 100)
    await asyncio.gather(transfer(a, b, 10), transfer(b, a, 20))
    return a.balance, b.balance


async def crossing_in_order():
    a, b = Account(1, 100), Account(2, 100)
    await asyncio.gather(transfer_in_order(a, b, 10), transfer_in_order(b, a, 20))
    return a.balance, b.balance
