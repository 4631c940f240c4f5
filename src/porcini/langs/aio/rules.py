"""What is concluded about types: which values are constant, and whose operators record what they do.

Code is followed if it is instrumented (`is_instrumented`), generated from fields (dataclasses, attrs), or C code
of the types that are listed in `trusted`. All other code is opaque. Nothing here runs code of the program.

Beside that, what the program has done in this run that makes more of it opaque: it got hold of a `__dict__`, say.
"""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import functools
import pathlib
import sys
import types
import uuid
import weakref
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from porcini.langs.aio import trusted

PLAIN: set[type] = set(trusted.ALWAYS_PLAIN)
"""Types whose values, used as operands, need no record: they are constant, or their operators record."""


WRITTEN_GLOBALS: dict[str, set[str]] = {}
"""By module, the globals that instrumented functions of it declare `global`; all other globals are constants."""

HELD: set[int] = set()
"""Ids of dicts that are attributes of an object or globals of a module, and that the program got hold of."""

REBOUND: set[int] = set()
"""Ids of objects whose `__dict__` the program has set: others may have the same one."""

SHARED_CONTEXTS: set[int] = set()
"""Not empty if the program gave a context to a task or a callback, or looked at that of a task."""

LOST: set[str] = set()
"""What made it impossible to tell objects apart in this run: all steps are opaque from then on."""

STREAMS: list[object] = []
"""Where text goes when the recording begins: the terminal, or what pytest puts in its place."""

IDENTITIES: set[int] = set()
"""What `id` gave the program in this run: numbers that are others in the next run."""

CLASS_NAMESPACES: dict[int, weakref.ref[type]] = {}
"""By the id of its namespace, a class whose `__dict__` the program has looked at. That is a view, new each
time."""

ABSENT = object()
"""Not the value of anything."""
P = ParamSpec("P")
R = TypeVar("R")
_memories: list[Callable[[], None]] = []


def cache_until_reset(function: Callable[P, R]) -> Callable[P, R]:
    """Answers about types are kept until `reset_caches`."""
    cached = functools.cache(function)
    _memories.append(cached.cache_clear)
    return cast(Callable[P, R], cached)


MARK = 1 << 30
"""A flag of code objects that Python does not use."""
_SEEN_BY_LOOP = frozenset(
    str(pathlib.Path(asyncio.__file__).with_name(f"{name}.py"))
    for name in ("tasks", "taskgroups", "futures", "coroutines", "base_futures", "base_tasks", "mixins")
)
"""asyncio's code over futures, tasks, handles and joins: the controlled loop records those. `mixins` notes at the
first use of a lock or a queue which loop is running: a run has only one."""
_NOT_SEEN = frozenset({"all_tasks", "wait", "as_completed", "_AsCompletedIterator"})
"""What is in there and looks at more than that: at who is there at all, at a list that it is given or keeps."""
_OPERATORS = frozenset(
    f"__{name}__"
    for name in """eq ne lt le gt ge hash bool len contains iter next reversed getitem setitem delitem missing str
    repr format add sub mul truediv floordiv mod pow matmul lshift rshift and or xor neg pos invert abs divmod
    round radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul rlshift rrshift rand ror rxor int float index iadd
    isub imul itruediv ifloordiv imod ipow imatmul ilshift irshift iand ior ixor rdivmod floor ceil trunc complex
    bytes fspath length_hint sizeof""".split()  # noqa: SIM905
)


def mark_instrumented(code: types.CodeType) -> types.CodeType:
    """This code, and that of the functions in it, with the flag that says that it is instrumented.

    Copies of a code object keep flags, which matters because decorators such as `types.coroutine` make some.
    """
    constants = tuple(
        mark_instrumented(value) if issubclass(type(value), types.CodeType) else value for value in code.co_consts
    )
    return code.replace(co_consts=constants, co_flags=code.co_flags | MARK)


def is_instrumented(code: types.CodeType) -> bool:
    """Does this code record what it does? Or, in asyncio, touch nothing but what the loop sees for itself?"""
    if code.co_flags & MARK:
        return True
    return code.co_filename in _SEEN_BY_LOOP and code.co_qualname.partition(".")[0] not in _NOT_SEEN


