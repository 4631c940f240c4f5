"""Laws (a) to (g) on generated actor programs: every engine and every selection strategy against `exhaustive`."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings

import helpers
import porcini
from actor_strategies import actor_programs
from helpers import Collecting, all_runs, class_of, followed, semantic_saves_runs_only
from porcini.core.errors import InternalError
from porcini.core.traces import independent
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.options import ActorSelection, TaskSelection
from porcini.engines.transdpor import TransDpor
from porcini.ir.tasks.actors import Actors
from porcini.ir.tasks.code import Segment
from porcini.ir.tasks.events import StepEvents
from porcini.ir.tasks.system import StepSystem
from strategies import PROGRAMS

MANY = settings(max_examples=PROGRAMS // 8, deadline=None, suppress_health_check=list(HealthCheck))
"""`make conformance` asks all engines about many more and wider programs, with a judge beside them."""
MOST = 200
SELECTIONS = list(product(get_args(ActorSelection), get_args(TaskSelection)))


def system_of(source: str) -> StepSystem:
    return porcini.loads(source, "abs").system()


def engines_agree(source: str) -> None:
    """Every engine, then every selection: the same outcomes and classes."""
    system = system_of(source)
    found = helpers.engines_agree(system, ("optimal", "source", "dpor", "sleep"), MOST)
    if found is None:
        return
    classes, outcomes = found
    for actors, tasks in SELECTIONS:
        stats = Collecting()
        ENGINES["transdpor"](system, stats, Options(actors=actors, tasks=tasks))
        seen = {(final.kind, str(final.state)) for _, final, _ in stats.runs}
        assert seen == outcomes, f"{actors}, {tasks}: {len(seen)} of {len(outcomes)} outcomes"
        assert {class_of(trace) for trace, _, _ in stats.runs} == classes, f"{actors}, {tasks}: lost a class"
        assert stats.counts.classes == len(classes)


@MANY
@given(actor_programs())
def test_engines_and_selections_agree(source: str) -> None:
    engines_agree(source)


@settings(max_examples=PROGRAMS // 8, deadline=None, suppress_health_check=list(HealthCheck))
@given(actor_programs())
def test_independent_neighbours_commute_and_actions_tell_the_truth(source: str) -> None:
    """(e) swapping two adjacent independent events gives the same state; (f) events stay within their actions."""
    system = system_of(source)
    runs = all_runs(system, 30)
    for trace, _, _ in runs or ():
        _, after = followed(system, trace.schedule)
        for k in range(len(trace) - 1):
            if independent(trace[k], trace[k + 1]):
                swapped = [*trace.schedule[:k], trace.schedule[k + 1], trace.schedule[k], *trace.schedule[k + 2 :]]
                assert followed(system, tuple(swapped))[1] == after
        state = system.initial()
        for move in trace.schedule:
            (action,) = [a for a in system.actions(state) if a.move == move]
            state, event = system.fire(state, action)
            assert event.footprint == action.footprint, "a macro-step is foreseen exactly"


@settings(max_examples=PROGRAMS // 8, deadline=None, suppress_health_check=list(HealthCheck))
@given(actor_programs())
def test_actions_are_the_same_however_they_are_found(source: str) -> None:
    """What `actions_after` keeps is what `actions` would find."""
    system = system_of(source)
    run = system.start()
    actions = run.actions()
    for _ in range(30):
        able = [action for action in actions if action.enabled]
        if not able:
            return
        event = run.step(able[len(able) // 2])
        actions = run.actions_after(actions, event)
        assert actions == run.actions()


@settings(max_examples=PROGRAMS // 8, deadline=None, suppress_health_check=list(HealthCheck))
@given(actor_programs())
def test_counterexamples_come_back(source: str) -> None:
    """(g) through text and back, and the same end."""
    model = porcini.loads(source, "abs")
    report = porcini.explore(model, limits=porcini.Limits(max_executions=100))
    for run in report.counterexample.runs if report.counterexample else ():
        again = porcini.replay(model, porcini.show_schedule(run.schedule)).outcomes[0]
        assert (again.kind, again.state) == (run.kind, run.state)


REFERENCE_IN_A_MESSAGE = """
interface A { Unit post(); Unit add(Int n); }
interface Box { Unit keep(A a); Unit use(); }
class Target implements A {
    List<Int> seen = Nil;
    Unit post() { seen = Cons(0, seen); }
    Unit add(Int n) { seen = Cons(n, seen); }
}
class BoxImpl implements Box {
    A kept;
    Unit keep(A a) { kept = a; }
    Unit use() { if (kept != null) { kept!add(1); } }
}
interface Giver { Unit give(Box b, A a); }
class GiverImpl implements Giver { Unit give(Box b, A a) { b!keep(a); } }
interface User { Unit go(Box b); }
class UserImpl implements User { Unit go(Box b) { b!use(); } }
{
    A a = new Target();
    Box b = new BoxImpl();
    Giver g = new GiverImpl();
    User u = new UserImpl();
    a!post();
    g!give(b, a);
    u!go(b);
}
"""


@pytest.mark.parametrize(("actors", "tasks"), SELECTIONS)
def test_stability_loses_nothing_where_theorem_1_is_wrong(actors: str, tasks: str) -> None:
    """P4, erratum 3: `give` stores a reference to the target, and does not call the target's class itself."""
    model = porcini.loads(REFERENCE_IN_A_MESSAGE, "abs")
    all_of_them = porcini.explore(model, engine="exhaustive")
    report = porcini.explore(model, engine="transdpor", options=Options(actors=actors, tasks=tasks))
    assert {str(o.state) for o in report.outcomes} == {str(o.state) for o in all_of_them.outcomes}
    assert len(all_of_them.outcomes) == 3


