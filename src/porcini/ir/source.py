"""Expressions as Python source: operators are the same for every machine, variables are not.

A machine says how it reads its own storage (`Leaf`); everything else is written here. Operations that may fail
call a function of the machine: `quot`, `rem`, `shl`, `shr` and `index`, which raise what the machine catches.
Source contains only numbers and names of ours, never a name or a string from the input.
"""

from __future__ import annotations

from collections.abc import Callable

from porcini.ir.expr import WORD, Binary, Checked, Const, Expr, Ite, Junction, Neg, Not

Leaf = Callable[[Expr], str | None]
"""Source for an expression that a machine reads from its storage; None for one that consists of others."""

_CALLED = {"quot": "quot", "rem": "rem", "<<": "shl", ">>": "shr"}
_HALF = 1 << WORD - 1
DEEPEST = 90
"""How deep an expression may be nested: Python refuses source with 200 nested brackets, and an array index takes
two."""
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
    """An operation. A chain of sums on its left gets no brackets, since Python allows only 200 nested ones."""
    parts = [f" {_WRITTEN.get(expr.op, expr.op)} {source(expr.right, leaf)}"]
    left = expr.left
    while isinstance(left, Binary) and left.op in _CHAINED and expr.op in _CHAINED and leaf(left) is None:
        parts.append(f" {left.op} {source(left.right, leaf)}")
        left = left.left
    return source(left, leaf) + "".join(reversed(parts))


def _conditional(expr: Expr, leaf: Leaf) -> str:
    """A chain of conditions, without nested brackets."""
    parts: list[str] = []
    while isinstance(expr, Ite) and leaf(expr) is None:
        parts.append(f"{source(expr.then, leaf)} if {source(expr.test, leaf)} else ")
        expr = expr.other
    return "".join(parts) + source(expr, leaf)
