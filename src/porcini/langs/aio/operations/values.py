"""What is read of a value: its shape, all of its items, all that its operators or a loop over it can see.

An operator looks into all that a value holds, a loop goes over what a view or an iterator reads, and each may find
the other there: so both are here.
"""

from __future__ import annotations

import enum
import functools
import re
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

from porcini.langs.aio import lookups, rules, trusted
from porcini.langs.aio.log import (
    ANY_ORDER,
    APPENDED,
    BASE,
    COUNT,
    CREATED,
    DERIVED,
    LOG,
    ORDER,
    READ,
    SHAPE,
    STATE,
    WRITE,
    Generator,
    ModuleToken,
    Token,
)
from porcini.langs.aio.operations.entries import MANY, create_token, drain_log, log, mark_opaque
from porcini.langs.aio.rules import PLAIN, Rule
from porcini.langs.aio.sites import OUTSIDE

SHAPE_ONLY, COUNT_ONLY, WHOLE = (SHAPE,), (COUNT,), (SHAPE, BASE)
VIEWS = frozenset(
    type(view)
    for created in (dict[Any, Any](), OrderedDict[Any, Any]())
    for view in (created.keys(), created.values(), created.items())
)
"""They read their dict whenever they are used."""
NO_LOCATIONS = (tuple, frozenset, str, bytes)
"""Containers that do not change."""
_ONE_LOCATION = (deque, bytearray)
"""Containers without locations for their items: the shape stands for all."""
_CONTAINERS_IN_C = (dict, defaultdict, set, list, tuple, frozenset, deque)
"""Compared by code in C; an OrderedDict is not among them because it has an order."""
_MOST_STEPS = 10_000


# Containers ---------------------------------------------------------------------------------------------------


def format_suffix(key: object) -> str | None:
    """What the location of an item ends with; None for a key that has no text which is the same in every run."""
    text = rules.format_key(key)
    return None if text is None else f"[{text}]"


def measure(obj: Any) -> int:
    """The length of a C container, without running a `__len__` of the program."""
    kind = type(obj)
    if kind in trusted.CONTAINERS:
        return len(obj)
    base: Any = rules.container_base(kind)
    return int(base.__len__(obj)) if base is not None else len(obj)


def read_length(obj: Any, number: int) -> None:
    """`len`, truth: only the shape."""
    log((obj, number, READ, COUNT_ONLY if issubclass(type(obj), dict | set | list) else SHAPE_ONLY))


def read_all(obj: Any, number: int, shape: str = ORDER) -> None:
    """Iteration: the shape and every item that is there."""
    if issubclass(type(obj), list):
        log((obj, number, READ, (shape, BASE, *[f"[{i}]" for i in range(measure(obj))])))
    elif issubclass(type(obj), dict | set):
        suffixes = (
            [format_suffix(key) for key in set.__iter__(obj)]
            if issubclass(type(obj), set)
            else list(map(format_suffix, dict.keys(obj)))
        )
        log((obj, number, READ, (shape, BASE, *[s for s in suffixes if s is not None])))
    elif not issubclass(type(obj), NO_LOCATIONS):
        log((obj, number, READ, SHAPE_ONLY))


def write_all(obj: Any, number: int) -> None:
    """Sorting, clearing, shifting: everything may be another one now."""
    if not issubclass(type(obj), NO_LOCATIONS):
        log((obj, number, WRITE, SHAPE_ONLY if issubclass(type(obj), _ONE_LOCATION) else WHOLE))


def append_items(obj: Any, number: int) -> None:
    """Items are added at the end; which ones is known when the step has ended."""
    if issubclass(type(obj), _ONE_LOCATION):
        log((obj, number, WRITE, SHAPE_ONLY))
    else:
        log((obj, number, WRITE, (f"{APPENDED}{measure(obj)}",)))


# Operators ----------------------------------------------------------------------------------------------------


def read_operand(obj: Any, number: int) -> Any:
    """The value is compared, added, printed: all that its operators can read is read."""
    if type(obj) not in PLAIN:
        _read_deeply(obj, number)
    return obj


def compare(obj: Any, number: int) -> Any:
    """The value is looked for, or looked through: asked whether it equals another one, and nothing else."""
    if type(obj) not in PLAIN:
        _read_deeply(obj, number, equals=True)
    return obj


