"""Numbers of packed programs as formulas: the meaning of their operators.

A term is a whole number with the condition under which it has a value at all (a division, an index, a channel may
have none), and with bounds: variables are bounded, so everything is. Formulas are total, also where a term has no
value: an index that may be out of range is replaced by 0 there, a divisor by 1. So the order in which the parts of
a condition are evaluated never matters.

    division     C rounds towards zero, formulas round down
    bits         `a & b` is a sum over the bits of both, in two's complement of enough bits for both; `|` and `^`
                 follow from it: a | b = a + b - (a & b), a ^ b = a + b - 2 (a & b)
    storing      wraps around: `wrapped`, where the bounds do not show that a value fits
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porcini.core.errors import InternalError
from porcini.ir import expr as ir
from porcini.ir.expr import FALSE, TRUE, WORD, binary, conj, const, disj, ite, not_
from porcini.ir.program import Bounds
from porcini.ir.simplify import simplify

_WORD = Bounds(WORD, signed=True)


@dataclass(frozen=True, slots=True)
class Term:
    """A whole number between two bounds; `ok` says when it has a value."""

    value: ir.Expr
    low: int
    high: int
    ok: ir.Expr = TRUE

    @property
    def truth(self) -> ir.Expr:
        """Is it different from 0?"""
        match self.value:
            case ir.Ite(test=test, then=ir.Const(value=1), other=ir.Const(value=0)):
                return test
        return simplify(binary("!=", self.value, const(0)))

    def given(self, *ok: ir.Expr) -> Term:
        return Term(self.value, self.low, self.high, conj(*ok, self.ok))


def number(value: int) -> Term:
    return Term(const(value), value, value)


def flag(test: ir.Expr, *ok: ir.Expr) -> Term:
    """1 or 0."""
    test = simplify(test)
    if isinstance(test, ir.Const):
        return number(int(test.value)).given(*ok)
    return Term(ite(test, const(1), const(0)), 0, 1, conj(*ok))


def wrapped(term: Term, bounds: Bounds) -> ir.Expr:
    """A value cut to so many bits."""
    if bounds.low <= term.low and term.high <= bounds.high:
        return term.value
    moved = binary("%", binary("-", term.value, const(bounds.low)), const(1 << bounds.bits))
    return simplify(binary("+", moved, const(bounds.low)))


def by_cases(cases: Sequence[tuple[ir.Expr, Term]]) -> Term:
    """The first term whose condition holds; 0 if none does. Terms that are not reached need not have a value."""
    found = number(0)
    for when, term in reversed(cases):
        if when is FALSE:
            continue
        ok = conj(where(when, term.ok), where(not_(when), found.ok))
        low, high = min(term.low, found.low), max(term.high, found.high)
        found = Term(simplify(ite(when, term.value, found.value)), low, high, ok)
    return found


def where(test: ir.Expr, ok: ir.Expr) -> ir.Expr:
    """A condition that counts only where a test holds."""
    return TRUE if ok is TRUE else simplify(disj(not_(test), ok))


def within(value: ir.Expr, low: int, end: int) -> ir.Expr:
    return simplify(conj(binary("<=", const(low), value), binary("<", value, const(end))))


def applied(op: str, args: Sequence[Term]) -> Term:
    """The result of an operator of C."""
    if op in ("and", "or", "?:"):
        return _lazy(op, args)
    made = _operator(op, args)
    ok = conj(*(arg.ok for arg in args))
    return Term(simplify(made.value), made.low, made.high, conj(ok, made.ok))


def _lazy(op: str, args: Sequence[Term]) -> Term:
    """Operators that do not evaluate all of their operands."""
    match op, args:
        case "and", (a, b):
            return flag(conj(a.truth, b.truth), a.ok, where(a.truth, b.ok))
        case "or", (a, b):
            return flag(disj(a.truth, b.truth), a.ok, where(not_(a.truth), b.ok))
        case "?:", (a, b, c):
            value = simplify(ite(a.truth, b.value, c.value))
            ok = conj(a.ok, where(a.truth, b.ok), where(not_(a.truth), c.ok))
            return Term(value, min(b.low, c.low), max(b.high, c.high), ok)
    raise InternalError(f"no operator {op}")


def _operator(op: str, args: Sequence[Term]) -> Term:
    match op, args:
        case "!", (a,):
            return flag(not_(a.truth))
        case "neg", (a,):
            return Term(ir.neg(a.value), -a.high, -a.low)
        case "+", (a, b):
            return Term(binary("+", a.value, b.value), a.low + b.low, a.high + b.high)
        case "-", (a, b):
            return Term(binary("-", a.value, b.value), a.low - b.high, a.high - b.low)
        case "*", (a, b):
            ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return Term(binary("*", a.value, b.value), min(ends), max(ends))
        case "quot", (a, b):
            return _divide(a, b)
        case "rem", (a, b):
            return _remainder(a, b)
        case "<<" | ">>", (a, b):
            return _shift(op, a, b)
        case "<" | "<=" | ">" | ">=" | "==" | "!=" as comparison, (a, b):
            return flag(binary(comparison, a.value, b.value))
        case "&", (a, b):
            return _and(a, b)
        case "|" | "^", (a, b):
            times = 1 if op == "|" else 2
            both = binary("*", const(times), _and(a, b).value)
            bits = _bits(a, b)
            low, high = (0 if min(a.low, b.low) >= 0 else -(1 << bits)), (1 << bits) - 1
            return Term(binary("-", binary("+", a.value, b.value), both), low, high)
        case "check", (a, b):
            assert b.low == b.high
            ok = TRUE if a.low >= 0 and a.high < b.low else within(a.value, 0, b.low)
            return Term(simplify(ite(ok, a.value, const(0))), max(a.low, 0), min(a.high, b.low - 1), ok)
    raise InternalError(f"no operator {op}")


def _divisor(b: Term) -> tuple[ir.Expr, ir.Expr]:
    """A divisor that is never 0, and the condition under which it is the real one."""
    if b.low <= 0 <= b.high:
        ok = simplify(binary("!=", b.value, const(0)))
        return simplify(ite(ok, b.value, const(1))), ok
    return b.value, TRUE


def _divide(a: Term, b: Term) -> Term:
    by, ok = _divisor(b)
    most = max(abs(a.low), abs(a.high))
    if a.low >= 0 and b.low >= 0:
        return Term(binary("/", a.value, by), 0, most, ok)
    negative, size = binary("<", a.value, const(0)), by if b.low >= 0 else _absolute(by)
    up, down = binary("/", a.value, size), binary("/", ir.neg(a.value), size)
    value = ite(negative, ir.neg(down), up)
    if b.low < 0:
        value = ite(binary("<", by, const(0)), ite(negative, down, ir.neg(up)), value)
    return Term(value, -most, most, ok)


def _remainder(a: Term, b: Term) -> Term:
    by, ok = _divisor(b)
    most = max(abs(b.low), abs(b.high), 1) - 1
    low, high = (-most if a.low < 0 else 0), (most if a.high > 0 else 0)
    if a.low >= 0 and b.low >= 0:
        return Term(binary("%", a.value, by), 0, min(most, a.high), ok)
    size = by if b.low >= 0 else _absolute(by)
    up, down = binary("%", a.value, size), binary("%", ir.neg(a.value), size)
    value = ite(binary("<", a.value, const(0)), ir.neg(down), up)  # it has the sign of the dividend
    return Term(value, low, high, ok)


def _absolute(value: ir.Expr) -> ir.Expr:
    return ite(binary("<", value, const(0)), ir.neg(value), value)


def _shift(op: str, a: Term, b: Term) -> Term:
    """The distance is rarely unknown; if it is, each case is written out."""
    by = range(max(b.low, 0), min(b.high, WORD - 1) + 1)
    ok = TRUE if b.low >= 0 and b.high < WORD else within(b.value, 0, WORD)
    cases = [(simplify(binary("==", b.value, const(k))), _shifted(op, a, k)) for k in by]
    return by_cases(cases).given(ok)


def _shifted(op: str, a: Term, k: int) -> Term:
    if op == ">>":
        return Term(simplify(binary("/", a.value, const(1 << k))), a.low >> k, a.high >> k)
    product = Term(simplify(binary("*", a.value, const(1 << k))), a.low << k, a.high << k)
    value = wrapped(product, _WORD)
    if value is product.value:
        return product
    return Term(value, _WORD.low, _WORD.high)


def _bits(a: Term, b: Term) -> int:
    """Enough bits for both, without the sign."""
    return max(bound.bit_length() for bound in (a.low, a.high, ~a.low, ~a.high, b.low, b.high, ~b.low, ~b.high))


def _and(a: Term, b: Term) -> Term:
    for one, two in ((a, b), (b, a)):
        if one.low == one.high and one.low >= 0 and one.low & (one.low + 1) == 0:  # 2^k - 1: the low bits
            mask = one.low
            return Term(binary("%", two.value, const(mask + 1)), 0, mask)
    bits = _bits(a, b)
    total: ir.Expr = const(0)
    for k in range(bits):
        total = binary("+", total, ite(conj(_bit(a, k), _bit(b, k)), const(1 << k), const(0)))
    if min(a.low, b.low) >= 0:
        return Term(total, 0, min(a.high, b.high))
    if max(a.low, b.low) >= 0:  # one of them has no sign bit
        return Term(total, 0, (1 << bits) - 1)
    negative = conj(binary("<", a.value, const(0)), binary("<", b.value, const(0)))
    return Term(binary("-", total, ite(negative, const(1 << bits), const(0))), -(1 << bits), (1 << bits) - 1)


def _bit(a: Term, k: int) -> ir.Expr:
    """Is a bit set, in two's complement?"""
    return simplify(binary("==", binary("%", binary("/", a.value, const(1 << k)), const(2)), const(1)))
