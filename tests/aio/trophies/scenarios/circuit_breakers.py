"""purgatory: half open, a circuit breaker is to let one request through and wait for what comes of it. It lets all
through that come before the first has ended."""

import asyncio

from purgatory import AsyncCircuitBreakerFactory


async def test_half_open_lets_one_request_through():
    breakers = AsyncCircuitBreakerFactory(default_threshold=1, default_ttl=10)
    requests = 0

    async def request():
        nonlocal requests
        async with await breakers.get_breaker("server"):
            requests += 1
            await asyncio.sleep(0)
            raise ConnectionError

    await asyncio.gather(request(), return_exceptions=True)
    await asyncio.sleep(11)
    await asyncio.gather(request(), request(), return_exceptions=True)
    assert requests == 2
