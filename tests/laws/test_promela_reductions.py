"""Reductions of Promela models lose nothing: generated models, hard ones, and mutants that must be caught."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from porcini import Limits
from porcini.api import verify_reduction
from porcini.engines.catalogue import Options
from porcini.engines.graph import Graph
from porcini.engines.product import Product
from porcini.engines.stubborn import PackedAmple
from porcini.ir.packed.relations import Relations
from promela_strategies import promela_models
from strategies import PROGRAMS

SOME = settings(max_examples=max(PROGRAMS // 20, 5), deadline=None, suppress_health_check=list(HealthCheck))
LIMITS = Limits(max_states=3_000)
REDUCTIONS = [
    Options(reduction="ample", ample="single"),
    Options(reduction="ample", ample="closure", search="bfs"),
    Options(reduction="stubborn"),
    Options(reduction="stubborn", search="bfs"),
    Options(reduction="stubborn", optimise=False),
]
FORMULAS = (
    "[] ({a})",
    "<> ({a})",
    "[] (({a}) -> <> ({b}))",
    "({a}) U ({b})",
    "[]<> ({a})",
    "<>[] ({a})",
    "({a}) W ({b})",
)


def seen(model: porcini.Model, options: Options) -> object:
    report = porcini.explore(
        model, engine="graph", properties=("deadlock-free", "failure-free"), limits=LIMITS, options=options
    )
    if report.stopped == "limit":
        return None
    ends = {(o.kind, str(dict(o.state))) for o in report.outcomes if o.kind in ("deadlock", "terminated")}
    return ends, any(o.kind in ("assertion", "error") for o in report.outcomes)


def nothing_is_lost(source: str) -> None:
    """Ends and failures are those of the whole graph, for every reduction and search."""
    model = porcini.loads(source, "pml")
    whole = seen(model, Options(reduction="none", optimise=False))
    if whole is None:
        return
    for options in REDUCTIONS:
        assert seen(model, options) == whole, options


def formulas_agree(source: str, formula: str) -> None:
    """A formula without X has the same verdict with and without a reduction; its trail can be replayed."""
    model = porcini.loads(source, "pml")
    wanted = None
    for options in (Options(reduction="none", optimise=False), Options(reduction="none"), *REDUCTIONS[::2]):
        report = porcini.check(model, ltl=formula, limits=LIMITS, options=options)
        if report.stopped == "limit":
            return
        wanted = wanted or report.verdict
        assert report.verdict == wanted, (formula, options)
        if report.trail is not None and report.trail.loop:
            stem, loop = (porcini.show_schedule(part.schedule) for part in (report.trail.stem, report.trail.loop))
            assert porcini.replay(model, stem, loop=loop).trail is not None
    for options in (REDUCTIONS[0], REDUCTIONS[2]):
        compared = verify_reduction(model, ltl=formula, limits=LIMITS, options=options)
        assert compared.verdict != "violated", (formula, options, compared.notes)


def propositions(model: porcini.Model) -> list[str]:
    names = [
        f"{var.name}[0]" if var.array else var.name
        for var in model.graph.program.variables
        if var.bounded.kind != "chan" and "." not in var.name
    ]
    return [f"{name} == {value}" for name in names for value in (0, 1, 2)]


@SOME
@given(promela_models())
def test_generated_models_lose_no_end(source: str) -> None:
    nothing_is_lost(source)


@SOME
@given(promela_models(), st.integers(0, 1 << 30))
def test_formulas_on_generated_models(source: str, seed: int) -> None:
    atoms = propositions(porcini.loads(source, "pml"))
    if atoms:
        chance = random.Random(seed)
        formula = chance.choice(FORMULAS).format(a=chance.choice(atoms), b=chance.choice(atoms))
        formulas_agree(source, formula)


ERRATUM_1 = """
byte x, y = 5; bit open;
active proctype p() { x = 1 }
active proctype r() { open = 1 }
active proctype q() { open == 1; y = x }
"""
ENDLESS = "byte x, y; active proctype P() { do :: x = 1 - x od } active proctype Q() { y = 1; assert(y == 0) }"
ORDERED = "bit x, y; active proctype P() { x = 1 } active proctype Q() { y = 1 }"
SEVERAL_WRITERS = """
byte x, y;
active proctype A() { x == 2; y = 1 }
active proctype B() { x = 2 }
active proctype C() { x = 2; y = 2 }
active proctype D() { y = 3; x = 2 }
"""
FULL_CHANNEL = """
byte r; chan c = [1] of { byte };
active proctype A() { c!1; c!2 }
active proctype B() { byte v; c?v; r = v }
active proctype C() { byte v; if :: c?v; r = r + v :: r = 7 fi }
"""
MEETING = """
byte r; chan c = [0] of { byte };
active proctype A() { c!1 }
active proctype B() { byte v; c?v; r = r * 3 + v }
active proctype C() { byte v; c?v; r = r * 3 + 2 }
active proctype D() { c!1 }
"""
STARTED = """
byte x, y;
proctype W() { x = 1 }
active proctype A() { y = x }
init { run W(); run W() }
"""
TIMED = """
byte x;
active proctype A() { timeout; x = 1 }
active proctype B() { x = 2; x = 3 }
active proctype C() { x = 4 }
"""
HARD = [ERRATUM_1, ENDLESS, ORDERED, SEVERAL_WRITERS, FULL_CHANNEL, MEETING, STARTED, TIMED]


@pytest.mark.parametrize("source", HARD)
def test_hard_models_lose_nothing(source: str) -> None:
    nothing_is_lost(source)


def test_formulas_on_hard_models() -> None:
    formulas_agree(ORDERED, "[] !(x == 0 && y == 1)")
    formulas_agree(ORDERED, "<> (x == 1 && y == 0)")
    formulas_agree(ENDLESS, "[] (y == 0)")
    formulas_agree(ENDLESS, "<> (y == 1)")
    formulas_agree(FULL_CHANNEL, "<> (r == 3)")
    formulas_agree(MEETING, "[] (r != 5)")
    formulas_agree(STARTED, "<> (y == 1)")


def caught() -> bool:
    """Does one of the hard models tell?"""
    try:
        for source in HARD:
            nothing_is_lost(source)
        test_formulas_on_hard_models()
    except AssertionError:
        return True
    return False


def test_mutant_that_looks_at_enabled_processes_only(monkeypatch) -> None:
    """C'1 as printed in P1."""
    monkeypatch.setattr(
        PackedAmple,
        "others",
        lambda self, state, relations: [
            process for process in relations.present.members if self.space.moves(state, relations.present, process)
        ],
    )
    assert caught()


