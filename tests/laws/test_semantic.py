"""Which steps commute: proved where it is true, never where it is not."""

from __future__ import annotations

import pytest

import porcini
from porcini.engines.semantic import SemanticDependence


def executions(one: str, two: str, independence: str = "semantic") -> int:
    source = f"x |-> 0, y |-> 1, b |-> true, a |-> [0, 1], True |> spawn({one}); True |> spawn({two})"
    return porcini.explore(porcini.loads(source), independence=independence).counts.executions


@pytest.mark.parametrize(
    "one, two",
    [
        ("True |> x := x + 1", "True |> x := x + 2"),
        ("True |> x := x", "x < 3 |> skip"),
        ("True |> x := 5", "True |> x := 5"),
        ("True |> b := not b", "True |> b := not b"),
        ("True |> a[x] := a[x] + 1", "True |> a[x] := a[x] + 2"),
        ("True |> x := x * 2", "True |> x := x * 3"),
        ("x >= 0 |> x := x + 1", "x >= 0 |> x := x + 1"),
    ],
)
def test_these_commute(one: str, two: str) -> None:
    assert (executions(one, two), executions(one, two, "syntactic")) == (1, 2)


@pytest.mark.parametrize(
    "one, two",
    [
        ("True |> x := x + 1", "True |> x := x * 2"),
        ("True |> x := x + 1", "x < 3 |> skip"),
        ("True |> x := 1", "True |> x := 2"),
        ("x < 1 |> x := x + 1", "x < 1 |> x := x + 1"),
        ("True |> x := 1 / y", "True |> y := y + 1"),
    ],
)
def test_these_do_not(one: str, two: str) -> None:
    assert executions(one, two) >= 2 or executions(one, two, "syntactic") == executions(one, two)


def test_a_solver_without_time_is_no_reason_to_guess(monkeypatch) -> None:
    """What is not proved stays dependent, and the report says so."""
    monkeypatch.setattr("porcini.solvers.smt.Smt.proves", give_up)
    source = "x |-> 0, True |> spawn(True |> x := x + 1); True |> x := x + 2"
    report = porcini.explore(porcini.loads(source), independence="semantic")
    assert report.counts.executions == 2
    assert "gave up" in report.notes[0]


def give_up(self, claim) -> bool:
    self.gave_up += 1
    return False


def test_answers_are_kept() -> None:
    dependence = SemanticDependence()
    system = porcini.loads("x |-> 0, True |> spawn(True |> x := x + 1); True |> x := x + 2").system()
    run = system.start()
    run.step(run.actions()[0])
    one, two = run.actions()
    assert not dependence.conflict(one, two) and not dependence.conflict(two, one)
    assert len(dependence._commuting) == 2
