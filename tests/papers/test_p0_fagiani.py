"""P0, "Inseguendo Fagiani Selvatici": every numbered example, every erratum, Theorems 8 and 15.

Numbers are those of the paper, re-computed by brute force; errata are numbered as in docs/papers.md.
"""

from __future__ import annotations

from itertools import permutations as orders

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from helpers import all_runs, class_of, followed, system_of
from porcini.core.events import Event
from porcini.core.footprints import footprint
from porcini.core.pids import Pid
from porcini.core.traces import Trace, independent, normal_form
from porcini.engines.fagiani import Permuter, compile_trace
from porcini.ir.evaluation import evaluate
from porcini.ir.expr import free
from porcini.ir.symbolic.paths import forward, path
from porcini.ir.text import show
from strategies import programs

VINEYARD = porcini.load("examples/gcl/vineyard.gcl")
THETA = {  # the four traces of Examples 5 and 10
    0: "0x2 0.1x9 0.0",
    1: "0x2 0.1x8 0.0 0.1",
    2: "0x2 0.1x7 0.0 0.1x2",
    3: "0x2 0.1x5 0.0 0.1x4",
}


def labels_of(number: int) -> list:
    """The labels of a trace of Example 10: a permutation of theta_0 that keeps each process's order."""
    trace, _ = followed(VINEYARD.system(), porcini.parse_schedule(THETA[0]))
    of = {pid: [e.label for e in trace if e.pid == pid] for pid in {e.pid for e in trace}}
    return [of[move.pid].pop(0) for move in porcini.parse_schedule(THETA[number])]


def explored(source: str) -> porcini.Report:
    return porcini.explore(porcini.loads(source), engine="exhaustive")


def test_example_2_independent_processes_are_one_class() -> None:
    report = explored("x |-> 1, y |-> 2, True |> spawn(True |> x := x + 1); True |> y := 3")
    assert report.verdict == "holds"
    assert (report.counts.executions, report.counts.classes) == (2, 1)
    assert dict(report.outcomes[0].state) == {"x": 2, "y": 3}


def test_example_3_interfering_processes_are_two_classes() -> None:
    report = explored("x |-> 1, True |> spawn(True |> x := x + 1); True |> x := 3")
    assert report.counts.classes == 2
    assert {o.state["x"] for o in report.outcomes} == {3, 4}


def test_example_5_counts_and_outcomes() -> None:
    report = porcini.explore(VINEYARD, engine="exhaustive")
    assert (report.counts.executions, report.counts.classes) == (7, 5)
    assert porcini.explore(VINEYARD).counts.executions == 5
    assert {tuple(o.state.items()) for o in report.outcomes} == {
        (("flag", True), ("x", x), ("y", 1)) for x in (2, 3, 4, 5)
    }


def test_example_5_the_labels_of_theta_0() -> None:
    choice = ["flag |> x := x + 2", "flag := not flag", "not flag |> x := x - 1", "flag := not flag"]
    assert [str(label) for label in labels_of(0)] == [
        "spawn(0.0)",
        "spawn(0.1)",
        *choice,
        *choice,
        "y := y + 1",
        "x == 0 or flag |> x := 2 * x",
    ]


def test_example_5_permuted() -> None:
    report = porcini.permute(VINEYARD, schedule=THETA[0])
    assert len(report.traces) == 5
    assert sorted(entry.state["x"] for entry in report.traces) == [2, 3, 4, 4, 5]
    assert {entry.path for entry in report.traces} == {"flag"}


@pytest.mark.parametrize("number, condition", [(0, "flag"), (1, "flag"), (2, "flag and x == -2"), (3, "flag")])
def test_examples_7_and_11_path_conditions(number: int, condition: str) -> None:
    assert show(path(labels_of(number))) == condition
    assert show(forward(labels_of(number))[0]) == condition


def test_example_10_equivalence() -> None:
    system = VINEYARD.system()
    forms = {n: class_of(followed(system, porcini.parse_schedule(THETA[n]))[0]) for n in (0, 1, 3)}
    assert forms[0] == forms[1] != forms[3]


