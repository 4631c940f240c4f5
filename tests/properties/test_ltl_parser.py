"""What formulas a text says, what it cannot say and where, and that printing gives a text that says the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from ltl_strategies import formulas

from porcini.core.errors import InputError, Place
from porcini.properties.ltl.formula import (
    FALSE,
    TRUE,
    And,
    Atom,
    Formula,
    Next,
    Not,
    Or,
    Release,
    Until,
    always,
    atoms,
    eventually,
    has_next,
    iff,
    implies,
    strong_release,
    weak_until,
)
from porcini.properties.ltl.parser import parse

A, B, C, P, Q = (Atom(name) for name in "abcpq")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a U b U c", Until(Until(A, B), C)),
        ("a U b V c", Release(Until(A, B), C)),
        ("a && b U c", And(A, Until(B, C))),
        ("a || b && c", Or(A, And(B, C))),
        ("a && b || c", Or(And(A, B), C)),
        ("a && b && c", And(And(A, B), C)),
        ("a -> b -> c", implies(A, implies(B, C))),
        ("a <-> b -> c", iff(A, implies(B, C))),
        ("a -> b <-> c", iff(implies(A, B), C)),
        ("a || b -> c", implies(Or(A, B), C)),
        ("!a U b", Until(Not(A), B)),
        ("[]a U b", Until(always(A), B)),
        ("[]<>!a", always(eventually(Not(A)))),
        ("a U []b U c", Until(Until(A, always(B)), C)),
        ("X a && b", And(Next(A), B)),
        ("(a -> b) -> c", implies(implies(A, B), C)),
        ("a U (b U c)", Until(A, Until(B, C))),
    ],
)
def test_precedence(text: str, meant: Formula) -> None:
    assert parse(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a -> b -> c", implies(implies(A, B), C)),
        ("a <-> b -> c", implies(iff(A, B), C)),
        ("a -> b <-> c", iff(implies(A, B), C)),
        ("a U b U c", Until(Until(A, B), C)),
        ("a || b && c", Or(A, And(B, C))),
        ("[] a U b", Until(always(A), B)),
        ("F && G", And(Atom("F"), Atom("G"))),
        ("!a == 1", Atom("!a == 1")),
        ("!a[1] && !len(b) && !(c)", And(And(Not(Atom("a[1]")), Not(Atom("len(b)"))), Not(C))),
        ("!(a == 1)", Not(Atom("a == 1"))),
        ("!(a) == 1", Atom("!(a) == 1")),
        ("! a@b", Not(Atom("a@b"))),
    ],
)
def test_as_spin_reads_it(text: str, meant: Formula) -> None:
    """Seen in what `spin -a` of SPIN 6.5.2 prints of `ltl` blocks."""
    assert parse(text, spin=True) == meant


@pytest.mark.parametrize(
    ("texts", "meant"),
    [
        (("[]p", "[] p", "G p", "G(p)", "always p", "□p", "◻ p"), always(P)),
        (("<>p", "F p", "F (p)", "eventually p", "◇p", "◊p"), eventually(P)),
        (("X p", "X(p)", "next p", "○p"), Next(P)),
        (("!p", "not p", "¬p"), Not(P)),
        (("p && q", "p&&q", "p and q", "p /\\ q", "p ∧ q"), And(P, Q)),
        (("p || q", "p or q", "p \\/ q", "p ∨ q"), Or(P, Q)),
        (("p -> q", "p->q", "p implies q", "p → q"), implies(P, Q)),
        (("p <-> q", "p<->q", "p equivalent q", "p ↔ q"), iff(P, Q)),
        (("p U q", "p until q", "p stronguntil q"), Until(P, Q)),
        (("p W q", "p weakuntil q"), weak_until(P, Q)),
        (("p V q", "p R q", "p release q"), Release(P, Q)),
        (("p M q",), strong_release(P, Q)),
        (("[]<>p", "G F p", "GF p", "GF(p)", "□◇p", "always eventually p"), always(eventually(P))),
        (("<>[]p", "FG p"), eventually(always(P))),
        (("true", "True", "(true)"), TRUE),
        (("false", "False"), FALSE),
        (("p", "(p)", "((p))", " \n p\t"), P),
    ],
)
def test_symbols(texts: tuple[str, ...], meant: Formula) -> None:
    for text in texts:
        assert parse(text) == meant, text


@pytest.mark.parametrize(
    "text",
    [
        "x + 1 > 3",
        "a[i] == b",
        "a[i && j] == b",
        "p[0]@cs",
        "len(q) < 2",
        "empty(q)",
        "f(a -> b, (c || d))",
        "(x + 1) * 2 == y",
        "phil[1]:state == eating",
        "x == !y",
        "x == not y",
        "x == -1",
        "-x < 1",
        "x == true",
        "true == x",
        "s.X == 1",
        "x == F",
        "F == x",
        "(F) > 1",
        'x == "a  [] b"',
        "c?[m, 1]",
        "x <= 1",
        "x != y",
        "x & 1 == y | z",
        "x << 2 > 1",
    ],
)
def test_atoms_of_the_host_language(text: str) -> None:
    assert parse(text) == Atom(text)
    assert parse(f"({text})") == Atom(text)
    assert parse(f"[]{text} -> <> ({text}) U {text}") == implies(
        always(Atom(text)), Until(eventually(Atom(text)), Atom(text))
    )
    assert parse(str(Not(Atom(text)))) == Not(Atom(text))


def test_white_space_counts_once() -> None:
    assert parse("x  +\n\t1>3") == Atom("x + 1>3")


def test_groups_without_temporal_operators_are_split() -> None:
    assert parse("[](x > 1 && (y + 1) * 2 == z)") == always(And(Atom("x > 1"), Atom("(y + 1) * 2 == z")))


def test_places_of_atoms() -> None:
    made = atoms(parse("[](a ->\n  <> x > 1)", start=Place(7, 11)))
    assert made == (A, Atom("x > 1"))
    assert [atom.place for atom in made] == [Place(7, 14), Place(8, 6)]


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", 1, 1, "expected a formula"),
        ("a &&", 1, 5, "expected a formula"),
        ("&& a", 1, 1, "expected a formula, found '&&'"),
        ("a && U b", 1, 6, "expected a formula, found 'U'"),
        ("[]", 1, 3, "expected a formula"),
        ("G", 1, 2, "expected a formula"),
        ("()", 1, 2, "expected a formula, found ')'"),
        ("a -> (b", 1, 6, "'(' is never closed"),
        ("a)", 1, 2, "this ')' closes nothing"),
        ("(a]", 1, 3, "']' does not close '('"),
        ("a [] b", 1, 3, "expected an operator, found '[]'"),
        ("a !b", 1, 3, "expected an operator, found '!'"),
        ("(a, b)", 1, 3, "expected an operator, found ','"),
        ("a ||\n  b + && c", 2, 7, "expected an operand after '+', found '&&'"),
        ("a +", 1, 4, "expected an operand after '+', found the end"),
        ("len(<>a) > 1", 1, 5, "'<>' within an expression"),
        ("([]a) + 1 > 2", 1, 2, "'[]' within an expression"),
        ("(" * 2000 + "a" + ")" * 2000, 1, 102, "the formula is nested too deeply"),
        ("!" * 2000 + "a", 1, 102, "the formula is nested too deeply"),
        (" && ".join("a" * 2000), 1, 1, "the formula is too large"),
        (" <-> ".join("a" * 60), 1, 1, "the formula is too large"),
    ],
)
def test_errors(text: str, line: int, column: int, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, file="f")
    error = caught.value
    assert error.message == says
    assert (error.file, error.place, error.source) == ("f", Place(line, column), text)


def test_errors_within_a_file() -> None:
    source = "int x;\nltl { []a && \n && b }"
    with pytest.raises(InputError) as caught:
        parse("[]a && \n && b", start=Place(2, 7), source=source)
    assert str(caught.value).endswith("\n   && b }\n   ^")
    with pytest.raises(InputError) as caught:
        parse("&& b", start=Place(2, 7))
    assert caught.value.place == Place(2, 7)


def test_what_a_formula_is_made_of() -> None:
    formula = parse("[](p -> <>(q && x > 1)) && p")
    assert [atom.text for atom in atoms(formula)] == ["p", "q", "x > 1"]
    assert not has_next(formula)
    assert has_next(parse("[](p -> !X q)"))


@given(formulas(12, ("a", "b", "x + 1 > 3", "p[0]@cs", "len(q) < 2", "(x + 1) * 2 == y", "-x == !y")))
@settings(max_examples=300, deadline=None)
def test_printing_and_parsing(formula: Formula) -> None:
    assert parse(str(formula)) == formula
    assert parse(str(formula), spin=True) == formula
