"""What the methods of C containers read and write, by type and name."""

from __future__ import annotations

import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.log import BASE, ORDER, READ, SHAPE, WRITE
from porcini.langs.aio.operations import items, iterating, operators
from porcini.langs.aio.operations.entries import log, unknown
from porcini.langs.aio.operations.values import (
    VIEWS,
    compared,
    is_c_iterator,
    iterate,
    operand,
    read_all,
    read_shape,
    size,
    write_all,
    write_end,
)

Model = Callable[..., Any]
"""Logs what a call will do: of the receiver (if it is a method), the site and the arguments.

It may give back other arguments, which do the same: an iterator for an object that makes its own.
"""


ANY: frozenset[str] = frozenset({"*"})
OPTIONS: dict[Model, frozenset[str]] = {}
"""What a model may be given by name (see `taking`)."""


def taking(*options: str) -> Callable[[Model], Model]:
    """Says which arguments a model knows by name, or that it knows all (`ANY`).

    All others are given to it by position; a call where that cannot be done is opaque. So that no name of the
    program's can be mistaken for one of ours, the parameters of models are positional.
    """

    def noted(model: Model) -> Model:
        OPTIONS[model] = frozenset(options) if frozenset(options) != ANY else ANY
        return model

    return noted


def _argument(value: Any, number: int) -> None:
    """What a method may do with an argument: read all of it, or iterate over it."""
    kind = type(value)
    if kind is types.GeneratorType or is_c_iterator(kind):
        iterate(value, number)
    elif kind not in rules.PLAIN:
        if hasattr(kind, "__iter__") and rules.container_base(kind) is None and kind not in VIEWS:
            unknown(f"{kind.__qualname__}.__iter__", number)
        operand(value, number)


def pairs(value: Any, number: int, counts: bool = False) -> Any:
    """What a dict is made from: another one, or pairs; a Counter counts what else it is given."""
    kind = type(value)
    if issubclass(type(value), dict):
        return operand(value, number) if counts else iterate(value, number)
    if hasattr(kind, "keys"):
        return iterating.mapped(value, number)
    return iterating.source(value, number, deep=True) if counts else iterating.unpack(value, number)


@taking(*ANY)
def _extend(obj: Any, number: int, /, *values: Any, **more: Any) -> tuple[Any, ...]:
    """Items of others are put in: which ones cannot be said before that."""
    seen = []
    for value in values:
        if issubclass(type(obj), dict):
            seen.append(pairs(value, number, counts=issubclass(type(obj), Counter)))
        else:
            seen.append(iterating.source(value, number, deep=not issubclass(type(obj), list | deque)))
    write_all(obj, number)
    if issubclass(type(obj), Counter):
        read_all(obj, number)
        for count in more.values():
            operand(count, number)
    return tuple(seen)


@taking(*ANY)
def _update(obj: Any, number: int, /, *others: Any, **more: Any) -> tuple[Any, ...]:
    """`dict.update` and `set.update`: key by key if the keys can be seen."""
    seen: list[Any] = []
    for other in others:
        if (
            type(obj) not in (dict, set)
            or type(other) not in (dict, set, list, tuple)
            or (issubclass(type(obj), dict) and not issubclass(type(other), dict))
        ):
            seen.extend(_extend(obj, number, other))
            continue
        seen.append(other)
        iterate(other, number)
        for key in other:
            items.write_key(obj, key, number) if issubclass(type(obj), dict) else items.ensure_key(
                obj, key, number
            )
    for key in more:
        items.write_key(obj, key, number)
    return tuple(seen)


@taking(*ANY)
def _read(obj: Any, number: int, /, *args: Any, **kwargs: Any) -> None:
    """The container is compared, or combined with others to a new one."""
    operand(obj, number)
    for value in (*args, *kwargs.values()):
        _argument(value, number)


def _pop(obj: Any, number: int, /, *key: Any) -> None:
    """The last item of a list, the item with a key; else all move up."""
    last = size(obj) - 1
    if issubclass(type(obj), list) and not key and last >= 0:
        log((obj, number, WRITE, (f"[{last}]", SHAPE)))
        log((obj, number, READ, (f"[{last}]", ORDER, BASE)))
    elif issubclass(type(obj), dict) and key:
        items.ensure_key(obj, key[0], number, adds=False)
    else:
        write_all(obj, number)
        read_all(obj, number)


def _lookup(obj: Any, number: int, key: Any, /, *default: Any) -> None:
    """`dict.get` and `in`."""
    items.has_key(obj, key, number)


def _item(obj: Any, number: int, key: Any, /) -> None:
    items.item(obj, key, number)


def _ensure(obj: Any, number: int, key: Any, value: Any = None, /) -> None:
    items.ensure_key(obj, key, number)


def _discard(obj: Any, number: int, key: Any, /) -> None:
    items.ensure_key(obj, key, number, adds=False)


@taking(*ANY)
def _change(obj: Any, number: int, /, *value: Any, **kwargs: Any) -> None:
    """The whole container changes, by what it is given."""
    operand(obj, number)
    write_all(obj, number)
    for each in (*value, *kwargs.values()):
        _argument(each, number)


@taking("key", "reverse")
def _value(obj: Any, number: int, /, *values: Any, **kwargs: Any) -> None:
    """A value is put in, or items are sorted: they are compared, and then others move."""
    operand(obj, number)
    write_all(obj, number)
    for value in (*values, kwargs.get("reverse")):
        operand(value, number)


def _search(obj: Any, number: int, /, *values: Any) -> None:
    """`index` and `count`: values are compared."""
    compared(obj, number)
    for value in values:
        compared(value, number)


