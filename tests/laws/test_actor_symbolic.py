"""Actors on symbols against brute force: for each input in a small range, run every order and see."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import porcini
from actor_strategies import actor_programs
from porcini import Limits
from porcini.commands.all_inputs import explore_symbolically
from porcini.commands.cases import replay_cases
from porcini.core.errors import InputError, ScheduleError
from porcini.core.footprints import EMPTY
from porcini.engines.stats import SearchStats
from porcini.ir.evaluation import evaluate
from porcini.ir.expr import Datum, Expr
from porcini.ir.tasks import labels as step_labels
from porcini.ir.tasks import values as step_values
from porcini.ir.tasks.symbolic import SymbolicActors
from porcini.ir.tasks.values import Evaluation
from strategies import PROGRAMS

SOME = settings(max_examples=max(PROGRAMS // 80, 5), deadline=None, suppress_health_check=list(HealthCheck))
RANGE = {"int": range(-2, 4), "bool": (False, True)}
MOST = 150
"""Runs for one input, and paths for all; programs with more are left out."""


def at(value: Expr, inputs: dict[str, Any]) -> Any:
    return value.value if isinstance(value, Datum) else evaluate(value, inputs)


def agrees_with_brute_force(source: str, *, equivalence: str = "syntactic", reduced: bool = True) -> bool:
    """The condition says exactly for which inputs the order matters; each path's says exactly who takes it."""
    model = porcini.loads(source, "abs")
    stats = SearchStats(Limits(max_executions=MOST, timeout=20))
    found = explore_symbolically(model, stats, equivalence=equivalence, reduced=reduced)
    if stats.stopped != "exhausted":
        return False
    for values in product(*(RANGE[type_] for type_ in model.inputs.values())):
        given_ = dict(zip(model.inputs, values, strict=True))
        report = porcini.explore(model, inputs=given_, limits=Limits(max_executions=MOST))
        if report.stopped != "exhausted":
            return False
        ends = {(outcome.kind, str(dict(outcome.state))) for outcome in report.outcomes}
        assert bool(evaluate(found.condition, given_)) == (len(ends) > 1), given_
        taken = [path for path in found.paths if evaluate(path.condition, given_)]
        seen = {
            (path.kind, str({name: at(value, given_) for name, value in found.observed(path).items()}))
            for path in taken
        }
        assert seen == ends, given_
        if equivalence == "syntactic" and reduced:
            assert len(taken) == report.counts.classes, given_
    for path in found.paths:
        assert path.input is not None and evaluate(path.condition, path.input)
        again = porcini.replay(model, path.schedule, inputs=path.input).outcomes[0]
        assert again.kind == path.kind
    return True


@SOME
@given(actor_programs(inputs=True))
def test_generated_programs(source: str) -> None:
    agrees_with_brute_force(source)


