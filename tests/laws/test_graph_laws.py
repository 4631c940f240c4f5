"""The graph engine: ends in the same states as running every interleaving, whatever the order and reduction."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings

import porcini
from actor_strategies import actor_programs
from helpers import all_runs
from porcini import Limits
from porcini.core.footprints import EMPTY, Footprint
from porcini.engines.ample import AmpleSets
from porcini.engines.catalogue import Options
from porcini.engines.graph import Graph
from porcini.engines.options import Ample, Order
from porcini.ir.analysis.lookahead import PointLookahead
from porcini.ir.packed import unfolded
from strategies import PROGRAMS, guard_programs, programs

SOME = settings(max_examples=PROGRAMS // 8, deadline=None, suppress_health_check=list(HealthCheck))
AMPLE = [Options(reduction="ample", ample=ample) for ample in get_args(Ample)]
REDUCTIONS = [Options(reduction="none"), *AMPLE, Options(reduction="stubborn")]


def ends_agree(model: porcini.Model) -> None:
    runs = all_runs(model.system(), 500)
    if runs is None:
        return
    wanted = {(final.kind, str(final.state)) for _, final, _ in runs}
    most = None
    for options, search in product(REDUCTIONS, get_args(Order)):
        report = porcini.explore(model, engine="graph", options=replace(options, search=search))
        assert {(o.kind, str(dict(o.state))) for o in report.outcomes} == wanted, options
        most = report.counts.states if options.reduction == "none" else most
        assert most is not None and report.counts.states <= most
        for outcome in report.outcomes[:3]:
            again = porcini.replay(model, porcini.show_schedule(outcome.schedule)).outcomes[0]
            assert (again.kind, again.state) == (outcome.kind, outcome.state)


@SOME
@given(programs(processes=3, events=8))
def test_end_states_of_the_whole_language(source: str) -> None:
    ends_agree(porcini.loads(source))


@SOME
@given(guard_programs())
def test_end_states_where_guards_come_and_go(source: str) -> None:
    ends_agree(porcini.loads(source))


@settings(max_examples=PROGRAMS // 16, deadline=None, suppress_health_check=list(HealthCheck))
@given(actor_programs())
def test_end_states_of_actors(source: str) -> None:
    ends_agree(porcini.loads(source, "abs"))


def independent(n: int) -> str:
    bindings = "".join(f"x{i} |-> 0, " for i in range(n))
    return bindings + "; ".join(f"True |> spawn(True |> x{i} := 1; True |> x{i} := 2)" for i in range(n))


def test_independent_processes_cost_no_product() -> None:
    """n processes of two steps: 3^n states and more without reduction, a line with it."""
    model = porcini.loads(independent(6))
    full = porcini.check(model, options=Options(reduction="none")).counts.states
    reduced = porcini.check(model).counts.states
    assert full > 3**6 and reduced < 60


P1_ERRATUM_1 = """
x |-> 0, y |-> 5, open |-> false,
True |> spawn(True |> x := 1);
True |> spawn(True |> open := true);
True |> spawn(open |> y := x)
"""


@pytest.mark.parametrize("states", ["packed_states", "flat_states"])
def test_a_disabled_process_counts_too(states: str, request: pytest.FixtureRequest) -> None:
    """P1, erratum 1: q waits for a lock that r frees, and then reads what p writes."""
    request.getfixturevalue(states)
    for ample in ("single", "closure"):
        report = porcini.explore(
            porcini.loads(P1_ERRATUM_1), engine="graph", options=Options(reduction="ample", ample=ample)
        )
        assert {outcome.state["y"] for outcome in report.outcomes} == {0, 1}


@pytest.fixture
def packed_states() -> None:
    """As it is, these programs are unfolded."""


@pytest.fixture
def flat_states(monkeypatch) -> None:
    """No program is unfolded: what reduces is the reduction for processes, not the one for edges."""
    monkeypatch.setattr(unfolded, "unfold", lambda program: None)


@pytest.mark.usefixtures("flat_states")
def test_mutant_that_looks_at_enabled_processes_only(monkeypatch) -> None:
    """C'1 as printed in P1."""
    real = AmpleSets._candidates

    def as_printed(self, state, actions, able):
        return real(self, state, [action for action in actions if action.enabled], able)

    monkeypatch.setattr(AmpleSets, "_candidates", as_printed)
    with pytest.raises(AssertionError):
        ends_agree(porcini.loads(P1_ERRATUM_1))


@pytest.mark.usefixtures("flat_states")
def test_mutant_that_forgets_the_future(monkeypatch) -> None:
    monkeypatch.setattr(PointLookahead, "may_still_do", lambda self, state, pid: EMPTY)
    with pytest.raises(AssertionError):
        ends_agree(porcini.loads(P1_ERRATUM_1))


ENDLESS_NEIGHBOUR = "x |-> 0, y |-> 0, True |> spawn(True |>* x := 1 - x); True |> spawn(True |> assert y == 1)"


@pytest.mark.parametrize("search", get_args(Order))
@pytest.mark.parametrize("states", ["packed_states", "flat_states"])
def test_nobody_is_left_out_for_ever(states: str, search: str, request: pytest.FixtureRequest) -> None:
    """C3: a process that turns in a circle must not keep another from failing."""
    request.getfixturevalue(states)
    for options in REDUCTIONS:
        report = porcini.check(porcini.loads(ENDLESS_NEIGHBOUR), options=replace(options, search=search))
        assert (report.verdict, report.property) == ("violated", "failure-free")


@pytest.mark.usefixtures("flat_states")
def test_mutant_without_c3(monkeypatch) -> None:
    """In depth, a circle of the first process would be all there is."""
    real = Graph.__init__

    def careless(self, *args, **kwargs):
        real(self, *args, **kwargs)
        self.avoid_ignoring = False

    monkeypatch.setattr(Graph, "__init__", careless)
    for search in get_args(Order):
        options = Options(search=search, reduction="ample", ample="single")
        report = porcini.check(porcini.loads(ENDLESS_NEIGHBOUR), options=options)
        assert report.verdict == "holds", "the mutant misses the failure: C3 is what finds it"


def test_limits_and_footprints() -> None:
    counting = porcini.loads("x |-> 0, True |>* x := x + 1")
    report = porcini.check(counting, limits=Limits(max_states=100))
    assert (report.verdict, report.limit) == ("unknown", "the limit of 100 states")
    system = porcini.loads("x |-> 0, y |-> 0, True |> x := 1; y == 0 |> spawn(True |> y := x)").system()
    ahead = PointLookahead(system.program).may_still_do(system.initial(), system.actions(system.initial())[0].pid)
    assert ahead == Footprint(frozenset("xy"), frozenset("xy")), "with what is spawned"