def test_example_11_final_state_of_theta_3_and_theta_2_is_not_executable() -> None:
    assert porcini.replay(VINEYARD, THETA[3]).outcomes[0].state["x"] == 5
    with pytest.raises(porcini.ScheduleError, match=r"step 10: process 0\.0 is blocked"):
        porcini.replay(VINEYARD, THETA[2])


def test_example_11_theta_2_is_executable_where_its_path_condition_says() -> None:
    minus_two = porcini.loads(VINEYARD.source.replace("x |-> 0", "x |-> -2"))
    assert porcini.replay(minus_two, THETA[2]).outcomes[0].kind == "terminated"


# Errata


def def_12(trace: list[Event]) -> list[Event]:
    """P0's Def. 12 as printed: swap adjacent commuting labels that are out of order."""
    if len(trace) < 2:
        return trace
    *rest, one, two = trace
    if not independent(one, two) or one.pid < two.pid:
        return [*def_12([*rest, one]), two]
    return def_12([*def_12([*rest, two]), one])


def test_erratum_1_def_12_is_no_normal_form() -> None:
    """Label 3 writes v, label 1 reads v, label 2 is independent of both: 2.3.1 and 3.1.2 are equivalent."""
    reads, other, writes = (
        Event(Pid((n,)), 0, f"l{n}", foot)
        for n, foot in [(1, footprint(["v"])), (2, footprint(writes=["w"])), (3, footprint(writes=["v"]))]
    )
    one, two = [other, writes, reads], [writes, reads, other]
    assert def_12(one) == one and def_12(two) == two
    assert normal_form(one) == normal_form(two)


def test_erratum_1_two_classes_are_listed_twice() -> None:
    """The authors' prototype returns 3 traces for the two classes of x:=1 || y:=1 || x:=2."""
    source = "x |-> 0, y |-> 0, True |> spawn(True |> x := 1); True |> spawn(True |> y := 1); True |> x := 2"
    report = porcini.permute(porcini.loads(source))
    assert len(report.traces) == 2 == explored(source).counts.classes


def test_erratum_2_leaving_a_loop_reads_its_guard() -> None:
    """With an empty label for the exit, leaving before `x := 1` would be thought to be executable."""
    model = porcini.loads("x |-> 0, y |-> 0, True |> spawn(x == 0 |>* y := y + 1); True |> x := 1")
    report = porcini.permute(model, schedule="0x2 0.0")
    assert [entry.labels for entry in report.traces] == [("spawn(0.0)", "x := 1", "not x == 0 |> skip")]
    leaving = report.outcomes[0].trace[-1]
    assert leaving.footprint == footprint(["x"])


def test_erratum_3_the_else_branch_waits_for_the_outer_guard() -> None:
    """`not (e1 and e2)` would run the else branch at once; the guard of the whole must hold first."""
    report = explored("e |-> false, x |-> 0, e |> (x := 1 <| x == 0 |> x := 2)")
    assert [(o.kind, o.state["x"]) for o in report.outcomes] == [("deadlock", 0)]
    assert report.outcomes[0].waiting[0].guard == "e"
    source = "e |-> true, x |-> 7, e |> (x := 1 <| x == 0 |> x := 2)"
    (label,) = [str(e.label) for e in all_runs(system_of(source))[0][0]]
    assert label == "e and not x == 0 |> x := 2"


def test_erratum_4_locals_keep_their_meaning_when_a_trace_is_permuted() -> None:
    """The local reads x before or after x := 5: with its concrete value in the label, the later label lies."""
    source = "x |-> 1, y |-> 0, True |> spawn({i |-> 0, True |> i := x; True |> y := i}); True |> x := 5"
    report = porcini.permute(porcini.loads(source))
    assert {entry.state["y"] for entry in report.traces} == {1, 5}
    assert all("y := i" in entry.labels for entry in report.traces)


def test_erratum_5_a_process_has_one_name_in_every_schedule() -> None:
    source = "x |-> 0, True |> spawn(True |> spawn(True |> x := 1)); True |> spawn(True |> x := 2)"
    names = {frozenset(event.pid for event in trace) for trace, _, _ in all_runs(system_of(source))}
    assert names == {frozenset(map(Pid.parse, ["0", "0.0", "0.0.0", "0.1"]))}


