"""What is concluded about types: which values are constant, whose operators record, how attributes are found.

What is not known is opaque. Code is known if it is instrumented (`is_instrumented`), generated from fields
(dataclasses, attrs), or C code of the types that are listed in `known`. Nothing here runs code of the program.

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
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar, cast

from porcini.langs.aio import known

PLAIN: set[type] = set(known.ALWAYS_PLAIN)
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

ABSENT = object()
"""Not the value of anything."""
P = ParamSpec("P")
R = TypeVar("R")
_memories: list[Callable[[], None]] = []


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """Answers about types are kept until `forget`."""
    cached = functools.cache(function)
    _memories.append(cached.cache_clear)
    return cast(Callable[P, R], cached)


_MARK = 1 << 30  # a flag of code objects that Python does not use
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


def marked(code: types.CodeType) -> types.CodeType:
    """This code, and that of the functions in it, with the flag that says that it is instrumented.

    Copies of a code object keep flags, which matters because decorators such as `types.coroutine` make some.
    """
    constants = tuple(
        marked(value) if issubclass(type(value), types.CodeType) else value for value in code.co_consts
    )
    return code.replace(co_consts=constants, co_flags=code.co_flags | _MARK)


def is_instrumented(code: types.CodeType) -> bool:
    """Does this code record what it does? Or, in asyncio, touch nothing but what the loop sees for itself?"""
    if code.co_flags & _MARK:
        return True
    return code.co_filename in _SEEN_BY_LOOP and code.co_qualname.partition(".")[0] not in _NOT_SEEN


def forget() -> None:
    """Drop what was concluded about types: the code of their methods may be another one now."""
    PLAIN.clear()
    PLAIN.update(known.ALWAYS_PLAIN)
    for clear in _memories:
        clear()


def owner_of(kind: type, name: str) -> type | None:
    """The class that a type has this name from, itself or a base."""
    return next((owner for owner in kind.__mro__ if name in vars(owner)), None)


def lookup(kind: type, name: str) -> Any:
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
    UNKNOWN = enum.auto()


def is_known_function(function: Any) -> bool:
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


@remembered
def known_fields(cls: type) -> bool:
    """Does a generated `__init__` run nothing that is not known: factories, converters, validators?"""
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
        or each in known.CONTAINERS
        or each in known.SCALARS
        or is_known_function(each)
        or is_of_known_module(each)
        for each in found
    )


def is_of_known_module(function: Any) -> bool:
    """One of the functions of a module that only reads its arguments: `time.time`, `uuid.uuid4`."""
    in_c = issubclass(type(function), types.BuiltinFunctionType)
    if not (in_c or issubclass(type(function), types.FunctionType)):
        return False
    module = function.__module__
    return module in known.READING_MODULES and (
        in_c or vars(sys.modules[module]).get(function.__name__) is function
    )


def is_outside(stream: object) -> bool:
    """Does this text go where it cannot be looked at?"""
    return stream is None or any(stream is each for each in (*STREAMS, sys.__stdout__, sys.__stderr__))


@remembered
def rule(kind: type) -> Rule:
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
        if owner in known.CONTAINERS:
            base = Rule.CONTAINER
        if owner in known.C_BASES:
            break
        if owner in known.IDENTITY_ONLY or (
            issubclass(owner, BaseException | functools.partial) and not is_mutable_type(owner)
        ):
            continue
        for name, method in vars(owner).items():
            if name not in _OPERATORS or method is None or is_known_function(method):
                continue
            if is_generated(method):
                base = Rule.FIELDS if base is Rule.PLAIN else base
            else:
                return Rule.UNKNOWN
    return base


@remembered
def is_identity(kind: type) -> bool:
    """Do values of this type equal themselves only, with a hash that never changes?"""
    hashes = lookup(kind, "__hash__") is vars(object)["__hash__"] or issubclass(kind, asyncio.Future)
    return hashes and lookup(kind, "__eq__") is vars(object)["__eq__"]


def unknown_truth(kind: type) -> bool:
    """Does a truth test of this type run code that is not known?"""
    method = lookup(kind, "__bool__")
    if method is ABSENT:
        method = lookup(kind, "__len__")
    return method is not ABSENT and not is_known_function(method)


@remembered
def has_unknown(kind: type, name: str) -> bool:
    """Is this special method of the type code that is not known?"""
    method = lookup(kind, name)
    return method is not ABSENT and not is_known_function(method)


@remembered
def is_foreign(cls: type, *trusted: str) -> bool:
    """Has this class methods in Python whose code is not known? Those of known and of trusted modules are."""
    for owner in cls.__mro__:
        module = owner.__module__
        if owner in known.C_BASES or module in known.READING_MODULES or module in trusted:
            continue
        if not is_mutable_type(owner):
            continue
        for method in vars(owner).values():
            inner = getattr(method, "__func__", getattr(method, "fget", method))
            if (
                issubclass(type(inner), types.FunctionType)
                and not is_known_function(inner)
                and not is_generated(inner)
            ):
                return True
    return False


@remembered
def container_base(kind: type) -> type | None:
    """The C container that a type inherits from."""
    return next((owner for owner in kind.__mro__ if owner in known.CONTAINERS), None)


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


# Attributes ---------------------------------------------------------------------------------------------------


class Way(enum.Enum):
    """How an attribute of a type is found."""

    PLAIN = enum.auto()
    SILENT = enum.auto()
    CACHED = enum.auto()
    UNKNOWN = enum.auto()


def is_mutable_type(kind: type) -> bool:
    """Made by a class statement: Py_TPFLAGS_HEAPTYPE, without Py_TPFLAGS_IMMUTABLETYPE that types in C have."""
    return kind.__flags__ & (3 << 8) == 1 << 9


def is_lookup(value: object) -> bool:
    """Something on a class that is not data: a function, a property, a slot."""
    return hasattr(type(value), "__get__")


@remembered
def attribute(kind: type, attr: str, writing: bool = False) -> Way:
    """What finding, or setting, an attribute of an instance runs."""
    hook = "__setattr__" if writing else "__getattribute__"
    access = lookup(kind, hook)
    if isinstance(access, types.FunctionType) and not is_known_function(access) and not is_generated(access):
        return Way.UNKNOWN
    if writing and any(owner.__module__ in known.UNRECORDED_MODULES for owner in kind.__mro__):
        return Way.UNKNOWN
    if writing and issubclass(kind, known.LOOP_CLASSES):
        return Way.UNKNOWN  # its methods do not record that they read it
    value = lookup(kind, attr)
    if not _finds_attributes(kind, hook) and not issubclass(type(value), types.MethodDescriptorType):
        return Way.UNKNOWN
    if value is ABSENT:
        if not writing and has_unknown(kind, "__getattr__"):
            return Way.UNKNOWN
        return Way.PLAIN
    if issubclass(type(value), functools.cached_property):
        if writing:
            return Way.PLAIN
        return Way.CACHED if is_known_function(value.func) else Way.UNKNOWN
    if issubclass(type(value), property):
        function = value.fset if writing else value.fget
        if function is None or is_known_function(function) or kind in known.ALWAYS_PLAIN:
            return Way.SILENT  # a property that is known records what it does
        return Way.UNKNOWN
    if issubclass(type(value), types.FunctionType | classmethod | staticmethod):
        return Way.UNKNOWN if writing else Way.SILENT  # methods are constants; who replaces one is opaque
    if _is_c(value):
        return _c_attribute(attr, value, writing)
    special = "__set__" if writing else "__get__"
    if has_unknown(type(value), special) and not issubclass(type(value), type):
        return Way.UNKNOWN
    return Way.PLAIN


def _finds_attributes(kind: type, hook: str) -> bool:
    """Is the attribute looked up as `object` does it, or by code that records itself?"""
    owner = owner_of(kind, hook) or object
    python = isinstance(vars(owner)[hook], types.FunctionType)
    return owner is object or python or owner in known.SETTLED or issubclass(owner, known.SETTLED_BASES)


def _c_attribute(attr: str, value: Any, writing: bool) -> Way:
    """A method, a slot, or what a C type shows of its inside."""
    if issubclass(type(value), types.MemberDescriptorType) and is_mutable_type(value.__objclass__):
        return Way.PLAIN
    if writing:
        return Way.UNKNOWN
    if not issubclass(type(value), types.GetSetDescriptorType | types.MemberDescriptorType):
        return Way.SILENT
    owner = value.__objclass__
    settled = owner in known.SETTLED or issubclass(owner, BaseException | type | types.ModuleType)
    return Way.SILENT if settled and attr not in known.CHANGING and owner is not types.FrameType else Way.UNKNOWN


def _is_c(value: object) -> bool:
    return issubclass(type(value), known.C_DESCRIPTORS)


def is_seen_by_loop(future: object) -> bool:
    """A future or a task that records itself (see `futures`)."""
    return type(future).__module__.startswith("porcini.")


def is_silent_future_attribute(attr: str) -> bool:
    """Methods of futures record when they are called; what never changes is not recorded."""
    return attr in known.FUTURE_SILENT or callable(getattr(asyncio.Task, attr, None)) or attr.startswith("__")


def known_on_class(cls: Any, attr: str) -> bool:
    """Is what finding an attribute of a class runs known? What its metaclass has comes first."""
    way = attribute(type(cls), attr)
    value = lookup(cls, attr)
    if value is ABSENT:
        return way is not Way.UNKNOWN
    found = lookup(type(cls), attr)
    if found is not ABSENT and hasattr(type(found), "__set__"):
        return way is not Way.UNKNOWN
    return _known_lookup(value)


def _known_lookup(value: object) -> bool:
    """Does what a class has under a name run no unknown code when it is bound? What is called then is seen."""
    if issubclass(type(value), known.BINDING_NOTHING) or _is_c(value):
        return True
    return not is_lookup(value) or not has_unknown(type(value), "__get__")


def known_on_super(obj: Any, attr: str) -> bool:
    """Does `super().attr` find a method, or a property that is known?"""
    mro = (obj.__self_class__ or obj.__thisclass__).__mro__
    after = mro[mro.index(obj.__thisclass__) + 1 :] if obj.__thisclass__ in mro else mro
    value: Any = next((vars(owner)[attr] for owner in after if attr in vars(owner)), ABSENT)
    if value is ABSENT:
        return attribute(super, attr) is not Way.UNKNOWN
    if issubclass(type(value), property):
        return value.fget is None or is_known_function(value.fget)
    return issubclass(type(value), types.FunctionType | classmethod | staticmethod) or (
        _is_c(value) and not issubclass(type(value), types.GetSetDescriptorType | types.MemberDescriptorType)
    )


def dict_of(obj: object) -> dict[str, Any] | None:
    """The dict with the attributes of an instance, without running code of the program."""
    try:
        own = object.__getattribute__(obj, "__dict__")
    except (AttributeError, TypeError):
        return None
    return own if isinstance(own, dict) else None


@remembered
def is_stored(kind: type, attr: str) -> bool:
    """Is an attribute found, if it is there, in a slot, among those of the instance, or as data of its class?"""
    value = lookup(kind, attr)
    plain = value is ABSENT or not is_lookup(value) or issubclass(type(value), types.MemberDescriptorType)
    return plain and attribute(kind, attr) is Way.PLAIN


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


# Keys ---------------------------------------------------------------------------------------------------------


def shown(key: Any) -> str | None:
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
        parts = [shown(part) for part in key]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    if lookup(kind, "__eq__") is not object.__eq__:
        return None  # of a metaclass, too: two classes may be one key
    if issubclass(type(key), enum.Enum):
        return f"{kind.__module__}.{kind.__qualname__}.{key._name_}"
    if issubclass(type(key), type | types.FunctionType):
        return f"<{key.__module__}.{key.__qualname__}>"
    if issubclass(kind, asyncio.Future) and is_seen_by_loop(key):
        return f"<{key._place}>"
    return None