def read_outcome(obj: Any, in_order: bool) -> Any:
    """The value is what is told of how a run ended."""
    return read_operand(obj, OUTSIDE) if in_order else compare(obj, OUTSIDE)


def _read_deeply(obj: Any, number: int, equals: bool = False) -> None:
    """All that is in an object is read, as far as its type's operators, or `==` alone, look into it."""
    todo, seen = [obj], set[int]()
    while todo:
        obj = todo.pop()
        kind = type(obj)
        if kind in PLAIN or id(obj) in seen:
            continue
        rule = rules.classify(kind)
        if rule is Rule.PLAIN:
            continue
        seen.add(id(obj))
        if rule is Rule.OPAQUE:
            if kind in VIEWS or id(obj) in DERIVED:
                if not (equals and read_in_any_order(obj, number, equal_in_any_order)):
                    read_sources(obj, number)
                    if equals and kind in VIEWS:
                        _reveals_order(list(obj), number)
                todo += DERIVED.get(id(obj), ((), False))[0]
            elif not is_c_iterator(kind) and kind is not re.Match and not (equals and rules.is_identity(kind)):
                mark_opaque(f"operator on {kind.__module__}.{kind.__qualname__}", number)
        elif issubclass(type(obj), BaseException):
            todo += (*obj.args, *getattr(obj, "exceptions", ()))
        elif issubclass(type(obj), functools.partial):
            todo += (*obj.args, obj.keywords)
        elif rule is Rule.FIELDS:
            fields = dict(lookups.fields_of(obj))
            for name in {**fields, **getattr(kind, "__dataclass_fields__", {})}:
                log((obj, number, READ, ("." + name,)))
            todo += fields.values()
        else:
            unordered = (
                equals
                and issubclass(type(obj), dict | set | frozenset)
                and not _reveals_order(list_contents(obj), number)
            )
            read_all(obj, number, COUNT if unordered and kind in _CONTAINERS_IN_C else ORDER)
            todo += list_contents(obj)


def _reveals_order(items: list[Any], number: int) -> bool:
    """Does `==` tell the program in which order it compares these? That may be the order of the other side."""
    reveals = not equal_in_any_order(items)
    if reveals:
        log(("==", number, 0, ANY_ORDER))
    return reveals


def read_in_any_order(obj: Any, number: int, cannot_tell: Callable[[list[Any]], bool]) -> bool:
    """Read a container or a view of a dict, but not the order of its items, if what is done cannot tell it."""
    sources = DERIVED.get(id(obj), ((), False))[0] if type(obj) in VIEWS else (obj,)
    if len(sources) != 1 or type(sources[0]) not in (dict, set, list) or not cannot_tell(list(obj)):
        return False
    read_all(sources[0], number, COUNT)
    return True


def equal_in_any_order(obj: Any) -> bool:
    """Does `==` run no code of the program that could tell in which order a dict's values are compared?"""
    todo, steps = [obj], 0
    while todo and steps < _MOST_STEPS:
        obj, steps = todo.pop(), steps + 1
        kind = type(obj)
        if kind in trusted.ALWAYS_PLAIN or rules.is_identity(kind) or _is_constant(kind):
            continue
        if kind in _CONTAINERS_IN_C:
            todo += list_contents(obj)
        elif rules.is_generated(rules.find_on_type(kind, "__eq__")):
            todo += (value for _, value in lookups.fields_of(obj))
        else:
            return False
    return not todo


def _is_constant(kind: type) -> bool:
    """The members of an enumeration, unless it has an `__eq__` of its own."""
    return issubclass(kind, enum.Enum) and rules.owner_of(kind, "__eq__") in (object, int, str)


def list_contents(obj: Any) -> list[Any]:
    """What is in a C container, keys included, without running an `__iter__` of the program."""
    if issubclass(type(obj), dict):
        return [*dict.values(obj), *dict.keys(obj)]
    return [] if issubclass(type(obj), bytearray) else list(_C_ITER[rules.container_base(type(obj))](obj))


_C_ITER: dict[type | None, Callable[[Any], Iterator[Any]]] = {
    kind: kind.__iter__ for kind in (list, set, deque, tuple, frozenset)
}


