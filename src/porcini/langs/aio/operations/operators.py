"""Operators that change their left side, or that do more with an operand than to read it."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.operations.entries import mark_opaque
from porcini.langs.aio.operations.values import VIEWS, is_c_iterator, iterate, read_all, read_operand, write_all
from porcini.langs.aio.rules import PLAIN, Rule


def read_operands(left: Any, right: Any, number: int) -> tuple[Any, Any]:
    """Both operands, where one of them was suspended."""
    return read_operand(left, number), read_set_operand(right, number, left)


def read_format_argument(obj: Any, number: int) -> Any:
    """The right side of `%`: of a mapping, items are looked up, which may add them."""
    if type(obj) is not dict and hasattr(type(obj), "__missing__"):
        mark_opaque(f"% of {type(obj).__qualname__}", number)
    return read_operand(obj, number)


def read_set_operand(obj: Any, number: int, other: Any) -> Any:
    """The right side of `&`, `|`, `-` and `^`: views of a dict go over whatever they are combined with."""
    read_operand(obj, number)
    if type(obj) in VIEWS:
        read_right_side(other, number)
    if type(other) in VIEWS:
        read_right_side(obj, number)
    return obj


def update_in_place(obj: Any, number: int) -> Any:
    """`x += v`: a mutable x changes itself."""
    kind = type(obj)
    if kind not in PLAIN and not issubclass(type(obj), tuple | frozenset):
        rule = rules.classify(kind)
        if rule is Rule.CONTAINER:
            write_all(obj, number)
            read_all(obj, number)
        elif rule is not Rule.PLAIN:
            mark_opaque(f"in-place operator on {kind.__module__}.{kind.__qualname__}", number)
    return obj


def update_attribute(obj: Any, value: Any, number: int) -> tuple[Any, Any]:
    """`o.a += v`, between the load and the operation."""
    return update_in_place(obj, number), value


def read_right_side(obj: Any, number: int) -> Any:
    """The right side of `x += v`, or of an assignment to a slice: a list would go over it."""
    kind = type(obj)
    if kind not in PLAIN and not issubclass(type(obj), type):
        if rules.container_base(kind) is not None or kind in VIEWS or not hasattr(kind, "__iter__"):
            read_operand(obj, number)
        elif kind is types.GeneratorType or is_c_iterator(kind):
            iterate(obj, number)
        else:
            read_operand(obj, number)
            mark_opaque(f"{kind.__qualname__}.__iter__", number)
    return obj


def read_merged(obj: Any, number: int) -> Any:
    """The right side of `x |= v`: a dict would take the items apart."""
    kind = type(obj)
    if kind is types.GeneratorType or is_c_iterator(kind):
        mark_opaque(f"|= {kind.__name__}", number)
    return read_right_side(obj, number)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "MatMult": operator.matmul,
    "Div": operator.truediv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
    "FloorDiv": operator.floordiv,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "MatMult": operator.imatmul,
    "Div": operator.itruediv,
    "Mod": operator.imod,
    "Pow": operator.ipow,
    "LShift": operator.ilshift,
    "RShift": operator.irshift,
    "BitOr": operator.ior,
    "BitXor": operator.ixor,
    "BitAnd": operator.iand,
    "FloorDiv": operator.ifloordiv,
}
