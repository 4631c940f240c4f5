"""Steps of Promela models that have no value: they fail, and nothing may hide that."""

from __future__ import annotations

from typing import Any

import pytest

import porcini
from porcini.engines.limits import Limits
from porcini.engines.options import Options

FOR_EVER = "active proctype Other() { do :: h = 1; h = 0 od } "
ONE = "byte h, k, a[2]; chan q; chan d = [0] of { byte }; "
HIDDEN = {
    "a cell of another process": "active proctype A() { byte b[2]; end: (b[0] == 1) } "
    "active proctype B() { k = 7; (A[1]:b[k] == 1) }",
    "the length of no channel": "active proctype B() { k = 1; (len(q) > 0) }",
    "a look into no channel": "active proctype B() { k = 1; (q?[1]) }",
    "sending to no channel": "active proctype B() { k = 1; q!1 }",
    "receiving from no channel": "active proctype B() { byte l; k = 1; q?l }",
    "a channel that nobody gave": "active proctype B(chan c) { k = 1; c!1 }",
    "no channel of its own": "active proctype B() { chan c; k = 1; (len(c) == 0) }",
    "a number for a cell": "active proctype B() { k = 1; a[3] = 1 }",
    "a copy of a rendezvous": "active proctype B() { byte l; k = 1; d?<l> } "
    "active proctype S() { byte l; (k == 1); k = 2; d!1 }",
    "what a process is provided with": "active proctype D() { k = 1; k = 2 } "
    "active proctype B() provided (a[k] == 0) { a[0] = 0; a[1] = 0; (a[0] == 1) }",
}


@pytest.mark.parametrize("search", ["dfs", "bfs"])
@pytest.mark.parametrize("reduction", ["stubborn", "ample", "none"])
@pytest.mark.parametrize("name", HIDDEN)
def test_a_failure_is_not_hidden_by_somebody_who_goes_on_for_ever(name: str, reduction: Any, search: Any) -> None:
    """The program was taken for one that cannot fail, so that a reduced search let `Other` go round, and nobody
    else: "holds". (With `provided`: an internal error.)"""
    model = porcini.loads(ONE + FOR_EVER + HIDDEN[name], "pml")
    for optimise in (True, False):
        options = Options(reduction=reduction, search=search, optimise=optimise)
        report = porcini.check(model, options=options)
        assert {outcome.kind for outcome in report.outcomes} == {"error"}, (name, optimise)


MERGED = """
byte x, y;
active proctype B() { byte b[2]; byte l = 7; x = 1; b[l] = 2 }
active proctype C() { (x == 1) -> y = 1 }
"""


@pytest.mark.parametrize("optimise", [True, False])
def test_a_private_cell_that_is_not_there_takes_no_other_step_with_it(optimise: bool) -> None:
    """`b[l] = 2` was merged with `x = 1`, and when it failed, x was 0 for good: `[] (x == 0)` held."""
    model = porcini.loads(MERGED, "pml")
    options = Options(optimise=optimise)
    assert [outcome.state for outcome in porcini.check(model, options=options).outcomes] == [{"x": 1, "y": 1}]
    assert porcini.check(model, ltl="[] (x == 0)", options=options).verdict == "violated"


def test_who_is_provided_with_nothing_that_has_a_value_meets_nobody() -> None:
    """An internal error, in every command."""
    model = porcini.loads(
        "byte g, a[2]; chan c = [0] of { byte }; active proctype S() { g = 3; c!1 } "
        "active proctype R() provided (a[g] == 0) { byte l; c?l }",
        "pml",
    )
    for report in (porcini.check(model), porcini.explore(model), porcini.explore(model, engine="exhaustive")):
        assert {(outcome.kind, outcome.state["g"]) for outcome in report.outcomes} == {("error", 3)}


@pytest.mark.parametrize("search", ["dfs", "bfs"])
@pytest.mark.parametrize("reduction", ["stubborn", "ample"])
def test_the_limit_of_states_is_kept(reduction: Any, search: Any) -> None:
    """Depth first and reduced, it was looked at in every 64th state only."""
    model = porcini.loads("byte x; init { do :: x < 49 -> x++; assert(x < 50) :: else -> break od }", "pml")
    options = Options(reduction=reduction, search=search)
    report = porcini.check(model, options=options, limits=Limits(max_states=20))
    assert (report.verdict, report.stopped) == ("unknown", "limit")
    assert report.counts.states <= 21
