"""An account: `withdraw` looks, waits, and then acts on what it saw.

`sleep(0)` stands for a call to some server: whoever is ready may go in the meantime.
"""

import asyncio


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.lock = asyncio.Lock()


async def withdraw(account, amount):
    if account.balance >= amount:
        await asyncio.sleep(0)  # audit
        account.balance -= amount


async def charge_fee(account, fee):
    await asyncio.sleep(0)  # log in
    await asyncio.sleep(0)  # ask for the list of accounts
    if account.balance >= fee:
        account.balance -= fee


async def withdraw_locked(account, amount):
    async with account.lock:
        await withdraw(account, amount)


async def charge_fee_locked(account, fee):
    async with account.lock:
        await charge_fee(account, fee)


async def month():
    account = Account(100)
    await asyncio.gather(withdraw(account, 100), charge_fee(account, 5))
    assert account.balance >= 0
    return account.balance


async def month_locked():
    account = Account(100)
    await asyncio.gather(withdraw_locked(account, 100), charge_fee_locked(account, 5))
    assert account.balance >= 0
    return account.balance