# Theorems


def compiled(trace: Trace, after, store: dict):
    return compile_trace([e.label for e in trace], [a.label for a in after.actions()], store, [Pid((0,))])


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(0, 5), st.data())
def test_theorem_8_path_conditions_are_exact(source: str, seed: int, data) -> None:
    """A trace runs from a store exactly if its path condition holds there, backwards and forwards alike."""
    system = system_of(source)
    report = porcini.run(porcini.loads(source), seed=seed)
    trace, _ = followed(system, report.outcomes[0].schedule)
    run = system.start()
    for event in trace:
        run.step(next(a for a in run.actions() if a.move == event.move))
    store = system.store_before(run.slots)
    labels = [event.label for event in trace]
    backwards, (forwards, final) = path(labels), forward(labels)
    assert evaluate(backwards, store) is True and evaluate(forwards, store) is True
    for name in store:
        value = store[name]
        if isinstance(value, tuple):
            store[name] = data.draw(st.tuples(*[st.integers(-2, 3)] * len(value)))
        else:
            store[name] = data.draw(st.booleans() if isinstance(value, bool) else st.integers(-2, 3))
    recorded = compiled(trace, run, store)
    reached = straight_line(recorded, trace)
    assert evaluate(backwards, store) == evaluate(forwards, store) == (reached is not None)
    if reached is not None:
        for variable, value in final.items():
            assert all(v.name in store for v in free(value))
            assert evaluate(value, store) == recorded.value(reached, variable.name)


def straight_line(recorded, trace: Trace):
    """g(theta): the labels one after another, or None where one cannot be taken."""
    taken, store = [0] * len(recorded.pids), recorded.store
    for event in trace:
        process = recorded.pids.index(event.pid)
        store = recorded.steps[process][taken[process]].fire(store)
        if store is None:
            return None
        taken[process] += 1
    return store


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(processes=2, events=4), st.integers(0, 3))
def test_theorem_15_and_algorithm_1(source: str, seed: int) -> None:
    """All local-order-preserving permutations whose path condition holds, by brute force, up to equivalence."""
    model = porcini.loads(source)
    system = model.system()
    report = porcini.permute(model, seed=seed)
    trace, state = followed(system, report.traces[0].schedule)
    if len(trace) > 6:
        return
    store = system.store_before(state)
    classes = set()
    for order in orders(range(len(trace))):
        moved = [trace[i] for i in order]
        if not well_formed(moved, trace) or evaluate(path([e.label for e in moved]), store) is not True:
            continue
        again, _ = followed(system, tuple(e.move for e in moved))  # Theorem 15: the program can do it
        assert [e.label for e in again] == [e.label for e in moved]
        classes.add(class_of(again))
    assert classes == {class_of(followed(system, entry.schedule)[0]) for entry in report.traces}
    assert len(classes) == len(report.traces)


def well_formed(moved: list[Event], trace: Trace) -> bool:
    """Local order kept, and nobody moves before being spawned (Def. 14)."""
    active, left = {Pid((0,))}, {}
    for event in trace:
        left.setdefault(event.pid, []).append(event)
    for event in moved:
        if event.pid not in active or left[event.pid].pop(0) is not event:
            return False
        active |= set(event.spawned)
    return True


def test_the_permuter_visits_no_more_prefixes_than_algorithm_1() -> None:
    """Independent processes: one path, though there are (m+1)^k prefixes up to equivalence."""
    source = "x |-> 0, y |-> 0, z |-> 0," + ";".join(
        f"True |> spawn({'; '.join([f'True |> {v} := {v} + 1'] * 5)})" for v in "xyz"
    )
    system = system_of(source)
    trace, state = followed(system, porcini.run(porcini.loads(source)).outcomes[0].schedule)
    recorded = compile_trace([e.label for e in trace], [], system.store_before(state), [Pid((0,))])
    ticks: list[int] = []
    assert len(list(Permuter(recorded, lambda: ticks.append(1)).permutations())) == 1
    assert len(ticks) == len(trace) == 18
