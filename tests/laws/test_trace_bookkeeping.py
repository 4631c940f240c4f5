"""Traces of Promela models and of actors: formulas with book-keeping, choices, queues and codes.

the law            `permute --trace` says of a recorded run what `permute` says of the program
what counts        formulas count unless they are book-keeping, and what a step is said to touch counts in any case
mutants            each part of what is written is needed
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from actor_strategies import actor_programs
from conformance.actors import programs as wide_actors
from conformance.promela import programs as wide_promela
from laws.test_actor_permutations import HEAD as HEAD_OF_ACTORS
from laws.test_actor_permutations import PARTS
from laws.traces_alike import permuted_alike
from porcini.core.footprints import EMPTY, NOWHERE
from porcini.engines import recording
from porcini.engines.replaying import follow
from porcini.formats.traces import checking, formulas, writing
from porcini.ir.expr import FALSE, TRUE, conj, const, ite, not_, var
from porcini.ir.operations import Assign
from porcini.ir.packed.formulas.recorded import RecordedRuns
from porcini.ir.symbolic.formula_text import formula_of
from porcini.ir.symbolic.labels import Label
from porcini.ir.tasks import labels
from porcini.ir.tasks.guards import when_can_move
from promela_strategies import promela_models
from strategies import PROGRAMS

SOME = settings(max_examples=max(PROGRAMS // 20, 10), deadline=None, suppress_health_check=list(HealthCheck))
WIDE = max(PROGRAMS // 20, 10)
EXAMPLES = sorted(str(path) for kind in ("promela", "abs") for path in Path("examples", kind).iterdir())
ENDLESS = ("examples/abs/lock.abs", "examples/promela/mutex.pml")


# The law


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples(example: str, seed: int) -> None:
    assert permuted_alike(porcini.load(example), seed) == (example not in ENDLESS)


@pytest.mark.parametrize("example", ENDLESS)
def test_runs_that_were_stopped(tmp_path, example: str) -> None:
    """The program can do what is listed, and comes to the same state."""
    model, file = porcini.load(example), tmp_path / "run.jsonl"
    porcini.run(model, limits=porcini.Limits(max_depth=25), trace=file)
    report = porcini.permute_trace(file, limits=porcini.Limits(max_executions=50))
    assert report.trace.exact and len(report.traces) > 1
    for entry in report.traces:
        run = model.system().start()
        follow(run, entry.schedule)
        assert entry.kind == "unfinished" and run.final().state == entry.state


@SOME
@given(promela_models(processes=3, statements=8, endless=False), st.integers(0, 3))
def test_promela(source: str, seed: int) -> None:
    permuted_alike(porcini.loads(source, "pml"), seed)


@SOME
@given(actor_programs(), st.integers(0, 3))
def test_actors(source: str, seed: int) -> None:
    permuted_alike(porcini.loads(source, "abs"), seed)


@SOME
@given(actor_programs(inputs=True), st.integers(0, 3))
def test_actors_with_inputs(source: str, seed: int) -> None:
    permuted_alike(porcini.loads(source, "abs"), seed)


@pytest.mark.parametrize("language, generator", [("pml", wide_promela), ("abs", wide_actors)])
def test_wide_programs(language: str, generator: Any) -> None:
    checked = 0
    for number in range(WIDE):
        model = porcini.loads(generator.generate(Random(number)).text(), language)
        checked += permuted_alike(model, number % 4)
    assert checked > WIDE // 2


# Models in which each part of a trace matters

HEAD = (
    "mtype = { red, green }; byte x; byte y; byte a[2]; mtype m = red; bool f; chan c = [2] of { mtype, byte };\n"
)
BODIES = {
    "shared": "active proctype P() { x = 1 } active proctype Q() { y = x } active proctype R() { y = x + 2 }",
    "cells": "active proctype P() { a[x] = 1 } active proctype Q() { x = 1 } active proctype R() { y = a[0] }",
    "channel": "active proctype P() { c!red,1 } active proctype Q() { c!green,2 } active proctype R() { c?m,x }",
    "rendezvous": "chan r = [0] of { byte };\n"
    "active proctype P() { r!1; x = 1 } active proctype Q() { r!2; x = 2 }"
    " active proctype R() { byte i; r?i; y = i }",
    "two points": "chan r = [0] of { byte };\nactive proctype P() { if :: r!1 :: x = 3 fi }"
    " active proctype Q() { byte i; x = 2; if :: r?i; y = i :: x == 3 -> y = 9 fi }",
    "choices": "active proctype P() { x = 1 }"
    " active proctype Q() { if :: x = 2 :: x == 0 -> y = 1 :: else -> f = 1 fi }",
    "turn": "active proctype P() { atomic { x = 1; y > 0; x = 2 } } active proctype Q() { y = 1; y = x + 2 }",
    "births": "proctype S(byte i) { x = 10 * x + i } active proctype P() { run S(1); run S(2) }"
    " active proctype Q() { run S(3); y = _nr_pr }",
    "end label": "active proctype P() { x = 1 } active proctype Q() { x = 2 }"
    " active proctype S() { end: do :: x == 1 -> x = 3 od }",
    "blocked": "active proctype P() { x = 1 } active proctype Q() { x = 2 } active proctype S() { x == 1; y = 1 }",
    "failure": "active proctype P() { x = 1 } active proctype Q() { assert(x == 0); y = 4 } active proctype R()"
    " { y = 6 / x }",
    "timeout": "active proctype P() { x = 1; x = 2 } active proctype Q() { timeout -> y = x }",
    "bits": "active proctype P() { x = (x | 5) ^ y } active proctype Q() { y = (y & 6) - (x >> 1) }",
    "sizes": "typedef T { byte u[2] }; T t[2]; byte z[2];\nactive proctype P() { t[1].u[x] = 4 }"
    " active proctype Q() { x = 1; t[0].u[1] = t[1].u[0] }",
}


STANDING = HEAD_OF_ACTORS + (
    "class C implements I { Int x = 0; Int y = 0; Int a(Int n) { suspend; x = n; return n; }"
    " Int b(Int n) { return n; }"
    " Int c(I o) { Fut<Int> f = o!a(1); suspend; await f?; y = 1; return 0; } }\n"
    "{ I o = new C(); I p = new C(); p!c(o); }"
)
STUCK = HEAD_OF_ACTORS + (
    "class C implements I { Int x = 0; Int a(Int n) { x = n; return x; } Int b(Int n) { return n; }"
    " Int c(I o) { Fut<Int> f = this!a(1); Int y = f.get; return y; } }\n"
    "class D implements I { Int x = 0; Int a(Int n) { return n; } Int b(Int n) { return n; }"
    " Int c(I o) { o!c(o); suspend; return 0; } }\n"
    "{ I o = new C(); I p = new D(); p!c(o); p!c(o); p!a(2); }"
)
ACTORS = [*PARTS, STANDING, STUCK]


@pytest.mark.parametrize("name", BODIES)
def test_parts_of_models(name: str) -> None:
    model = porcini.loads(HEAD + BODIES[name], "pml")
    assert [permuted_alike(model, seed) for seed in range(5)] == [True] * 5


def test_parts_of_actors() -> None:
    for source in ACTORS:
        for seed in range(3):
            assert permuted_alike(porcini.loads(source, "abs"), seed)


def all_alike() -> None:
    for seed in range(3):
        for source in reversed(ACTORS):
            permuted_alike(porcini.loads(source, "abs"), seed)
        for body in BODIES.values():
            permuted_alike(porcini.loads(HEAD + body, "pml"), seed)


# What counts


def without_locations(file: Path, dropped: Callable[[str], bool], **header: Any) -> None:
    """Leave locations out of `reads` and `writes`."""
    first, *events, end = map(json.loads, file.read_text().splitlines())
    for event in events:
        for key in ("reads", "writes"):
            event[key] = {name: value for name, value in event[key].items() if not dropped(name)}
    file.write_text("\n".join(map(json.dumps, [first | header, *events, end])))


def recorded(tmp_path: Path) -> tuple[Path, porcini.Report]:
    model, file = porcini.loads(HEAD + BODIES["shared"], "pml"), tmp_path / "run.jsonl"
    run = porcini.run(model, trace=file)
    return file, porcini.permute(model, schedule=run.outcomes[0].schedule)


def test_data_in_formulas_count_even_if_nobody_says_so(tmp_path) -> None:
    file, wanted = recorded(tmp_path)
    without_locations(file, lambda name: name in "xy")
    found = porcini.permute_trace(file)
    assert found.counts.classes == wanted.counts.classes > 1 and found.verdict == wanted.verdict == "violated"


def test_data_that_are_said_to_be_bookkeeping_lose_a_class(tmp_path) -> None:
    """So the list is a promise: this one is broken."""
    file, wanted = recorded(tmp_path)
    names = json.loads(file.read_text().splitlines()[0])["bookkeeping"]
    without_locations(file, lambda name: name in "xy", bookkeeping=[*names, "x", "y"])
    assert porcini.permute_trace(file).counts.classes < wanted.counts.classes


def test_what_is_written_and_what_counts(tmp_path) -> None:
    file, _ = recorded(tmp_path)
    header, *events, end = map(json.loads, file.read_text().splitlines())
    assert {"x", "y", "m"} <= header["initial"].keys() - set(header["bookkeeping"])
    assert {"0.@point", "1.@point", "c@len", "c@0"} <= set(header["bookkeeping"])
    assert header["observed"]["c"] == {"length": "c@len", "fields": ["c@0", "c@1"]}
    assert header["meanings"]["m"] == {"1": "green", "2": "red"} == header["meanings"]["c@0"]
    assert all(event["guard"] and event["choices"][0] == event.get("choice", 0) for event in events)
    assert end["state"]["m"] == "red"


def test_guards_that_formulas_cannot_say_are_left_out(tmp_path) -> None:
    """Which element decides depends on a number that may have any value: then conflicts answer."""
    source = (
        "interface I { Int a(Int n); Int b(Int n); }\nclass C implements I { Int x = 0; List<Int> log = Nil;"
        " Int a(Int n) { x = x + n; return x; }"
        " Int b(Int n) { await nth(Cons(0, Cons(1, Nil)), x) > 0; return x; } }\n"
        "{ I o = new C(); o!a(1); o!b(1); }"
    )
    model, file = porcini.loads(source, "abs"), tmp_path / "run.jsonl"
    porcini.run(model, trace=file)
    _, *events, _ = map(json.loads, file.read_text().splitlines())
    assert not all("guard" in event for event in events) and any("guard" in event for event in events)
    report = porcini.permute_trace(file)
    assert report.trace.exact is False and report.verdict in ("unknown", "holds")


def test_a_language_feature_without_formulas_is_recorded_without_guards(tmp_path) -> None:
    model, file = (
        porcini.loads("byte x; active proctype P() { { x = 1 } unless { x > 1 } }", "pml"),
        tmp_path / "t",
    )
    porcini.run(model, trace=file)
    assert not any("guard" in line for line in map(json.loads, file.read_text().splitlines()))
    assert porcini.permute_trace(file).trace.exact is False


def test_conditionals_are_read_as_they_were_written() -> None:
    x, b = var("x", "int"), var("0.b", "bool")
    chain = ite(b, const(1), ite(not_(b), x, ite(conj(b, b), const(3), const(4))))
    for _ in range(300):
        chain = ite(b, x, chain)
    label = Label((0,), "t", (TRUE,), 0, (), None)
    (text,) = formula_of(replace(label, line=(Assign(x, chain),))).do
    reader = formulas._Reader(recording.Recording((), (), {"x": 0, "0.b": False}), "file")
    assert reader._operation(text, 1).value is chain
    for _ in range(100):
        chain = ite(b, chain, x)
    assert formula_of(replace(label, line=(Assign(x, chain),))) is None


# Mutants


def formulas_only(self: Any, recorded: Any, foot: Any) -> Any:
    return EMPTY


def cells_of_now(self: Any, more: Any, said: Any) -> Any:
    return more


def one_code_only(make_walk: Any, state: Any, pid: Any, codes: Any) -> Any:
    return when_can_move(make_walk, state, pid, {v: sorted(held)[:1] for v, held in codes.items()})


MUTANTS = {
    "bookkeeping counts": (formulas._Reader, "_counted", lambda self, touched: touched),
    "nothing but formulas counts": (checking.Check, "_besides", formulas_only),
    "the other cells only": (checking.Check, "_whole", cells_of_now),
    "any task can move": (labels, "when_can_move", lambda *rest: TRUE),
    "no task can move": (labels, "when_can_move", lambda *rest: FALSE),
    "one code only": (labels, "when_can_move", one_code_only),
    "numbers mean themselves": (RecordedRuns, "_meanings", lambda self, name, kind: {}),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_forgetting_a_part_is_caught(monkeypatch, name: str) -> None:
    where, what, mutant = MUTANTS[name]
    monkeypatch.setattr(where, what, mutant)
    with pytest.raises((AssertionError, porcini.InputError)):
        all_alike()


PARTS_OF_FORMULAS = {
    "choices": {"choices": ()},
    "family": {"family": None},
    "otherwise": {"otherwise": (), "choices": ()},
}


@pytest.mark.parametrize("name", PARTS_OF_FORMULAS)
def test_forgetting_a_part_of_a_formula_is_caught(monkeypatch, name: str) -> None:
    def mutant(label: Label) -> Any:
        found = formula_of(label)
        return found and replace(found, **PARTS_OF_FORMULAS[name])

    monkeypatch.setattr(recording, "formula_of", mutant)
    with pytest.raises((AssertionError, porcini.InputError)):
        permuted_alike(porcini.loads(wide_promela.generate(Random(54)).text(), "pml"), 2)
        all_alike()


@pytest.mark.parametrize("left_out", [{"idle": ()}, {"symbols": frozenset()}, {"unset": {}}])
def test_forgetting_a_part_of_a_recording_is_caught(monkeypatch, left_out: dict) -> None:
    real = writing.lines_of
    monkeypatch.setattr(writing, "lines_of", lambda recording: real(replace(recording, **left_out)))
    with pytest.raises((AssertionError, porcini.InputError)):
        test_examples("examples/abs/tickets.abs", 0)
        all_alike()


def test_forgetting_what_blocked_processes_read_is_caught(monkeypatch) -> None:
    real = writing._wait
    monkeypatch.setattr(writing, "_wait", lambda wait: real(replace(wait, reads=NOWHERE)))
    with pytest.raises(AssertionError):
        all_alike()