def reset_caches() -> None:
    """Drop what was concluded about types: the code of their methods may be another one now."""
    PLAIN.clear()
    PLAIN.update(trusted.ALWAYS_PLAIN)
    for clear in _memories:
        clear()


def owner_of(kind: type, name: str) -> type | None:
    """The class that a type has this name from, itself or a base."""
    return next((owner for owner in kind.__mro__ if name in vars(owner)), None)


def find_on_type(kind: type, name: str) -> Any:
    """What a type, or the next of its bases, has under a name, without binding it; `ABSENT` if none has."""
    for owner in kind.__mro__:
        if name in vars(owner):
            return vars(owner)[name]
    return ABSENT


class Rule(enum.Enum):
    """How a value of a type behaves as an operand."""

    PLAIN = enum.auto()
    CONTAINER = enum.auto()
    FIELDS = enum.auto()
    OPAQUE = enum.auto()


def records_itself(function: Any) -> bool:
    """A Python function or method that records what it does."""
    while issubclass(type(function), staticmethod | classmethod | types.MethodType):
        function = function.__func__
    return issubclass(type(function), types.FunctionType) and is_instrumented(function.__code__)


def is_generated(function: Any) -> bool:
    """Written by `dataclass`, `attrs` or `namedtuple`: it does what its fields do."""
    if not issubclass(type(function), types.FunctionType):
        return False
    code = function.__code__
    if code.co_filename.startswith("<attrs generated") or code.co_qualname.startswith("namedtuple.<locals>."):
        return True
    if code.co_filename == "<string>":
        return bool(code.co_qualname.startswith("__create_fn__.<locals>."))
    # `repr` of a dataclass is wrapped against recursion by `reprlib` or by `dataclasses` itself.
    return bool(code.co_filename.endswith(("dataclasses.py", "reprlib.py")) and function.__name__ == "__repr__")


@cache_until_reset
def has_followed_fields(cls: type) -> bool:
    """Are all factories, converters and validators followed that a generated `__init__` runs?"""
    found: list[object] = []
    for field in getattr(cls, "__dataclass_fields__", {}).values():
        found.append(field.default_factory)
    for field in getattr(cls, "__attrs_attrs__", ()):
        found += [getattr(field.default, "factory", None), field.converter, field.validator]
    for name in ("__post_init__", "__attrs_post_init__", "__attrs_pre_init__"):
        found.append(getattr(cls, name, None))
    return all(
        each is None
        or each is dataclasses.MISSING
        or each in trusted.CONTAINERS
        or each in trusted.SCALARS
        or records_itself(each)
        or is_trusted_function(each)
        for each in found
    )


def is_trusted_function(function: Any) -> bool:
    """One of the functions of a module that only reads its arguments: `time.time`, `uuid.uuid4`."""
    in_c = issubclass(type(function), types.BuiltinFunctionType)
    if not (in_c or issubclass(type(function), types.FunctionType)):
        return False
    module = function.__module__
    return module in trusted.READING_MODULES and (
        in_c or vars(sys.modules[module]).get(function.__name__) is function
    )


def is_outside(stream: object) -> bool:
    """Does this text go where it cannot be looked at?"""
    return stream is None or any(stream is each for each in (*STREAMS, sys.__stdout__, sys.__stderr__))


@cache_until_reset
def classify(kind: type) -> Rule:
    """What using a value of this type as an operand reads."""
    found = _rule(kind)
    if found is Rule.PLAIN and not any(hasattr(kind, name) for name in _ITERATED):
        PLAIN.add(kind)
    return found


_ITERATED = ("__iter__", "__next__", "__getitem__")


def _rule(kind: type) -> Rule:
    if issubclass(kind, type | types.ModuleType | enum.Enum):
        return Rule.PLAIN
    base = Rule.PLAIN
    if issubclass(kind, BaseException | functools.partial):
        base = Rule.FIELDS  # as text they show their arguments
    for owner in kind.__mro__:
        if owner in trusted.CONTAINERS:
            base = Rule.CONTAINER
        if owner in trusted.C_BASES:
            break
        if (
            owner in trusted.IDENTITY_ONLY
            or owner in trusted.CONTENTS_ONLY
            or (issubclass(owner, BaseException | functools.partial) and not is_mutable_type(owner))
        ):
            continue
        for name, method in vars(owner).items():
            if name not in _OPERATORS or method is None or records_itself(method):
                continue
            if is_generated(method):
                base = Rule.FIELDS if base is Rule.PLAIN else base
            else:
                return Rule.OPAQUE
    return base


