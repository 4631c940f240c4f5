"""Values that contain themselves: to show one that does so in several ways took exponential time (a "step that
does not end"), and a failing run whose exception holds one could lose its verdict while it was explained.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from typing import Any

import pytest

import porcini
from porcini.langs.aio.standing import sorted_text


class Holding(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


def _in_itself(kind: Any) -> Any:
    value = kind(list) if kind is defaultdict else kind()
    for number in range(8):
        value[number] = value
    value["more"] = [value, (value,)]
    return value


async def _race(value: Any) -> None:
    async def put(number: int) -> None:
        value["n"] = number

    await asyncio.gather(put(1), put(2))


@pytest.mark.parametrize("kind", [dict, OrderedDict, defaultdict], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("raised", [ValueError, KeyError, Holding], ids=lambda kind: kind.__name__)
def test_a_failure_that_holds_a_value_in_itself_is_explained(kind: Any, raised: Any) -> None:
    async def fails() -> None:
        value = _in_itself(kind)
        await _race(value)
        if value["n"] == 1:
            raise raised(value)

    report = porcini.explore(fails)
    assert report.verdict == "violated"
    assert report.explanation is not None and report.explanation.lanes
    assert raised.__name__ in str(report)


def test_an_exception_in_what_it_holds() -> None:
    async def fails() -> None:
        problem = ValueError()
        value: dict[Any, Any] = {"problem": problem}
        value["value"] = value
        problem.args = (value,)
        await _race(value)
        if value["n"] == 1:
            raise problem

    report = porcini.explore(fails)
    assert report.verdict == "violated"
    assert report.explanation is not None and report.explanation.lanes


def test_a_value_in_itself_is_returned() -> None:
    async def returns() -> Any:
        value = _in_itself(dict)
        await _race(value)
        return value

    assert len(porcini.explore(returns).outcomes) == 2


def test_containers_as_text() -> None:
    assert sorted_text({"b": 1, "a": [(2,), {3}, frozenset()]}) == "{'a': [(2,), {3}, frozenset()], 'b': 1}"
    assert sorted_text({}) == "{}"
    assert sorted_text(set()) == "set()"
    twice = [1]
    assert sorted_text((twice, twice)) == "([1], [1])"
    assert sorted_text([object()]) is None
