"""Methods of objects that are not instrumented, by what is known about their receivers."""

from __future__ import annotations

import asyncio
import datetime
import enum
import functools
import random
import re
import string
import time
import types
from contextvars import Context, ContextVar
from typing import Any

from porcini.langs.aio import known, rules
from porcini.langs.aio.calls import attributes, containers, functions, logs
from porcini.langs.aio.calls.calling import by_position, call, modelling, name_of, reading
from porcini.langs.aio.calls.containers import Model
from porcini.langs.aio.log import COUNT, READ, STATE, WRITE
from porcini.langs.aio.operations import awaiting
from porcini.langs.aio.operations.entries import log, new, unknown
from porcini.langs.aio.operations.iterating import source
from porcini.langs.aio.operations.values import (
    VIEWS,
    derive,
    frame,
    is_c_iterator,
    iterate,
    operand,
    read_all,
)

_OF_CODE = frozenset({"__eq__", "__ne__", "__hash__", "__repr__", "__str__"})
"""Methods of functions, modules and the like that look at nothing that changes."""
_OF_PROPERTY = frozenset({"getter", "setter", "deleter"})
_ASYNC_RUNNING = frozenset({"asend", "athrow", "aclose", "__anext__"})
_NOW = frozenset({"now", "utcnow", "today"})
_VIEWS = frozenset({"keys", "values", "items"})
_TEXT = frozenset({str, bytes, re.Pattern})
_READS_STATE = frozenset({"result", "exception", "done", "cancelled", "cancelling"})
_WRITES_STATE = frozenset(
    {"set_result", "set_exception", "cancel", "uncancel", "add_done_callback", "remove_done_callback"}
)


def in_c(function: Any, number: int) -> Any:
    """A function of a module in C, or a C method that is bound to its receiver."""
    receiver = function.__self__
    if receiver is not None and type(receiver) is not types.ModuleType:
        return _method(function, receiver, function.__name__, number)
    found = functions.listed(function, number)
    if found is not None:
        return found
    if function.__module__ in known.READING_MODULES:
        return reading(function, number)
    unknown(name_of(function), number)
    return function


def wrapper(function: Any, number: int) -> Any:
    """A special method in C, bound to its receiver."""
    return _method(function, function.__self__, function.__name__, number)


def _method(function: Any, receiver: Any, name: str, number: int) -> Any:
    """A C method, bound to its receiver. Most are those of containers, so they come first."""
    kind = type(receiver)
    model = containers.model_of(rules.container_base(kind), name)
    if model is not None:
        return _bound(model, function, receiver, number)
    if kind is types.GeneratorType:
        frame(receiver, number)
        return function
    if kind is types.AsyncGeneratorType:
        if name not in _ASYNC_RUNNING:
            return function
        return lambda *args, **kwargs: awaiting.framed(function(*args, **kwargs), receiver, number)
    if kind is types.CoroutineType:
        if name in ("send", "throw", "close"):
            awaiting.resumed(receiver, number)
        return function
    if kind in known.CODE and kind is not type and kind is not object:
        if name == "__call__" and kind is not types.GenericAlias:
            return call(receiver, number)
        making = (kind is types.FunctionType and name == "__get__") or (kind is property and name in _OF_PROPERTY)
        if name not in _OF_CODE and not making:
            unknown(f"{kind.__qualname__}.{name}", number)
        return function
    if kind is Context or kind is ContextVar:
        if name == "run":
            rules.SHARED_CONTEXTS.add(id(receiver))
        functions.context_used(number)
        return function
    if kind is re.Match:
        operand(receiver.string, number)
        return reading(function, number)
    if kind in rules.PLAIN and kind in known.ALWAYS_PLAIN and kind is not type:
        return _text(function, receiver, name, number) if kind in _TEXT else reading(function, number)
    if issubclass(type(receiver), random.Random):
        return _random(function, receiver, name, number)
    if issubclass(type(receiver), asyncio.Future):
        return _future(function, receiver, name, number)
    if issubclass(type(receiver), known.LOOP_CLASSES):
        return _of_loop(function, name, number)
    if issubclass(type(receiver), type) and name == "fromkeys" and receiver in known.CONTAINERS:
        return _from_keys(function, number)
    if issubclass(type(receiver), type) and name in _NOW and issubclass(receiver, datetime.date):
        return _now(receiver, name, number)
    if issubclass(type(receiver), type) and name in ("__new__", "mro"):
        return reading(function, number)
    if name in ("__init__", "__init_subclass__", "__exit__", "__enter__") and issubclass(
        type(receiver), BaseException
    ):
        return function
    if name in ("__setattr__", "__delattr__", "__getattribute__"):
        access = READ if name == "__getattribute__" else WRITE
        return modelling(lambda n, attr, /, *v: attributes.dynamic(receiver, attr, n, access), function, number)
    if kind in VIEWS:
        made = name in ("__iter__", "__reversed__")
        return _bound(containers.viewing if made else containers.combined, function, receiver, number)
    if is_c_iterator(kind):
        iterate(receiver, number)
        return reading(function, number)
    if name in containers.OBJECT:
        return _of_object(function, receiver, name, number)
    if kind.__module__ in known.HASH_MODULES:
        log((receiver, number, WRITE if name == "update" else READ, STATE))
        return reading(function, number)
    if kind.__module__ in known.CONSTANT_MODULES:
        return reading(function, number)
    unknown(f"{kind.__module__}.{kind.__qualname__}.{name}", number)
    return function


