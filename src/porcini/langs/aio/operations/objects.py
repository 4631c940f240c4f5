"""Objects as a whole: their `__dict__`, `match`, copies."""

from __future__ import annotations

import enum
import types
from typing import Any

from porcini.langs.aio import known, rules
from porcini.langs.aio.operations.entries import log, unknown
from porcini.langs.aio.operations.values import operand, read_all
from porcini.langs.aio.recorder import READ
from porcini.langs.aio.rules import PLAIN


def dict_used(obj: Any, number: int) -> Any:
    """`o.__dict__[k]`, `o.__dict__.update(...)`: attributes change in ways that are not followed."""
    if not isinstance(obj, type):
        unknown("__dict__", number)
    return obj


def dict_held(obj: Any, number: int, attr: str) -> Any:
    """`o.__dict__`, `f.__globals__`: whatever is done with it later is opaque, too."""
    if not isinstance(obj, type):
        unknown(attr, number)
        hold(getattr(obj, attr, None))
    return obj


def hold(namespace: Any) -> None:
    """The program got hold of a dict that is more than that."""
    if namespace is not None:
        rules.HELD.add(id(namespace))


def dict_set(obj: Any, number: int) -> Any:
    """`o.__dict__ = d`: from now on it cannot be said whose attributes these are."""
    unknown("__dict__", number)
    rules.REBOUND.add(id(obj))
    return obj


def matched(obj: Any, number: int, attributes: tuple[str, ...]) -> Any:
    """The subject of `match`: patterns may look at all of it, and at these attributes."""
    _match(obj, number, attributes, set())
    return obj


def _match(obj: Any, number: int, attributes: tuple[str, ...], seen: set[int]) -> None:
    kind = type(obj)
    if id(obj) in seen or (kind in PLAIN and kind in known.ALWAYS_PLAIN):
        return
    seen.add(id(obj))
    if rules.container_base(kind) is not None:
        operand(obj, number)
        inside = (
            list(dict.values(obj)) if isinstance(obj, dict) else [] if isinstance(obj, bytearray) else list(obj)
        )
    elif not rules.is_mutable_type(kind) and not isinstance(obj, BaseException | type | types.ModuleType):
        unknown(f"match of {kind.__qualname__}", number)
        return
    else:
        fields = dict(rules.fields_of(obj))
        names = {*fields, *attributes, *getattr(kind, "__match_args__", ())}
        for name in sorted(names):
            if rules.attribute(kind, name) in (rules.Way.UNKNOWN, rules.Way.CACHED):
                unknown(f"{kind.__qualname__}.{name}", number)
            log((obj, number, READ, ("." + name,)))
        inside = list(fields.values())
    for value in inside:
        _match(value, number, attributes, seen)


def copied(obj: Any, number: int, seen: set[int]) -> None:
    """All that is in an object, for a copy. Which attributes a `__dict__` has is no location: it is opaque."""
    kind = type(obj)
    if id(obj) in seen or kind in known.ALWAYS_PLAIN or isinstance(obj, type | enum.Enum):
        return
    seen.add(id(obj))
    if rules.container_base(kind) is not None:
        read_all(obj, number)
        inside = [*dict.keys(obj), *dict.values(obj)] if isinstance(obj, dict) else list(obj)
    elif rules.dict_of(obj) is not None or not hasattr(kind, "__slots__"):
        unknown(f"copy of {kind.__module__}.{kind.__qualname__}", number)
        return
    else:
        inside = [value for _, value in rules.fields_of(obj)]
        for owner in kind.__mro__:
            slots = vars(owner).get("__slots__", ())
            log((obj, number, READ, tuple("." + name for name in ((slots,) if isinstance(slots, str) else slots))))
    for value in inside:
        copied(value, number, seen)
