"""Labels as text that can be read again: `formula_of`. `formats.traces.formulas` reads it.

Expressions are those of GCL, and `(test ? one : other)`. A name that GCL would not accept, such as that of a
private variable, is written in backquotes. A label with an expression that is too large to be printed in full, or
nested too deep to be read again, has no formula; nor has one that speaks of data.
"""

from __future__ import annotations

import re
from functools import lru_cache

from porcini.core.formulas import Formula
from porcini.ir.expr import COMPARISONS, FALSE, Binary, Const, Expr, Ite, Junction, Neg, Not, Select, Var, nodes
from porcini.ir.operations import Assert, Assign
from porcini.ir.source import DEEPEST
from porcini.ir.symbolic.labels import UNDEFINED, Label
from porcini.ir.text import LONGEST, show

_PLAIN = re.compile(r"(?!(?:skip|spawn|assert|proc|and|or|not|[Tt]rue|[Ff]alse)\Z)[^\W\d]\w*\Z")
_MOST_BITS = 10_000
_OPERATORS = frozenset({"+", "-", "*", "/", "%", *COMPARISONS})


class _Unwritable(Exception):
    pass


@lru_cache(maxsize=1 << 14)
def formula_of(label: Label) -> Formula | None:
    """When the step of a label happens and what it does; None if that cannot be written as text."""
    done = label.line if label.stopped is None else (*label.line, label.stopped)
    first = max(label.taken, 0)
    guards, choices = list(label.guards or (FALSE,)), list(label.choices)
    try:
        return Formula(
            _write(guards.pop(first)),
            tuple(map(_write, guards)),
            tuple(map(_operation, done)),
            fails_after=label.failure is not None and label.stopped is None and label.taken != UNDEFINED,
            choices=(choices[first], *choices[:first], *choices[first + 1 :]) if choices else (),
            family=label.family,
        )
    except _Unwritable:
        return None


def _operation(op: object) -> str:
    match op:
        case Assign(target=target, value=value):
            return f"{_write(target)} := {_write(value)}"
        case Assert(test=test):
            return f"assert {_write(test)}"
    raise _Unwritable


def _write(expr: Expr) -> str:
    if expr.size > LONGEST or not all(map(_is_writable, nodes(expr))) or _nesting(expr) > DEEPEST:
        raise _Unwritable
    return show(expr, quote_name)


def _is_writable(node: Expr) -> bool:
    match node:
        case Const(value=value):
            return value.bit_length() < _MOST_BITS
        case Binary(op=op):
            return op in _OPERATORS
        case _:
            return isinstance(node, Var | Select | Not | Neg | Junction | Ite)


def _nesting(expr: Expr) -> int:
    """How deep an expression is for whoever reads it: a chain of conditions counts once, as in `ir.source`."""
    depths: dict[Expr, int] = {}
    for node in nodes(expr):
        depth = 1 + max((depths[child] for child in node.children), default=0)
        if isinstance(node, Ite) and isinstance(node.other, Ite):
            depth = max(1 + depths[node.test], 1 + depths[node.then], depths[node.other])
        depths[node] = depth
    return depths[expr]


def quote_name(name: str) -> str:
    """A name as it is written in expressions.

    >>> quote_name("x"), quote_name("0.1.i"), quote_name("skip")
    ('x', '`0.1.i`', '`skip`')
    """
    return name if _PLAIN.match(name) else f"`{name}`"
