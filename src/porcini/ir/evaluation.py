"""The value of an expression in a store, and the condition under which it has one.

Division and modulo round down; `quot` and `rem` round towards zero, as in C. `evaluate` is total: dividing by
zero gives 0, and a cell outside an array is the default of its type. Where that matters, `defined` says when the
real program gets a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from porcini.core.systems import Scalar, Value
from porcini.ir.expr import (
    TRUE,
    WORD,
    ZERO,
    ArrayType,
    Binary,
    Checked,
    Const,
    Expr,
    Ite,
    Junction,
    Neg,
    Not,
    Select,
    Store,
    Type,
    Var,
    binary,
    conj,
    const,
    disj,
    nodes,
    not_,
)


def default(type_: Type) -> Scalar:
    return False if (type_.cell if isinstance(type_, ArrayType) else type_) == "bool" else 0


def quotient(a: int, b: int) -> int:
    """Division that rounds towards zero."""
    return abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))


def remainder(a: int, b: int) -> int:
    return a - b * quotient(a, b)


def wrap(value: int, bits: int, signed: bool) -> int:
    """A number cut to so many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


OPERATIONS: dict[str, Callable[[int, int], Scalar]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "quot": lambda a, b: quotient(a, b) if b else 0,
    "rem": lambda a, b: remainder(a, b) if b else 0,
    "<<": lambda a, b: wrap(a << b, WORD, True) if 0 <= b < WORD else 0,
    ">>": lambda a, b: a >> b if 0 <= b < WORD else 0,
    "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
    "|": lambda a, b: a | b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _value(node: Expr, values: dict[Expr, Value], store_: Mapping[str, Value]) -> Value:
    match node:
        case Const(value=value):
            return value
        case Var(name=name):
            return store_[name]
        case Select(array=array, index=index):
            cells, i = values[array], values[index]
            assert isinstance(cells, tuple) and isinstance(i, int)
            return cells[i] if 0 <= i < len(cells) else default(array.type)
        case Store(array=array, index=index, value=value_):
            cells, i, new = values[array], values[index], values[value_]
            assert isinstance(cells, tuple) and isinstance(i, int) and not isinstance(new, tuple)
            return (*cells[:i], new, *cells[i + 1 :]) if 0 <= i < len(cells) else cells
        case Not(arg=arg):
            return not values[arg]
        case Neg(arg=arg):
            number = values[arg]
            assert isinstance(number, int)
            return -number
        case Binary(op=op, left=left, right=right):
            a, b = values[left], values[right]
            assert isinstance(a, int) and isinstance(b, int)
            return OPERATIONS[op](a, b)
        case Junction(op=op, args=args):
            return (all if op == "and" else any)(values[arg] for arg in args)
        case Ite(test=test, then=then, other=other):
            return values[then] if values[test] else values[other]
        case Checked(index=index):
            return values[index]
    raise AssertionError(f"not an expression: {node!r}")


def evaluate(expr: Expr, store_: Mapping[str, Value]) -> Value:
    """The value of an expression where `store_` gives the values of its variables. It is total: see above."""
    values: dict[Expr, Value] = {}
    for node in nodes(expr):
        values[node] = _value(node, values, store_)
    return values[expr]


def _within(index: Expr, size: int) -> tuple[Expr, Expr]:
    return binary("<=", ZERO, index), binary("<", index, const(size))


def defined(expr: Expr) -> Expr:
    """The condition under which evaluation from left to right, stopping early, never divides by zero, leaves an
    array, or shifts by at least the bits of a word."""
    known: dict[Expr, Expr] = {}
    for node in nodes(expr):
        parts = [known[child] for child in node.children]
        match node:
            case Select(array=array, index=index) if isinstance(array.type, ArrayType):
                known[node] = conj(*parts, *_within(index, array.type.size))
            case Binary(op="/" | "%" | "quot" | "rem", right=right):
                known[node] = conj(*parts, binary("!=", right, ZERO))
            case Binary(op="<<" | ">>", right=right):
                known[node] = conj(*parts, *_within(right, WORD))
            case Checked(index=index, bound=bound):
                known[node] = conj(*parts, *_within(index, bound))
            case Junction(op=op, args=args) if any(part is not TRUE for part in parts[1:]):
                rest = TRUE
                for arg, part in zip(reversed(args), reversed(parts), strict=True):
                    skips = not_(arg) if op == "and" else arg
                    rest = conj(part, rest if rest is TRUE else disj(skips, rest))
                known[node] = rest
            case Ite(test=test, then=then, other=other):
                known[node] = conj(
                    known[test],
                    TRUE if known[then] is TRUE else disj(not_(test), known[then]),
                    TRUE if known[other] is TRUE else disj(test, known[other]),
                )
            case _:
                known[node] = conj(*parts)
    return known[expr]