@settings(SOME, max_examples=max(PROGRAMS // 500, 1))
@given(actor_programs(inputs=True))
def test_other_equivalences_and_none(source: str) -> None:
    for equivalence in ("semantic", "traces"):
        agrees_with_brute_force(source, equivalence=equivalence)
    agrees_with_brute_force(source, reduced=False)


# Programs in which each part of it matters, and executions without that part

HEAD = "def Int n() = 3; def Bool p() = True;\ninterface I { Int a(Int n); Int b(Int n); Int c(I o); }\n"
COUNTER = HEAD + (
    "class C implements I { Int x = 1; Int a(Int k) { x = x + k; return x; }"
    " Int b(Int k) { if (x > 2 && p()) { x = 2 * x; } return k; } Int c(I o) { return 0; } }\n"
    "{ I o = new C(); o!a(n()); o!b(1); }"
)
FAILS = HEAD + (
    "class C implements I { Int x = 1; Int a(Int k) { x = x + k; return x; }"
    " Int b(Int k) { Int y = div(10, x); assert y < 7; x = case y { 5 => 1; 2 => 2; -3 => 3; }; return k; }"
    " Int c(I o) { return 0; } }\n"
    "{ I o = new C(); o!a(n()); o!b(1); }"
)
WAITS = HEAD + (
    "class C implements I { Int x = 0; Int a(Int k) { x = x + k; return x; }"
    " Int b(Int k) { await x > k; x = x - 1; return k; }"
    " Int c(I o) { Fut<Int> f = o!b(n()); Int y = f.get; x = x + y; return x; } }\n"
    "{ I o = new C(); I q = new C(); q!c(o); o!a(2); q!a(n()); }"
)
LOOPS = HEAD + (
    "class C implements I { Int x = 0; Int a(Int k) { x = x + k; return x; }"
    " Int b(Int k) { Int i = 0; while (i < k && i < 3) { i = i + 1; this!a(i); } return k; }"
    " Int c(I o) { x = 2 * x; return 0; } }\n"
    "{ I o = new C(); o!b(n()); o!c(o); }"
)
PARTS = [COUNTER, FAILS, WAITS, LOOPS]


def laws_hold() -> None:
    for source in PARTS:
        assert agrees_with_brute_force(source)


def test_the_laws_hold_without_a_mutant() -> None:
    laws_hold()


def test_following_one_way_only_is_caught(monkeypatch) -> None:
    real = Evaluation._fork

    def fork(self: Evaluation, here: Expr) -> bool:
        taken = real(self, here)
        self.others.clear()
        return taken

    monkeypatch.setattr(Evaluation, "_fork", fork)
    with pytest.raises((AssertionError, ScheduleError)):
        laws_hold()


def test_forgetting_that_others_interfere_is_caught(monkeypatch) -> None:
    monkeypatch.setattr(SymbolicActors, "now", lambda self, state, pid: EMPTY)
    monkeypatch.setattr(SymbolicActors, "later", lambda self, state, pid: EMPTY)
    with pytest.raises(AssertionError):
        laws_hold()


def test_taking_what_was_cut_for_an_end_is_caught(monkeypatch) -> None:
    real = SymbolicActors.kind

    def kind(self: SymbolicActors, state: Any) -> Any:
        found = real(self, state)
        return "terminated" if found == "unfinished" else found

    monkeypatch.setattr(step_values, "MOST_FORKS", 1)
    monkeypatch.setattr(SymbolicActors, "kind", kind)
    with pytest.raises(AssertionError):
        laws_hold()


# What it says

ENDLESS = HEAD + (
    "class C implements I { Int x = 0; Int a(Int k) { while (x < k) { x = x + 1; } return x; }"
    " Int b(Int k) { return 0; } Int c(I o) { return 0; } }\n{ I o = new C(); o!a(n()); }"
)


def test_a_loop_without_end_is_never_an_answer() -> None:
    report = porcini.symbolic(porcini.loads(ENDLESS, "abs"))
    assert report.verdict == "unknown" and report.limit == "a loop within one step whose end depends on the inputs"
    assert {"terminated", "unfinished"} == {entry.kind for entry in report.traces}
    assert "paths cut in a loop whose end depends on the inputs: 1" in report.notes


@pytest.mark.parametrize(
    "statement",
    [
        "List<Int> l = Cons(k, Nil);",
        "List<Int> l = list[1, 2, 3, 4]; x = nth(l, k);",
        'String s = "x" + toString(k);',
        "Rat r = k / 2;",
    ],
)
def test_what_leaves_numbers_and_booleans_is_refused(statement: str) -> None:
    source = HEAD + (
        "class C implements I { Int x = 0;\n"
        f"    Int a(Int k) {{ {statement} return x; }}\n"
        "    Int b(Int k) { return 0; } Int c(I o) { return 0; } }\n{ I o = new C(); o!a(n()); }"
    )
    with pytest.raises(InputError, match="`symbolic` follows integers and booleans only") as problem:
        porcini.symbolic(porcini.loads(source, "abs", "lists.abs"))
    assert problem.value.file == "lists.abs" and problem.value.place is not None
    assert problem.value.place.line == 4
    assert porcini.explore(porcini.loads(source, "abs")).verdict == "holds"


def test_conditions_and_cases() -> None:
    model = porcini.loads(COUNTER, "abs")
    report = porcini.symbolic(model, with_cases=True)
    assert report.condition in ("p and n >= 2", "n >= 2 and p")
    assert report.counterexample is not None and not replay_cases(model, report.cases or ())[1]
    assert {name for entry in report.traces for name in entry.state} == {"0.0.x"}


def test_what_is_observed() -> None:
    source = FAILS.replace("Int x = 1;", "Int x = 1; Int z = 0;")
    report = porcini.symbolic(porcini.loads(source, "abs"), observe=["z"])
    assert {tuple(entry.state) for entry in report.traces} == {("0.0.z",)}
    kinds = {entry.kind: entry for entry in report.traces}
    assert kinds.keys() == {"terminated", "assertion", "error"}


def test_too_many_ways_through_one_step_are_never_an_answer(monkeypatch) -> None:
    monkeypatch.setattr(step_labels, "MOST_WAYS", 1)
    report = porcini.symbolic(porcini.loads(COUNTER, "abs"))
    assert (report.verdict, report.limit) == ("unknown", "the limit of 1 ways through one step")
