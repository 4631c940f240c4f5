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


async def later_races() -> str:
    s = SimpleNamespace(a=0, b=0)

    async def first() -> None:
        if not s.b:
            s.a = s.a + 1

    async def second() -> None:
        if not s.a:
            s.b = 2

    async def third() -> None:
        if not s.a:
            s.a = 2

    async def fourth() -> None:
        s.b = 1

    await asyncio.gather(first(), second(), third(), fourth())
    return f"{s.a}{s.b}"


@pytest.mark.parametrize("engine", ["exhaustive", "optimal", "source", "dpor", "sleep"])
def test_a_race_is_another_one_where_new_steps_stand_between(engine: str) -> None:
    """{22} was lost: `second` before `third` is asleep, but not after `fourth`, which had no place there."""
    report = porcini.explore(later_races, engine=engine)
    assert {outcome.state["result"] for outcome in report.outcomes} == {"11", "21", "22", "31"}
    assert engine != "optimal" or not report.counts.blocked


async def comprehension() -> list[int]:
    async def value(number: int) -> int:
        await asyncio.sleep(0)
        return number

    return [await value(number) for number in [1, 1, 1]]


def test_a_comprehension_over_equal_items_is_no_polling() -> None:
    assert porcini.explore(comprehension).verdict == "holds"