def test_mutant_without_c2(monkeypatch) -> None:
    real = Relations.__init__
    monkeypatch.setattr(
        Relations, "__init__", lambda self, system, present, visible=0: real(self, system, present, 0)
    )
    assert caught()


def test_mutant_without_c3_on_cycles(monkeypatch) -> None:
    real = Product._reduced_successors
    monkeypatch.setattr(Product, "_reduced_successors", lambda self, node, on_the_way: real(self, node, set()))
    assert caught()


def test_mutant_that_leaves_out_for_ever(monkeypatch) -> None:
    real = Graph.__init__

    def careless(self, graph, reduction, stats, avoid_ignoring=True):
        real(self, graph, reduction, stats, avoid_ignoring=False)

    monkeypatch.setattr(Graph, "__init__", careless)
    assert caught()


def test_mutant_that_forgets_a_writer(monkeypatch) -> None:
    """A necessary enabling set from which one transition is missing."""
    real = Relations.enablers

    def forgetful(self, guard):
        found = real(self, guard)
        return found & (found - 1)  # without the first

    monkeypatch.setattr(Relations, "enablers", forgetful)
    assert caught()


def test_mutant_that_takes_all_for_accordant(monkeypatch) -> None:
    monkeypatch.setattr(Relations, "conflicts", lambda self, number: 0)
    assert caught()


def test_verification_notices_a_reduction_that_loses(monkeypatch) -> None:
    monkeypatch.setattr(Relations, "conflicts", lambda self, number: 0)
    report = verify_reduction(porcini.loads(ERRATUM_1, "pml"), ltl="<> (y == 0)")
    assert report.verdict == "violated" and any("lost" in note for note in report.notes)
