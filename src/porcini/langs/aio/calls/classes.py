"""Calls of classes. If it is certain that one makes a new object, that is named by its creation."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import itertools
import types
import weakref
from collections import Counter, defaultdict, deque
from typing import Any, NamedTuple

from porcini.langs.aio import known, rules
from porcini.langs.aio.calls import containers
from porcini.langs.aio.calls.calling import callback, later, name_of, reading, with_hooks
from porcini.langs.aio.log import CREATED, mortal
from porcini.langs.aio.operations import entries
from porcini.langs.aio.operations.entries import unknown
from porcini.langs.aio.operations.iterating import mapped, source, watched
from porcini.langs.aio.operations.values import VIEWS, derive, operand, read_shape

_LAZY = frozenset(
    {enumerate, zip, map, filter, reversed} | {v for v in vars(itertools).values() if isinstance(v, type)}
)
"""What these give reads their arguments whenever it is used."""
_PASSING = frozenset(
    {enumerate, zip, reversed, itertools.chain, itertools.islice, itertools.cycle, itertools.repeat}
)
"""These hand items on without looking into them."""
_KEEPING = frozenset({list, tuple, deque})
"""These take items as they are."""
_CALLING: dict[Any, tuple[int, str]] = {
    **dict.fromkeys((map, filter, itertools.starmap, itertools.takewhile, itertools.dropwhile), (0, "")),
    itertools.filterfalse: (0, ""),
    itertools.accumulate: (1, "func"),
    itertools.groupby: (1, "key"),
}
"""Which argument of these is a function."""
_BY_OTHER_NAMES: dict[Any, tuple[str, ...]] = {itertools.compress: ("data", "selectors")}
_LAZY_OPTIONS = frozenset(
    {"iterable", "data", "selectors", "start", "step", "key", "func", "initial", "fillvalue", "repeat", "strict"}
    | {"r", "object", "times"}
)
"""What these may be given by name."""
_NUMBERS = frozenset({"start", "step", "repeat", "strict", "r", "times"})
"""Of those, what is a number or a truth value."""
_ALL_ITERATED = frozenset(
    {map, zip, itertools.chain, itertools.zip_longest, itertools.product, itertools.compress}
)
"""Every argument of these is iterated over; of other lazy ones, the first."""
_MAKING_NEW = (object, *known.CONTAINERS, asyncio.Future, asyncio.Task)
"""The `__new__` of these gives no object that was there before."""


def called(cls: type, number: int) -> Any:
    """What takes the place of a class."""
    if cls in _LAZY:
        return _lazy(cls, number)
    if cls in known.CONTAINERS:
        return _container(cls, number)
    if cls in known.ALWAYS_PLAIN:
        return _plain(cls, number)
    if cls is weakref.finalize:
        return _with_callback(cls, number)
    if issubclass(cls, enum.Enum):
        return reading(cls, number)
    if cls is types.SimpleNamespace:
        return _namespace(cls, number)
    if issubclass(cls, type):
        return _class(cls, number)
    if issubclass(cls, BaseException) or cls.__module__ in known.KEEPING_MODULES or cls is slice:
        _initialised(cls, number)
        return cls
    if cls.__module__ in known.READING_MODULES:
        return _keeping(cls, number)
    if type(cls).__call__ is not type.__call__ and not rules.is_known_function(type(cls).__call__):
        unknown(name_of(cls), number)
        return cls
    if not _initialised(cls, number):
        return cls
    return _object(cls, number) if _default_new(cls) else cls


def _namespace(cls: Any, number: int) -> Any:
    """`types.SimpleNamespace` keeps what it is given by name; since 3.13 it takes a mapping as well."""

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        for value in args:
            operand(value, number)
        return cls(*args, **kwargs)

    return made


def _keeping(cls: Any, number: int) -> Any:
    """A known class that reads what it is given, and may call it later: what does not record itself is wrapped."""
    reads = reading(cls, number)

    def seen(value: Any) -> Any:
        return (
            later(value, number) if type(value) in known.CALLABLE and not rules.is_known_function(value) else value
        )

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return reads(*map(seen, args), **{name: seen(value) for name, value in kwargs.items()})

    return made


def _plain(cls: Any, number: int) -> Any:
    """A class of values that do not change, or of code."""
    if cls is type:
        return _class(cls, number)
    if cls is object:
        return _object(cls, number)
    if cls is weakref.ref:
        return _with_callback(cls, number)
    if cls is types.FunctionType:
        return _function(cls, number)
    if cls in known.CODE:
        return cls
    if cls is bool:
        return _truth(cls, number)
    return _bytes(cls, number) if cls is bytes else reading(cls, number)


def _truth(cls: Any, number: int) -> Any:
    """`bool`: of a container only whether there is anything in it."""
    reads = reading(cls, number)

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if len(args) != 1 or type(args[0]) not in known.CONTAINERS:
            return reads(*args, **kwargs)
        read_shape(args[0], number)
        return cls(*args, **kwargs)

    return made


def _function(cls: Any, number: int) -> Any:
    """A function made by hand may share variables with another, under another name: nothing is certain then."""

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if len(args) > 4 or "closure" in kwargs:
            entries.lost("a function with the cells of another", number)
        space = args[1] if len(args) > 1 else kwargs.get("globals")
        if type(space) is dict:
            with_hooks(space)
        return cls(*args, **kwargs)

    return made


def _bytes(cls: Any, number: int) -> Any:
    """`bytes(...)`: by `__bytes__`, or as the buffer or the numbers that it is given."""

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        given: Any = (args[0], *kwargs.values()) if args else kwargs.values()
        for value in given:
            operand(value, number)
        if args:
            args = (_numbers(args[0], number), *args[1:])
        elif "source" in kwargs:
            kwargs["source"] = _numbers(kwargs["source"], number)
        return cls(*args, **kwargs)

    return made


def _numbers(value: Any, number: int) -> Any:
    """What `bytes` and `bytearray` go over, unless there is another way to make bytes of it."""
    kind = type(value)
    if kind in rules.PLAIN or not hasattr(kind, "__iter__") or hasattr(kind, "__index__"):
        return operand(value, number)
    return operand(value, number) if hasattr(kind, "__bytes__") else source(value, number, deep=True)


def _with_callback(cls: Any, number: int) -> Any:
    """`weakref.ref(obj, callback)` and `weakref.finalize(obj, callback, ...)`."""

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if len(args) > 1 and args[1] is not None:
            mortal(args[0])
            args = (args[0], _finalising(args[1], number), *args[2:])
        return cls(*args, **kwargs)

    return made


def _finalising(function: Any, number: int) -> Any:
    """A callback of a weak reference: as a `__del__`."""

    def finalised(*args: Any, **kwargs: Any) -> Any:
        entries.finalised(number)
        return later(function, number)(*args, **kwargs)

    return finalised


# Classes that a step defines ------------------------------------------------------------------------------------


def based(bases: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    """The bases of a class that is defined in a step: a metaclass or `__init_subclass__` may be unknown."""
    for base in bases if type(bases) is tuple else ():
        if not issubclass(type(base), type):
            known_origin = type(base) is types.GenericAlias or getattr(base, "__module__", "") == "typing"
            if not known_origin and type(base).__module__ != "typing":
                unknown(f"a class of {type(base).__qualname__}", number)
            continue
        metaclass(type(base), number)
        hook = rules.lookup(base, "__init_subclass__")
        inner = getattr(hook, "__func__", hook)
        usual = not issubclass(type(inner), types.FunctionType) or inner.__module__ in known.READING_MODULES
        if not usual and not rules.is_known_function(hook):
            unknown(f"{base.__qualname__}.__init_subclass__", number)
    return bases


def metaclass(meta: Any, number: int) -> Any:
    """`metaclass=...` of a class that is defined in a step."""
    seen = not rules.is_foreign(meta, "abc") if issubclass(type(meta), type) else rules.is_known_function(meta)
    if not seen:
        unknown(f"a class of {name_of(meta)}", number)
    return meta


def _class(meta: Any, number: int) -> Any:
    """`type(name, bases, namespace)`, and the same with another metaclass."""
    _initialised(meta, number)

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if len(args) > 2:
            based(args[1], number)
            mapped(args[2], number)
        return meta(*args, **kwargs)

    return made


# Objects ------------------------------------------------------------------------------------------------------


def _default_new(cls: Any) -> bool:
    """Is what `cls()` gives certainly new?"""
    made: Any = cls.__new__
    return any(made is getattr(base, "__new__", None) for base in _MAKING_NEW)


def _initialised(cls: type, number: int) -> bool:
    """Is all that creating an instance runs known? If not, say so."""
    making: Any = cls
    foreign, problems = _unknown_making(cls, making.__new__, making.__init__)
    for problem in problems:
        unknown(problem, number)
    return not foreign


@rules.remembered
def _unknown_making(cls: type, new: Any, init: Any) -> tuple[bool, tuple[str, ...]]:
    """Is `__new__` or `__init__` of a class not known? With all that is not known about creating an instance."""
    problems: list[str] = []
    for name in ("__new__", "__init__"):
        owner = rules.owner_of(cls, name) or object
        function = vars(owner)[name]
        if owner in known.C_BASES or issubclass(owner, BaseException | asyncio.Future) or owner is type:
            continue
        if owner.__module__ in known.READING_MODULES or owner.__module__ == "typing":
            continue
        if not rules.is_known_function(function) and not rules.is_generated(function):
            if not rules.is_mutable_type(owner) and issubclass(cls, tuple | int | str | float | bytes):
                continue
            if issubclass(cls, tuple) or issubclass(cls, enum.Enum):
                continue
            return True, (*problems, name_of(cls))
        if rules.is_generated(function) and not rules.known_fields(cls):
            problems.append(f"fields of {name_of(cls)}")
    return False, tuple(problems)


class _Making(NamedTuple):
    """How an instance of a class comes to its contents."""

    generated: bool
    base: type | None
    frozen: bool


@rules.remembered
def _making(cls: type, new: Any, init: Any) -> _Making:
    own = rules.is_known_function(init)
    generated = not own and rules.is_generated(init)
    base = None if own or generated else rules.container_base(cls)
    frozen = own and issubclass(cls, (tuple, frozenset)) and not rules.is_known_function(new)
    return _Making(generated, base, frozen)


def _object(cls: Any, number: int) -> Any:
    """Its result is new. A generated `__init__` makes new containers for fields that were not given."""
    generated, base, frozen = _making(cls, cls.__new__, cls.__init__)

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if base is not None:
            args, kwargs = _contents(base, args, kwargs, number)
        elif frozen:  # filled before `__init__` can say what it does with them
            for value in (*args, *kwargs.values()):
                operand(value, number)
                if type(value) not in rules.PLAIN and rules.container_base(type(value)) is None:
                    unknown(name_of(cls), number)
        obj = cls(*args, **kwargs)
        if hasattr(cls, "__del__"):
            mortal(obj)
        elif type(obj) is cls:
            CREATED.append(obj)
            if generated:
                _made_fields(obj, len(args), kwargs)
        return obj

    return made


def _made_fields(obj: Any, given: int, kwargs: dict[str, Any]) -> None:
    """The containers that a generated `__init__` made for fields that were not given are new, too."""
    position = 0
    for field in dataclasses.fields(obj) if dataclasses.is_dataclass(obj) else ():
        passed = field.name in kwargs or (field.init and not field.kw_only and position < given)
        position += field.init and not field.kw_only
        if not passed and field.default_factory in known.CONTAINERS:
            CREATED.append(rules.peek(obj, field.name))


# Containers and iterators -------------------------------------------------------------------------------------


def _container(cls: type, number: int) -> Any:
    """`list(...)`, `dict(...)`: reads what it is given."""

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        args, kwargs = _contents(cls, args, kwargs, number)
        obj = cls(*args, **kwargs)
        if cls is not tuple and cls is not frozenset:
            CREATED.append(obj)
        return obj

    return made


def _contents(
    base: type, args: tuple[Any, ...], kwargs: dict[str, Any], number: int
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a container's class: what is in them is read."""
    at = 1 if base is defaultdict else 0
    if len(args) > at:
        args = (*args[:at], _content(base, args[at], number), *args[at + 1 :])
    name = _BY_NAME.get(base)
    if name in kwargs:
        kwargs[name] = _content(base, kwargs[name], number)
    if base is Counter:
        for count in kwargs.values():
            operand(count, number)
    return args, kwargs


