"""Calls of classes. If it is certain that one makes a new object, that is named by its creation."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import types
from typing import Any, NamedTuple

from porcini.langs.aio import lookups, rules, trusted
from porcini.langs.aio.calls.calling import add_hooks, call_later, name_of, read_arguments
from porcini.langs.aio.calls.containers import CONSTRUCTORS
from porcini.langs.aio.calls.effects import Arguments, Options, Values, special_case
from porcini.langs.aio.log import CREATED, register_mortal
from porcini.langs.aio.loop import ControlledLoop
from porcini.langs.aio.operations import entries
from porcini.langs.aio.operations.entries import mark_opaque
from porcini.langs.aio.operations.iterating import read_mapping
from porcini.langs.aio.operations.values import read_operand

_MAKING_NEW = (object, *trusted.CONTAINERS, asyncio.Future, asyncio.Task)
"""The `__new__` of these gives no object that was there before."""


def construct_keeper(cls: Any, number: int) -> Any:
    """A trusted class reads its arguments, and may call them later: what does not record itself is wrapped."""
    reads = read_arguments(cls, number)

    def seen(value: Any) -> Any:
        return (
            call_later(value, number)
            if type(value) in trusted.CALLABLE and not rules.records_itself(value)
            else value
        )

    def construct(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return reads(*map(seen, args), **{name: seen(value) for name, value in kwargs.items()})

    return construct


@special_case
def construct_function(cls: Any, number: int, args: Values, kwargs: Options) -> None:
    """A function made by hand may share variables with another, under another name: nothing is certain then."""
    if len(args) > 4 or "closure" in kwargs:
        entries.lose_track("a function with the cells of another", number)
    space = args[1] if len(args) > 1 else kwargs.get("globals")
    if type(space) is dict:
        add_hooks(space)


@special_case
def construct_reference(cls: Any, number: int, args: Values, kwargs: Options) -> Arguments | None:
    """`weakref.ref(obj, callback)` and `weakref.finalize(obj, callback, ...)`."""
    if len(args) < 2 or args[1] is None:
        return None
    register_mortal(args[0])
    return (args[0], _build_finaliser(args[1], number), *args[2:]), kwargs


def _build_finaliser(function: Any, number: int) -> Any:
    """A callback of a weak reference: as a `__del__`."""

    def finalised(*args: Any, **kwargs: Any) -> Any:
        entries.log_finaliser(number)
        return call_later(function, number)(*args, **kwargs)

    return finalised


# Classes that a step defines ------------------------------------------------------------------------------------


def check_bases(bases: Values, number: int) -> tuple[Any, ...]:
    """The bases of a class that is defined in a step: a metaclass or `__init_subclass__` may be unknown."""
    for base in bases if type(bases) is tuple else ():
        if not issubclass(type(base), type):
            is_generic = type(base) is types.GenericAlias or getattr(base, "__module__", "") == "typing"
            if not is_generic and type(base).__module__ != "typing":
                mark_opaque(f"a class of {type(base).__qualname__}", number)
            continue
        check_metaclass(type(base), number)
        hook = rules.find_on_type(base, "__init_subclass__")
        inner = getattr(hook, "__func__", hook)
        usual = not issubclass(type(inner), types.FunctionType) or inner.__module__ in trusted.READING_MODULES
        if not usual and not rules.records_itself(hook):
            mark_opaque(f"{base.__qualname__}.__init_subclass__", number)
    return bases


def check_metaclass(meta: Any, number: int) -> Any:
    """`metaclass=...` of a class that is defined in a step."""
    seen = not rules.is_foreign(meta, "abc") if issubclass(type(meta), type) else rules.records_itself(meta)
    if not seen:
        mark_opaque(f"a class of {name_of(meta)}", number)
    return meta


@special_case
def construct_class(meta: Any, number: int, args: Values, kwargs: Options) -> None:
    """`type(name, bases, namespace)`, and the same with another metaclass."""
    check_construction(meta, number)
    if len(args) > 2:
        check_bases(args[1], number)
        read_mapping(args[2], number)


# Futures ------------------------------------------------------------------------------------------------------


def construct_future(cls: Any, number: int) -> Any:
    """`asyncio.Future()` and `asyncio.Task(...)`: the loop makes one that it sees, as it does when it is asked for
    one. Whatever is wrong with the arguments, it is asyncio that says so."""

    def construct(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        given = kwargs.get("loop")
        loop = asyncio.events._get_running_loop() if given is None else given
        if not isinstance(loop, ControlledLoop):
            return cls(*args, **kwargs)
        if cls is asyncio.Task and len(args) == 1:
            return loop.make_task(*args, **{name: value for name, value in kwargs.items() if name != "loop"})
        plain = cls is asyncio.Future and not args and kwargs.keys() <= {"loop"}
        return loop.create_future() if plain else cls(*args, **kwargs)

    return construct


# Objects ------------------------------------------------------------------------------------------------------


def is_new(cls: Any) -> bool:
    """Is what `cls()` gives certainly new?"""
    construct: Any = cls.__new__
    return any(construct is getattr(base, "__new__", None) for base in _MAKING_NEW)


def check_construction(cls: type, number: int) -> bool:
    """Is all code followed that creating an instance runs? If not, the step is opaque."""
    making: Any = cls
    foreign, problems = _find_opaque_parts(cls, making.__new__, making.__init__)
    for problem in problems:
        mark_opaque(problem, number)
    return not foreign


@rules.cache_until_reset
def _find_opaque_parts(cls: type, new: Any, init: Any) -> tuple[bool, tuple[str, ...]]:
    """Is `__new__` or `__init__` of a class not followed? With all that makes creating an instance opaque."""
    problems: list[str] = []
    for name in ("__new__", "__init__"):
        owner = rules.owner_of(cls, name) or object
        function = vars(owner)[name]
        if owner in trusted.C_BASES or issubclass(owner, BaseException | asyncio.Future) or owner is type:
            continue
        if owner.__module__ in trusted.READING_MODULES or owner.__module__ == "typing":
            continue
        if not rules.records_itself(function) and not rules.is_generated(function):
            if not rules.is_mutable_type(owner) and issubclass(cls, tuple | int | str | float | bytes):
                continue
            if issubclass(cls, tuple) or issubclass(cls, enum.Enum):
                continue
            return True, (*problems, name_of(cls))
        if rules.is_generated(function) and not rules.has_followed_fields(cls):
            problems.append(f"fields of {name_of(cls)}")
    return False, tuple(problems)


class _Construction(NamedTuple):
    """How an instance of a class comes to its contents."""

    generated: bool
    base: type | None
    frozen: bool


@rules.cache_until_reset
def _describe_construction(cls: type, new: Any, init: Any) -> _Construction:
    own = rules.records_itself(init)
    generated = not own and rules.is_generated(init)
    base = None if own or generated else rules.container_base(cls)
    frozen = own and issubclass(cls, (tuple, frozenset)) and not rules.records_itself(new)
    return _Construction(generated, base, frozen)


def construct_object(cls: Any, number: int) -> Any:
    """Its result is new. A generated `__init__` makes new containers for fields that were not given."""
    generated, base, frozen = _describe_construction(cls, cls.__new__, cls.__init__)

    def construct(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if base is not None:
            args, kwargs = CONSTRUCTORS[base].record(cls, number, args, kwargs)
        elif frozen:  # filled before `__init__` can say what it does with them
            for value in (*args, *kwargs.values()):
                read_operand(value, number)
                if type(value) not in rules.PLAIN and rules.container_base(type(value)) is None:
                    mark_opaque(name_of(cls), number)
        obj = cls(*args, **kwargs)
        if rules.has_finaliser(cls):
            register_mortal(obj)
        elif type(obj) is cls:
            CREATED.append(obj)
            if generated:
                _register_fields(obj, len(args), kwargs)
        return obj

    return construct


def _register_fields(obj: Any, given: int, kwargs: Options) -> None:
    """The containers that a generated `__init__` made for fields that were not given are new, too."""
    position = 0
    for field in dataclasses.fields(obj) if dataclasses.is_dataclass(obj) else ():
        passed = field.name in kwargs or (field.init and not field.kw_only and position < given)
        position += field.init and not field.kw_only
        if not passed and field.default_factory in trusted.CONTAINERS:
            CREATED.append(lookups.peek(obj, field.name))
