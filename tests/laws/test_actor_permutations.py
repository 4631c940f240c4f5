"""Recorded runs of actors as formulas: what they say can be done in other orders, against what can be done."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from actor_strategies import actor_programs
from helpers import Collecting, all_runs, class_of
from porcini import Limits
from porcini.core.errors import InternalError, ScheduleError
from porcini.core.traces import Trace
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.permuting import Permuting
from porcini.engines.replaying import follow, run_freely
from porcini.engines.stats import SearchStats
from porcini.ir.evaluation import evaluate
from porcini.ir.symbolic.paths import path
from porcini.ir.tasks.labels import StepLabels
from porcini.ir.tasks.names import Codes, Vocabulary
from porcini.ir.tasks.paths import Walk
from porcini.ir.tasks.system import StepSystem
from porcini.ir.tasks.values import Evaluation
from porcini.langs.actors.library import MapValue, Tag
from strategies import PROGRAMS

SOME = settings(max_examples=max(PROGRAMS // 25, 10), deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(SOME, max_examples=max(PROGRAMS // 40, 10))
LONGEST = 7
MOST = 200


def system_of(source: str) -> StepSystem:
    return porcini.loads(source, "abs").system()


def other_orders(system: StepSystem, trace: Trace) -> Iterator[tuple[Trace, Any]]:
    """Every run in which each process moves as often as it did in another one, as far as the program does that."""
    runs = [((), system.start())]
    wanted = Counter(event.pid for event in trace)
    while runs:
        events, run = runs.pop()
        left = wanted - Counter(event.pid for event in events)
        if not left:
            yield Trace(events), run
        for action in run.actions():
            if action.enabled and left[action.pid]:
                after = run.fork()
                runs.append(((*events, after.step(action)), after))


def steps_of_each(labels: Any) -> dict[Any, list[Any]]:
    steps: dict[Any, list[Any]] = {}
    for label in labels:
        steps.setdefault(label.pid, []).append(label)
    return steps


def permutations_are_exact(source: str, seed: int = 0) -> None:
    """The classes that `permute` lists are those of all runs in which each task takes the same steps; each ends as
    the program ends there."""
    system = system_of(source)
    recorded = run_freely(system, (), Random(seed), Limits(max_depth=LONGEST))
    if recorded.limit is not None:
        return
    labelled = system.label_run(recorded.trace, recorded.run)
    labels = steps_of_each(labelled.labels)
    permuting = Permuting(labelled, SearchStats())
    permuting.search()
    wanted = {}
    for trace, run in other_orders(system, recorded.trace):
        if steps_of_each(system.label_run(trace, run).labels) == labels:
            kind = "unfinished" if any(action.enabled for action in run.actions()) else run.final().kind
            wanted[class_of(trace)] = kind, dict(run.final().state)
    found = {}
    for entry in permuting.entries:
        run = system.start()
        try:
            trace = Trace(follow(run, entry.schedule))
        except ScheduleError as problem:
            raise AssertionError(f"{entry.schedule} is not executable") from problem
        assert run.final().state == entry.state
        found[class_of(trace)] = entry.kind, dict(entry.state)
        assert "n" in entry.path or "p" in entry.path or entry.path == "True"
    assert found == wanted
    assert len(found) == len(permuting.entries), "a class was listed twice"


def all_classes_are_found(source: str) -> None:
    """`fagiani` finds the classes and outcomes of `exhaustive`, each class once."""
    system = system_of(source)
    runs = all_runs(system, MOST)
    if runs is None:
        return
    stats = Collecting()
    ENGINES["fagiani"](system, stats, Options())
    ends = {(final.kind, str(final.state)) for _, final, _ in runs}
    assert {(final.kind, str(final.state)) for _, final, _ in stats.runs} == ends
    classes = {class_of(trace) for trace, _, _ in runs}
    assert stats.counts.classes == len(classes)
    assert {class_of(Trace(follow(system.start(), trace.schedule))) for trace, _, _ in stats.runs} == classes


@SOME
@given(actor_programs(), st.integers(0, 5))
def test_permutations_are_exact(source: str, seed: int) -> None:
    permutations_are_exact(source, seed)


def paths_say_for_which_inputs(source: str) -> None:
    """With any input for which the path condition of a permutation holds, the program can do it, step by step."""
    model = porcini.loads(source, "abs")
    report = porcini.permute(model, limits=Limits(max_executions=10, max_depth=20))
    for entry in report.traces or ():
        system = model.system()
        run = system.start()
        steps = follow(run, entry.schedule)
        labelled = system.label_run(steps, run)
        for n, p in product(range(-2, 4), (False, True)):
            if not evaluate(path(labelled.labels), {**labelled.before, "n": n, "p": p}):
                assert (n, p) != (1, True), "the input that was given"
                continue
            again = follow(model.system({"n": n, "p": p}).start(), entry.schedule)
            assert [e.footprint for e in again] == [e.footprint for e in steps]
            assert [e.spawned for e in again] == [e.spawned for e in steps]


@FEW
@given(actor_programs(inputs=True))
def test_paths_say_for_which_inputs(source: str) -> None:
    paths_say_for_which_inputs(source)


@FEW
@given(actor_programs(inputs=True), st.integers(0, 5))
def test_permutations_with_inputs_are_exact(source: str, seed: int) -> None:
    permutations_are_exact(source, seed)


@SOME
@given(actor_programs())
def test_all_classes_are_found(source: str) -> None:
    all_classes_are_found(source)


# Programs in which each part of a label matters, and labels without that part

HEAD = "interface I { Int a(Int n); Int b(Int n); Int c(I o); }\n"
COUNTER = HEAD + (
    "class C implements I { Int x = 1; Int y = 2;"
    " Int a(Int n) { x = x + n; return x; } Int b(Int n) { x = 2 * x; return n; } Int c(I o) { return 0; } }\n"
    "{ I o = new C(); o!a(3); o!b(1); }"
)
BRANCH = HEAD + (
    "class C implements I { Int x = 1; Int y = 2;"
    " Int a(Int n) { x = x + n; return x; } Int b(Int n) { if (x > 1) { y = 5; } return n; }"
    " Int c(I o) { return 0; } }\n"
    "{ I o = new C(); o!a(3); o!b(1); }"
)
LIST = HEAD + (
    "class C implements I { Int x = 1; List<Int> log = Nil;"
    " Int a(Int n) { log = Cons(n, log); return n; } Int b(Int n) { x = length(log); return x; }"
    " Int c(I o) { return 0; } }\n"
    "{ I o = new C(); o!a(3); o!b(1); }"
)
NUMBER = HEAD + (
    "class C implements I { Int x = 1; List<Int> log = Nil;"
    " Int a(Int n) { x = x + n; return n; } Int b(Int n) { log = Cons(x, log); return x; }"
    " Int c(I o) { return 0; } }\n"
    "{ I o = new C(); o!a(3); o!b(1); }"
)
PEER = HEAD + (
    "class C implements I { I peer = null; Int x = 0;"
    " Int a(Int n) { x = x + n; return x; } Int b(Int n) { peer!a(n); return n; }"
    " Int c(I o) { peer = o; return 0; } }\n"
    "{ I o = new C(); I p = new C(); I q = new C(); o!c(p); o!c(q); o!b(1); }"
)
SWAP = HEAD + (
    "class C implements I { Int x = 1; Int y = 2;"
    " Int a(Int n) { Int t = x; x = y; y = t; return n; } Int b(Int n) { x = 10 * x + y; return n; }"
    " Int c(I o) { return 0; } }\n"
    "{ I o = new C(); o!a(3); o!b(1); o!a(1); }"
)
BLOCKS = HEAD + (
    "class C implements I { Int x = 1;"
    " Int a(Int n) { x = x + n; return x; } Int b(Int n) { x = 10 * x; return x; }"
    " Int c(I o) { Fut<Int> f = o!b(1); Int y = f.get; x = x + y; return x; } }\n"
    "{ I o = new C(); I p = new C(); o!c(p); o!a(2); p!a(1); }"
)
GUARD = HEAD + (
    "class C implements I { Int x = 0; Int y = 0; List<Int> log = Nil;"
    " Int a(Int n) { log = Cons(n, log); return x; } Int b(Int n) { await length(log) > n; x = 7; return x; }"
    " Int c(I o) { await x > 0; y = 1; return 0; } }\n"
    "{ I o = new C(); o!a(3); o!a(4); o!b(1); o!b(0); o!c(o); }"
)
FUTURE = HEAD + (
    "class C implements I { Int x = 0; Fut<Int> kept;"
    " Int a(Int n) { x = n; return n; } Int b(Int n) { if (kept != null) { await kept?; x = x + 1; } return x; }"
    " Int c(I o) { kept = o!a(5); return 0; } }\n"
    "{ I o = new C(); I p = new C(); o!c(p); o!b(1); o!c(p); }"
)
PARTS = [COUNTER, BRANCH, LIST, NUMBER, PEER, SWAP, BLOCKS, GUARD, FUTURE]


def laws_hold() -> None:
    for source in PARTS:
        for seed in range(3):
            permutations_are_exact(source, seed)
        all_classes_are_found(source)


def test_the_laws_hold_without_a_mutant() -> None:
    laws_hold()


def forget_values(self: Evaluation, named: Any) -> Any:
    before = dict(self.tests)
    value = READ(self, named)
    self.tests = before
    return value


def forget_conditions(self: Evaluation, test: Any) -> bool:
    before = dict(self.tests)
    value = DECIDE(self, test)
    self.tests = before
    return value


def forget_settled(self: Evaluation, value: Any) -> Any:
    before = dict(self.tests)
    value = SETTLE(self, value)
    self.tests = before
    return value


def never_able(self: StepLabels, state: Any, pid: Any) -> Callable[[Any], bool]:
    return lambda value_of: False


READ, DECIDE, SETTLE = Evaluation.read, Evaluation.decide, Evaluation.settle


MUTANTS = [
    (Evaluation, "read", forget_values),
    (Evaluation, "decide", forget_conditions),
    (Evaluation, "settle", forget_settled),
    (StepLabels, "_can_move", never_able),
]


@pytest.mark.parametrize(("where", "name", "mutant"), MUTANTS, ids=lambda part: getattr(part, "__name__", part))
def test_forgetting_a_part_of_a_label_is_caught(monkeypatch, where, name, mutant) -> None:
    monkeypatch.setattr(where, name, mutant)
    with pytest.raises(AssertionError):
        laws_hold()


def test_assigning_one_after_the_other_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(Vocabulary, "saved", lambda self, task, variable: variable)
    with pytest.raises(AssertionError):
        laws_hold()


def test_forgetting_that_a_group_is_busy_is_caught(monkeypatch) -> None:
    real = Walk.is_ready

    def ready(self: Walk) -> bool:
        before = dict(self.tests)
        holds = real(self)
        self.tests = {test: None for test in self.tests if test in before or "!" not in str(test)}
        return holds

    monkeypatch.setattr(Walk, "is_ready", ready)
    with pytest.raises(AssertionError):
        laws_hold()


def test_forgetting_what_a_step_touches_is_caught(monkeypatch) -> None:
    monkeypatch.setattr("porcini.ir.tasks.paths.touch", lambda *rest: None)
    with pytest.raises(InternalError, match="formulas say otherwise"):
        laws_hold()


def test_steps_that_only_find_other_numbers_are_the_same_steps() -> None:
    """Both orders of `x = x + 3` and `x = 2 * x` are permutations of one run."""
    report = porcini.permute(porcini.loads(COUNTER, "abs"))
    assert report.verdict == "violated" and {entry.state["0.0.x"] for entry in report.traces} == {5, 8}
    assert {entry.labels for entry in report.traces} == {
        ("main", "0.0.a(n)", "0.0.b(n)"),
        ("main", "0.0.b(n)", "0.0.a(n)"),
    }


def test_path_conditions_speak_of_inputs() -> None:
    model = porcini.load("examples/abs/tickets.abs")
    report = porcini.permute(model, schedule="0 0.3 0.3.0 0.3 0.3.1 0.4 0.4.0 0.4", inputs={"left": 4})
    assert [entry.path for entry in report.traces] == ["left >= 2 and left <= 4"]


def test_a_step_that_finds_another_list_is_another_step() -> None:
    report = porcini.permute(porcini.loads(LIST, "abs"), seeds=True)
    assert len(report.traces) == 1 and report.seeds


def test_a_run_without_formulas_within_the_limits_is_unknown() -> None:
    """A function of a number that changes is worked out step by step, which takes more room than calling it."""
    deep = sys.getrecursionlimit() // 3
    source = HEAD + (
        f"class C implements I {{ Int x = {deep}; Int a(Int n) {{ x = down(x); return x; }}"
        " Int b(Int n) { return 0; } Int c(I o) { return 0; } }\n{ I o = new C(); o!a(1); }"
    )
    model = porcini.loads("def Int down(Int k) = if k <= 0 then 0 else down(k - 1);\n" + source, "abs")
    report = porcini.permute(model)
    assert report.verdict == "unknown" and "nested calls" in (report.limit or "")


def test_values_that_python_holds_to_be_equal_have_codes_of_their_own() -> None:
    codes = Codes()
    values = [(), MapValue(), 1, True, (1,), (True,), frozenset({1}), frozenset({True}), ("Unit",), (Tag("Unit"),)]
    assert len({codes.of(value) for value in values}) == len(values)
    assert [codes.value(codes.of(value)) for value in values] == values
    assert codes.of(frozenset({2, 1})) == codes.of(frozenset({1, 2}))
