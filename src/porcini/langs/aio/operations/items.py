"""Items of containers: `obj[key]`, read, set and deleted, and `key in obj`."""

from __future__ import annotations

import enum
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Any

from porcini.langs.aio import rules, trusted
from porcini.langs.aio.log import ADD, BASE, COUNT, CREATED, INDEX, KEY, LOG, ORDER, READ, WRITE
from porcini.langs.aio.operations.entries import MANY, drain_log, log, mark_opaque
from porcini.langs.aio.operations.iterating import iterate_over
from porcini.langs.aio.operations.operators import update_in_place
from porcini.langs.aio.operations.values import (
    COUNT_ONLY,
    NO_LOCATIONS,
    SHAPE_ONLY,
    VIEWS,
    WHOLE,
    compare,
    equal_in_any_order,
    format_suffix,
    measure,
    read_all,
    read_in_any_order,
    read_operand,
    read_sources,
    write_all,
)
from porcini.langs.aio.operations.weak import access_task_key
from porcini.langs.aio.rules import ABSENT, PLAIN, Rule
from porcini.langs.aio.trusted import ALWAYS_PLAIN

_COUNTING = (dict, Counter, defaultdict)
_LISTED = 256
_ITEMS = [(f"[{i}]", INDEX) for i in range(_LISTED)]
"""What an access to an item of a list touches, made once: an entry that is the same is skipped fast."""


# Keys ---------------------------------------------------------------------------------------------------------


def has_key(obj: Any, key: object, number: int) -> None:
    """Is this key there? Whoever adds or removes it writes the item."""
    suffix = format_suffix(key)
    if type(obj) is list and type(key) in ALWAYS_PLAIN and read_in_any_order(obj, number, _only_plain):
        return
    if suffix is None or not issubclass(type(obj), dict | set):
        compare(obj, number)
        _probe(obj, key, number)
    else:
        log((obj, number, READ, (suffix, BASE)))


def _only_plain(items: list[Any]) -> bool:
    return all(type(item) in ALWAYS_PLAIN for item in items)


def _probe(obj: Any, key: object, number: int) -> None:
    """A key is compared with those of the same hash, in the order in which they came: its `__eq__` may tell."""
    compare(key, number)
    if issubclass(type(obj), dict | set) and not equal_in_any_order(key):
        read_all(obj, number)


def _has(obj: Any, key: object) -> bool:
    return set.__contains__(obj, key) if issubclass(type(obj), set) else dict.__contains__(obj, key)


def read_key(obj: Any, key: object, number: int) -> None:
    """`obj[key]` of a C container."""
    if issubclass(type(obj), list):
        if type(key) is int:
            length = measure(obj)
            if -length <= key < length:
                if 0 <= key < _LISTED:
                    log((obj, number, READ, _ITEMS[key]))
                    return
                item_of = (f"[{key}]", INDEX) if key >= 0 else (f"[{key + length}]", INDEX, COUNT)
                log((obj, number, READ, item_of))
            else:
                log((obj, number, READ, (ORDER, BASE)))
        else:
            read_all(obj, number)
    elif issubclass(type(obj), dict | set):
        has_key(obj, key, number)
    elif not issubclass(type(obj), NO_LOCATIONS):
        log((obj, number, READ, SHAPE_ONLY))


def write_key(obj: Any, key: object, number: int, adds: bool = True) -> None:
    """An item is set (or, without `adds`, removed). The shape changes, too, if the key was not there."""
    if issubclass(type(obj), list):
        length = measure(obj)
        if type(key) is int and -length <= key < length and adds:
            index = key % length
            log((obj, number, WRITE, _ITEMS[index] if index < _LISTED else (f"[{index}]", INDEX)))
            if key < 0:
                log((obj, number, READ, COUNT_ONLY))
        else:
            log((obj, number, WRITE, WHOLE))
            log((obj, number, READ, (ORDER, BASE)))
    elif issubclass(type(obj), dict | set):
        suffix = format_suffix(key)
        if suffix is None:
            log((obj, number, WRITE, WHOLE))
            _probe(obj, key, number)
        else:
            stays = _has(obj, key) is adds
            log((obj, number, WRITE, (suffix,) if stays else (suffix, KEY)))
            log((obj, number, READ, (suffix,)))
    elif not issubclass(type(obj), NO_LOCATIONS):
        log((obj, number, WRITE, SHAPE_ONLY))


