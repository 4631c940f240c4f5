"""Formulas of linear temporal logic: building, printing, negation normal form, light simplification.

The kinds are few: constants, atoms, `!`, `&&`, `||`, `X`, `U` and its dual `V` (release); all others are functions
that build them, so `<>p` is `true U p` and `[]p` is `false V p`. An atom is the text of a boolean expression of
the language that is checked; nothing here looks inside.

`simplify` gives a negation normal form. Besides the usual laws it uses those of Etessami and Holzmann ("Optimizing
Büchi automata", CONCUR 2000) for formulas that hold as soon as they hold later ("eventual": <>p, []<>p) and for
those that hold for ever once they hold ("universal": []p, []<>p).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce

from porcini.core.errors import Place


class _Printed:
    """`str` gives the text that the parser reads."""

    __slots__ = ()

    def __str__(self) -> str:
        assert isinstance(self, Formula)
        return _text(self, (Atom, And, Or, Until, Release))


@dataclass(frozen=True, slots=True)
class Constant(_Printed):
    value: bool


@dataclass(frozen=True, slots=True)
class Atom(_Printed):
    """A boolean expression of the host language; where it was written does not matter for equality."""

    text: str
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not(_Printed):
    operand: Formula


@dataclass(frozen=True, slots=True)
class And(_Printed):
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Or(_Printed):
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Next(_Printed):
    operand: Formula


@dataclass(frozen=True, slots=True)
class Until(_Printed):
    """`right` holds at some time, and `left` at all times before."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Release(_Printed):
    """`right` holds up to and including the first time that `left` holds; for ever if `left` never holds."""

    left: Formula
    right: Formula


Formula = Constant | Atom | Not | And | Or | Next | Until | Release

TRUE, FALSE = Constant(True), Constant(False)


def eventually(p: Formula) -> Formula:
    return Until(TRUE, p)


def always(p: Formula) -> Formula:
    return Release(FALSE, p)


def implies(p: Formula, q: Formula) -> Formula:
    return Or(Not(p), q)


def iff(p: Formula, q: Formula) -> Formula:
    return Or(And(p, q), And(Not(p), Not(q)))


def weak_until(p: Formula, q: Formula) -> Formula:
    return Release(q, Or(p, q))


def strong_release(p: Formula, q: Formula) -> Formula:
    return Until(q, And(p, q))


def parts(formula: Formula) -> tuple[Formula, ...]:
    """The operands of a formula, from left to right."""
    match formula:
        case Constant() | Atom():
            return ()
        case Not(p) | Next(p):
            return (p,)
        case And(p, q) | Or(p, q) | Until(p, q) | Release(p, q):
            return (p, q)


def subformulas(formula: Formula) -> list[Formula]:
    """All different subformulas, each after its operands; the formula itself is the last."""
    found: dict[Formula, None] = {}

    def visit(f: Formula) -> None:
        if f not in found:
            for part in parts(f):
                visit(part)
            found[f] = None

    visit(formula)
    return list(found)


def atoms(formula: Formula) -> tuple[Atom, ...]:
    """The different atoms, in the order in which they are written."""
    return tuple(f for f in subformulas(formula) if isinstance(f, Atom))


def has_next(formula: Formula) -> bool:
    """Does a formula contain `X`? Without it, it cannot distinguish words that differ by repeated letters only."""
    return any(isinstance(f, Next) for f in subformulas(formula))


# Printing

_Kinds = tuple[type[Formula], ...]


def _text(formula: Formula, bare: _Kinds) -> str:
    """`bare`: the kinds that need no parentheses here, for SPIN, Spot and NuSMV agree how to read the result."""
    match formula:
        case Constant(value):
            return "true" if value else "false"
        case Atom(text):
            return text if Atom in bare or text.isidentifier() else f"({text})"
        case Not(p):
            return "!" + _text(p, ())
        case Next(p):
            return "X " + _text(p, ())
        case Until(Constant(True), p):
            return "<>" + _text(p, ())
        case Release(Constant(False), p):
            return "[]" + _text(p, ())
        case Until(p, q):
            made = f"{_text(p, ())} U {_text(q, ())}"
        case Release(p, q):
            made = f"{_text(p, ())} V {_text(q, ())}"
        case And(p, q):
            made = f"{_text(p, (Atom, Until, Release, And))} && {_text(q, (Atom, Until, Release))}"
        case Or(p, q):
            made = f"{_text(p, (Atom, Until, Release, Or))} || {_text(q, (Atom, Until, Release))}"
    return made if isinstance(formula, bare) else f"({made})"


# Negation normal form


def nnf(formula: Formula, negated: bool = False) -> Formula:
    """The same formula with `!` before atoms only; or its negation, if `negated`."""
    match formula:
        case Constant(value):
            return FALSE if value is negated else TRUE
        case Atom():
            return Not(formula) if negated else formula
        case Not(p):
            return nnf(p, not negated)
        case Next(p):
            return Next(nnf(p, negated))
        case And(p, q) | Or(p, q):
            both = Or if isinstance(formula, And) is negated else And
            return both(nnf(p, negated), nnf(q, negated))
        case Until(p, q) | Release(p, q):
            kind = Release if isinstance(formula, Until) is negated else Until
            return kind(nnf(p, negated), nnf(q, negated))


