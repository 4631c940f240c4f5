"""aiocache: `cached_stampede` lets one call compute while the others wait. If that one fails, all who waited for
it go on at once, without a lock."""

import asyncio

from aiocache import cached_stampede


async def test_a_failure_is_no_reason_for_a_stampede():
    computing = most = 0

    @cached_stampede(lease=10, key="answer")
    async def compute():
        nonlocal computing, most
        computing += 1
        most = max(most, computing)
        try:
            await asyncio.sleep(0)
            raise ConnectionError
        finally:
            computing -= 1

    await asyncio.gather(compute(), compute(), compute(), return_exceptions=True)
    assert most == 1