def ensure_key(obj: Any, key: object, number: int, adds: bool = True) -> None:
    """`set.add`, `set.discard`, `dict.pop`: if it is as it shall be, the key was only looked up."""
    if format_suffix(key) is not None and _has(obj, key) is adds:
        has_key(obj, key, number)
    else:
        write_key(obj, key, number, adds)


# Reading ------------------------------------------------------------------------------------------------------


def read_item(obj: Any, key: object, number: int) -> Any:
    """Before `obj[key]` is read; gives back the object."""
    kind = type(obj)
    if kind is dict:
        if type(key) is str:
            log((obj, number, READ, (f"[{key!r}]", BASE)))
        else:
            has_key(obj, key, number)
    elif kind is list:
        read_key(obj, key, number)
    elif kind not in PLAIN and kind is not tuple:
        _read_other_item(obj, kind, key, number)
    return obj


def _read_other_item(obj: Any, kind: type, key: object, number: int) -> None:
    """As `read_item`, of a type that is less common: a `__missing__` may add what is not there."""
    if access_task_key(obj, key, number, READ):
        return
    if rules.has_c_method(kind, "__getitem__"):
        missing = (
            issubclass(type(obj), dict) and hasattr(kind, "__missing__") and not issubclass(type(obj), Counter)
        )
        if not missing or format_suffix(key) is None or _has(obj, key):
            read_key(obj, key, number)
            if missing and format_suffix(key) is None:
                write_all(obj, number)
        elif issubclass(type(obj), defaultdict) and vars(kind).get("__missing__") in (
            None,
            defaultdict.__missing__,
        ):
            write_key(obj, key, number)
            factory = obj.default_factory
            if factory not in trusted.CONTAINERS and factory not in PLAIN and not rules.records_itself(factory):
                mark_opaque(f"default_factory {factory!r}", number)
            if factory in trusted.CONTAINERS:
                CREATED.append(obj[key])
        elif rules.has_opaque(kind, "__missing__"):
            mark_opaque(f"{kind.__qualname__}.__missing__", number)
        else:
            read_key(obj, key, number)
    elif kind in VIEWS:
        read_sources(obj, number)
    elif issubclass(type(obj), type) or kind.__module__ == "typing":
        return
    elif kind is re.Match:
        read_operand(obj.string, number)
    elif rules.classify(kind) is Rule.OPAQUE and rules.has_opaque(kind, "__getitem__"):
        mark_opaque(f"{kind.__qualname__}.__getitem__", number)


def read_item_and_key(obj: Any, key: Any, number: int) -> tuple[Any, Any]:
    """As `read_item`, giving back both."""
    read_item(obj, key, number)
    return obj, key


def read_slice(obj: Any, key: slice, number: int) -> Any:
    """`obj[a:b]`: of a list, that is a new list."""
    read_item(obj, key, number)
    value = obj[key]
    if type(obj) is list:
        CREATED.append(value)
    return value


def look_up(obj: Any, key: object, number: int) -> Any:
    """`key in obj`; gives back the container."""
    kind = type(obj)
    if kind in PLAIN and not issubclass(type(obj), type):
        return obj
    if access_task_key(obj, key, number, READ):
        return obj
    if rules.has_c_method(kind, "__contains__"):
        has_key(obj, key, number)
    elif kind in VIEWS:
        read_operand(obj, number)
        read_operand(key, number)
    elif issubclass(type(obj), enum.EnumMeta):
        read_operand(key, number)
    elif rules.has_opaque(kind, "__contains__"):
        mark_opaque(f"{kind.__qualname__}.__contains__", number)
    elif not hasattr(kind, "__contains__"):
        read_operand(key, number)
        return iterate_over(obj, number, deep=True)
    return obj