def _now(cls: Any, name: str, number: int) -> Any:
    """`datetime.now()` and its kin: by `time.time()`, which tells virtual time."""
    if name == "utcnow":
        return lambda: cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)
    reads = reading(cls.fromtimestamp, number)
    return lambda *zone, **named: reads(time.time(), *zone, **named)


def _from_keys(function: Any, number: int) -> Any:
    """`dict.fromkeys`."""

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if kwargs:
            args, kwargs = by_position(function, args, kwargs) or (args, kwargs)
        if kwargs or not args:
            unknown(name_of(function), number)
            return function(*args, **kwargs)
        return new(function(source(args[0], number, deep=True), *args[1:]))

    return made


def _of_object(function: Any, receiver: Any, name: str, number: int) -> Any:
    """What every object has: a type in C may have its own, which looks into it."""
    inner = function.func if issubclass(type(function), functools.partial) else function
    if getattr(inner, "__objclass__", object) is not object or name in ("__str__", "__format__"):
        operand(receiver, number)
        if name == "__init__":
            unknown(name_of(inner), number)
    return _bound(containers.argument_only, function, receiver, number)


def _bound(model: Model, function: Any, receiver: Any, number: int) -> Any:
    """A method of a container. What can be logged at once needs no wrapper."""
    if model in containers.WITHOUT_ARGUMENTS:
        model(receiver, number)
        return function
    if model is containers.copying:
        read_all(receiver, number)
        plain = type(receiver) in known.CONTAINERS
        return lambda *args, **kwargs: new(function(*args, **kwargs)) if plain else function(*args, **kwargs)
    if model is containers.viewing:
        if type(receiver) is dict and getattr(function, "__name__", "") in _VIEWS:  # who uses it sees the order
            read_all(receiver, number, COUNT)
        else:
            iterate(receiver, number)
        return lambda *args, **kwargs: derive(function(*args, **kwargs), (receiver,))
    return modelling(model, function, number, receiver)


