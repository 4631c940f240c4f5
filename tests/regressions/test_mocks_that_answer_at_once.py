"""An `AsyncMock` never suspends, so that a double payment around one passed: nobody could go between the look and
the payment.
"""

from __future__ import annotations

import asyncio
from unittest.mock import AsyncMock

import pytest

import porcini

pytest_plugins = "pytester"


class Shop:
    def __init__(self, gateway: AsyncMock) -> None:
        self.gateway = gateway
        self.paid = False

    async def pay(self) -> None:
        if not self.paid:
            await self.gateway.charge(100)
            self.paid = True


async def twice():
    gateway = AsyncMock()
    gateway.charge.return_value = "ok"
    shop = Shop(gateway)
    await asyncio.gather(shop.pay(), shop.pay())
    return gateway.charge.await_count


async def is_told_at_once():
    gateway = AsyncMock()
    task = asyncio.create_task(gateway.charge(1))
    await asyncio.sleep(0)
    gateway.charge.assert_called_once_with(1)
    await task
    gateway.charge.assert_awaited_once_with(1)


async def fails_late():
    gateway = AsyncMock(side_effect=ConnectionError)
    try:
        await gateway()
    except ConnectionError:
        return "failed"
    return ""


def outcomes(function, **options) -> set[object]:
    return {outcome.state["result"] for outcome in porcini.explore(function, **options).outcomes}


def test_others_may_go_before_a_mock_has_answered() -> None:
    assert outcomes(twice) == {1, 2}
    assert outcomes(twice, guards=porcini.Guards(suspend=False)) == {1}
    assert outcomes(twice, mode="fifo") == {1}
    assert asyncio.run(twice()) == 1


@pytest.mark.parametrize("function", [is_told_at_once, fails_late], ids=lambda function: function.__name__)
def test_mocks_are_otherwise_as_they_are(function) -> None:
    assert porcini.explore(function).verdict == "holds"


MARKED = """
    import asyncio
    from unittest.mock import AsyncMock
    import pytest

    async def pay(shop):
        if not shop["paid"]:
            await shop["gateway"](1)
            shop["paid"] = True

    async def pay_twice():
        shop = {"paid": False, "gateway": AsyncMock()}
        await asyncio.gather(pay(shop), pay(shop))
        shop["gateway"].assert_awaited_once_with(1)

    @pytest.mark.porcini
    async def test_suspends():
        await pay_twice()

    @pytest.mark.porcini(suspend=False)
    async def test_does_not():
        await pay_twice()
"""


def test_the_mark_has_an_option(pytester) -> None:
    pytester.makepyfile(MARKED)
    result = pytester.runpytest("-p", "no:cacheprovider", "-W", "ignore::pytest.PytestDeprecationWarning")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["pytest *::test_suspends --porcini-replay *"])
