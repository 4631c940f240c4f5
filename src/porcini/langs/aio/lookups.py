"""How an attribute of an object is found, and what that runs. Nothing here runs code of the program."""

from __future__ import annotations

import asyncio
import enum
import functools
import types
from collections.abc import Iterator
from typing import Any

from porcini.langs.aio import trusted
from porcini.langs.aio.rules import (
    ABSENT,
    cache_until_reset,
    find_on_type,
    has_opaque,
    is_generated,
    is_mutable_type,
    owner_of,
    records_itself,
)


class Lookup(enum.Enum):
    """How an attribute of a type is found."""

    PLAIN = enum.auto()
    SILENT = enum.auto()
    CACHED = enum.auto()
    OPAQUE = enum.auto()


def is_lookup(value: object) -> bool:
    """Something on a class that is not data: a function, a property, a slot."""
    return hasattr(type(value), "__get__")


@cache_until_reset
def classify_attribute(kind: type, attr: str, writing: bool = False) -> Lookup:
    """What finding, or setting, an attribute of an instance runs."""
    hook = "__setattr__" if writing else "__getattribute__"
    access = find_on_type(kind, hook)
    if isinstance(access, types.FunctionType) and not records_itself(access) and not is_generated(access):
        return Lookup.OPAQUE
    if writing and any(owner.__module__ in trusted.UNRECORDED_MODULES for owner in kind.__mro__):
        return Lookup.OPAQUE
    if writing and issubclass(kind, trusted.LOOP_CLASSES):
        return Lookup.OPAQUE  # its methods do not record that they read it
    value = find_on_type(kind, attr)
    if not _finds_attributes(kind, hook) and not issubclass(type(value), types.MethodDescriptorType):
        return Lookup.OPAQUE
    if value is ABSENT:
        if not writing and has_opaque(kind, "__getattr__"):
            return Lookup.OPAQUE
        return Lookup.PLAIN
    if issubclass(type(value), functools.cached_property):
        if writing:
            return Lookup.PLAIN
        return Lookup.CACHED if records_itself(value.func) else Lookup.OPAQUE
    if issubclass(type(value), property):
        function = value.fset if writing else value.fget
        if function is None or records_itself(function) or kind in trusted.ALWAYS_PLAIN:
            return Lookup.SILENT  # a property that is followed records what it does
        return Lookup.OPAQUE
    if issubclass(type(value), types.FunctionType | classmethod | staticmethod):
        return Lookup.OPAQUE if writing else Lookup.SILENT  # methods are constants; who replaces one is opaque
    if _is_c_descriptor(value):
        return _c_attribute(attr, value, writing)
    special = "__set__" if writing else "__get__"
    if has_opaque(type(value), special) and not issubclass(type(value), type):
        return Lookup.OPAQUE
    return Lookup.PLAIN


def _finds_attributes(kind: type, hook: str) -> bool:
    """Is the attribute looked up as `object` does it, or by code that records itself?"""
    owner = owner_of(kind, hook) or object
    python = isinstance(vars(owner)[hook], types.FunctionType)
    return owner is object or python or owner in trusted.SETTLED or issubclass(owner, trusted.SETTLED_BASES)


def _c_attribute(attr: str, value: Any, writing: bool) -> Lookup:
    """A method, a slot, or what a C type shows of its inside."""
    if issubclass(type(value), types.MemberDescriptorType) and is_mutable_type(value.__objclass__):
        return Lookup.PLAIN
    if writing:
        return Lookup.OPAQUE
    if not issubclass(type(value), types.GetSetDescriptorType | types.MemberDescriptorType):
        return Lookup.SILENT
    owner = value.__objclass__
    settled = owner in trusted.SETTLED or issubclass(owner, BaseException | type | types.ModuleType)
    return (
        Lookup.SILENT
        if settled and attr not in trusted.CHANGING and owner is not types.FrameType
        else Lookup.OPAQUE
    )


