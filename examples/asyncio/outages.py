"""Code that is right as long as nothing goes wrong, and what to do about it.

porcini explore outages:jobs --cancel any
porcini explore outages:transfer --timeouts
porcini explore outages:readers --errors TimeoutError=outages:fetch
porcini explore outages:payments

Each of these has a bug that only this fault shows; `jobs_mended` and so on have not. The last one needs a fake
that takes its time, which is on unless there is `--no-suspend`.
"""

import asyncio
from contextlib import suppress
from unittest import mock

# A job is cancelled while its connection is being prepared ----------------------------------------------------


class Pool:
    def __init__(self, size):
        self.free = size
        self.slots = asyncio.Semaphore(size)

    async def acquire(self):
        await self.slots.acquire()
        self.free -= 1
        await asyncio.sleep(0)  # say hello to the database

    async def acquire_mended(self):
        await self.slots.acquire()
        self.free -= 1
        try:
            await asyncio.sleep(0)
        except BaseException:
            self.release()
            raise

    def release(self):
        self.free += 1
        self.slots.release()


async def job(pool, acquire):
    await acquire()
    try:
        await asyncio.sleep(0)  # a query
    finally:
        pool.release()


async def jobs():
    pool = Pool(1)
    await asyncio.gather(job(pool, pool.acquire), job(pool, pool.acquire), return_exceptions=True)
    assert pool.free == 1


async def jobs_mended():
    pool = Pool(1)
    acquire = pool.acquire_mended
    await asyncio.gather(job(pool, acquire), job(pool, acquire), return_exceptions=True)
    assert pool.free == 1


# A timeout strikes between two writes -------------------------------------------------------------------------


class Books:
    def __init__(self):
        self.accounts = {"rent": 100, "food": 0}

    async def write(self, account, amount):
        await asyncio.sleep(0)  # the database
        self.accounts[account] += amount

    async def move(self, amount):
        await self.write("rent", -amount)
        await self.write("food", amount)


async def transfer():
    books = Books()
    with suppress(TimeoutError):
        await asyncio.wait_for(books.move(10), 1)
    assert sum(books.accounts.values()) == 100


async def transfer_mended():
    books = Books()
    moving = asyncio.create_task(books.move(10))
    try:
        await asyncio.wait_for(asyncio.shield(moving), 1)
    except TimeoutError:
        await moving
    assert sum(books.accounts.values()) == 100


# Whoever asks first fails, and whoever asked second waits for ever --------------------------------------------


async def fetch(key):
    await asyncio.sleep(0)
    return key.upper()


class Cache:
    def __init__(self):
        self.answers = {}

    async def get(self, key):
        if key in self.answers:
            return await self.answers[key]
        answer = self.answers[key] = asyncio.get_running_loop().create_future()
        answer.set_result(await fetch(key))
        return await answer

    async def get_mended(self, key):
        if key in self.answers:
            return await self.answers[key]
        answer = self.answers[key] = asyncio.get_running_loop().create_future()
        try:
            answer.set_result(await fetch(key))
        except Exception as problem:
            del self.answers[key]
            answer.set_exception(problem)
        return await answer


async def readers():
    cache = Cache()
    await asyncio.gather(cache.get("a"), cache.get("a"), return_exceptions=True)


async def readers_mended():
    cache = Cache()
    await asyncio.gather(cache.get_mended("a"), cache.get_mended("a"), return_exceptions=True)


# Two requests pay for one order, while the bank has not answered ----------------------------------------------


async def charge(amount):
    raise NotImplementedError("the bank is not there in tests")


class Order:
    def __init__(self):
        self.paid = False
        self.charged = []
        self.lock = asyncio.Lock()

    async def pay(self):
        if not self.paid:
            self.charged.append(await charge(100))
            self.paid = True

    async def pay_mended(self):
        async with self.lock:
            await self.pay()


async def fake_charge(amount):
    return amount


async def payments():
    order = Order()
    with mock.patch(f"{__name__}.charge", fake_charge):
        await asyncio.gather(order.pay(), order.pay())
    assert order.charged == [100]


async def payments_mended():
    order = Order()
    with mock.patch(f"{__name__}.charge", fake_charge):
        await asyncio.gather(order.pay_mended(), order.pay_mended())
    assert order.charged == [100]
