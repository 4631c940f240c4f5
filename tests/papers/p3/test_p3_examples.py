"""P3's numbered examples, its authors' two other programs, and Example 5 of P0 for all inputs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import porcini
from papers.p3.strategies_p3 import (
    TRACE_EQUIVALENCES,
    Program,
    Reduced,
    by_definition,
    concrete_runs,
    interference_free,
    reached,
    symbolic_paths,
    symbolic_start,
    where_taken,
)
from porcini.engines.equivalences import EQUIVALENCES, Commuting, InterferenceFree
from porcini.ir.evaluation import evaluate
from porcini.ir.expr import FALSE, TRUE, const, var
from porcini.ir.symbolic.abstraction import (
    abstracts,
    assignments,
    final_substitution,
    final_valuation,
    path_condition,
)
from porcini.ir.symbolic.labels import Label
from porcini.ir.text import show
from porcini.solvers.smt import Smt

EXAMPLES = Path(__file__).parents[3] / "examples"
EXAMPLE_2_9 = Program((EXAMPLES / "par" / "example_2_9.par").read_text(encoding="utf-8"))


def events(program: Program) -> dict[str, Label]:
    return {str(event): event for c in reached(symbolic_start(program), 500) for event in c.trace}


def complete(program: Program) -> list[tuple[Label, ...]]:
    """The traces of all symbolic paths to the end, unsatisfiable ones among them."""
    return [c.trace for c in reached(symbolic_start(program), 2000) if not list(c.steps())]


def test_example_2_9() -> None:
    """y:=1 and x:=3 anywhere around [guard, assignment]: 4! / 2 orders, each with either outcome of the guard. The
    paper speaks of "five other potential traces": 6 is the number of classes, not of traces."""
    traces = complete(EXAMPLE_2_9)
    assert {len(trace) for trace in traces} == {4}
    assert len({tuple(event.pid for event in trace) for trace in traces}) == 4 * 3 * 2 // 2 == 12
    assert len(traces) == 24
    # Unsatisfiable: x := 3 first, then x <= 1. x := 3 is before the guard in 12 / 3 orders.
    assert len([trace for trace in traces if path_condition(trace) is not FALSE]) == 24 - 4
    assert sum(path_condition(trace) is FALSE for trace in traces) == 12 // 3


def test_example_2_9_by_the_engines() -> None:
    whole, reduced = (symbolic_paths(EXAMPLE_2_9, reduced=reduced) for reduced in (False, True))
    assert (len(whole), len(reduced)) == (20, 6)
    assert {path.labels for path in whole} == {t for t in complete(EXAMPLE_2_9) if path_condition(t) is not FALSE}
    for relation in TRACE_EQUIVALENCES:
        classes = Reduced(relation)
        ends = [c for c in reached(symbolic_start(EXAMPLE_2_9), 500) if len(c.trace) == 4]
        possible = [end for end in ends if path_condition(end.trace) is not FALSE]
        assert len({id(classes.representative(end)) for end in possible}) == 6
    for x in (0, 5):
        assert len(concrete_runs(EXAMPLE_2_9, {"x": x, "y": 0}, "exhaustive")) == 12
        assert len(concrete_runs(EXAMPLE_2_9, {"x": x, "y": 0}, "optimal")) == 4


def test_example_2_9_the_trace_that_is_shown() -> None:
    """[x := 3, y := 1, x > 1, y := 3]; the paper's last line shows another program's trace."""
    shown = ["x := 3", "y := 1", "not x <= 1 |> skip", "y := 3"]
    (trace,) = [trace for trace in complete(EXAMPLE_2_9) if list(map(str, trace)) == shown]
    assert path_condition(trace) is TRUE
    x, y = var("x", "int"), var("y", "int")
    assert final_substitution(trace) == {x: const(3), y: const(3)}


def test_examples_3_3_and_3_6() -> None:
    """[y := x, z := x] and [z := x, y := x] are equivalent, and abstract each other for every V."""
    program = Program("y := x || z := x")
    one, two = complete(program)
    assert list(map(str, one)) == ["y := x", "z := x"] == list(map(str, reversed(two)))
    x, y, z = (var(name, "int") for name in "xyz")
    assert final_substitution(one) == final_substitution(two) == {y: x, z: x}
    assert path_condition(one) is path_condition(two) is TRUE
    assert all(same(one, two) for same in TRACE_EQUIVALENCES.values())
    for values in product((-1, 0, 4), repeat=3):
        valuation = dict(zip("xyz", values, strict=True))
        ends = {**valuation, "y": valuation["x"], "z": valuation["x"]}
        for symbolic, concrete in product((one, two), repeat=2):
            assert abstracts(symbolic, assignments(concrete), valuation)
            assert final_valuation(assignments(concrete), valuation) == ends


def test_example_4_2() -> None:
    """After [x := 3, y := 1] all has been seen that can follow, if [y := 1, x := 3] has been gone on from."""
    one, two = [
        c for c in reached(symbolic_start(EXAMPLE_2_9)) if sorted(map(str, c.trace)) == ["x := 3", "y := 1"]
    ]
    assert one.s == two.s and one.trace == two.trace[::-1]
    for relation in TRACE_EQUIVALENCES:
        classes = Reduced(relation)
        assert classes.representative(two) is classes.representative(one)
        replaced = [after.trace[:2] for _, after in classes.steps(two)]
        assert replaced == [classes.representative(two).trace] * 2
    # The engine finishes one path for each that goes on from either.
    whole, reduced = (symbolic_paths(EXAMPLE_2_9, reduced=reduced) for reduced in (False, True))
    for prefix in (one.trace, two.trace):
        (rest,) = [path for path in whole if path.labels[:2] == prefix]
        assert len([path for path in reduced if where_taken(path.labels, rest.labels)]) == 1


@pytest.mark.parametrize(
    "source, orders, classes", [("(X:=1;Y:=1) || Y:=2 || X:=2", 12, 4), ("Y:=X || Z:=X || X:=2", 6, 4)]
)
def test_the_authors_other_programs(source: str, orders: int, classes: int) -> None:
    program = Program(source)
    traces = complete(program)
    assert len(traces) == len(symbolic_paths(program, reduced=False)) == orders
    assert len(symbolic_paths(program, reduced=True)) == classes
    valuation = program.valuation(7)
    assert len(concrete_runs(program, valuation, "exhaustive")) == orders
    assert len(concrete_runs(program, valuation, "optimal")) == classes
    for same in TRACE_EQUIVALENCES.values():
        kept: list[tuple[Label, ...]] = []
        for trace in traces:
            if not any(same(trace, other) for other in kept):
                kept.append(trace)
        assert len(kept) == classes


def test_x_gets_x_against_a_guard() -> None:
    """They interfere by Def. 3.7, but commute in truth; a solver says so."""
    program = Program("x := x || if x < 3 {y := 1} {y := 2}")
    found = events(program)
    copy, guard = found["x := x"], found["x < 3 |> skip"]
    assert not interference_free(copy, guard) and not InterferenceFree().independent(copy, guard)
    assert Commuting(Smt()).independent(copy, guard)
    assert by_definition((copy, guard), (guard, copy))
    counts = {name: len(symbolic_paths(program, reduced=True, equivalence=name)) for name in EQUIVALENCES}
    assert counts == {"syntactic": 4, "semantic": 2, "traces": 2}


VINEYARD = (EXAMPLES / "gcl" / "vineyard.gcl").read_text(encoding="utf-8")


def test_example_5_of_p0_for_all_inputs() -> None:
    """theta_2 of Example 11 can be run where `flag and x == -2`; the order matters whatever x and flag are."""
    model = porcini.loads(VINEYARD.replace("x |-> 0", "x |-> ?").replace("flag |-> true", "flag |-> ?bool"))
    report = porcini.symbolic(model)
    assert (report.verdict, report.condition) == ("violated", "True")
    theta_2 = porcini.parse_schedule("0x2 0.1x7 0.0 0.1x2")
    assert "flag and x == -2" in [entry.path for entry in report.traces if entry.schedule == theta_2]
    for x, flag in product(range(-4, 3), (False, True)):
        found = porcini.explore(model, inputs={"x": x, "flag": flag})
        assert len(found.outcomes) > 1
        taken = [e for e in report.traces if _holds(e.path, x, flag)]
        assert len(taken) == found.counts.classes


def _holds(path: str, x: int, flag: bool) -> bool:
    """Conditions are shown as Python has them."""
    return bool(eval(path, {}, {"x": x, "flag": flag}))


def test_conditions_are_over_the_start_of_a_trace() -> None:
    found = events(Program("x := x + 1 || if x < 3 {y := 1} {y := 2}"))
    plus, guard = found["x := x + 1"], found["x < 3 |> skip"]
    assert show(path_condition([plus, guard])) == "x <= 1"
    assert show(path_condition([guard, plus])) in ("x < 3", "x <= 2")
    assert evaluate(path_condition([plus, plus, guard]), {"x": 0}) is True
