"""`pytest examples/asyncio`: the first test fails, though not under plain asyncio; the other one holds."""

import asyncio

import pytest
from bank import Account, charge_fee, charge_fee_locked, withdraw, withdraw_locked


@pytest.mark.porcini
async def test_month():
    account = Account(100)
    async with asyncio.TaskGroup() as group:
        group.create_task(withdraw(account, 100))
        group.create_task(charge_fee(account, 5))
    assert account.balance >= 0


@pytest.mark.porcini
async def test_month_locked():
    account = Account(100)
    async with asyncio.TaskGroup() as group:
        group.create_task(withdraw_locked(account, 100))
        group.create_task(charge_fee_locked(account, 5))
    assert account.balance >= 0
