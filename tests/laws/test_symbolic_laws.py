"""Symbolic execution against brute force: for each input in a small range, run every order and see."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings

import porcini
from porcini import Limits
from porcini.commands.all_inputs import explore_symbolically
from porcini.engines.stats import SearchStats
from porcini.ir.evaluation import evaluate
from strategies import PROGRAMS, guard_programs, programs

SOME = settings(max_examples=max(PROGRAMS // 80, 5), deadline=None, suppress_health_check=list(HealthCheck))
RANGE = range(-3, 4)
MOST = 300
"""Runs for one input; programs with more are left out."""


def with_inputs(source: str) -> str:
    return source.replace("x |-> 0,", "x |-> ?,", 1).replace("y |-> 1,", "y |-> ?,", 1)


def agrees_with_brute_force(source: str, *, equivalence: str = "syntactic", reduced: bool = True) -> None:
    """The condition says exactly for which inputs the order matters; each path's says exactly who takes it."""
    model = porcini.loads(with_inputs(source))
    stats = SearchStats(Limits(max_depth=40, max_executions=400, timeout=20))
    found = explore_symbolically(model, stats, equivalence=equivalence, reduced=reduced)
    if stats.stopped != "exhausted":
        return
    for values in product(RANGE, repeat=len(model.program.inputs)):
        given_ = dict(zip(model.program.inputs, values, strict=True))
        report = porcini.explore(model, inputs=given_, limits=Limits(max_executions=MOST))
        if report.stopped != "exhausted":
            return
        ends = {(outcome.kind, str(dict(outcome.state))) for outcome in report.outcomes}
        store = found.store(given_)
        assert bool(evaluate(found.condition, store)) == (len(ends) > 1), given_
        taken = [path for path in found.paths if evaluate(path.condition, store)]
        assert {path.kind for path in taken} == {kind for kind, _ in ends}, given_
        seen = {
            (path.kind, str({name: evaluate(value, store) for name, value in found.observed(path).items()}))
            for path in taken
        }
        assert seen == ends, given_
        if equivalence == "syntactic" and reduced:
            # A cell that is not known before is the whole array, so there may be more classes than for one input.
            assert len(taken) == report.counts.classes or "a[" in source, given_
            assert len(taken) >= report.counts.classes, given_
    for path in found.paths:
        assert path.input is not None and evaluate(path.condition, found.store(path.input))
        again = porcini.replay(model, path.schedule, inputs=path.input).outcomes[0]
        assert again.kind == path.kind


@SOME
@given(programs(processes=3, events=6))
def test_generated_programs(source: str) -> None:
    if "|>*" not in source:
        agrees_with_brute_force(source)


@SOME
@given(guard_programs())
def test_where_guards_come_and_go(source: str) -> None:
    agrees_with_brute_force(source)


@settings(SOME, max_examples=max(PROGRAMS // 250, 3))
@given(programs(processes=3, events=4))
def test_other_equivalences_and_none(source: str) -> None:
    if "|>*" not in source:
        for equivalence in ("semantic", "traces"):
            agrees_with_brute_force(source, equivalence=equivalence)
        agrees_with_brute_force(source, reduced=False)


LOST_UPDATE = "x |-> ?, y |-> ?, True |> spawn(x > y |> x := x - y); True |> spawn(x > y |> x := x - y)"


@pytest.mark.parametrize("source", [LOST_UPDATE])
def test_withdrawals(source: str) -> None:
    agrees_with_brute_force(source)
