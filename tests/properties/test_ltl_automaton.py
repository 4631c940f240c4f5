"""The translation against the definition of the operators on lassos, and against Spot."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given, settings
from ltl_strategies import formulas, lassos

from porcini.core.errors import LimitHit
from porcini.properties.ltl import automaton as automata
from porcini.properties.ltl.automaton import Automaton, translate
from porcini.properties.ltl.formula import Formula, Not, atoms, nnf, simplify, subformulas
from porcini.properties.ltl.lassos import Letter, accepts, holds
from porcini.properties.ltl.parser import parse

Lasso = tuple[list[Letter], list[Letter]]


def word(text: str) -> Lasso:
    """`ab,,(c)`: a letter between commas, the loop in parentheses."""
    stem, loop = text.rstrip(")").split("(")
    return [set(letter) for letter in stem.split(",")[:-1]], [set(letter) for letter in loop.split(",")]


@pytest.mark.parametrize(
    ("formula", "yes", "no"),
    [
        ("a", ["a,()"], ["(b)", ",(a)"]),
        ("X a", [",a,()", ",(a)"], ["a,()"]),
        ("<>a", [",,a,()", "(,a)"], ["(b)"]),
        ("[]a", ["(a)", "ab,(a)"], ["a,()", "(a,b)"]),
        ("a U b", ["b,()", "a,a,(b)"], ["(a)", "a,,b,()"]),
        ("a W b", ["b,()", "(a)"], ["a,,b,()"]),
        ("a V b", ["b,ab,()", "(b)"], ["b,a,()", "a,()"]),
        ("a M b", ["b,ab,()"], ["(b)"]),
        ("[]<>a", ["(,a)", "b,(a,)"], ["a,a,()"]),
        ("<>[]a", [",,(a)"], ["a,(a,)"]),
        ("[](a -> <>b)", ["(a,b)", "()", "(ab)"], ["a,b,a,()"]),
        ("[](<>a && X<>a)", ["(,a)"], ["a,()"]),
        ("<>(a && <>b)", ["a,b,()"], ["b,a,()"]),
        ("(a U b) U c", ["c,()", "a,b,c,()"], ["a,c,()", "b,,c,()"]),
    ],
)
def test_known_words(formula: str, yes: list[str], no: list[str]) -> None:
    made = parse(formula)
    for text in yes + no:
        assert holds(made, *word(text)) == (text in yes), text
        assert accepts(translate(made), *word(text)) == (text in yes), text


@given(formulas(), lassos)
@settings(max_examples=300, deadline=None)
def test_the_automaton_accepts_what_the_formula_says(formula: Formula, lasso: Lasso) -> None:
    truth = holds(formula, *lasso)
    assert accepts(translate(formula), *lasso) == truth
    assert accepts(translate(Not(formula)), *lasso) != truth


@given(formulas(8), lassos)
@settings(max_examples=600, deadline=None)
@example(parse("a U X b"), word("a,(,b)"))
def test_normal_forms_say_the_same(formula: Formula, lasso: Lasso) -> None:
    truth = holds(formula, *lasso)
    assert holds(nnf(formula), *lasso) == truth
    assert holds(nnf(formula, negated=True), *lasso) != truth
    assert holds(simplify(formula), *lasso) == truth
    assert all(f.operand in atoms(f) for f in subformulas(simplify(formula)) if isinstance(f, Not))


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("<><>a", "<>a"),
        ("[][]a", "[]a"),
        ("[]<>[]a", "<>[]a"),
        ("<>[]<>a", "[]<>a"),
        ("X []<>a", "[]<>a"),
        ("[]<>a || []<>b", "[]<>(a || b)"),
        ("<>a || <>b", "<>(a || b)"),
        ("<>(a && []<>b)", "<>a && []<>b"),
        ("a && (a || b)", "a"),
        ("a || a && b", "a"),
        ("a && a", "a"),
        ("a && !a", "false"),
        ("<>a || []!a", "true"),
        ("a U true", "true"),
        ("false U a", "a"),
        ("a U (a U b)", "a U b"),
        ("a U (b U a)", "a U (b U a)"),
        ("<>(a U b)", "<>b"),
        ("[](a V b)", "[]b"),
        ("a U <>b", "<>b"),
        ("X a U X b", "X (a U b)"),
        ("!(a U !b)", "!a V b"),
    ],
)
def test_simplification(text: str, simple: str) -> None:
    assert str(simplify(parse(text))) == simple


@pytest.mark.parametrize(
    ("text", "states", "transitions", "acceptance"),
    [
        ("true", 1, 1, 0),
        ("false", 1, 0, 0),
        ("[]a", 1, 1, 0),
        ("<>a", 2, 3, 1),
        ("a U b", 2, 3, 1),
        ("[](a -> <>b)", 2, 5, 1),
        ("!([](a -> <>b))", 2, 3, 1),
        ("[]<>a -> []<>b", 4, 8, 1),
        ("!([]<>a -> []<>b)", 2, 4, 1),
        ("(a U b) U c", 4, 10, 1),
        ("[]<>a && []<>b && []<>c", 1, 8, 3),
        ("X a && !X a", 1, 0, 0),
        ("<>[]a && []<>!a", 1, 0, 0),
    ],
)
def test_sizes(text: str, states: int, transitions: int, acceptance: int) -> None:
    made = translate(parse(text))
    assert (made.states, sum(map(len, made.transitions)), made.acceptance) == (states, transitions, acceptance)


def test_too_large() -> None:
    with pytest.raises(LimitHit):
        translate(parse(" && ".join(f"[]<>p{k}" for k in range(16))))


def test_hashes_do_not_matter() -> None:
    code = """