def look_up_anything(obj: Any, number: int) -> Any:
    """As `look_up`, where the key cannot be seen."""
    read_operand(obj, number)
    return look_up(obj, ABSENT, number)


# Changing -----------------------------------------------------------------------------------------------------


def _build_change(
    name: str, adds: bool, updates: bool, consumed: bool = False, counts: bool = False
) -> Callable[[Any, object, int], Any]:
    """Before an item is set or deleted. What is assigned to a slice is iterated over: has that been recorded?"""

    def change(obj: Any, key: object, number: int) -> Any:
        if len(LOG) > MANY:
            drain_log()
        kind = type(obj)
        if type(key) is slice and adds and not updates and not consumed:
            mark_opaque("assignment to a slice", number)
        if kind is list or kind is dict or rules.has_c_method(kind, name):
            if counts and _is_counter(obj, key):
                log((obj, number, ADD, (format_suffix(key),)))
                if kind is list:
                    log((obj, number, READ, (INDEX,)))
                return obj
            if updates:
                read_item(obj, key, number)
                _element_in_place(obj, key, number)
            write_key(obj, key, number, adds)
        elif not updates and access_task_key(obj, key, number, WRITE):
            pass
        elif rules.has_opaque(kind, name) or not hasattr(kind, name):
            mark_opaque(f"{kind.__qualname__}.{name}", number)
        return obj

    return change


def _is_counter(obj: Any, key: Any) -> bool:
    """Is there a whole number, which stays where it is when another one is added?"""
    kind = type(obj)
    if kind is list:
        return type(key) is int and 0 <= key < len(obj) and type(obj[key]) is int
    if kind not in _COUNTING or format_suffix(key) is None:
        return False
    return type(dict.get(obj, key)) is int


def _element_in_place(obj: Any, key: Any, number: int) -> None:
    """`d[k] += v` may change the element itself."""
    try:
        if issubclass(type(obj), list) and issubclass(type(key), int):
            update_in_place(list.__getitem__(obj, key), number)
        elif issubclass(type(obj), dict) and format_suffix(key) is not None:
            update_in_place(dict.get(obj, key), number)
        elif issubclass(type(obj), deque) and issubclass(type(key), int):
            update_in_place(deque.__getitem__(obj, key), number)
        elif issubclass(type(obj), list):
            update_in_place(obj, number)
        else:
            mark_opaque("an item by a key that is an object", number)
    except IndexError:
        return


Access = Callable[[Any, Any, int], Any]
_set_item = _build_change("__setitem__", adds=True, updates=False)
ACCESSES: dict[str, Access] = {
    "get": read_item,
    "set": _set_item,
    "del": _build_change("__delitem__", adds=False, updates=False),
    "update": _build_change("__setitem__", adds=True, updates=True),
    "count": _build_change("__setitem__", adds=True, updates=True, counts=True),
    "set_slice": _build_change("__setitem__", adds=True, updates=False, consumed=True),
}


def with_key(access: Access) -> Access:
    """The same, giving back the key."""

    def access_key(obj: Any, key: Any, number: int) -> Any:
        access(obj, key, number)
        return key

    return access_key


def set_key(obj: Any, key: Any, number: int) -> Any:
    """Before `obj[key]` is set; gives back the key. Items of lists, which loops are full of, go a short way."""
    if type(obj) is list and type(key) is int and 0 <= key < _LISTED and key < len(obj) and len(LOG) <= MANY:
        log((obj, number, WRITE, _ITEMS[key]))
    else:
        _set_item(obj, key, number)
    return key


def update_whole(obj: Any, number: int) -> Any:
    """A subscript in a place where its key cannot be seen: the whole object may change."""
    update_in_place(obj, number)
    return obj
