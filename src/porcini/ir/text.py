"""Expressions as text, in GCL's ASCII syntax."""

from __future__ import annotations

from collections.abc import Callable

from porcini.ir.expr import (
    COMPARISONS,
    Apply,
    Binary,
    Checked,
    Const,
    Datum,
    Expr,
    Ite,
    Junction,
    Let,
    Neg,
    Not,
    Select,
    Store,
    Var,
    nodes,
)

_TIGHTNESS = {"or": 1, "and": 2, "not": 3, "+": 5, "-": 5} | dict.fromkeys(("*", "/", "%", "quot", "rem"), 6)
_BITS = ("<<", ">>", "&", "^", "|")
"""Their precedence differs between languages, so they are always in brackets."""
_WRITTEN = {"quot": "/", "rem": "%"}
_COMPARISON, _NEGATION, _ATOM = 4, 7, 8
LONGEST = 20_000
"""The largest number of nodes that is printed: because of sharing, a small expression can print as a huge text."""


def show_number(value: int) -> str:
    """A number or boolean; one with more digits than Python likes to print is described instead."""
    return str(value) if value.bit_length() < 10_000 else f"<a number of {value.bit_length()} bits>"


def name_for_people(name: str) -> str:
    """A variable as its author wrote it, without the suffix that distinguishes it from others of the same name."""
    return name.lstrip(".@").partition("#")[0] or "_"


def show(expr: Expr, name: Callable[[str], str] = name_for_people) -> str:
    """An expression as text, with no more parentheses than Python would want; `name` says how to write variables.

    >>> from porcini.ir.expr import binary, const, var
    >>> x = var("x", "int")
    >>> show(binary("*", binary("+", x, const(1)), const(2)))
    '(x + 1) * 2'
    """
    if expr.size > LONGEST:
        return f"... ({expr.size} nodes)"
    shown: dict[Expr, tuple[str, int]] = {}
    for node in nodes(expr):  # children come first, so that depth does not matter
        shown[node] = (name(node.name), _ATOM) if isinstance(node, Var) else _text(node, shown)
    return shown[expr][0]


def _text(expr: Expr, shown: dict[Expr, tuple[str, int]]) -> tuple[str, int]:
    def sub(child: Expr, context: int) -> str:
        text, tightness = shown[child]
        return f"({text})" if tightness < context else text

    match expr:
        case Const(value=value):
            return show_number(value), _ATOM if value >= 0 else _NEGATION
        case Datum(value=datum):
            return "null" if datum is None else str(datum), _ATOM
        case Apply(function=function, args=args):
            return f"{function}({', '.join(sub(arg, 0) for arg in args)})", _ATOM
        case Let(body=body):
            return sub(body, 0), 0
        case Select(array=array, index=index):
            return f"{sub(array, _ATOM)}[{sub(index, 0)}]", _ATOM
        case Store(array=array, index=index, value=value):
            return f"{sub(array, _ATOM)}{{{sub(index, 0)}: {sub(value, 0)}}}", _ATOM
        case Not(arg=arg):
            return f"not {sub(arg, _TIGHTNESS['not'])}", _TIGHTNESS["not"]
        case Neg(arg=arg):
            return f"-{sub(arg, _NEGATION)}", _NEGATION
        case Junction(op=op, args=args):
            tight = _TIGHTNESS[op]
            return f" {op} ".join(sub(arg, tight + 1) for arg in args), tight
        case Binary(op=op, left=left, right=right) if op in _BITS:
            return f"({sub(left, _ATOM)} {op} {sub(right, _ATOM)})", _ATOM
        case Binary(op=op, left=left, right=right):
            tight = _COMPARISON if op in COMPARISONS else _TIGHTNESS[op]
            inner = tight + 1 if op in COMPARISONS else tight
            return f"{sub(left, inner)} {_WRITTEN.get(op, op)} {sub(right, tight + 1)}", tight
        case Checked(index=index):
            return shown[index]
        case Ite(test=test, then=then, other=other):
            return f"({sub(test, 0)} ? {sub(then, 0)} : {sub(other, 0)})", _ATOM
    raise AssertionError(f"not an expression: {expr!r}")