from porcini.properties.ltl.automaton import translate
from porcini.properties.ltl.parser import parse
made = translate(parse("([]<>a || <>[]b) && ([]<>c || <>[]d) && (x U (y U z))"))
print([[(t.target, sorted(t.must), sorted(t.must_not), t.marks) for t in row] for row in made.transitions])
"""
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1


# Mutants: each is caught by a formula and a word

_real_of = automata._Tableau._of


def forgets_promises(tableau: Any, formula: Formula) -> Any:
    return [(a, b, c, 0) for a, b, c, _ in _real_of(tableau, formula)]


def forgets_what_comes_next(tableau: Any, formula: Formula) -> Any:
    return [(a, b, 0, d) for a, b, _, d in _real_of(tableau, formula)]


def forgets_negations(tableau: Any, formula: Formula) -> Any:
    return [(a, 0, c, d) for a, _, c, d in _real_of(tableau, formula)]


@pytest.mark.parametrize("mutant", [forgets_promises, forgets_what_comes_next, forgets_negations])
def test_mutants_are_caught(mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automata._Tableau, "_of", mutant)
    cases = [("a U b", "(a)"), ("[]<>a", "()"), ("[]a", "a,()"), ("!a", "(a)")]
    assert any(accepts(translate(parse(f)), *word(w)) != holds(parse(f), *word(w)) for f, w in cases)


# Spot


def hoa(automaton: Automaton) -> str:
    """The automaton in the Hanoi Omega-Automata format, which Spot reads."""
    steps = [step for row in automaton.transitions for step in row]
    names = sorted(frozenset[str]().union(*(step.must | step.must_not for step in steps)))
    count = automaton.acceptance
    lines = [
        "HOA: v1",
        f"States: {automaton.states}",
        f"Start: {automaton.initial}",
        " ".join([f"AP: {len(names)}", *(f'"{name}"' for name in names)]),
        f"Acceptance: {count} " + ("&".join(f"Inf({k})" for k in range(count)) or "t"),
        "--BODY--",
    ]
    for state, row in enumerate(automaton.transitions):
        lines.append(f"State: {state}")
        for step in row:
            signs = [
                ("" if name in step.must else "!") + str(names.index(name))
                for name in names
                if name in step.must | step.must_not
            ]
            marks = " ".join(str(k) for k in range(count) if step.marks >> k & 1)
            lines.append(f"[{'&'.join(signs) or 't'}] {step.target} {{{marks}}}")
    return "\n".join([*lines, "--END--", ""])


@given(formulas(9))
@settings(max_examples=300, deadline=None)
def test_spot_agrees(formula: Formula) -> None:
    spot = pytest.importorskip("spot")
    ours = spot.automaton(hoa(translate(formula)))
    assert spot.are_equivalent(ours, spot.formula(str(formula)))
    assert spot.are_equivalent(spot.formula(str(simplify(formula))), spot.formula(str(formula)))
