"""TaskGroup sibling failure: a failing task cancels its sibling in the middle of an update.

Goes wrong when the failure comes between debit and credit. The twin undoes the first half when it is
cancelled.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "holds"}


class Books:
    def __init__(self):
        self.debit = 0
        self.credit = 0


async def fail():
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    raise ValueError("sibling")


async def buggy():
    books = Books()

    async def update():
        books.debit += 1
        await asyncio.sleep(0)
        books.credit += 1

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
            group.create_task(update())
    except* ValueError:
        pass
    assert books.debit == books.credit, vars(books)
    return "balanced"


async def correct():
    books = Books()

    async def update():
        books.debit += 1
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            books.debit -= 1
            raise
        books.credit += 1

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
            group.create_task(update())
    except* ValueError:
        pass
    assert books.debit == books.credit, vars(books)
    return "balanced"
