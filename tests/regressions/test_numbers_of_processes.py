"""Reductions forget the numbers of processes where nobody asks for them (`ir.packed.numbers`), and only there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args
from unittest.mock import patch

import pytest

import porcini
from porcini.engines.catalogue import Options
from porcini.engines.options import Reducing
from porcini.ir.packed import numbers, relations, system

ASKS = """byte n; proctype M() { skip } proctype A() { n = _pid }
init { run M(); run A(); n > 0; assert(n != 1) }"""
COUNTS = """byte n; proctype M() { skip } proctype A() { n = 1 }
init { run M(); run A(); assert(_nr_pr != 2 || n == 1) }"""
KEEPS = """byte n; proctype M() { skip } proctype A() { skip }
init { run M(); n = run A(); assert(n == 2) }"""
LOSES = """chan d; byte x; proctype M() { chan c = [1] of { byte }; d = c } proctype B() { end: x == 5 }
init { run M(); d != 0; run B(); d!1 }"""
TOO_MANY = """byte x; active proctype Q() { end: do :: x = 1 - x od } proctype A(byte p) { byte b }
init { byte i; do :: i < 9 -> run A(x); i++ :: else -> break od }"""
SEES = """proctype M() { skip } proctype A() { L: skip } init { run M(); run A() }
ltl { [] !(A[1]@L) }"""
CONDITIONS = [
    (ASKS, numbers, "_asks_for_numbers", lambda program: False),
    (COUNTS, numbers, "_asks_for_numbers", lambda program: False),
    (KEEPS, numbers, "_keeps_numbers", lambda program: False),
    (LOSES, numbers, "_loses_channels", lambda program: False),
    (TOO_MANY, numbers, "_most_processes", lambda program: 0),
]
BLIND = """byte x; proctype M() { x = 1 } proctype A() { x = 2 }
init { run M(); run A(); x == 2; assert(x == 2) }"""


@pytest.fixture(autouse=True)
def few_processes() -> Iterator[None]:
    """Eight at most, so that there are soon too many."""
    with patch.object(numbers, "MOST_PROCESSES", 8), patch.object(system, "MOST_PROCESSES", 8):
        yield


def is_violated(source: str, reduction: Any) -> bool:
    model = porcini.loads(source, "pml")
    assert isinstance(model, porcini.Model)
    options = Options(reduction=reduction)
    limits = porcini.Limits(max_states=20_000)
    return porcini.check(model, options=options, limits=limits).verdict == "violated"


@pytest.mark.parametrize("reduction", get_args(Reducing))
@pytest.mark.parametrize("source", [SEES, *(condition[0] for condition in CONDITIONS)])
def test_what_depends_on_numbers_is_found(source: str, reduction: str) -> None:
    assert is_violated(source, reduction)


@pytest.mark.parametrize(("source", "module", "condition", "mutant"), CONDITIONS)
def test_each_condition_is_needed(source: str, module: Any, condition: str, mutant: Callable[..., Any]) -> None:
    with patch.object(module, condition, mutant):
        lost = [reduction for reduction in get_args(Reducing) if not is_violated(source, reduction)]
    assert "stubborn" in lost


def test_where_nobody_asks_the_order_of_starts_and_ends_does_not_count() -> None:
    model = porcini.loads(BLIND, "pml")

    def states(reduction: Any) -> int:
        options = Options(reduction=reduction, optimise=False)
        report = porcini.explore(model, engine="graph", properties=("deadlock-free",), options=options)
        assert report.verdict == "violated"  # x may be 1 at the end, and then init waits for ever
        return report.counts.states

    with patch.object(relations, "_forgets_numbers", lambda system, visible: False):
        before = states("stubborn")
    assert states("stubborn") < before < states("none")
