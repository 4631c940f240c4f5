"""Stubborn sets of guarded commands and the parallel language on wide programs: ends as the judge has them,
formulas as on the whole graph. Some of the programs have packed states, some flat ones (`ir.packed.unfolded`)."""

from __future__ import annotations

from random import Random

import pytest

import porcini
from conformance import oracle
from conformance.kinds import KINDS
from porcini.engines.options import Options, Order
from porcini.ir.expr import Var
from porcini.ir.operations import Assign, Op
from porcini.ir.packed.relations import Relations

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
    monkeypatch.setattr(Relations, "conflicts", lambda self, number: 0)
    assert broken()


def test_mutant_without_d2(monkeypatch) -> None:
    monkeypatch.setattr(Relations, "enablers", lambda self, guard: 0)
    assert broken()


def test_mutant_that_starts_nobody(monkeypatch) -> None:
    """A process may be enabled by being started, too: its flag is a guard like any other."""
    real = Relations.enablers

    def forgetful(self, guard):
        return real(self, guard) & ~sum(
            1 << t.number for t in self.all if any(starts(op) for code in t.codes for op in code.edge.block)
        )

    monkeypatch.setattr(Relations, "enablers", forgetful)
    assert broken()


def starts(op: Op) -> bool:
    return isinstance(op, Assign) and isinstance(op.target, Var) and op.target.name.startswith("#")


def test_a_guard_that_cannot_be_evaluated_lets_its_process_go() -> None:
    """What comes after a division says nothing: by zero, its process goes on and fails."""
    source = (
        "x |-> 1, y |-> 0, True |> spawn(1 / x == 1 and y == 1 |> skip); "
        "True |> x := 0; True |> x := 1; True |> y := 1"
    )
    for options in (WHOLE, STUBBORN):
        report = porcini.explore(porcini.loads(source), engine="graph", options=options)
        assert {outcome.kind for outcome in report.outcomes} == {"error", "terminated"}
