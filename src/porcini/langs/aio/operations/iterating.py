"""Loops, unpacking, `*` and `**`: what is iterated over, by the interpreter or by C code."""

from __future__ import annotations

import operator
import types
from collections.abc import Iterator
from contextvars import Context
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.operations.entries import mark_opaque
from porcini.langs.aio.operations.values import VIEWS, is_c_iterator, iterate, read_all, read_operand
from porcini.langs.aio.rules import PLAIN

DICT_ITEMS: type = type({}.items())


def iterate_over(obj: Any, number: int, deep: bool = False) -> Any:
    """What is given to C code, or to the interpreter, that goes over all of it; with `deep`, it looks into items.

    The result is to be iterated over instead: the iterator of an object that makes its own has to be seen.
    """
    kind = type(obj)
    if kind is list and not deep:
        read_all(obj, number)
        return obj
    if kind in PLAIN or issubclass(type(obj), type) or not hasattr(kind, "__iter__"):
        iterate(obj, number)
        return (
            watch_items(iter(obj), number) if deep and hasattr(kind, "__getitem__") and kind not in PLAIN else obj
        )
    if rules.has_c_method(kind, "__iter__") or kind in VIEWS:
        iterate(obj, number)
        return read_operand(obj, number) if deep else obj
    if kind is types.GeneratorType or is_c_iterator(kind):
        iterate(obj, number)
        return watch_items(obj, number) if deep else obj
    if rules.has_opaque(kind, "__iter__"):
        mark_opaque(f"{kind.__qualname__}.__iter__", number)
        return obj
    return _Iterable(obj, number, deep)


class _Iterable:
    """Stands for an object that makes its own iterator, which has to be seen."""

    __slots__ = ("deep", "number", "obj")

    def __init__(self, obj: Any, number: int, deep: bool) -> None:
        self.obj, self.number, self.deep = obj, number, deep

    def __iter__(self) -> Iterator[Any]:
        iterator = iter(self.obj)
        iterate(iterator, self.number)
        return watch_items(iterator, self.number) if self.deep else iterator

    def __length_hint__(self) -> int:
        return operator.length_hint(self.obj)


def watch_items(iterator: Iterator[Any], number: int) -> Iterator[Any]:
    """For C code that looks into what an iterator gives it."""
    for value in iterator:
        read_operand(value, number)
        yield value


def read_mapping(obj: Any, number: int) -> Any:
    """`**obj`."""
    kind = type(obj)
    if rules.container_base(kind) is None and (not hasattr(kind, "keys") or rules.has_opaque(kind, "keys")):
        mark_opaque(f"{kind.__qualname__}.keys", number)
    if issubclass(type(obj), dict):  # it may be given to a call that makes a task
        context = dict.get(obj, "context")
        if issubclass(type(context), Context):
            rules.SHARED_CONTEXTS.add(id(context))
    return iterate(obj, number)


def read_captured(obj: Any, number: int) -> Any:
    """Taken apart, and bound to another name as well."""
    read_operand(obj, number)
    iterate(obj, number)
    if type(obj) not in PLAIN and rules.container_base(type(obj)) is None:
        mark_opaque(f"{type(obj).__qualname__}.__iter__", number)
    return obj


# Items that are taken apart -----------------------------------------------------------------------------------


def unpack(obj: Any, number: int, depth: int = 1) -> Any:
    """Iterated, and its items are taken apart as well, so deep."""
    kind = type(obj)
    if depth == 1:
        if (kind is list or kind is tuple) and all(type(value) is tuple for value in obj):
            return iterate(obj, number)
        if kind is enumerate or kind is zip or kind is DICT_ITEMS:
            return iterate(obj, number)
    return _unpack_each(iterate_over(obj, number), number, depth)


def _unpack_each(iterable: Any, number: int, depth: int) -> Iterator[Any]:
    """Each item is read only when it is asked for: the loop may end before."""
    for value in iterable:
        yield _unpack_item(value, number, depth)


def _unpack_item(value: Any, number: int, depth: int) -> Any:
    """A value that will be taken apart."""
    if type(value) is tuple and depth == 1:
        return value
    return (
        iterate_over(value, number) if depth == 1 else _unpack_each(iterate_over(value, number), number, depth - 1)
    )


# Loops that are suspended in between --------------------------------------------------------------------------


def iterate_suspended(obj: Any, number: int, unpacks: int = 0) -> Any:
    """As `iterate`, for a loop that is suspended in between: each step of it reads again."""
    kind = type(obj)
    if kind is str or kind is range or (kind is tuple and not unpacks):
        return obj
    if kind in PLAIN and not issubclass(type(obj), type) and kind is not types.GeneratorType:
        return obj
    in_c = rules.has_c_method(kind, "__iter__") or kind in VIEWS or is_c_iterator(kind)
    if in_c or kind is types.GeneratorType or rules.has_opaque(kind, "__iter__") or not hasattr(kind, "__iter__"):
        return _read_again(iter(obj), obj, number, unpacks)
    iterator = iter(obj)
    seen = is_c_iterator(type(iterator)) or type(iterator) is types.GeneratorType
    if not seen and not rules.has_opaque(type(iterator), "__next__") and not unpacks:
        return iterator
    return _read_again(iterator, iterator, number, unpacks)


def unpack_suspended(obj: Any, number: int, depth: int = 1) -> Any:
    """As `unpack`, for a loop that is suspended in between."""
    return iterate_suspended(obj, number, unpacks=depth)


def _read_again(iterator: Iterator[Any], obj: Any, number: int, unpacks: int) -> Iterator[Any]:
    """What an iterator gives, saying each time that `obj` is read."""
    while True:
        iterate(obj, number)
        try:
            value = next(iterator)
        except StopIteration:
            return
        yield _unpack_item(value, number, unpacks) if unpacks else value
