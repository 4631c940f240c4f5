"""What the classes and methods of C containers do, as tables."""

from __future__ import annotations

import types
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from porcini.langs.aio import rules, trusted
from porcini.langs.aio.calls.calling import call_back
from porcini.langs.aio.calls.effects import (
    Arguments,
    Effect,
    Options,
    Replacement,
    Values,
    consume,
    keep,
    special_case,
)
from porcini.langs.aio.log import BASE, COUNT, ORDER, READ, SHAPE, WRITE
from porcini.langs.aio.operations import items, iterating, operators
from porcini.langs.aio.operations.entries import log, mark_opaque, register_new
from porcini.langs.aio.operations.iterating import iterate_over
from porcini.langs.aio.operations.values import (
    VIEWS,
    append_items,
    compare,
    is_c_iterator,
    iterate,
    measure,
    read_all,
    read_length,
    read_operand,
    register_view,
    write_all,
)

# Uses ---------------------------------------------------------------------------------------------------------


def combine(value: Any, number: int) -> None:
    """What a method may do with an argument: read all of it, or iterate over it."""
    kind = type(value)
    if kind is types.GeneratorType or is_c_iterator(kind):
        iterate(value, number)
    elif kind not in rules.PLAIN:
        if hasattr(kind, "__iter__") and rules.container_base(kind) is None and kind not in VIEWS:
            mark_opaque(f"{kind.__qualname__}.__iter__", number)
        read_operand(value, number)


def read_pairs(value: Any, number: int) -> Any:
    """What a dict is made from: another one, or pairs."""
    if issubclass(type(value), dict):
        return iterate(value, number)
    return (
        iterating.read_mapping(value, number) if hasattr(type(value), "keys") else iterating.unpack(value, number)
    )


def count(value: Any, number: int) -> Any:
    """What a Counter is made from: a dict, or things to be counted."""
    if issubclass(type(value), dict):
        return read_operand(value, number)
    return iterating.read_mapping(value, number) if hasattr(type(value), "keys") else consume(value, number)


def consume_bytes(value: Any, number: int) -> Any:
    """What `bytes` and `bytearray` go over, unless there is another way to make bytes of it."""
    kind = type(value)
    whole = kind in rules.PLAIN or not hasattr(kind, "__iter__") or hasattr(kind, "__index__")
    return read_operand(value, number) if whole or hasattr(kind, "__bytes__") else consume(value, number)


def as_bytes(value: Any, number: int) -> Any:
    """The same for `bytes`, which looks for `__bytes__` first."""
    read_operand(value, number)
    return consume_bytes(value, number)


def move(obj: Any, number: int) -> None:
    """Items go or move, whatever they are."""
    write_all(obj, number)
    read_all(obj, number)


def change(obj: Any, number: int) -> None:
    """The whole container changes, by what is in it."""
    read_operand(obj, number)
    write_all(obj, number)


def _search_and_change(obj: Any, number: int) -> None:
    """A value is looked for, and those behind it move up."""
    compare(obj, number)
    write_all(obj, number)


def _remove_key(obj: Any, key: Any, number: int) -> None:
    items.ensure_key(obj, key, number, adds=False)


def _delete_key(obj: Any, key: Any, number: int) -> None:
    items.write_key(obj, key, number, adds=False)


def new_container(value: Any) -> Any:
    """A copy: new, if it is certain that no constructor of the program's made it."""
    return register_new(value) if type(value) in trusted.CONTAINERS else value


# Special cases ------------------------------------------------------------------------------------------------


def view(function: Any, number: int, obj: Any) -> Any:
    """`items` and the like: the result reads the container whenever it is used."""
    if type(obj) is dict and getattr(function, "__name__", "") in ("keys", "values", "items"):
        read_all(obj, number, COUNT)  # who uses it sees the order
    else:
        iterate(obj, number)
    return lambda *args, **kwargs: register_view(function(*args, **kwargs), (obj,))


@special_case
def _pop(function: Any, number: int, args: Values, kwargs: Options, obj: Any) -> None:
    """`list.pop`: the last item, or all move up."""
    last = measure(obj) - 1
    if args or kwargs or last < 0:
        move(obj, number)
    else:
        log((obj, number, WRITE, (f"[{last}]", SHAPE)))
        log((obj, number, READ, (f"[{last}]", ORDER, BASE)))


@special_case
def _set_item(function: Any, number: int, args: Values, kwargs: Options, obj: Any) -> None:
    """`__setitem__`: what is put into a slice is iterated over."""
    if len(args) == 2:
        items.write_key(obj, args[0], number)
        if type(args[0]) is slice:
            operators.read_right_side(args[1], number)


@special_case
def _update(function: Any, number: int, others: Values, more: Options, obj: Any) -> Arguments:
    """`dict.update` and `set.update`: key by key if the keys can be seen."""
    is_dict = issubclass(type(obj), dict)
    write = items.write_key if is_dict else items.ensure_key
    given: list[Any] = []
    for other in others:
        visible = type(other) is dict or (not is_dict and type(other) in (set, list, tuple))
        if type(obj) in (dict, set) and visible:
            given.append(iterate(other, number))
            for key in other:
                write(obj, key, number)
        else:
            given.append((read_pairs if is_dict else consume)(other, number))
            write_all(obj, number)
    for key in more:
        write(obj, key, number)
    return tuple(given), more


# Tables -------------------------------------------------------------------------------------------------------