@cache_until_reset
def is_identity(kind: type) -> bool:
    """Do values of this type equal themselves only, with a hash that never changes?"""
    hashes = find_on_type(kind, "__hash__") is vars(object)["__hash__"] or issubclass(kind, asyncio.Future)
    return hashes and find_on_type(kind, "__eq__") is vars(object)["__eq__"]


def has_opaque_truth(kind: type) -> bool:
    """Does a truth test of this type run code that is not followed?"""
    method = find_on_type(kind, "__bool__")
    if method is ABSENT:
        method = find_on_type(kind, "__len__")
    return method is not ABSENT and not records_itself(method)


@cache_until_reset
def has_opaque(kind: type, name: str) -> bool:
    """Is this special method of the type code that is not followed?"""
    method = find_on_type(kind, name)
    return method is not ABSENT and not records_itself(method)


@cache_until_reset
def is_foreign(cls: type, *allowed: str) -> bool:
    """Does this class have methods in Python that are not followed, and not of a trusted or an allowed module?"""
    for owner in cls.__mro__:
        module = owner.__module__
        if owner in trusted.C_BASES or module in trusted.READING_MODULES or module in allowed:
            continue
        if not is_mutable_type(owner):
            continue
        for method in vars(owner).values():
            inner = getattr(method, "__func__", getattr(method, "fget", method))
            if (
                issubclass(type(inner), types.FunctionType)
                and not records_itself(inner)
                and not is_generated(inner)
            ):
                return True
    return False


@cache_until_reset
def container_base(kind: type) -> type | None:
    """The C container that a type inherits from."""
    return next((owner for owner in kind.__mro__ if owner in trusted.CONTAINERS), None)


def has_c_method(kind: type, name: str) -> bool:
    """Is this a C container, or does it inherit this method from one?"""
    base = container_base(kind)
    if base is None:
        return False
    for owner in kind.__mro__:
        if name in vars(owner):
            return owner is base or (base in owner.__mro__ and not is_mutable_type(owner))
        if owner is base:
            return True
    return True


@cache_until_reset
def has_finaliser(kind: type) -> bool:
    """Does the end of an object of this type do something? One that only warns of what was not closed does not."""
    owner = owner_of(kind, "__del__")
    return owner is not None and f"{owner.__module__}.{owner.__qualname__}" not in trusted.WARNING_FINALISERS


def is_mutable_type(kind: type) -> bool:
    """Made by a class statement: Py_TPFLAGS_HEAPTYPE, without Py_TPFLAGS_IMMUTABLETYPE that types in C have."""
    return kind.__flags__ & (3 << 8) == 1 << 9


def is_seen_by_loop(future: object) -> bool:
    """A future or a task that records itself (see `futures`)."""
    return type(future).__module__.startswith("porcini.")


# Keys ---------------------------------------------------------------------------------------------------------


def format_key(key: Any) -> str | None:
    """A key as text: the same for equal keys, in every run. None for a key that has no such text."""
    kind = type(key)
    if kind is int:
        return repr(key) if key not in IDENTITIES else None
    if kind is str or kind is bytes or key is None:
        return repr(key)
    if kind is bool or (kind is float and key.is_integer()):
        return repr(int(key))
    if kind is float or kind is uuid.UUID:
        return repr(key)
    if kind is tuple:
        parts = [format_key(part) for part in key]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    if find_on_type(kind, "__eq__") is not object.__eq__:
        return None  # of a metaclass, too: two classes may be one key
    if issubclass(type(key), enum.Enum):
        return f"{kind.__module__}.{kind.__qualname__}.{key._name_}"
    if issubclass(type(key), type | types.FunctionType):
        return f"<{key.__module__}.{key.__qualname__}>"
    if issubclass(kind, asyncio.Future) and is_seen_by_loop(key):
        return f"<{key._place}>"
    return None
