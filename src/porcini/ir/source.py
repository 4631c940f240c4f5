"""Expressions as Python source: operators are the same for every machine, variables are not.

A machine says how it gets at what it keeps (`Leaf`); all else is written here. What fails calls a function of the
machine's: `quot`, `rem`, `shl`, `shr` and `index`, which raise what the machine catches. Source holds numbers and
names of ours only, never a name or a string from the input.
"""

from __future__ import annotations

from collections.abc import Callable

from porcini.ir.expr import WORD, Binary, Checked, Const, Expr, Ite, Junction, Neg, Not

Leaf = Callable[[Expr], str | None]
"""Source for what a machine knows how to get; None for what is made of other expressions."""

_CALLED = {"quot": "quot", "rem": "rem", "<<": "shl", ">>": "shr"}
_HALF = 1 << WORD - 1
_WRITTEN = {"/": "//"}
_CHAINED = ("+", "-")


def source(expr: Expr, leaf: Leaf) -> str:
    """Source for the value of an expression."""
    found = leaf(expr)
    if found is not None:
        return found
    match expr:
        case Const(value=value):
            return f"({value!r})" if value < 0 else repr(value)
        case Not(arg=arg):
            return f"(not {source(arg, leaf)})"
        case Neg(arg=arg):
            return f"(-{source(arg, leaf)})"
        case Junction(op=op, args=args):
            return "(" + f" {op} ".join(source(arg, leaf) for arg in args) + ")"
        case Binary(op="<<", left=left, right=Const(value=0)):  # cut to a word
            return f"(({source(left, leaf)} + {_HALF} & {2 * _HALF - 1}) - {_HALF})"
        case Binary(op=op, left=left, right=right) if op in _CALLED:
            return f"{_CALLED[op]}({source(left, leaf)}, {source(right, leaf)})"
        case Binary():
            return f"({_operation(expr, leaf)})"
        case Ite():
            return f"({_conditional(expr, leaf)})"
        case Checked(index=index, bound=bound):
            return f"index({source(index, leaf)}, {bound})"
    raise AssertionError(f"cannot be compiled: {expr!r}")


def _operation(expr: Binary, leaf: Leaf) -> str:
    """An operation; a chain of sums on its left has no bracket for each, since Python allows 200."""
    parts = [f" {_WRITTEN.get(expr.op, expr.op)} {source(expr.right, leaf)}"]
    left = expr.left
    while isinstance(left, Binary) and left.op in _CHAINED and expr.op in _CHAINED and leaf(left) is None:
        parts.append(f" {left.op} {source(left.right, leaf)}")
        left = left.left
    return source(left, leaf) + "".join(reversed(parts))


def _conditional(expr: Expr, leaf: Leaf) -> str:
    """A chain of conditions, without a bracket for each."""
    parts: list[str] = []
    while isinstance(expr, Ite) and leaf(expr) is None:
        parts.append(f"{source(expr.then, leaf)} if {source(expr.test, leaf)} else ")
        expr = expr.other
    return "".join(parts) + source(expr, leaf)
