"""Queue shutdown: an item is put after the service was closed and drained.

`submit` asks `closed`, awaits, then appends. Goes wrong when `close` runs in between: the item was accepted
and is never handled.
"""

import asyncio

EXPECTED = {"buggy": "assertion", "correct": "passes"}


class Service:
    def __init__(self):
        self.closed = False
        self.backlog = []
        self.handled = []

    async def submit_buggy(self, item):
        if self.closed:
            return False
        await asyncio.sleep(0)
        self.backlog.append(item)
        return True

    async def submit(self, item):
        await asyncio.sleep(0)
        if self.closed:
            return False
        self.backlog.append(item)
        return True

    async def close(self):
        await asyncio.sleep(0)
        self.closed = True
        self.handled.extend(self.backlog)
        self.backlog.clear()


async def buggy():
    service = Service()
    accepted, _ = await asyncio.gather(service.submit_buggy("job"), service.close())
    assert accepted == ("job" in service.handled), (accepted, service.handled)
    return accepted


async def correct():
    service = Service()
    accepted, _ = await asyncio.gather(service.submit("job"), service.close())
    assert accepted == ("job" in service.handled), (accepted, service.handled)
    return accepted