_BY_NAME: dict[type, str] = {deque: "iterable", bytearray: "source"}
"""What these are made from may be given by name."""


def _content(base: type, value: Any, number: int) -> Any:
    """What a container is made from; gives what is to be given instead."""
    if issubclass(base, dict):
        return containers.pairs(value, number, counts=base is Counter)
    if base is bytearray:
        return _numbers(value, number)
    return source(value, number, deep=base not in _KEEPING)


def _lazy(cls: type, number: int) -> Any:
    """`enumerate`, `zip`, `map`, `itertools`: the result reads the arguments whenever it is used."""
    position, keyword = _CALLING.get(cls, (-1, "-"))
    first = 1 if position == 0 else 0
    count = 0 if cls in (itertools.repeat, itertools.count) else 1 if cls not in _ALL_ITERATED else 1 << 30

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not kwargs.keys() <= _LAZY_OPTIONS:
            unknown(name_of(cls), number)
        given, seen, sources, plain = list(args), dict(kwargs), [], cls in _PASSING
        for index, value in [*enumerate(args), *kwargs.items()]:
            into: Any = given if isinstance(index, int) else seen
            if index in (position, keyword):
                into[index] = callback(value, number)
                plain = value is not None and (into[index] is not value or rules.is_known_function(value))
            elif index in _BY_OTHER_NAMES.get(cls, ("iterable",)) or (
                isinstance(index, int) and first <= index < first + count
            ):
                into[index] = value if cls is reversed else source(value, number)
                sources.append(into[index])
            elif index in _NUMBERS:
                operand(value, number)
        if not plain:
            given = [watched(v, number) if type(v) is types.GeneratorType else v for v in given]
            seen = {k: watched(v, number) if type(v) is types.GeneratorType else v for k, v in seen.items()}
        if cls is reversed and args and rules.container_base(type(args[0])) is None:
            kind = type(args[0])
            if kind not in rules.PLAIN and kind not in VIEWS and rules.has_unknown(kind, "__reversed__"):
                unknown(f"{kind.__qualname__}.__reversed__", number)
        return derive(cls(*given, **seen), tuple(sources), deep=not plain)

    return made
