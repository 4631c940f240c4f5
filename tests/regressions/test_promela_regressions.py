"""What generated Promela models have found, made small. Each lost a state or an outcome, or crashed."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

import porcini
from porcini.engines.catalogue import Options
from porcini.engines.options import Ample, Order

MODELS = {
    "an assertion fails inside a d_step": "byte x; active proctype P() { d_step { x = 1; assert(x == 0) } }",
    "timeout after another process": "proctype R() { skip } active proctype Q() { run R(); timeout }",
    "a d_step writes after its head": """
        byte x; bit b;
        active [2] proctype P() { byte i; d_step { i == x; b = x + 1 } }
        active proctype Q() { b = !b }""",
    "an atomic sequence blocks after its first step": """
        byte m; chan c = [1] of { byte };
        active proctype P() { c!2 }
        active proctype Q() { atomic { m = 1; c?_ } }""",
    "a number is used again": "proctype R(byte g) { skip } init { byte i; i = run R(i); run R(2) }",
    "two failures are one mark": """
        byte y = 1;
        active proctype P() { y = 2 }
        active [2] proctype Q() { assert(y != 2) }""",
    "a channel comes in a message": """
        chan c = [1] of { byte }; chan d = [1] of { chan }; byte x;
        active proctype A() { chan r; d?r; r!7 }
        active proctype B() { d!c; c?x }""",
    "a failing step was merged with private ones": """
        byte a[2];
        init { byte i; do :: i < 3 -> a[i] = 1; i++ :: else -> break od }""",
    "a private step after a d_step": """
        byte q;
        active proctype P() { byte j; d_step { q == 0; q = 1 }; for (j : 0 .. 1) { q = 2 } }""",
    "a jump back to a label on atomic gives up the turn": """
        byte x;
        active proctype P() { L: atomic { x < 2; x++; goto L } }
        active proctype Q() { x == 1; assert(false) }""",
    "an index is wrong before anybody is met": """
        chan r[2] = [0] of { byte }; byte w;
        active proctype A() { if :: w = 5 :: w = 1 :: w = 0 fi; r[w]!1 }
        active proctype B() { byte v; r[0]?v; w = 7 }
        active proctype C() { byte v; r[1]?v; w = 8 }""",
    "nobody is there to be met": """
        chan r[2] = [0] of { byte }; byte w;
        active proctype A() { w = 5; r[w]!1 }
        active proctype B() { w = 1 }""",
    "a channel is gone with its process": """
        byte x; chan w = [1] of { chan };
        active proctype P() { chan got; w?got; got!0 }
        active proctype Q() { chan mine = [1] of { byte }; x = 0; w!mine }""",
}


def ends(report: porcini.Report) -> set[tuple[str, str]]:
    return {(outcome.kind, str(dict(outcome.state))) for outcome in report.outcomes}


@pytest.mark.parametrize("source", MODELS.values(), ids=MODELS)
def test_all_engines_see_the_same(source: str) -> None:
    model = porcini.loads(source, "pml")
    wanted = ends(porcini.explore(model, engine="exhaustive"))
    for engine in ("sleep", "dpor", "source", "optimal"):
        report = porcini.explore(model, engine=engine)
        assert ends(report) == wanted, engine
        for outcome in report.outcomes:
            again = porcini.replay(model, porcini.show_schedule(outcome.schedule)).outcomes[0]
            assert (again.kind, again.state) == (outcome.kind, outcome.state)


@pytest.mark.parametrize("source", MODELS.values(), ids=MODELS)
def test_all_reductions_see_the_same(source: str) -> None:
    model = porcini.loads(source, "pml")
    wanted = ends(porcini.explore(model, engine="exhaustive"))
    reductions = [Options(reduction="none"), Options(reduction="stubborn")]
    reductions += [Options(reduction="ample", ample=ample) for ample in get_args(Ample)]
    for options in reductions:
        for search in get_args(Order):
            for optimise in (False, True):
                asked = replace(options, search=search, optimise=optimise)
                found = porcini.explore(model, engine="graph", options=asked)
                failed = {kind for kind, _ in wanted} & {"assertion", "error"}
                assert {kind for kind, _ in ends(found)} >= failed, asked
                assert {end for end in ends(found) if end[0] not in ("assertion", "error")} == {
                    end for end in wanted if end[0] not in ("assertion", "error")
                }, asked
                for outcome in found.outcomes:
                    porcini.replay(model, porcini.show_schedule(outcome.schedule))


def test_a_shared_variable_is_not_one_of_another_process() -> None:
    """It was read at its place in the frame of the process: `A:g == 3` failed."""
    source = "byte g = 3; active proctype A() { byte v = 5; v = 6 } active proctype B() { assert(A:g == 3) }"
    with pytest.raises(porcini.InputError, match="proctype A has no variable `g`"):
        porcini.loads(source, "pml")


def test_a_first_value_that_is_not_there() -> None:
    """Of a process that is there from the start: it ended in an internal error."""
    model = porcini.loads("byte x = 1; active proctype A() { byte b = 6 / x; x = b }", "pml")
    assert porcini.explore(model).verdict == "holds"
    with pytest.raises(porcini.InputError, match="a variable of A has no first value: division by zero"):
        porcini.explore(model, inputs={"x": 0})


def test_a_long_d_step_goes_one_way() -> None:
    """Its statements were taken for ways."""
    source = """short i; byte g;
    active proctype A() { d_step { i = 0; do :: i < 1000 -> i++ :: else -> break od } }
    active proctype B() { g = 1 }"""
    report = porcini.permute(porcini.loads(source, "pml"))
    assert [entry.state for entry in report.traces or ()] == [{"g": 1, "i": 1000}]