def in_python(function: Any, number: int) -> Any:
    """A bound Python method that is not instrumented."""
    receiver: Any = function.__self__
    inner: Any = function.__func__
    name: str = getattr(inner, "__name__", "")
    if issubclass(type(receiver), asyncio.Future):
        return _future(function, receiver, name, number)
    if issubclass(type(receiver), known.LOOP_CLASSES):
        return _of_loop(function, name, number)
    base = rules.container_base(type(receiver))
    if base is not None and vars(base).get(name) is inner:
        model = containers.model_of(base, name)
        if model is not None:
            return _bound(model, function, receiver, number)
    if issubclass(type(receiver), random.Random):
        return _random(function, receiver, name, number)
    if issubclass(type(receiver), logs.CLASSES):
        return logs.logged(function, receiver, name, number)
    if issubclass(type(inner), types.FunctionType):
        module = inner.__globals__.get("__name__", "")
        if rules.is_generated(inner):
            operand(receiver, number)
            return reading(function, number)
        pure = module in known.CONSTANT_MODULES or inner.__qualname__.startswith("PurePath.")
        pure = pure or (issubclass(type(receiver), type) and module in known.READING_MODULES)
        if pure or module.startswith("namedtuple_") or issubclass(type(receiver), enum.Enum):
            return reading(function, number)
    made = call(inner, number)
    return function if made is inner else functools.partial(made, receiver)


def unbound(function: Any, number: int) -> Any:
    """`dict.get(d, k)`, `object.__setattr__(o, name, value)`."""

    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        receiver = args[0] if args else None
        if not issubclass(type(receiver), function.__objclass__):
            return function(*args, **kwargs)  # an error
        if issubclass(type(receiver), asyncio.Future):
            unknown(name_of(function), number)
        bound = functools.partial(function, receiver)
        return _method(bound, receiver, function.__name__, number)(*args[1:], **kwargs)

    return called


# Receivers ----------------------------------------------------------------------------------------------------


def _of_loop(function: Any, name: str, number: int) -> Any:
    """A method of the loop or of a handle: the controlled loop sees what it does, but not that settings change."""
    if name.startswith("set_"):
        unknown(f"loop.{name}", number)
    return function


def _random(function: Any, receiver: Any, name: str, number: int) -> Any:
    """A method of a random number generator: each changes its state."""
    log((receiver, number, WRITE, STATE))
    return modelling(functions.reordered, function, number) if name == "shuffle" else reading(function, number)


def _future(function: Any, future: Any, name: str, number: int) -> Any:
    """A method of a future or a task. Those of the loop's own note for themselves what is done to them."""
    if name in ("set_name", "get_name"):
        log((future, number, WRITE if name == "set_name" else READ, (".name",)))
        return function
    if name in ("get_stack", "print_stack", "get_context"):
        unknown(f"{name} of a task", number)
        if name == "get_context":
            rules.SHARED_CONTEXTS.add(0)
        return function
    if rules.is_seen_by_loop(future):
        return function
    if name in _WRITES_STATE:
        log((future, number, WRITE, STATE))
    elif name in _READS_STATE:
        log((future, number, READ, STATE))
    elif not rules.is_silent_future_attribute(name) or name in ("__init__", "send", "throw"):
        unknown(f"{type(future).__qualname__}.{name}", number)
    return function


def _text(function: Any, receiver: Any, name: str, number: int) -> Any:
    """A method of a string. `format` may look up attributes and items, by names in the string."""
    if name == "join":

        def joined(*values: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            return function(*(source(each, number, deep=True) for each in values), **kwargs)

        return joined
    if name in ("format", "format_map", "translate"):

        def formatted(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if name != "format" and not all(type(value) in (dict, str) for value in args):
                unknown(f"str.{name}", number)
            if name != "translate" and _looks_up(receiver):
                unknown(f"str.{name} of attributes", number)
            return reading(function, number)(*args, **kwargs)

        return formatted
    return _listing(function, number)


def _listing(function: Any, number: int) -> Any:
    """A method of a string or a pattern: a list that it gives is new."""
    reads = reading(function, number)

    def listed(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = reads(*args, **kwargs)
        if is_c_iterator(type(result)) and all(type(value) in known.SCALARS for value in args):
            return derive(result, ())
        return new(result) if type(result) is list else result

    return listed


def _looks_up(template: str) -> bool:
    """Does a format look into what it is given?"""
    try:
        return any(
            "." in (field or "") or "[" in (field or "") or (spec and _looks_up(spec))
            for _, field, spec, _ in string.Formatter().parse(template)
        )
    except ValueError:
        return False