@settings(max_examples=PROGRAMS // 8, deadline=None, suppress_health_check=list(HealthCheck))
@given(actor_programs())
def test_semantic_independence_loses_no_outcome_and_saves_runs(source: str) -> None:
    semantic_saves_runs_only(porcini.loads(source, "abs"), MOST)


@pytest.mark.parametrize(
    ("field", "body", "executions"),
    [
        ("Int n = 0", "n = n + v;", 1),
        ("Int n = 0", "n = n * v;", 1),
        ("Set<Int> n = set[]", "n = insertElement(n, v);", 1),
        ("Map<Int, Int> n = map[]", "n = put(n, v, 0);", 1),
        ("List<Int> n = Nil", "n = Cons(v, n);", 6),
        ("Int n = 0", "n = v;", 6),
        ("Int n = 0", "if (n < 2) { n = n + v; }", 4),
        ("Int n = 0", "await n >= 0; n = n + v;", 1),
        ("Int n = 0", "await n < 2; n = n + v;", 4),
    ],
)
def test_what_commutes_on_one_actor(field: str, body: str, executions: int) -> None:
    """Adding to a counter, a set or a map does. Where a condition may come to hold or not, it does not."""
    source = f"interface I {{ Unit add(Int v); }} class C implements I {{ {field}; Unit add(Int v) {{ {body} }} }}"
    model = porcini.loads(source + "{ I c = new C(); c!add(1); c!add(2); c!add(3); }", "abs")
    assert porcini.explore(model, independence="semantic").counts.executions == executions


def test_what_the_solver_cannot_express_stays_dependent() -> None:
    """An order on strings and rationals among whole numbers have no terms of one sort."""
    source = """
        interface I { Unit m(String v); Unit k(Rat r); }
        class C implements I {
            String best = "a"; Rat r = 0; Set<Rat> seen = set[];
            Unit m(String v) { if (best < v) { best = v; } }
            Unit k(Rat x) { r = if x > 1/2 then x else 0; seen = insertElement(seen, x); }
        }
        { I c = new C(); c!m("b"); c!m("c"); c!k(1/3); c!k(1); }
    """
    semantic_saves_runs_only(porcini.loads(source, "abs"), MOST)


REGISTRY = porcini.load("benchmarks/actors/registry.abs").source


def test_mutant_that_adds_no_back_points(monkeypatch) -> None:
    monkeypatch.setattr(TransDpor, "reverse_races", lambda self, search: None)
    with pytest.raises(AssertionError):
        engines_agree(REGISTRY)


def test_mutant_that_marks_dependent_tasks(monkeypatch) -> None:
    monkeypatch.setattr(Actors, "independent_tasks", lambda self, first, second: True)
    with pytest.raises(AssertionError):
        engines_agree(REGISTRY)


def test_mutant_that_forgets_that_an_await_reads(monkeypatch) -> None:
    source = """interface I { Unit set(); Unit wait(); }
        class C implements I {
            Bool on = False; Int n = 0;
            Unit set() { on = True; }
            Unit wait() { await on; n = 1; }
        }
        { I c = new C(); c!wait(); c!set(); }"""
    engines_agree(source)
    monkeypatch.setattr(StepEvents, "_guard_reads", lambda self, at: frozenset())
    monkeypatch.setattr(Segment, "of", staticmethod(lambda ops: Segment(frozenset(), frozenset())))
    with pytest.raises((AssertionError, InternalError)):
        engines_agree(source)
