"""aiobreaker: after its timeout an open circuit breaker lets the next call through, to see whether all is well
again. Calls that come before this one has ended are let through, too."""

import asyncio
from datetime import timedelta

from aiobreaker import CircuitBreaker


async def test_half_open_lets_one_call_through():
    breaker = CircuitBreaker(fail_max=1, timeout_duration=timedelta(seconds=10))
    calls = 0

    @breaker
    async def call():
        nonlocal calls
        calls += 1
        await asyncio.sleep(0)
        raise ConnectionError

    await asyncio.gather(call(), return_exceptions=True)
    await asyncio.sleep(11)
    await asyncio.gather(call(), call(), return_exceptions=True)
    assert calls == 2
