"""Ample sets for actors: nothing is lost, and what a task may still do covers what it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from actor_strategies import actor_programs
from porcini.api import verify_reduction
from porcini.core.errors import LimitHit
from porcini.core.footprints import Footprint, Location
from porcini.core.pids import Pid
from porcini.core.systems import SystemGraph
from porcini.engines.ample import AmpleSets
from porcini.engines.graph import Graph
from porcini.engines.options import Options
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn_processes import StubbornProcesses, _Here
from porcini.ir.analysis.numbering import FIRST_POINT
from porcini.ir.tasks import lookahead as step_lookahead
from porcini.ir.tasks.canonical_graph import CanonicalGraph
from porcini.ir.tasks.lookahead import CodeLookahead
from porcini.ir.tasks.system import StepSystem
from strategies import PROGRAMS

MANY = settings(max_examples=PROGRAMS // 40, deadline=None, suppress_health_check=list(HealthCheck))
MOST = 2_000


def system_of(source: str) -> StepSystem:
    system = porcini.loads(source, "abs").system()
    assert isinstance(system, StepSystem)
    return system


def found_by(graph: SystemGraph, reduction: AmpleSets | None, order: str) -> tuple[set[str], int] | None:
    """How runs end, and the number of states; None if there are too many."""
    stats = SearchStats(porcini.Limits(max_states=MOST))
    stats.explore(lambda stats: Graph(graph, reduction, stats).explore(order))  # type: ignore[arg-type]
    if stats.stopped == "limit":
        return None
    return {f"{outcome.kind} {outcome.state}" for outcome in stats.outcomes}, stats.counts.states


def nothing_is_lost(source: str) -> None:
    for make in (SystemGraph, CanonicalGraph):
        system = system_of(source)
        system.flow.uncounted = frozenset()  # so that all keep their names
        whole = found_by(make(system), None, "dfs")
        if whole is None:
            return
        for heuristic in ("closure", "single"):
            for order in ("dfs", "bfs"):
                graph = make(system)
                reduced = found_by(graph, AmpleSets(graph, system.lookahead, heuristic), order)  # type: ignore[arg-type]
                assert reduced is not None and reduced[0] == whole[0], f"{heuristic} {order}"
                assert reduced[1] <= whole[1]
        for order in ("dfs", "bfs"):
            graph = make(system)
            reduced = found_by(graph, StubbornProcesses(graph, system.lookahead, "closure"), order)
            assert reduced is not None and reduced[0] == whole[0], f"stubborn {order}"


@MANY
@given(actor_programs())
def test_no_outcome_is_lost(source: str) -> None:
    nothing_is_lost(source)


FIELDS = [f"0.{k}.{test}" for k in range(3) for test in ("x == 0", "x > 1", "y == 1", "b")]
FORMULAS = ["<> ({p})", "[] ({p})", "[] ({p} -> <> ({q}))", "({p}) U ({q})", "<> ({p} && {q})", "<>[] ({p})"]


@MANY
@given(actor_programs(), st.sampled_from(FORMULAS), st.sampled_from(FIELDS), st.sampled_from(FIELDS))
def test_formulas_see_no_difference(source: str, formula: str, p: str, q: str) -> None:
    same_verdicts(source, formula.format(p=p, q=q), MOST)


def same_verdicts(source: str, text: str, most: int) -> None:
    """The whole graph comes last, and is left out where nothing that it says could differ from anything."""
    model = porcini.loads(source, "abs")
    limits = porcini.Limits(max_states=most)
    verdicts: set[str] = set()
    for reduction in ("ample", "stubborn", "none"):
        if reduction != "none" or verdicts != {"unknown"}:
            verdicts.add(
                porcini.check(model, ltl=text, limits=limits, options=Options(reduction=reduction)).verdict
            )
    assert len(verdicts - {"unknown"}) <= 1, text


@MANY
@given(actor_programs(endless=True), st.sampled_from(FORMULAS), st.sampled_from(FIELDS), st.sampled_from(FIELDS))
def test_nor_do_they_in_endless_programs(source: str, formula: str, p: str, q: str) -> None:
    same_verdicts(source, formula.format(p=p, q=q), 60)


@MANY
@given(actor_programs(), st.sampled_from(FIELDS), st.sampled_from(FIELDS))
def test_reductions_can_be_verified(source: str, p: str, q: str) -> None:
    model = porcini.loads(source, "abs")
    limits = porcini.Limits(max_states=300)
    assert verify_reduction(model, ltl=f"<> ({p} && {q})", limits=limits).verdict != "violated"


# What others do while a task stands still is covered by what they may do


def covered(system: StepSystem, state: Any, still: Pid, steps: int) -> None:
    """All that others do within some steps, while one task does not move, is in what they may still do. Futures
    of tasks that have ended or failed never change."""
    is_object = system.class_template
    there = {str(p.pid) for p in state[0].processes if p.template >= is_object or state[p.base] >= FIRST_POINT}
    others = [a.pid for a in system.actions(state) if a.pid != still]
    reads: set[Location] = set()
    writes: set[Location] = set()
    for pid in others:
        foot = system.lookahead.may_still_do(state, pid)
        reads |= foot.reads | foot.writes
        writes |= foot.writes
    may = Footprint(frozenset(reads), frozenset(writes))
    left = [(state, steps)]
    while left:
        here, more = left.pop()
        for action in system.actions(here):
            if action.pid != still and action.enabled and more:
                after, event = system.fire(here, action)
                did = Footprint(
                    frozenset(at for at in event.footprint.reads if _of(at) in there),
                    frozenset(at for at in event.footprint.writes if _of(at) in there),
                )
                assert did.within(may), f"{event.label}: {did} is not in {may}"
                left.append((after, more - 1))


def _of(location: Location) -> str:
    """The object, group or task that a location belongs to."""
    name = location.removesuffix("!")
    return name if name[-1].isdigit() else name.rpartition(".")[0]


@MANY
@given(actor_programs(endless=True), st.lists(st.integers(0, 9), max_size=8))
def test_what_is_done_was_to_be_expected(source: str, way: list[int]) -> None:
    system = system_of(source)
    state = system.initial()
    try:
        for k in way:
            able = [action for action in system.actions(state) if action.enabled]
            if not able:
                return
            state = system.fire(state, able[k % len(able)])[0]
        for action in system.actions(state)[:3]:
            covered(system, state, action.pid, 3)
    except LimitHit:
        return


# What would be wrong

SENDS = """
interface I { Unit set(Int v); Unit twice(); }
interface J { Unit go(I c); }
class C implements I { Int x = 0; Int y = 0; Unit set(Int v) { x = v; } Unit twice() { y = x; } }
class D implements J { Unit go(I c) { c!set(1); } }
{ I c = new C(); J d = new D(); c!twice(); d!go(c); }
"""
FUTURES = """
interface I { Int one(); Unit wait(Fut<Int> f); Unit change(); }
class C implements I {
    Int x = 0; Int y = 0;
    Int one() { return 1; }
    Unit wait(Fut<Int> f) { x = 1; await f?; y = x; }
    Unit change() { x = 2; }
}
{ I c = new C(); I d = new C(); Fut<Int> f = d!one(); c!wait(f); c!change(); }
"""
LOCKS = """
interface I { Unit stop(I o); Unit one(); Unit two(); }
class C implements I {
    Int x = 0; Int y = 0;
    Unit stop(I o) { Fut<Unit> f = o!two(); f.get; y = 1; }
    Unit one() { x = 1; }
    Unit two() { await x == 1; }
}
{ I c = new C(); I d = new C(); c!stop(c); c!one(); }
"""
HANDED_ON = """
interface T { Unit hit(Int v); }
interface Box { Unit keep(T t); Unit use(); }
class Target implements T { Int v = 0; Unit hit(Int n) { v = 10 * v + n; } }
class BoxImpl implements Box {
    T kept;
    Unit keep(T t) { kept = t; }
    Unit use() { if (kept != null) { kept!hit(2); } }
}
{ T t = new Target(); T u = new Target(); Box b = new BoxImpl(); t!hit(1); b!keep(t); b!use(); }
"""


NEW_IN_THE_GROUP = """
interface I { Unit begin(); Unit one(); Unit two(); } interface J { Unit block(I o); }
class C implements I {
    Int x = 0;
    Unit begin() { J n = new local D(); n!block(this); }
    Unit one() { x = 1; }
    Unit two() { skip; }
}
class D implements J { Unit block(I o) { Fut<Unit> f = o!two(); f.get; } }
{ I c = new C(); c!one(); c!begin(); }
"""


@pytest.mark.parametrize("source", [SENDS, FUTURES, LOCKS, HANDED_ON, NEW_IN_THE_GROUP])
def test_nothing_is_lost_where_it_could_be(source: str) -> None:
    nothing_is_lost(source)


def test_mutant_that_forgets_what_is_sent(monkeypatch) -> None:
    monkeypatch.setattr(CodeLookahead, "_methods_started_by", lambda self, op, whom: ())
    with pytest.raises(AssertionError):
        nothing_is_lost(SENDS)


def test_mutant_that_forgets_futures(monkeypatch) -> None:
    monkeypatch.setattr(step_lookahead._StateLookahead, "_look_at_futures", lambda self, reached: None)
    with pytest.raises(AssertionError):
        nothing_is_lost(FUTURES)


def test_mutant_that_forgets_locks(monkeypatch) -> None:
    nothing_is_lost(LOCKS)
    touch = step_lookahead._StateLookahead._touch

    def without_lock(self: Any, pid: Pid, ref: Pid, access: Any) -> None:
        touch(self, pid, ref, step_lookahead.Access(access.fields))

    monkeypatch.setattr(step_lookahead._StateLookahead, "_touch", without_lock)
    with pytest.raises(AssertionError):
        nothing_is_lost(LOCKS)


def test_mutant_that_forgets_who_joins_a_group(monkeypatch) -> None:
    """A group can be locked by a task of an object that is not there yet."""
    monkeypatch.setattr(CodeLookahead, "makes_local", False)
    with pytest.raises(AssertionError):
        nothing_is_lost(NEW_IN_THE_GROUP)


def test_mutant_that_takes_only_what_both_ways_name(monkeypatch) -> None:
    """A task that hands on a reference need not use it, and one that uses it need not have it yet."""

    def both(self: Any) -> dict[Pid, Footprint]:
        reached = {task.pid: self._reachable_from(task) for task in self.tasks}
        for ref in self.objects:
            for pid, access in self._tasks_by_code(ref).items():
                if ref in reached[pid]:
                    self._touch(pid, ref, access)
        return {pid: Footprint(frozenset(self.reads[pid]), frozenset(self.writes[pid])) for pid in self.reads}

    monkeypatch.setattr(step_lookahead._StateLookahead, "footprints", both)
    with pytest.raises(AssertionError):
        nothing_is_lost(HANDED_ON)


GUARD_THAT_FAILS = """
interface I { Unit wait(); Unit raise(); Unit lower(); }
class C implements I {
    Int x = 1; Int z = 0; Int w = 0; Int y = 0;
    Unit wait() { y = 10 * x + z; await 10 % (x + z) == 0 && w == 1; }
    Unit raise() { z = 1; }
    Unit lower() { x = 0; }
}
{ I c = new C(); c!wait(); c!raise(); c!lower(); }
"""
TWO_CONDITIONS = """
interface I { Unit wait(); Unit one(); Unit two(); Unit three(); }
class C implements I {
    Int a = 0; Int b = 0; Int c = 0; Int y = 0;
    Unit wait() { y = 10 * a + b + 1; await a == 1 && b == 1; c = 2 * c + 1; }
    Unit one() { a = 1; }
    Unit two() { b = 1; }
    Unit three() { c = 2 * c; }
}
{ I c = new C(); c!wait(); c!three(); c!one(); c!two(); }
"""


@pytest.mark.parametrize("source", [GUARD_THAT_FAILS, TWO_CONDITIONS])
def test_conditions_that_do_not_hold_are_enough(source: str) -> None:
    nothing_is_lost(source)


def test_mutant_without_the_first_condition_of_stubborn_sets(monkeypatch) -> None:
    required = _Here._required_by
    monkeypatch.setattr(
        _Here, "_required_by", lambda self, pid, found: required(replace(self, now={}), pid, found)
    )
    with pytest.raises(AssertionError):
        nothing_is_lost(TWO_CONDITIONS)


def test_mutant_without_the_second_condition_of_stubborn_sets(monkeypatch) -> None:
    required = _Here._required_by
    monkeypatch.setattr(
        _Here, "_required_by", lambda self, pid, found: required(replace(self, waiting={}), pid, found)
    )
    with pytest.raises(AssertionError):
        nothing_is_lost(TWO_CONDITIONS)


def test_mutant_that_forgets_that_a_guard_may_fail(monkeypatch) -> None:
    monkeypatch.setattr("porcini.ir.tasks.system.may_fail_while_waiting", lambda guard, numbering: False)
    with pytest.raises(AssertionError):
        nothing_is_lost(GUARD_THAT_FAILS)


FAR_OFF = """
interface I { Unit wait1(); Unit wait2(); Unit go(); Unit one(); Unit two(); }
class C implements I {
    Int a = 0; Int c = 0; Int never = 0; Int n = 0;
    Unit wait1() { n = n + 1; await a == 1 && never == 1; c = 9; }
    Unit wait2() { n = n + 1; await c == 1 && never == 1; a = 9; }
    Unit go() { await n == 2; this!one(); this!two(); }
    Unit one() { a = 2; }
    Unit two() { c = 2; }
}
{ I c = new C(); c!wait1(); c!wait2(); c!go(); }
"""


def test_stubborn_sets_are_smaller_where_one_condition_is_far_off() -> None:
    """Nobody writes `never`, so that what else the tasks wait for need not be taken with them."""
    states = {
        reduction: porcini.check(porcini.loads(FAR_OFF, "abs"), options=Options(reduction=reduction)).counts.states
        for reduction in ("stubborn", "ample", "none")
    }
    assert states["stubborn"] < states["ample"] <= states["none"]


BORN = """
interface I { Unit set(); } interface M { Unit make(); }
class C implements I { Int x = 1; Unit set() { x = 2; } }
class D implements I { Int x = 0; Unit set() { x = 1; } }
class F implements M { Unit make() { I c = new C(); } }
{ I d = new D(); M f = new F(); f!make(); d!set(); }
"""


def test_formulas_see_objects_come_into_being(monkeypatch) -> None:
    """`0.2.0` is made by the task `0.2`, while `0.3` changes what `0.0` has: one may come before the other."""
    formulas = ["[] !(0.2.0.x == 1 && 0.0.x == 0)", "[] (0.0.x == 1 -> 0.2.0.x == 1)"]
    model = porcini.loads(BORN, "abs")

    def verdicts() -> list[str]:
        return [
            porcini.check(model, ltl=formula, options=Options(reduction="ample")).verdict for formula in formulas
        ]

    assert verdicts() == ["violated", "violated"]
    make = StepSystem.watching

    def unseen(self: StepSystem, propositions: Any) -> Any:
        watched = make(self, propositions)
        self._events.watched = {}
        return watched

    monkeypatch.setattr(StepSystem, "watching", unseen)
    assert verdicts() != ["violated", "violated"]


IGNORED = """
interface P { Unit first(D d, P e); Unit third(P a, D d); }
interface D { Unit fail(); Unit second(P a, P e); Unit also(); }
class A implements P { Unit first(D d, P e) { d!second(this, e); } Unit third(P a, D d) { skip; } }
class B implements D {
    Int x = 0;
    Unit fail() { assert x == 0; x = 1; }
    Unit second(P a, P e) { e!third(a, this); }
    Unit also() { assert x == 0; x = 1; }
}
class E implements P { Unit first(D d, P e) { skip; } Unit third(P a, D d) { a!first(d, this); } }
{
    P a = new A(); D d = new B(); P e = new E(); a!first(d, e); Int k = 0;
    while (k < 1) { suspend; d!fail(); d!also(); k = k + 1; }
}
"""


def test_tasks_without_names_are_not_put_off_for_ever(monkeypatch) -> None:
    """Three tasks go round and round, and have each number in turn: it does not say who moved."""
    model = porcini.loads(IGNORED, "abs")
    for search in ("dfs", "bfs"):
        report = porcini.check(model, options=Options(reduction="ample", search=search))  # type: ignore[arg-type]
        assert report.verdict == "violated" and report.reduction == "ample"
    monkeypatch.setattr(CanonicalGraph, "identities", lambda self, state, pids: pids)
    assert porcini.check(model, options=Options(reduction="ample")).verdict == "holds"