def _is_c_descriptor(value: object) -> bool:
    return issubclass(type(value), trusted.C_DESCRIPTORS)


def is_silent_future_attribute(attr: str) -> bool:
    """Methods of futures record when they are called; what never changes is not recorded."""
    return attr in trusted.FUTURE_SILENT or callable(getattr(asyncio.Task, attr, None)) or attr.startswith("__")


def is_followed_on_class(cls: Any, attr: str) -> bool:
    """Is all code followed that finding an attribute of a class runs? Its metaclass comes first."""
    way = classify_attribute(type(cls), attr)
    value = find_on_type(cls, attr)
    if value is ABSENT:
        return way is not Lookup.OPAQUE
    found = find_on_type(type(cls), attr)
    if found is not ABSENT and hasattr(type(found), "__set__"):
        return way is not Lookup.OPAQUE
    return _is_followed_binding(value)


def _is_followed_binding(value: object) -> bool:
    """Does what a class has under a name run no unknown code when it is bound? What is called then is seen."""
    if issubclass(type(value), trusted.BINDING_NOTHING) or _is_c_descriptor(value):
        return True
    return not is_lookup(value) or not has_opaque(type(value), "__get__")


def is_followed_on_super(obj: Any, attr: str) -> bool:
    """Does `super().attr` find a method, or a property that is followed?"""
    mro = (obj.__self_class__ or obj.__thisclass__).__mro__
    after = mro[mro.index(obj.__thisclass__) + 1 :] if obj.__thisclass__ in mro else mro
    value: Any = next((vars(owner)[attr] for owner in after if attr in vars(owner)), ABSENT)
    if value is ABSENT:
        return classify_attribute(super, attr) is not Lookup.OPAQUE
    if issubclass(type(value), property):
        return value.fget is None or records_itself(value.fget)
    return issubclass(type(value), types.FunctionType | classmethod | staticmethod) or (
        _is_c_descriptor(value)
        and not issubclass(type(value), types.GetSetDescriptorType | types.MemberDescriptorType)
    )


def dict_of(obj: object) -> dict[str, Any] | None:
    """The dict with the attributes of an instance, without running code of the program."""
    try:
        own = object.__getattribute__(obj, "__dict__")
    except (AttributeError, TypeError):
        return None
    return own if isinstance(own, dict) else None


@cache_until_reset
def is_stored(kind: type, attr: str) -> bool:
    """Is an attribute found, if it is there, in a slot, among those of the instance, or as data of its class?"""
    value = find_on_type(kind, attr)
    plain = value is ABSENT or not is_lookup(value) or issubclass(type(value), types.MemberDescriptorType)
    return plain and classify_attribute(kind, attr) is Lookup.PLAIN


def peek(obj: object, attr: str) -> object:
    """The value of an attribute, without running code of the program; and without `__dict__`, where that can be:
    once asked for it, an object is slower for ever."""
    if is_stored(type(obj), attr):
        try:
            return object.__getattribute__(obj, attr)
        except AttributeError:
            return ABSENT
    own = dict_of(obj)
    if own is not None and attr in own:
        return own[attr]
    for owner in type(obj).__mro__:
        value = vars(owner).get(attr, ABSENT)
        if issubclass(type(value), types.MemberDescriptorType):
            try:
                return value.__get__(obj, type(obj))
            except AttributeError:
                return ABSENT
        if value is not ABSENT:
            return ABSENT if is_lookup(value) else value
    return ABSENT


def fields_of(obj: object) -> Iterator[tuple[str, Any]]:
    """The attributes that an instance has now, in `__dict__` or in slots, without running code of the program."""
    own = dict_of(obj)
    if own is not None:
        yield from list(own.items())
    for owner in type(obj).__mro__:
        if not is_mutable_type(owner):
            continue
        for name, value in list(vars(owner).items()):
            if issubclass(type(value), types.MemberDescriptorType):
                try:
                    yield name, value.__get__(obj, type(obj))
                except AttributeError:
                    continue
