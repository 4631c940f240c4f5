"""async-lru: callbacks of computations that are no longer in the cache."""

import asyncio

from async_lru import alru_cache


async def test_an_evicted_computation_comes_to_its_end():
    """With `ttl`, the callback of a computation looks its key up in the cache. If another key has pushed it out in
    the meantime that is a KeyError, and whoever waits for the computation waits for ever."""

    @alru_cache(maxsize=1, ttl=60)
    async def load(key):
        await asyncio.sleep(0)
        return key

    assert await asyncio.gather(load(1), load(2)) == [1, 2]


async def test_a_cleared_cache_lets_computations_come_to_their_end():
    """`cache_clear` forgets the tasks that are under way, and their callbacks fail."""

    @alru_cache
    async def load(key):
        await asyncio.sleep(0)
        return key

    async def clear():
        load.cache_clear()

    assert (await asyncio.gather(load(1), clear()))[0] == 1


async def test_a_computation_that_was_given_up_leaves_its_successor_alone():
    """A computation that was cancelled removes its key from the cache, whosever entry that is by now."""

    @alru_cache
    async def load(key):
        await asyncio.sleep(1)
        return key

    first = asyncio.create_task(load(1))
    await asyncio.sleep(0.5)
    first.cancel()
    await asyncio.sleep(0)
    assert await load(1) == 1
    assert load.cache_contains(1)
