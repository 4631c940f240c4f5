"""tenacity: what an `AsyncRetrying` has still to do for a call is kept in the object. A second call by the same
object, which begins while the first asks whether to retry, takes that over: the first returns None."""

import asyncio

from tenacity import AsyncRetrying, stop_after_attempt


async def test_two_calls_by_one_object():
    async def is_worth_it(state):
        await asyncio.sleep(0)
        return state.outcome.failed

    retrying = AsyncRetrying(stop=stop_after_attempt(3), retry=is_worth_it)

    async def fetch(name):
        await asyncio.sleep(0)
        return name

    assert await asyncio.gather(retrying(fetch, "one"), retrying(fetch, "two")) == ["one", "two"]