def hash_items(value: Any, number: int) -> Any:
    """The argument is iterated over; items are hashed and compared. Of those that equal themselves only, such as
    tasks, that reads nothing."""
    if type(value) in (list, tuple, set, frozenset) and all(rules.is_identity(type(item)) for item in value):
        return iterate_over(value, number)
    return consume(value, number)


CONSTRUCTORS: dict[type, Effect] = {
    list: Effect((iterate_over,), others=keep, result=register_new),
    tuple: Effect((iterate_over,), others=keep),
    set: Effect((hash_items,), others=keep, result=register_new),
    frozenset: Effect((hash_items,), others=keep),
    deque: Effect((iterate_over,), keywords={"iterable": iterate_over}, others=keep, result=register_new),
    dict: Effect((read_pairs,), others=keep, result=register_new),
    OrderedDict: Effect((read_pairs,), others=keep, result=register_new),
    defaultdict: Effect((keep, read_pairs), others=keep, result=register_new),
    Counter: Effect((count,), others=read_operand, result=register_new),
    bytearray: Effect((consume_bytes,), keywords={"source": consume_bytes}, others=keep, result=register_new),
}

_COMBINE = Effect((read_operand,), rest=combine, others=combine)
_CHANGE = Effect((change,), rest=combine, others=combine)
_MOVE = Effect((move,))
_MOVE_KEY = Effect((move,), rest=combine, others=combine)
_APPEND = Effect((append_items,))
_EXTEND = Effect((write_all,), rest=iterate_over)
_CONSUME = Effect((write_all,), rest=consume)
_COUNT = Effect((move,), rest=count, others=read_operand)
_ORDER = Effect((change,), rest=read_operand, keywords={"key": call_back, "reverse": read_operand})
_SEARCH = Effect((compare,), rest=compare)
_REMOVE = Effect((_search_and_change,), rest=compare)
_COPY = Effect((read_all,), result=new_container)
_LOOK_UP = Effect(key=items.has_key)
_ENSURE = Effect(key=items.ensure_key)
_DISCARD = Effect(key=_remove_key)
_COMMON: dict[str, Replacement] = {
    "__len__": Effect((read_length,)),
    "__contains__": _LOOK_UP,
    "__getitem__": Effect(key=items.read_item),
    "__setitem__": _set_item,
    "__delitem__": Effect(key=_delete_key),
    **dict.fromkeys(("__iter__", "__reversed__"), view),
    "clear": Effect((write_all,)),
    "copy": _COPY,
    **dict.fromkeys(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"), _COMBINE),
    **dict.fromkeys(("__repr__", "__str__", "__hash__", "__sizeof__", "__format__"), _COMBINE),
    **dict.fromkeys(("__add__", "__mul__", "__rmul__", "__mod__", "__rmod__"), _COMBINE),
    **dict.fromkeys(("__or__", "__and__", "__sub__", "__xor__"), _COMBINE),
    **dict.fromkeys(("__iadd__", "__imul__", "__ior__", "__iand__", "__isub__", "__ixor__"), _CHANGE),
    "__init__": _CHANGE,
}
_SEARCHING: dict[str, Replacement] = dict.fromkeys(("index", "count"), _SEARCH)
_OF_SETS: dict[str, Replacement] = {
    **_COMMON,
    **dict.fromkeys(("union", "difference", "intersection", "symmetric_difference"), _COMBINE),
    **dict.fromkeys(("issubset", "issuperset", "isdisjoint"), _COMBINE),
}
METHODS: dict[type, dict[str, Replacement]] = {
    list: {
        **_COMMON,
        **_SEARCHING,
        "append": _APPEND,
        "extend": _EXTEND,
        "pop": _pop,
        **dict.fromkeys(("insert", "sort"), _ORDER),
        "remove": _REMOVE,
        "reverse": _MOVE,
    },
    deque: {
        **_COMMON,
        **_SEARCHING,
        **dict.fromkeys(("append", "appendleft", "reverse"), _APPEND),
        **dict.fromkeys(("pop", "popleft", "rotate"), _MOVE),
        **dict.fromkeys(("extend", "extendleft"), _EXTEND),
        "insert": _ORDER,
        "remove": _REMOVE,
    },
    dict: {
        **_COMMON,
        "get": _LOOK_UP,
        "pop": _DISCARD,
        "setdefault": _ENSURE,
        "update": _update,
        "popitem": _MOVE,
        **dict.fromkeys(("keys", "values", "items"), view),
    },
    OrderedDict: dict.fromkeys(("move_to_end", "popitem"), _MOVE_KEY),
    Counter: {
        **dict.fromkeys(("update", "subtract", "__init__", "_keep_positive"), _COUNT),
        **dict.fromkeys(("most_common", "total", "copy"), _COMBINE),
        "elements": view,
    },
    set: {
        **_OF_SETS,
        "add": _ENSURE,
        **dict.fromkeys(("discard", "remove"), _DISCARD),
        "pop": _MOVE,
        "update": _update,
        **dict.fromkeys(("difference_update", "intersection_update", "symmetric_difference_update"), _CONSUME),
    },
    tuple: {**_COMMON, **_SEARCHING},
    frozenset: _OF_SETS,
    bytearray: {**dict.fromkeys((n for n in dir(bytearray) if not n.startswith("__")), _CHANGE), **_COMMON},
    **{kind: {"__iter__": view, "__reversed__": view, "*": _COMBINE} for kind in VIEWS},
}
