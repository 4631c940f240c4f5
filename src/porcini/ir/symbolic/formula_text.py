"""Labels as text that can be read again: `formula_of`. `formats.traces.formulas` reads it.

Expressions are those of GCL. A name that GCL would not accept, such as that of a private variable, is written in
backquotes. A label with an expression that is too large to be printed in full has no formula.
"""

from __future__ import annotations

import re
from functools import lru_cache

from porcini.core.formulas import Formula
from porcini.ir.expr import Apply, Const, Datum, Expr, Ite, Let, Store, nodes
from porcini.ir.operations import Assert, Assign
from porcini.ir.symbolic.labels import Label
from porcini.ir.text import LONGEST, show

_PLAIN = re.compile(r"(?!(?:skip|spawn|assert|proc|and|or|not|[Tt]rue|[Ff]alse)\Z)[^\W\d]\w*\Z")
_MOST_BITS = 10_000


class _Unwritable(Exception):
    pass


@lru_cache(maxsize=1 << 14)
def formula_of(label: Label) -> Formula | None:
    """When the step of a label happens and what it does; None if that cannot be written as text."""
    done = label.line if label.stopped is None else (*label.line, label.stopped)
    try:
        guards = [_write(guard) for guard in label.guards]
        first = guards.pop(max(label.taken, 0))
        return Formula(first, tuple(guards), tuple(map(_operation, done)))
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
    if expr.size > LONGEST or any(map(_is_odd, nodes(expr))):
        raise _Unwritable
    return show(expr, quote_name)


def _is_odd(node: Expr) -> bool:
    if isinstance(node, Const):
        return node.value.bit_length() >= _MOST_BITS
    return isinstance(node, Apply | Datum | Ite | Let | Store)


def quote_name(name: str) -> str:
    """A name as it is written in expressions.

    >>> quote_name("x"), quote_name("0.1.i"), quote_name("skip")
    ('x', '`0.1.i`', '`skip`')
    """
    return name if _PLAIN.match(name) else f"`{name}`"
