"""Between which values an expression lies: C computes with 32 bits, our expressions do not.

Sums, products and bits of numbers that were not cut are those of cut ones, once they are cut themselves. So only
what is compared, divided, shifted to the right, tested or sent must be cut, and only where it may not fit.
"""

from __future__ import annotations

from collections.abc import Mapping

from porcini.ir.expr import (
    WORD,
    Binary,
    Const,
    Expr,
    Ite,
    Neg,
    OfChannel,
    OwnNumber,
    Peek,
    Population,
    Select,
    Var,
    cut,
)
from porcini.ir.operations import variable_of
from porcini.ir.program import MOST_PROCESSES, Variable

Range = tuple[int, int]
_WORD: Range = -(1 << WORD - 1), (1 << WORD - 1) - 1
_LONGEST_CHANNEL = 1 << 16


def fitted(expr: Expr, declared: Mapping[Var, Variable]) -> Expr:
    """A number as C has it: cut to a word if it may not fit."""
    low, high = range_of(expr, declared)
    return expr if _WORD[0] <= low and high <= _WORD[1] else cut(expr)


def range_of(expr: Expr, declared: Mapping[Var, Variable]) -> Range:
    if expr.type == "bool":
        return 0, 1
    match expr:
        case Const(value=value):
            return int(value), int(value)
        case Var() | Select():
            bounds = declared[variable_of(expr)].bounded
            return bounds.low, bounds.high
        case Peek(variable=variable):
            bounds = declared[variable].bounded
            return bounds.low, bounds.high
        case OwnNumber() | Population():
            return 0, MOST_PROCESSES
        case OfChannel():
            return 0, _LONGEST_CHANNEL
        case Neg(arg=arg):
            low, high = range_of(arg, declared)
            return -high, -low
        case Ite(then=then, other=other):
            (a, b), (c, d) = range_of(then, declared), range_of(other, declared)
            return min(a, c), max(b, d)
        case Binary(op=op, left=left, right=right):
            return _operation(op, range_of(left, declared), range_of(right, declared))
    return _WORD


def _operation(op: str, left: Range, right: Range) -> Range:
    (a, b), (c, d) = left, right
    largest = max(abs(a), abs(b))
    match op:
        case "+":
            return a + c, b + d
        case "-":
            return a - d, b - c
        case "*":
            ends = a * c, a * d, b * c, b * d
            return min(ends), max(ends)
        case "rem":
            largest = min(largest, max(abs(c), abs(d), 1) - 1)
            return (0 if a >= 0 else -largest), largest
        case "quot":
            return -largest, largest
        case "&" if a >= 0 or c >= 0:
            return 0, min(high for low, high in (left, right) if low >= 0)
        case "&" | "|" | "^":
            bits = max(end.bit_length() for end in (a, b, c, d))
            return (0 if a >= 0 and c >= 0 else -(1 << bits)), (1 << bits) - 1
        case ">>":
            return min(a, 0), max(b, 0)
    return _WORD
