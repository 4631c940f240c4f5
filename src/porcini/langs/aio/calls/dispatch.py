"""Which effect a callee has, by its type: what the tables list, and families that are told apart by their kind."""

from __future__ import annotations

import asyncio
import enum
import functools
import inspect
import logging
import random
import sys
import types
import weakref
from typing import Any

from porcini.langs.aio import rules, trusted
from porcini.langs.aio.calls import classes, logs, receivers, special
from porcini.langs.aio.calls.calling import call, name_of, read_arguments
from porcini.langs.aio.calls.effects import Replacement
from porcini.langs.aio.calls.table import CALLABLES, METHODS
from porcini.langs.aio.operations.entries import mark_opaque
from porcini.langs.aio.operations.values import is_c_iterator, read_operand

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Such a function runs later than it is called."""
_EXACT = frozenset({*trusted.ALWAYS_PLAIN, functools.partial}) - {type, object}
"""Types whose rows in the table of methods do not stand for classes that inherit from them."""
_IN_PYTHON = (asyncio.Future, *trusted.LOOP_CLASSES, random.Random, weakref.WeakKeyDictionary)
"""Classes with methods in Python that the table stands for."""
_PYTEST = ("_pytest.raises", "_pytest.python_api")


@rules.cache_until_reset
def find_method(kind: type, name: str) -> Replacement | None:
    """What the table has for a method of C code, by the type of its receiver."""
    for owner in kind.__mro__[:-1]:
        if owner in METHODS and (owner is kind or owner not in _EXACT):
            found = METHODS[owner].get(name) or METHODS[owner].get("*")
            if found is not None:
                return found
    if is_c_iterator(kind):
        return receivers.use_iterator
    if name in METHODS[object]:
        return METHODS[object][name]
    if kind.__module__ in trusted.HASH_MODULES:
        return receivers.use_hash
    return read_arguments if kind.__module__ in trusted.CONSTANT_MODULES else None


# C code -------------------------------------------------------------------------------------------------------


def replace_c_function(function: Any, number: int) -> Any:
    """A function of a module in C, or a C method that is bound to its receiver."""
    receiver = function.__self__
    if receiver is not None and type(receiver) is not types.ModuleType:
        return _replace_method(function, number, receiver, function.__name__)
    found = CALLABLES.get(function)
    if found is not None:
        return found(function, number)
    if function.__module__ in trusted.READING_MODULES:
        return read_arguments(function, number)
    mark_opaque(name_of(function), number)
    return function


def replace_special_method(function: Any, number: int) -> Any:
    """A special method in C, bound to its receiver."""
    return _replace_method(function, number, function.__self__, function.__name__)


def replace_unbound_method(function: Any, number: int) -> Any:
    """`dict.get(d, k)`, `object.__setattr__(o, name, value)`."""

    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        receiver = args[0] if args else None
        if not issubclass(type(receiver), function.__objclass__):
            return function(*args, **kwargs)  # an error
        if issubclass(type(receiver), asyncio.Future):
            mark_opaque(name_of(function), number)
        bound = functools.partial(function, receiver)
        return _replace_method(bound, number, receiver, function.__name__)(*args[1:], **kwargs)

    return called


def _replace_method(function: Any, number: int, receiver: Any, name: str) -> Any:
    found = find_method(type(receiver), name)
    if found is not None:
        return found(function, number, receiver)
    kind = type(receiver)
    mark_opaque(f"{kind.__module__}.{kind.__qualname__}.{name}", number)
    return function


# Python code that is not instrumented -------------------------------------------------------------------------


def replace_function(function: Any, number: int) -> Any:
    """A Python function that is not instrumented."""
    found = CALLABLES.get(function)
    if found is not None:
        return found(function, number)
    code, module = function.__code__, function.__globals__.get("__name__", "")
    if module == "contextlib" and code.co_name == "helper":
        call(function.__wrapped__, number)
        return special.make_manager(function)
    if rules.is_generated(function) or module.startswith("namedtuple_"):
        return read_arguments(function, number)
    if module in _PYTEST and code.co_name == "raises":
        return special.expect(function, number)
    if module == "logging":
        return logs.replace_logging(function, logging.root, code.co_name, number)
    if code.co_qualname == "singledispatch.<locals>.wrapper":
        if not all(map(rules.records_itself, function.registry.values())):
            mark_opaque(name_of(function), number)
        return function
    # A function inside one of these modules may call anything: it is what a decorator made.
    if module in trusted.READING_MODULES and vars(sys.modules[module]).get(code.co_name) is function:
        return function if code.co_flags & _SUSPENDED else read_arguments(function, number)
    mark_opaque(name_of(function), number)
    return function


def replace_method(function: Any, number: int) -> Any:
    """A bound Python method that is not instrumented."""
    receiver: Any = function.__self__
    inner: Any = function.__func__
    kind, name = type(receiver), getattr(inner, "__name__", "")
    base = rules.container_base(kind)
    if issubclass(kind, _IN_PYTHON) or (base is not None and vars(base).get(name) is inner):
        found = find_method(kind, name)
        if found is not None:
            return found(function, number, receiver)
    if issubclass(kind, logs.CLASSES):
        return logs.replace_logging(function, receiver, name, number)
    if issubclass(type(inner), types.FunctionType):
        module = inner.__globals__.get("__name__", "")
        if rules.is_generated(inner):
            read_operand(receiver, number)
            return read_arguments(function, number)
        pure = module in trusted.CONSTANT_MODULES or inner.__qualname__.startswith("PurePath.")
        pure = pure or (issubclass(kind, type) and module in trusted.READING_MODULES)
        if pure or module.startswith("namedtuple_") or issubclass(kind, enum.Enum):
            return read_arguments(function, number)
    replaced = call(inner, number)
    return function if replaced is inner else functools.partial(replaced, receiver)


# Classes ------------------------------------------------------------------------------------------------------


def replace_class(cls: type, number: int) -> Any:
    """A class, which makes an instance. If it is certain that that is new, it is named by its creation."""
    found = CALLABLES.get(cls)
    if found is not None:
        return found(cls, number)
    if issubclass(cls, enum.Enum):
        return read_arguments(cls, number)
    if issubclass(cls, type):
        return classes.construct_class(cls, number)
    told = not rules.records_itself(rules.find_on_type(cls, "__init__"))  # by a table, and not by itself
    if issubclass(cls, BaseException) or (told and cls.__module__ in trusted.KEEPING_MODULES) or cls is slice:
        classes.check_construction(cls, number)
        return cls
    if told and cls.__module__ in trusted.READING_MODULES:
        return classes.construct_keeper(cls, number)
    if type(cls).__call__ is dict:  # a `TypedDict`
        return replace_class(dict, number)
    if type(cls).__call__ is not type.__call__ and not rules.records_itself(type(cls).__call__):
        mark_opaque(name_of(cls), number)
        return cls
    if not classes.check_construction(cls, number):
        return cls
    return classes.construct_object(cls, number) if classes.is_new(cls) else cls
