"""Functions that are not instrumented: those that are known by themselves, and how, and the rest."""

from __future__ import annotations

import abc
import bisect
import contextvars
import copy
import dataclasses
import functools
import gc
import heapq
import inspect
import json
import logging
import operator
import re
import struct
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from contextvars import Context
from typing import Any

from porcini.langs.aio import known, rules
from porcini.langs.aio.calls import attributes, frames, logs
from porcini.langs.aio.calls.calling import (
    by_position,
    call,
    iterating,
    modelling,
    name_of,
    ours,
    reading,
)
from porcini.langs.aio.calls.containers import ANY, Model, taking
from porcini.langs.aio.log import CREATED, READ, WRITE
from porcini.langs.aio.operations import awaiting, entries, items, objects
from porcini.langs.aio.operations.entries import log, new, unknown
from porcini.langs.aio.operations.values import (
    VIEWS,
    derive,
    inside,
    is_c_iterator,
    iterate,
    operand,
    read_all,
    read_in_any_order,
    read_shape,
    read_sources,
    write_all,
)

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Such a function runs later than it is called."""


def listed(function: Any, number: int) -> Any:
    """What takes the place of a function that is known by itself; None if this one is not."""
    make = _MAKERS.get(function)
    if make is not None:
        return make(function, number)
    model = _MODELS.get(function)
    if model is not None:
        return modelling(model, function, number)
    if function in known.SILENT_FUNCTIONS:
        return function
    if function in known.ITERATING:
        return iterating(function, number)
    return reading(function, number) if function in known.READING_FUNCTIONS else None


def in_python(function: Any, number: int) -> Any:
    """A Python function that is not instrumented."""
    found = listed(function, number)
    if found is not None:
        return found
    code, module = function.__code__, function.__globals__.get("__name__", "")
    if module == "contextlib" and code.co_name == "helper":
        call(function.__wrapped__, number)
        return function
    if rules.is_generated(function) or module.startswith("namedtuple_"):
        return reading(function, number)
    if module in _OF_RAISES and code.co_name == "raises":
        return _expecting(function, number)
    if module == "logging":
        return logs.logged(function, logging.root, code.co_name, number)
    if code.co_qualname == "singledispatch.<locals>.wrapper":
        if not all(map(rules.is_known_function, function.registry.values())):
            unknown(name_of(function), number)
        return function
    # A function inside one of these modules may call anything: it is what a decorator made.
    if module in known.READING_MODULES and vars(sys.modules[module]).get(code.co_name) is function:
        return function if code.co_flags & _SUSPENDED else reading(function, number)
    unknown(name_of(function), number)
    return function


# Models log what a call will do -------------------------------------------------------------------------------


def _length(number: int, obj: Any, /) -> None:
    """`len`."""
    kind = type(obj)
    if rules.has_c_method(kind, "__len__"):
        read_shape(obj, number)
    elif kind in VIEWS:
        if not read_in_any_order(obj, number, lambda _: True):
            read_sources(obj, number)
    elif kind not in rules.PLAIN and rules.has_unknown(kind, "__len__"):
        unknown(f"{kind.__qualname__}.__len__", number)


def _next(number: int, iterator: Any, /, *default: Any) -> None:
    iterate(iterator, number)


def _item_of(number: int, obj: Any, key: Any, /) -> None:
    items.item(obj, key, number)


@taking("key", "lo", "hi")
def reordered(number: int, heap: Any, /, *values: Any, **options: Any) -> None:
    """A list that is changed as a whole, by comparing or by chance: `heapq`, `bisect.insort`, `shuffle`."""
    if rules.container_base(type(heap)) is None:
        unknown(f"a change of {type(heap).__qualname__}", number)
    operand(heap, number)
    write_all(heap, number)
    for value in (*values, options.get("lo"), options.get("hi")):
        operand(value, number)


@taking("sep", "end", "file", "flush")
def _print(number: int, /, *values: Any, file: Any = None, **how: Any) -> None:
    """Text that goes where it always goes is seen by nobody."""
    for value in (*values, how.get("flush")):
        operand(value, number)
    out = sys.stdout if file is None else file
    if out is not None and not rules.is_outside(out):
        for name in ("write", "flush"):
            _method_used(out, name, number)


def _method_used(obj: Any, name: str, number: int) -> None:
    """C code calls a method of this: one that is known, and of its class, records itself."""
    kind = type(obj)
    found = rules.lookup(kind, name)
    own = rules.dict_of(obj) or {}
    usual = rules.attribute(kind, name) is rules.Way.SILENT and name not in own
    if not usual or not rules.is_known_function(found):
        unknown(f"{kind.__qualname__}.{name}", number)


@taking(*ANY)
def _format_exc(number: int, /, *args: Any, **kwargs: Any) -> None:
    operand(sys.exc_info()[1], number)


def _instance(number: int, obj: Any, cls: Any, /) -> None:
    checked(cls, number)


def checked(cls: Any, number: int) -> Any:
    """The second argument of `isinstance` and `issubclass`: a class may have its own idea of that."""
    if type(cls) is not type:
        _check(cls, number)
    return cls


def _check(cls: Any, number: int) -> None:
    """As `checked`, of what is no plain class."""
    if issubclass(type(cls), tuple | types.UnionType):
        for each in cls if issubclass(type(cls), tuple) else cls.__args__:
            checked(each, number)
        return
    if issubclass(type(cls), type) and getattr(cls, "_is_protocol", False):
        unknown(f"isinstance of {cls.__qualname__}", number)
    for name in ("__instancecheck__", "__subclasscheck__"):
        owner = rules.owner_of(type(cls), name) or type
        usual = owner in (type, abc.ABCMeta) or owner.__module__ in ("typing", "enum")
        if not usual and not rules.is_known_function(vars(owner)[name]):
            unknown(f"{owner.__qualname__}.{name}", number)


def context_used(number: int) -> None:
    """Each task has a context of its own, unless the program gives one to several."""
    if rules.SHARED_CONTEXTS:
        unknown("a shared context", number)


def shared_context(context: Any, number: int) -> Any:
    """`context=...` in a call."""
    if issubclass(type(context), Context):
        rules.SHARED_CONTEXTS.add(id(context))
    return context


def _taken_apart(number: int, obj: Any, /) -> None:
    """`asdict` and `astuple`: the fields of dataclasses, also in containers; whatever else there is is copied."""
    todo, seen = [obj], set[int]()
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) in known.CONTAINERS:
            read_all(value, number)
            todo += inside(value)
        elif issubclass(type(value), type) or not dataclasses.is_dataclass(value):
            objects.copied(value, number)
        else:
            for field in dataclasses.fields(value):
                attributes.dynamic(value, field.name, number, READ)
                todo.append(rules.peek(value, field.name))
                if todo[-1] is rules.ABSENT:
                    unknown(f"{type(value).__qualname__}.{field.name}", number)


def _opaque(name: str) -> Model:
    """The model of a function that would need one, and has none."""

    @taking(*ANY)
    def model(number: int, /, *args: Any, **kwargs: Any) -> None:
        unknown(name, number)

    return model


# Makers give back what takes the place of the function ---------------------------------------------------------


def _iter(function: Any, number: int) -> Any:
    """`iter`: a new iterator that reads its container, or the iterator that it was given."""

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if len(args) != 1 or kwargs:
            unknown("iter(function, sentinel)", number)
            return function(*args, **kwargs)
        (obj,) = args
        iterate(obj, number)
        iterator = function(obj)
        return iterator if iterator is obj or not is_c_iterator(type(iterator)) else derive(iterator, (obj,))

    return made


def _async_next(function: Any, number: int) -> Any:
    """`anext`: an asynchronous generator goes on in each step until it answers."""

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = function(*args, **kwargs)
        obj = args[0]
        if issubclass(type(obj), types.AsyncGeneratorType):
            return awaiting.framed(result, obj, number)
        if rules.has_unknown(type(obj), "__anext__"):
            unknown(f"{type(obj).__qualname__}.__anext__", number)
        return result

    return made


def _identity(function: Any, number: int) -> Any:
    """`id` gives another number in each run; what is found by it cannot be named."""

    def identity(*args: Any, **kwargs: Any) -> int:
        __tracebackhide__ = True
        found = id(*args, **kwargs)
        rules.IDENTITIES.add(found)
        return found

    return identity


def _warning(function: Any, number: int) -> Any:
    """`warnings.warn`: about the line of the program that calls it."""

    def warned(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        for value in (*args, *kwargs.values()):
            operand(value, number)
        log((warnings, number, WRITE, (".shown",)))
        given, options = by_position(function, args, kwargs) or (args, kwargs)
        if len(given) > 2 and isinstance(given[2], int):
            return function(*given[:2], given[2] + ours(), *given[3:], **options)
        if isinstance(options.get("stacklevel", 1), int):
            options = {**options, "stacklevel": options.get("stacklevel", 1) + ours()}
        return function(*given, **options)

    return warned


def _collecting(function: Any, number: int) -> Any:
    """`gc.collect`: what is garbage but for us shall go, too. It cannot be named after that."""

    def collected(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        entries.lost("gc.collect", number)
        entries.let_go()
        return function(*args, **kwargs)

    return collected


_OF_RAISES = ("_pytest.raises", "_pytest.python_api")


def _expecting(function: Any, number: int) -> Any:
    """`pytest.raises` keeps what it is given; in its old form it calls that, at once."""

    def expected(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if len(args) > 1 or not kwargs.keys() <= {"match"}:
            unknown(name_of(function), number)
        return function(*args, **kwargs)

    return expected


def _replacing(function: Any, number: int) -> Any:
    """`dataclasses.replace`: fields that are not given are read, and a new object is made."""

    def replaced(*args: Any, **changes: Any) -> Any:
        __tracebackhide__ = True
        if len(args) != 1 or not dataclasses.is_dataclass(args[0]) or issubclass(type(args[0]), type):
            return function(*args, **changes)  # an error
        for field in dataclasses.fields(args[0]):
            if field.name not in changes:
                attributes.dynamic(args[0], field.name, number, READ)
        call(type(args[0]), number)
        for value in changes.values():
            operand(value, number)
        result = function(*args, **changes)
        return new(result) if type(result) is type(args[0]) and not hasattr(result, "__del__") else result

    return replaced


def _copying(function: Any, number: int) -> Any:
    """`copy` and `deepcopy` read all fields; the copy is new."""

    def copied(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        given, options = by_position(function, args, kwargs) or (args, kwargs)
        if options or not given:
            unknown(name_of(function), number)
            return function(*args, **kwargs)
        obj = given[0]
        objects.copied(obj, number)
        if len(given) > 1 and given[1:] != (None,):
            unknown("deepcopy with a memo", number)
        result = function(*args, **kwargs)
        own = hasattr(type(obj), "__copy__") or hasattr(type(obj), "__deepcopy__")
        if result is not obj and (type(obj) in known.CONTAINERS or not own):
            CREATED.append(result)
        return result

    return copied


def _parsing(function: Any, number: int) -> Any:
    """`json.loads`, without a hook that might give something else: all that comes out of it is new."""
    reads = reading(function, number)

    def parsed(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = reads(*args, **kwargs)
        todo = [result] if not kwargs else []
        while todo:
            value: Any = todo.pop()
            if type(value) is dict or type(value) is list:
                CREATED.append(value)
                todo.extend(value.values() if type(value) is dict else value)
        return result

    return parsed


# Which function has which -------------------------------------------------------------------------------------


_OPAQUE_OPERATORS = (
    *("contains", "length_hint", "call"),
    *("setitem", "delitem", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior"),
    *("ipow", "irshift", "isub", "itruediv", "ixor"),
)
_MODELS: dict[Any, Model] = {
    len: _length,
    next: _next,
    getattr: attributes.get,
    hasattr: attributes.get,
    setattr: attributes.set_,
    delattr: attributes.set_,
    print: _print,
    isinstance: _instance,
    issubclass: _instance,
    operator.getitem: _item_of,
    **{getattr(heapq, n): reordered for n in ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")},
    **{getattr(bisect, n): reordered for n in ("insort", "insort_left", "insort_right")},
    **{getattr(operator, n): _opaque(f"operator.{n}") for n in _OPAQUE_OPERATORS},
    struct.pack_into: _opaque("struct.pack_into"),
    contextvars.copy_context: context_used,
    functools.update_wrapper: _opaque("functools.update_wrapper"),
    traceback.format_exc: _format_exc,
    json.dump: _opaque("json.dump"),
    re.purge: _opaque("re.purge"),
    dataclasses.asdict: _taken_apart,
    dataclasses.astuple: _taken_apart,
}
_MAKERS: dict[Any, Callable[[Any, int], Any]] = {
    iter: _iter,
    anext: _async_next,
    id: _identity,
    vars: frames.holding,
    **dict.fromkeys((globals, locals, dir), frames.of_frame),
    **dict.fromkeys((eval, exec), frames.evaluating),
    warnings.warn: _warning,
    gc.collect: _collecting,
    dataclasses.replace: _replacing,
    copy.copy: _copying,
    copy.deepcopy: _copying,
    json.loads: _parsing,
}
