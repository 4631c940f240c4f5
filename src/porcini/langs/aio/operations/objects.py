"""Objects as a whole: their `__dict__`, `match`, copies."""

from __future__ import annotations

import enum
import gc
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from porcini.langs.aio import lookups, rules, trusted
from porcini.langs.aio.log import READ
from porcini.langs.aio.operations.entries import log, mark_opaque
from porcini.langs.aio.operations.values import list_contents, read_all, read_operand
from porcini.langs.aio.rules import PLAIN


def use_namespace(obj: Any, number: int) -> Any:
    """`o.__dict__[k]`, `o.__dict__.update(...)`: attributes change in ways that are not followed."""
    if not issubclass(type(obj), type):
        mark_opaque("__dict__", number)
    else:
        note_class(obj)
    return obj


def note_class(cls: type) -> None:
    """Remember whose namespace it is that a view shows."""
    rules.CLASS_NAMESPACES[id(gc.get_referents(type.__dict__["__dict__"].__get__(cls))[0])] = weakref.ref(cls)


def read_class_view(view: Any, number: int) -> bool:
    """Read the attributes of a class, through a view of its namespace. Is it known which class that is?"""
    namespace: Any = gc.get_referents(view)[0]
    cls = rules.CLASS_NAMESPACES.get(id(namespace), lambda: None)()
    if cls is None or gc.get_referents(type.__dict__["__dict__"].__get__(cls))[0] is not namespace:
        return False
    log((cls, number, READ, tuple(f".{name}" for name in namespace if not name.startswith("__"))))
    return True


def hand_out_namespace(obj: Any, number: int, attr: str) -> Any:
    """`o.__dict__`, `f.__globals__`: whatever is done with it later is opaque, too."""
    if not issubclass(type(obj), type):
        mark_opaque(attr, number)
        note_held(getattr(obj, attr, None))
    return obj


def note_held(namespace: Any) -> None:
    """The program got hold of a dict that is more than that. (What `vars(cls)` gives is only a view of one, and
    new each time: when it is gone, something else may have its address.)"""
    if isinstance(namespace, dict):
        rules.HELD.add(id(namespace))


def replace_namespace(obj: Any, number: int) -> Any:
    """`o.__dict__ = d`: from now on it cannot be said whose attributes these are."""
    mark_opaque("__dict__", number)
    rules.REBOUND.add(id(obj))
    return obj


def read_match_subject(obj: Any, number: int, attributes: tuple[str, ...]) -> Any:
    """The subject of `match`: patterns may look at all of it, and at these attributes."""
    todo, seen = [obj], set[int]()
    while todo:
        value = todo.pop()
        if id(value) not in seen and not (type(value) in PLAIN and type(value) in trusted.ALWAYS_PLAIN):
            seen.add(id(value))
            todo += _read_matched(value, number, attributes)
    return obj


def _read_matched(obj: Any, number: int, attributes: tuple[str, ...]) -> Iterable[Any]:
    """An object that a pattern may look at is read; gives what is in it."""
    kind = type(obj)
    if rules.container_base(kind) is not None:
        read_operand(obj, number)
        if kind in trusted.CONTAINERS:
            return list_contents(obj)
        if not rules.has_c_method(kind, "__iter__"):
            mark_opaque(f"match of {kind.__qualname__}", number)
    elif not rules.is_mutable_type(kind) and not issubclass(type(obj), BaseException | type | types.ModuleType):
        mark_opaque(f"match of {kind.__qualname__}", number)
        return ()
    elif hasattr(kind, "__getitem__") and not issubclass(type(obj), type):
        mark_opaque(f"match of {kind.__qualname__}", number)
    fields = dict(lookups.fields_of(obj))
    names = {*fields, *attributes, *getattr(kind, "__match_args__", ())}
    for name in sorted(names):
        if lookups.classify_attribute(kind, name) in (lookups.Lookup.OPAQUE, lookups.Lookup.CACHED):
            mark_opaque(f"{kind.__qualname__}.{name}", number)
        log((obj, number, READ, ("." + name,)))
    return [*fields.values(), *(list_contents(obj) if rules.container_base(kind) is not None else ())]


_COPYING = ("__copy__", "__deepcopy__", "__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__new__")


def read_for_copy(obj: Any, number: int) -> None:
    """All that is in an object, for a copy. Which attributes a `__dict__` has cannot be located: it is opaque."""
    todo, seen = [obj], set[int]()
    while todo:
        obj = todo.pop()
        kind = type(obj)
        if id(obj) in seen or kind in trusted.ALWAYS_PLAIN or issubclass(type(obj), type | enum.Enum):
            continue
        seen.add(id(obj))
        if kind in trusted.CONTAINERS:
            read_all(obj, number)
            todo += list_contents(obj)
            continue
        if lookups.dict_of(obj) is not None or not hasattr(kind, "__slots__") or any(map(_own(kind), _COPYING)):
            mark_opaque(f"copy of {kind.__module__}.{kind.__qualname__}", number)
            continue
        if rules.container_base(kind) is not None:
            read_all(obj, number)
            todo += list_contents(obj)
            if not rules.has_c_method(kind, "__iter__"):
                mark_opaque(f"copy of {kind.__module__}.{kind.__qualname__}", number)
        todo += [value for _, value in lookups.fields_of(obj)]
        for owner in kind.__mro__:
            slots = vars(owner).get("__slots__", ())
            log((obj, number, READ, tuple("." + name for name in ((slots,) if isinstance(slots, str) else slots))))


def _own(kind: type) -> Callable[[str], bool]:
    """Does a type have this method from Python code that is not followed?"""

    def own(name: str) -> bool:
        method = rules.find_on_type(kind, name)
        return isinstance(getattr(method, "__func__", method), types.FunctionType) and not (
            rules.records_itself(method)
            or rules.is_generated(method)
            or getattr(method, "__module__", "").startswith(("namedtuple_", "dataclasses"))
        )

    return own
