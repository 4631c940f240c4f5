"""A step that touches other things where another has not happened: found by generated coroutines."""

import asyncio
from types import SimpleNamespace

import pytest

import porcini


async def branching() -> str:
    s = SimpleNamespace(flag=0, x=0, y=0)

    async def looks() -> None:
        if not s.flag:
            s.x = s.y + 1

    async def sets() -> None:
        s.flag = 1

    async def adds() -> None:
        s.y += 1

    await asyncio.gather(looks(), sets(), adds())
    return f"{s.x}{s.y}"


@pytest.mark.parametrize("engine", ["exhaustive", "optimal", "source", "dpor", "sleep"])
def test_what_a_moved_step_touches_is_not_taken_for_granted(engine: str) -> None:
    """The step of `looks` after `sets` reads `flag` only, and before it `y` too: {21} was lost."""
    report = porcini.explore(branching, engine=engine)
    assert {outcome.state["result"] for outcome in report.outcomes} == {"01", "11", "21"}


async def comprehension() -> list[int]:
    async def value(number: int) -> int:
        await asyncio.sleep(0)
        return number

    return [await value(number) for number in [1, 1, 1]]


def test_a_comprehension_over_equal_items_is_no_polling() -> None:
    assert porcini.explore(comprehension).verdict == "holds"