def operands(formula: Formula, kind: type[And] | type[Or]) -> Iterator[Formula]:
    """The operands of a tree of conjunctions, or of disjunctions."""
    if isinstance(formula, kind):
        yield from operands(formula.left, kind)
        yield from operands(formula.right, kind)
    else:
        yield formula


# Simplification


def simplify(formula: Formula) -> Formula:
    """An equivalent negation normal form, hardly ever larger."""
    return _simplify(nnf(formula))


def _simplify(formula: Formula) -> Formula:
    match formula:
        case And(p, q):
            return _join((_simplify(p), _simplify(q)), And)
        case Or(p, q):
            return _join((_simplify(p), _simplify(q)), Or)
        case Next(p):
            return _next(_simplify(p))
        case Until(p, q):
            return _until(_simplify(p), _simplify(q), Until)
        case Release(p, q):
            return _until(_simplify(p), _simplify(q), Release)
        case _:
            return formula


def _next(p: Formula) -> Formula:
    return p if isinstance(p, Constant) or (_lasting(p, Until) and _lasting(p, Release)) else Next(p)


def _until(p: Formula, q: Formula, kind: type[Until] | type[Release]) -> Formula:
    """Laws of U; those of V are the same with true and false, U and V, eventual and universal exchanged."""
    dual = Release if kind is Until else Until
    top, bottom = (TRUE, FALSE) if kind is Until else (FALSE, TRUE)
    if isinstance(q, Constant) or p in (bottom, q) or _lasting(q, kind):
        return q
    if isinstance(q, kind) and (p == q.left or p == top):  # p U (p U q) = p U q;  <>(p U q) = <>q
        return kind(p, q.right)
    if p == top:
        if isinstance(q, Next):  # <>Xq = X<>q
            return _next(_until(top, q.operand, kind))
        both: type[And] | type[Or] = And if kind is Until else Or
        inner = list(operands(q, both))
        kept = [f for f in inner if not (_lasting(f, kind) and _lasting(f, dual))]
        if len(kept) < len(inner):  # <>(q && []<>r) = <>q && []<>r
            rest = [f for f in inner if f not in kept]
            return _join((_until(top, _join(kept, both), kind), *rest), both)
    if isinstance(p, Next) and isinstance(q, Next):
        return _next(_until(p.operand, q.operand, kind))
    return kind(p, q)


def _lasting(formula: Formula, kind: type[Until] | type[Release]) -> bool:
    """Is a formula eventual (kind Until) or universal (kind Release), judged by its shape?"""
    match formula:
        case Constant():
            return True
        case And(p, q) | Or(p, q):
            return _lasting(p, kind) and _lasting(q, kind)
        case Next(p):
            return _lasting(p, kind)
        case Until(p, q) | Release(p, q):
            return (isinstance(formula, kind) and p == (TRUE if kind is Until else FALSE)) or _lasting(q, kind)
        case _:
            return False


def _join(given: Iterable[Formula], kind: type[And] | type[Or]) -> Formula:
    """Laws of &&; those of || are the same with true and false, <> and [], U and V exchanged."""
    dual = Or if kind is And else And
    unit, zero = (TRUE, FALSE) if kind is And else (FALSE, TRUE)
    weaker, stronger = (Release, Until) if kind is And else (Until, Release)
    found = dict.fromkeys(f for each in given for f in operands(each, kind) if f != unit)
    if zero in found or any(nnf(f, True) in found for f in found):
        return zero
    implied = {f.right for f in found if isinstance(f, weaker)}  # p && (q V p) = q V p

    def absorbed(f: Formula) -> bool:  # p && (p || q) = p;  q && (p U q) = q
        return (
            f in implied
            or (isinstance(f, dual) and any(part in found for part in operands(f, dual)))
            or (isinstance(f, stronger) and f.right in found)
        )

    merged: dict[tuple[object, ...], list[Formula]] = {}  # X, [] and <>[] of several: one of their conjunction
    for f in [f for f in found if not absorbed(f)]:
        match f:
            case Next(p):
                merged.setdefault((Next,), []).append(p)
            case Until(Constant(), Release(Constant(), p)) if kind is And:
                merged.setdefault((Until, Release), []).append(p)
            case Release(Constant(), Until(Constant(), p)) if kind is Or:
                merged.setdefault((Release, Until), []).append(p)
            case Release(Constant(), p) if kind is And:
                merged.setdefault((Release,), []).append(p)
            case Until(Constant(), p) if kind is Or:
                merged.setdefault((Until,), []).append(p)
            case _:
                merged.setdefault((f,), []).append(f)
    joined: list[Formula] = []
    for shape, several in merged.items():
        if len(several) == 1 and shape[0] is several[0]:
            joined.append(several[0])
            continue
        one = _join(several, kind) if len(several) > 1 else several[0]
        for layer in reversed(shape):
            if layer is Next:
                one = _next(one)
            elif layer is Until:
                one = _until(TRUE, one, Until)
            else:
                one = _until(FALSE, one, Release)
        joined.append(one)
    return reduce(kind, joined) if joined else unit
