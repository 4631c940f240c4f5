"""Packed states of guarded commands and of the parallel language stand for flat ones: the same graph, state by
state and step by step. Flat states are what a program means, and share nothing with the packing."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

import porcini
from conformance.kinds import KINDS
from porcini.core.errors import InternalError
from porcini.core.systems import Restart, SystemGraph
from porcini.engines.limits import Limits
from porcini.engines.options import Options
from porcini.engines.reductions import GRAPH
from porcini.engines.stats import SearchStats
from porcini.ir.packed import unfolded
from porcini.ir.packed.unfolded import UnfoldedGraph
from porcini.ir.passes import unfolding
from porcini.ir.program import Bounds
from porcini.langs.flat import PointSystem

SEEDS = range(60)
MOST = 400


def unfolded_system(kind: str, seed: int, optimise: bool) -> PointSystem:
    program = KINDS[kind].draw(Random(seed))
    model = porcini.loads(program.text(), kind)
    found = model.compile(program.inputs(), optimise=optimise)
    assert isinstance(found, PointSystem)
    return found


def compare_graphs(system: PointSystem) -> bool:
    """Go through both graphs at once. False if the program cannot be unfolded."""
    graph = system.state_graph()
    if not isinstance(graph, UnfoldedGraph):
        return False
    flat, flat_state = SystemGraph(graph.unfolding.flat), graph.unfolding.flat_state
    pairs = {graph.initial(): flat_state(graph.initial())}
    assert pairs[graph.initial()] == flat.initial()
    todo = list(pairs)
    while todo and len(pairs) < MOST:
        state = todo.pop()
        here = pairs[state]
        after = graph.successors(state)
        wanted = flat.successors(here)
        assert len(after) == len(wanted)
        assert sorted(map(hash, map(flat_state, after))) == sorted(map(hash, wanted))
        assert {flat_state(each) for each in after} == set(wanted)
        assert graph.final(state) == flat.final(here)
        for each in after:
            if each not in pairs:
                pairs[each] = flat_state(each)
                todo.append(each)
                assert flat.fire(here, _action(flat, here, graph.events_between(state, each)[0]))[0] == pairs[each]
    assert len(set(pairs.values())) == len(pairs)
    assert set(graph.failures) == set(flat.failures) or len(pairs) >= MOST
    return True


def _action(flat: SystemGraph, state: object, event: object):
    return next(action for action in flat.system.actions(state) if action.move == event.move)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["gcl", "par"])
def test_the_same_graph(kind: str, seed: int) -> None:
    compare_graphs(unfolded_system(kind, seed, bool(seed % 2)))


@pytest.mark.parametrize("kind", ["gcl", "par"])
def test_most_programs_are_packed(kind: str) -> None:
    packed = [unfolded_system(kind, seed, True).structure == "packed" for seed in SEEDS]
    assert sum(packed) > len(packed) / 2


def test_numbers_that_outgrow_their_bits() -> None:
    """They end a search of packed states, which begins again with flat ones."""
    large = 1 << 70
    source = f"x |-> 1, y |-> 0, x < {large} |>* x := 2 * x; x > 1 |> y := 1 / (x - {large})"
    model = porcini.loads(source)
    with pytest.raises(Restart):
        compare_graphs(model.compile({}, optimise=True))
    report = porcini.check(model)
    assert report.verdict == "violated" and report.counts.states == 73
    assert [outcome.kind for outcome in report.outcomes] == ["error"]
    for reduction in ("none", "ample", "stubborn"):
        found = porcini.check(model, ltl=f"[] (x < {large})", options=Options(reduction=reduction))
        assert found.verdict == "violated"
        assert porcini.check(model, ltl="[] (x > 0)", options=Options(reduction=reduction)).verdict == "holds"


LIKE_FLAT = {
    "two children of one name": """
        x |-> 0, True |> x := 0; spawn(True |> x := 1) <| x == 0 |> spawn(True |> x := 2)""",
    "a child of a child": """
        x |-> 0, {y |-> 3, True |> spawn({z |-> 4, True |> spawn(True |> x := x + y + z)})}""",
    "a copy that changes": """
        x |-> 0, {y |-> 3, True |> spawn(True |> y := y + 1; True |> x := y); True |> y := 7}""",
    "a guard without a value": """
        x |-> 0, True |> spawn(x := 5 <| 1 / x == 1 |> x := 6); True |> x := 1; True |> x := 2""",
    "an array that is copied": """
        a |-> [1, 2], {
            b |-> [3, 4],
            True |> spawn(b[a[0]] == 4 |> a[1] := b[0]; True |> b[0] := 7); True |> b[1] := 0
        }""",
    "nothing to do": "x |-> 0, True |> spawn(skip); True |> x := 1",
    "the end of a loop": """
        x |-> 0, x < 3 |>* (True |> x := x + 1; x > 0 |> x := x + 1); True |> spawn(True |> x := 9)""",
}


@pytest.mark.parametrize("source", LIKE_FLAT.values(), ids=LIKE_FLAT)
def test_like_flat_states(source: str) -> None:
    for optimise in (False, True):
        assert compare_graphs(porcini.loads(source).compile({}, optimise=optimise))


@pytest.mark.parametrize(
    "source",
    [
        "x |-> 0, x < 3 |>* (True |> x := x + 1; True |> spawn(True |> x := 0))",  # in a loop
        "x |-> 0, proc p { x < 3 |> p() } True |> p()",  # itself
        "x |-> 18446744073709551616, True |> x := 1",  # too large
        "x |-> 0, spawn(True |> x := 1) <| x == 0 |> x := 2; True |> spawn(True |> x := 3)",  # which child is it?
    ],
)
def test_what_stays_flat(source: str) -> None:
    assert porcini.loads(source).compile({}, optimise=True).structure == "processes"


@pytest.mark.parametrize("kind", ["gcl", "par"])
def test_native_code_has_the_same_states(kind: str) -> None:
    """In breadth, one worker searches exactly what the reference searches, reduced or not."""
    for seed in SEEDS[::6]:
        system = unfolded_system(kind, seed, True)
        if system.structure == "packed":
            for reduction in ("none", "stubborn"):
                counts = [
                    searched(system, Options(reduction=reduction, machine=machine, search="bfs", workers=1))
                    for machine in ("python", "native")
                ]
                assert counts[0] == counts[1]


def searched(system: PointSystem, options: Options) -> tuple[object, ...]:
    stats = SearchStats(Limits(max_states=20_000))
    stats.explore(lambda stats: GRAPH(system, stats, options))
    if stats.stopped == "limit":
        return ("too large",)
    steps = stats.counts.events if options.reduction == "none" else None  # a state may be expanded twice
    return stats.counts.states, steps, [(o.kind, o.state, o.executions) for o in stats.outcomes]


@pytest.mark.parametrize("kind", ["gcl", "par"])
def test_formulas_under_fairness(kind: str) -> None:
    """Fair or not, a formula has the verdict that it has on flat states."""
    for seed in SEEDS[::4]:
        program = KINDS[kind].draw(Random(seed))
        model = porcini.loads(program.text(), kind)
        random = Random(seed)
        ends = porcini.explore(
            model, engine="random", inputs=program.inputs(), limits=Limits(max_executions=2)
        ).outcomes
        numbers = sorted(
            {(name, value) for end in ends for name, value in end.state.items() if type(value) is int}
        )
        for name, value in random.sample(numbers, min(1, len(numbers))):
            for formula in (f"<> ({name} == {value})", f"<> [] ({name} == {value})"):
                assert len({verdict_on(model, program.inputs(), formula, packed) for packed in (True, False)}) == 1


def verdict_on(model: porcini.Model, inputs: dict[str, int], formula: str, packed: bool) -> str:
    with pytest.MonkeyPatch.context() as patched:
        if not packed:
            patched.setattr(unfolded, "unfold", lambda program: None)
        limits, options = Limits(max_states=2_000), Options(fair=True)
        report = porcini.check(model, ltl=formula, inputs=inputs, limits=limits, options=options)
    return report.verdict if report.stopped != "limit" else "unknown"


# Mutants: what the header of `unfolding` relies on, left out.


def differs(source: str) -> bool:
    try:
        compare_graphs(porcini.loads(source).compile({}, optimise=True))
    except AssertionError:
        return True
    return False


def test_mutant_that_does_not_wait_to_be_started(monkeypatch) -> None:
    real = unfolding._Rewriting._edge

    def at_once(self, edge, before, number, children):
        self.instance = replace(self.instance, flag=None)
        return real(self, edge, before, number, children)

    monkeypatch.setattr(unfolding._Rewriting, "_edge", at_once)
    assert differs(LIKE_FLAT["a copy that changes"])


def test_mutant_that_fails_once_for_each_edge(monkeypatch) -> None:
    real = unfolding._Rewriting._edge
    monkeypatch.setattr(unfolding._Rewriting, "_edge", lambda self, edge, before, *at: real(self, edge, (), *at))
    assert differs(LIKE_FLAT["a guard without a value"])


def test_mutant_that_forgets_what_a_process_was_given(monkeypatch) -> None:
    real = unfolding._Rewriting._block

    def forgetful(self, block, children):
        return (op for op in real(self, block, children) if not str(getattr(op, "target", "")).count("'#1."))

    monkeypatch.setattr(unfolding._Rewriting, "_block", forgetful)
    assert differs(LIKE_FLAT["a copy that changes"])


def test_mutant_that_wraps_around(monkeypatch) -> None:
    source = "x |-> 9223372036854775807, True |> x := x + 1; True |> x := x + 0"
    assert porcini.check(porcini.loads(source), ltl="[] (x > 0)").verdict == "holds"
    monkeypatch.setattr(unfolding, "UNBOUNDED", Bounds(64, signed=True))
    with pytest.raises(InternalError, match="no step leads"):
        porcini.check(porcini.loads(source), ltl="[] (x > 0)")
