"""Stubborn sets of program graphs on wide programs: ends as the judge has them, formulas as on the whole graph."""

from __future__ import annotations

from random import Random

import pytest

import porcini
from conformance import oracle
from conformance.kinds import KINDS
from porcini.engines import stubborn_points
from porcini.engines.options import Options, Order
from porcini.ir.analysis.enabling import PointEnabling

SEEDS = range(150)
STUBBORN = Options(reduction="stubborn")
WHOLE = Options(reduction="none")


def drawn(kind: str, seed: int):
    program = KINDS[kind].draw(Random(seed))
    model = porcini.loads(program.text(), kind)
    return program, model, program.inputs()


def check_ends(kind: str, seed: int, search: Order = "dfs") -> None:
    program, model, inputs = drawn(kind, seed)
    try:
        wanted = oracle.outcomes(program.machine(), most=3_000)
    except oracle.TooMany:
        return
    options = Options(reduction="stubborn", search=search)
    report = porcini.explore(model, engine="graph", inputs=inputs, options=options)
    assert report.reduction == "stubborn" and report.stopped == "exhausted"
    assert {(o.kind, tuple(sorted(o.state.items()))) for o in report.outcomes} == wanted


def check_formulas(kind: str, seed: int) -> None:
    _, model, inputs = drawn(kind, seed)
    random = Random(seed)
    ends = porcini.explore(model, engine="random", inputs=inputs, limits=porcini.Limits(max_executions=3)).outcomes
    numbers = sorted({(n, v) for end in ends for n, v in end.state.items() if type(v) is int})
    for name, value in random.sample(numbers, min(2, len(numbers))):
        for formula in (f"<> ({name} == {value})", f"[] ({name} != {value})", f"<> [] ({name} == {value})"):
            limits = porcini.Limits(max_states=5_000)
            reports = [
                porcini.check(model, ltl=formula, inputs=inputs, options=options, limits=limits)
                for options in (WHOLE, STUBBORN)
            ]
            if "unknown" not in {report.verdict for report in reports}:
                assert reports[0].verdict == reports[1].verdict, formula
                assert reports[1].counts.states <= reports[0].counts.states or reports[1].verdict == "violated"


@pytest.mark.parametrize("seed", SEEDS[:50])
@pytest.mark.parametrize("kind", ["gcl", "par"])
def test_the_same_ends(kind: str, seed: int) -> None:
    check_ends(kind, seed, ("dfs", "bfs")[seed % 2])


@pytest.mark.parametrize("seed", SEEDS[:20])
@pytest.mark.parametrize("kind", ["gcl", "par"])
def test_the_same_formulas(kind: str, seed: int) -> None:
    check_formulas(kind, seed)


def broken() -> bool:
    for seed in SEEDS:
        try:
            check_ends("gcl", seed)
        except AssertionError:
            return True
    return False


def test_mutant_without_d1(monkeypatch) -> None:
    monkeypatch.setattr(PointEnabling, "points_conflicting_with", lambda self, foot: 0)
    assert broken()


def test_mutant_without_d2(monkeypatch) -> None:
    real = stubborn_points._Here._required_by

    def only_d1(self, pid, new, found):
        return real(self, pid, new, found) if new >> self.points[pid] & 1 and pid in self.now else []

    monkeypatch.setattr(stubborn_points._Here, "_required_by", only_d1)
    assert broken()


def test_mutant_without_the_future(monkeypatch) -> None:
    real = PointEnabling.__init__

    def now_only(self, graph):
        real(self, graph)
        self.reach = [1 << point for point in range(len(self.reach))]

    monkeypatch.setattr(PointEnabling, "__init__", now_only)
    assert broken()


def test_mutant_that_takes_any_guard_for_false(monkeypatch) -> None:
    monkeypatch.setattr(PointEnabling, "unmet_locations", lambda self, point, store: frozenset())
    assert broken()


def test_a_guard_that_cannot_be_evaluated_lets_its_process_go() -> None:
    """What comes after a division says nothing: by zero, its process goes on and fails."""
    source = (
        "x |-> 1, y |-> 0, True |> spawn(1 / x == 1 and y == 1 |> skip); "
        "True |> x := 0; True |> x := 1; True |> y := 1"
    )
    for options in (WHOLE, STUBBORN):
        report = porcini.explore(porcini.loads(source), engine="graph", options=options)
        assert {outcome.kind for outcome in report.outcomes} == {"error", "terminated"}