def _remove(obj: Any, number: int, /, *values: Any) -> None:
    """A value is looked for, and those behind it move up."""
    _search(obj, number, *values)
    write_all(obj, number)


def _store(obj: Any, number: int, key: Any, value: Any, /) -> None:
    items.write_key(obj, key, number)
    if type(key) is slice:
        operators.consumed(value, number)


def _delete(obj: Any, number: int, key: Any, /) -> None:
    items.write_key(obj, key, number, adds=False)


def _whole(obj: Any, number: int) -> None:
    """Items go or move, whatever they are."""
    write_all(obj, number)
    read_all(obj, number)


@taking(*ANY)
def _moved(obj: Any, number: int, /, *key: Any, **kwargs: Any) -> None:
    """A key of an OrderedDict goes to an end of it, or is taken from there; values are not looked into."""
    _whole(obj, number)
    for each in (*key, *kwargs.values()):
        _argument(each, number)


def viewing(obj: Any, number: int) -> None:
    """`items` and the like: the result reads the container whenever it is used."""


def copying(obj: Any, number: int) -> None:
    """`copy`: the result is new."""


_LOOKS = ("getitem", "contains", "len", "eq", "ne", "lt", "le", "gt", "ge", "repr", "str", "hash", "iter")
LOOKING = frozenset(
    {"get", "count", "index", "keys", "values", "items", "copy", "isdisjoint", "issubset", "union"}
    | {f"__{name}__" for name in _LOOKS}
)
"""Methods that change nothing."""
WITHOUT_ARGUMENTS = (write_end, _whole, read_shape)
"""Models that need no arguments, and can log at once."""
_COMPARING = ("eq", "ne", "lt", "le", "gt", "ge", "repr", "str", "hash", "sizeof", "format")
_COMBINING = ("add", "mul", "rmul", "or", "and", "sub", "xor", "mod", "rmod")
_CHANGING = ("iadd", "imul", "ior", "iand", "isub", "ixor", "init")
_SET_METHODS = (
    *("union", "difference", "intersection", "symmetric_difference"),
    *("issubset", "issuperset", "isdisjoint"),
)
_COMMON: dict[str, Model] = {
    "__len__": read_shape,
    "__contains__": _lookup,
    "__getitem__": _item,
    "__setitem__": _store,
    "__delitem__": _delete,
    "__iter__": viewing,
    "__reversed__": viewing,
    "clear": _whole,
    "copy": copying,
    **{f"__{name}__": _read for name in (*_COMPARING, *_COMBINING)},
    **{f"__{name}__": _change for name in _CHANGING},
}
_METHODS: dict[type, dict[str, Model]] = {
    list: {
        **_COMMON,
        "append": write_end,
        "extend": _extend,
        "pop": _pop,
        **dict.fromkeys(("insert", "sort"), _value),
        "remove": _remove,
        "reverse": _whole,
        **dict.fromkeys(("index", "count"), _search),
    },
    deque: {
        **_COMMON,
        **dict.fromkeys(("append", "appendleft", "reverse"), write_end),
        **dict.fromkeys(("pop", "popleft", "rotate"), _whole),
        **dict.fromkeys(("extend", "extendleft"), _extend),
        "insert": _value,
        "remove": _remove,
        **dict.fromkeys(("index", "count"), _search),
    },
    dict: {
        **_COMMON,
        "get": _lookup,
        "pop": _pop,
        "setdefault": _ensure,
        "update": _update,
        "popitem": _whole,
        **dict.fromkeys(("keys", "values", "items"), viewing),
    },
    OrderedDict: {"move_to_end": _moved, "popitem": _moved, "clear": _whole},
    Counter: {
        **dict.fromkeys(("update", "subtract", "__init__", "_keep_positive"), _extend),
        **dict.fromkeys(("most_common", "total", "copy"), _read),
        "elements": viewing,
        **dict.fromkeys(
            ("__add__", "__sub__", "__or__", "__and__", "__eq__", "__repr__", "__lt__", "__le__"), _read
        ),
        "__delitem__": _delete,
    },
    defaultdict: {"copy": copying},
    set: {
        **_COMMON,
        "add": _ensure,
        "discard": _discard,
        "remove": _discard,
        "pop": _whole,
        "update": _update,
        **dict.fromkeys(("difference_update", "intersection_update", "symmetric_difference_update"), _extend),
        **dict.fromkeys(_SET_METHODS, _read),
    },
    tuple: {**_COMMON, **dict.fromkeys(("index", "count"), _search)},
    frozenset: {
        **_COMMON,
        **dict.fromkeys(_SET_METHODS, _read),
    },
    bytearray: {**dict.fromkeys((n for n in dir(bytearray) if not n.startswith("__")), _change), **_COMMON},
}


@taking(*ANY)
def combined(obj: Any, number: int, /, *args: Any, **kwargs: Any) -> None:
    """A method of a view: with a set, or with whatever can be iterated over."""
    operand(obj, number)
    for value in (*args, *kwargs.values()):
        _argument(value, number)


@taking(*ANY)
def argument_only(obj: Any, number: int, /, *args: Any, **kwargs: Any) -> None:
    """What is given is read; nothing happens to the object."""
    for value in (*args, *kwargs.values()):
        _argument(value, number)


OBJECT = frozenset(
    f"__{name}__"
    for name in (
        *("init", "init_subclass", "eq", "ne", "hash", "repr", "str", "format", "new", "subclasshook"),
        "class_getitem",
    )
)
"""What every object has from `object`."""


def model_of(base: type | None, name: str) -> Model | None:
    """The model of a method of a container, or of what it inherits from."""
    while base is not None and base is not object:
        found = _METHODS.get(base, {}).get(name)
        if found is not None:
            return found
        base = base.__base__
    return None