# Loops --------------------------------------------------------------------------------------------------------


def is_c_iterator(kind: type) -> bool:
    """An iterator over a C container, or one of `itertools`, or `zip` and the like."""
    return kind.__module__ in ("builtins", "itertools", "collections", "_collections") and hasattr(
        kind, "__next__"
    )


def iterate(obj: Any, number: int) -> Any:
    """The items of `obj` are read, now; gives it back."""
    if len(LOG) > MANY:
        drain_log()
    kind = type(obj)
    if kind is list:
        read_all(obj, number)
    elif kind is tuple or kind is str or kind is range:
        return obj
    elif kind is types.GeneratorType:
        resume_generator(obj, number)
    elif kind in PLAIN and not issubclass(type(obj), type):
        return obj
    else:
        _iterate(obj, kind, number)
    return obj


def _iterate(obj: Any, kind: type, number: int) -> None:
    """As `iterate`, of a type that is less common."""
    if rules.has_c_method(kind, "__iter__"):
        read_all(obj, number)
    elif kind in VIEWS:
        read_sources(obj, number)
    elif is_c_iterator(kind):
        if id(obj) in DERIVED:
            read_sources(obj, number)
        elif kind.__name__ not in ("count", "repeat"):
            mark_opaque(f"{kind.__name__} of unknown origin", number)
        log((obj, number, WRITE, STATE))
    elif issubclass(type(obj), type):
        if rules.has_opaque(kind, "__iter__") and kind.__module__ != "enum":
            mark_opaque(f"{kind.__qualname__}.__iter__", number)
    elif rules.has_opaque(kind, "__iter__") or (
        not hasattr(kind, "__iter__") and rules.has_opaque(kind, "__getitem__")
    ):
        mark_opaque(f"{kind.__qualname__}.__iter__", number)
    elif hasattr(kind, "__next__") and rules.has_opaque(kind, "__next__"):
        mark_opaque(f"{kind.__qualname__}.__next__", number)


def register_view(view: Any, sources: tuple[object, ...], deep: bool = False) -> Any:
    """A view or an iterator that was made just now, and what it will read."""
    DERIVED[id(view)] = (sources, deep)
    CREATED.append(view)
    return view


def read_sources(view: Any, number: int) -> None:
    """Whatever a view or an iterator reads when it is used."""
    todo, began = [view], len(_being_read)
    if id(view) in _being_read:  # it is in what it goes over
        return
    try:
        while todo:
            view = todo.pop()
            found = DERIVED.get(id(view))
            if found is None:
                if type(view) in VIEWS:
                    mark_opaque(f"{type(view).__name__} of unknown origin", number)
                continue
            if id(view) in _being_read:
                continue
            _being_read[id(view)] = None
            for source in found[0]:
                if id(source) in DERIVED and is_c_iterator(type(source)):
                    log((source, number, WRITE, STATE))
                    todo.append(source)
                else:
                    iterate(source, number)
                if found[1] and rules.container_base(type(source)) is not None:
                    read_operand(source, number)
    finally:
        while len(_being_read) > began:
            _being_read.popitem()


_being_read: dict[int, None] = {}
"""Ids of the views and iterators whose sources are being read, in order."""


# Generators ---------------------------------------------------------------------------------------------------


_FRAMES: dict[int, tuple[weakref.ref[Any], Token]] = {}
"""By the id of a generator that is alive: what stands for its frame."""
_FOREIGN_FRAME = ModuleToken("?generator")


def register_generator(obj: Any) -> Any:
    """A new generator. A token stands for its frame: who holds the generator keeps its `finally` from running."""
    key, created = id(obj), create_token(Generator)
    _FRAMES[key] = weakref.ref(obj, lambda _: _FRAMES.pop(key, None)), created
    return obj


def resume_generator(obj: Any, number: int) -> None:
    """A generator goes on: its variables are changed."""
    code = getattr(obj, "gi_code", None) or obj.ag_code
    if rules.is_instrumented(code):
        found = _FRAMES.get(id(obj))
        log((found[1] if found is not None else _FOREIGN_FRAME, number, WRITE, STATE))
    else:
        mark_opaque(f"generator {code.co_qualname}", number)
