"""Calls: what is known about the callee. `call(f, site)` gives back what the program then calls.

Instrumented functions record themselves, and are given back as they are. C methods of containers (`containers`)
and of futures, builtins and the modules in `known.READING_MODULES` are modelled; if the model needs the arguments,
a small wrapper is given back. Everything else makes the step opaque.
"""

from __future__ import annotations

import abc
import asyncio
import bisect
import contextvars
import copy
import dataclasses
import enum
import functools
import heapq
import importlib.util
import inspect
import itertools
import json
import logging
import operator
import random
import re
import string
import struct
import sys
import traceback
import types
import warnings
import weakref
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any

from porcini.langs.aio import containers, known, rules
from porcini.langs.aio.containers import Model
from porcini.langs.aio.operations import awaiting, entries, items, iterating, objects
from porcini.langs.aio.operations.entries import MANY, log, new, relieve, unknown
from porcini.langs.aio.operations.values import (
    VIEWS,
    derive,
    frame,
    generator,
    is_c_iterator,
    iterate,
    operand,
    read_all,
    read_shape,
    read_sources,
    write_all,
)
from porcini.langs.aio.recorder import CREATED, LOG, READ, STATE, WRITE, mortal
from porcini.langs.aio.sites import PLACES, Kind, site


def call(function: Any, number: int) -> Any:
    """The callee of a call whose arguments are evaluated without being suspended."""
    if len(LOG) > MANY:
        relieve()
    kind = type(function)
    if kind is types.MethodType:
        inner = function.__func__
        if type(inner) is types.FunctionType and rules.is_instrumented(inner.__code__):
            return function if not inner.__code__.co_flags & _GENERATOR else _making(function)
    elif kind is types.FunctionType and rules.is_instrumented(function.__code__):
        return function if not function.__code__.co_flags & _GENERATOR else _making(function)
    return _modelled(function, kind, number)


_GENERATOR = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def _making(function: Any) -> Any:
    """A generator function: its result is new."""
    return lambda *args, **kwargs: generator(function(*args, **kwargs))


def later(function: Any, number: int) -> Any:
    """As `call`, where the arguments may be suspended: what is logged must be logged after that."""
    kind = type(function)
    inner = function.__func__ if kind is types.MethodType else function
    if type(inner) is types.FunctionType and rules.is_instrumented(inner.__code__):
        return call(function, number)

    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return call(function, number)(*args, **kwargs)

    return called


def _modelled(function: Any, kind: type, number: int) -> Any:
    if kind is types.BuiltinFunctionType:
        receiver = function.__self__
        if receiver is None or type(receiver) is types.ModuleType:
            return _builtin(function, number)
        return _method(function, receiver, function.__name__, number)
    if isinstance(function, type):
        return _class(function, number)
    if kind is types.MethodType:
        return _python_method(function, number)
    if kind is types.MethodWrapperType:
        return _method(function, function.__self__, function.__name__, number)
    if kind is types.FunctionType:
        return _function(function, number)
    if kind in (types.MethodDescriptorType, types.WrapperDescriptorType):
        return _unbound(function, number)
    if kind is functools.partial:
        read_all(function.keywords, number)
        inner = call(function.func, number)
        return (
            function if inner is function.func else functools.partial(inner, *function.args, **function.keywords)
        )
    if isinstance(function, functools._lru_cache_wrapper):
        log((function.__wrapped__, number, WRITE, (".<cache>",)))
        call(function.__wrapped__, number)
        return function
    if kind in _GETTERS:
        return _GETTERS[kind](function, number)
    if kind is types.GenericAlias:
        call(function.__origin__, number)
        return function
    if isinstance(function, weakref.ref):
        unknown("a weak reference", number)  # it may be dead, and nobody said who let go of it
        return function
    if kind.__module__ == "typing":
        return _reading(function, number)
    if rules.has_unknown(kind, "__call__"):
        unknown(_name(function), number)
    return function


def _attribute_getter(function: Any, number: int) -> Any:
    """`attrgetter(...)(obj)`: as the attribute accesses that it is."""
    paths = function.__reduce__()[1]

    def got(obj: Any) -> Any:
        __tracebackhide__ = True
        for path in paths:
            value = obj
            for attr in path.split("."):
                _dynamic(value, attr, number, READ)
                if attr is not path:
                    value = getattr(value, attr)
        return function(obj)

    return got


def _item_getter(function: Any, number: int) -> Any:
    keys = function.__reduce__()[1]

    def got(obj: Any) -> Any:
        __tracebackhide__ = True
        for key in keys:
            items.item(obj, key, number)
        return function(obj)

    return got


def _method_caller(function: Any, number: int) -> Any:
    def got(obj: Any) -> Any:
        __tracebackhide__ = True
        made, given = function.__reduce__()
        name, args, kwargs = (
            (given[0], given[1:], {}) if made is operator.methodcaller else (made.args[0], given, made.keywords)
        )
        _dynamic(obj, name, number, READ)
        return call(getattr(obj, name), number)(*args, **kwargs)

    return got


_GETTERS: dict[type, Callable[[Any, int], Any]] = {
    operator.attrgetter: _attribute_getter,
    operator.itemgetter: _item_getter,
    operator.methodcaller: _method_caller,
}


def _name(function: Any) -> str:
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", function)).__module__
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


# Wrappers -----------------------------------------------------------------------------------------------------


def _reading(function: Any, number: int) -> Any:
    """A function that only reads its arguments, all that is in them."""

    def reads(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        for value in (*args, *kwargs.values()):
            _argument(value, function, number)
        return function(*args, **kwargs)

    return reads


def _argument(value: Any, function: Any, number: int) -> None:
    """What a known function may do with an argument: read all of it, call it. To iterate over it is opaque."""
    kind = type(value)
    if kind in known.CALLABLE:
        _called_back(value, number)
    elif kind not in rules.PLAIN:
        own = rules.container_base(kind) is None and kind not in VIEWS
        if own and hasattr(kind, "__iter__") and function not in known.NOT_ITERATING:
            unknown(f"{_name(function)} of {kind.__qualname__}", number)
        operand(value, number)


def _iterating(function: Any, number: int) -> Any:
    """A function that goes over one of its arguments, and may call another."""
    position, called = known.ITERATING[function]

    def reads(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        alone = len(args) == 1 or (function is not max and function is not min)
        given = list(args)
        for index, value in enumerate(args):
            if index == position and alone:
                given[index] = iterating.source(value, number, deep=True)
            elif index == called:
                given[index] = callback(value, number)
            else:
                _argument(value, function, number)
        for name, value in kwargs.items():
            if name == "key" and value is not None:
                kwargs[name] = callback(value, number)
            else:
                _argument(value, function, number)
        result = function(*given, **kwargs)
        return new(result) if function is sorted else result

    return reads


def callback(function: Any, number: int) -> Any:
    """A function that known C code will call, and nobody else sees: what takes its place records each call."""
    plain = function is None or (type(function) is type and function in known.SCALARS)
    return function if plain else later(function, number)


def _called_back(function: Any, number: int) -> None:
    """A function that known code may call, with arguments that cannot be seen."""
    kind = type(function)
    receiver = getattr(function, "__self__", None)
    in_c = kind is types.BuiltinFunctionType or kind is types.MethodWrapperType
    if in_c and rules.container_base(type(receiver)) is not None:
        operand(receiver, number)
        if function.__name__ not in containers.LOOKING:
            write_all(receiver, number)
    elif kind is types.FunctionType or kind is types.MethodType:
        call(function, number)
    elif function not in known.NOT_ITERATING:
        unknown(_name(function), number)


def _modelling(model: Model, function: Any, number: int, *bound: Any) -> Any:
    """Calls the function, with other arguments if the model says so."""

    def modelled(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        for name, value in kwargs.items():
            if name == "key" and value is not None:
                kwargs[name] = callback(value, number)
        seen = model(*bound, number, *args, **kwargs)
        return function(*(args if seen is None else seen), **kwargs)

    return modelled


# Functions ----------------------------------------------------------------------------------------------------


def _builtin(function: Any, number: int) -> Any:
    name = function.__name__
    if function.__module__ == "builtins" and name in known.FRAME_BUILTINS:
        return function
    making = _MAKERS.get(function)
    if making is not None:
        return making(function, number)
    model = _BUILTINS.get(function)
    if model is not None:
        return _modelling(model, function, number)
    if function in known.SILENT_FUNCTIONS:
        return function
    if function in known.ITERATING:
        return _iterating(function, number)
    if function.__module__ in known.READING_MODULES or function in known.READING_FUNCTIONS:
        return _reading(function, number)
    unknown(_name(function), number)
    return function


_TEXT = frozenset({str, bytes, re.Pattern})


def _listing(function: Any, number: int) -> Any:
    """A method of a string or a pattern: a list that it gives is new."""
    reads = _reading(function, number)

    def listed(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = reads(*args, **kwargs)
        if is_c_iterator(type(result)) and all(type(value) in known.SCALARS for value in args):
            return derive(result, ())
        return new(result) if type(result) is list else result

    return listed


def _text(function: Any, receiver: Any, name: str, number: int) -> Any:
    """A method of a string. `format` may look up attributes and items, by names in the string."""
    if name == "join":

        def joined(values: Any) -> Any:
            __tracebackhide__ = True
            return function(iterating.source(values, number, deep=True))

        return joined
    if name in ("format", "format_map", "translate"):

        def formatted(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if name != "format" and not all(type(value) in (dict, str) for value in args):
                unknown(f"str.{name}", number)
            if name != "translate" and _looks_up(receiver):
                unknown(f"str.{name} of attributes", number)
            return _reading(function, number)(*args, **kwargs)

        return formatted
    return _listing(function, number)


def _looks_up(template: str) -> bool:
    """Does a format look into what it is given?"""
    try:
        return any(
            "." in (field or "") or "[" in (field or "") or (spec and _looks_up(spec))
            for _, field, spec, _ in string.Formatter().parse(template)
        )
    except ValueError:
        return False


def _parsing(function: Any, number: int) -> Any:
    """`json.loads`, without a hook that might give something else: all that comes out of it is new."""
    reads = _reading(function, number)

    def parsed(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = reads(*args, **kwargs)
        todo = [result] if not kwargs else []
        while todo:
            value = todo.pop()
            if type(value) is dict or type(value) is list:
                CREATED.append(value)
                todo.extend(value.values() if isinstance(value, dict) else value)
        return result

    return parsed


def _function(function: types.FunctionType, number: int) -> Any:
    """A Python function that is not instrumented."""
    code, module = function.__code__, function.__globals__.get("__name__", "")
    model = _PYTHON.get(function)
    if model is not None:
        return _modelling(model, function, number)
    if function in known.SILENT_FUNCTIONS:
        return function
    if function in known.ITERATING:
        return _iterating(function, number)
    if function in known.READING_FUNCTIONS:
        return _reading(function, number)
    if function is json.loads:
        return _parsing(function, number)
    if function is copy.copy or function is copy.deepcopy:
        return _copying(function, number)
    if module == "contextlib" and code.co_name == "helper":
        call(function.__wrapped__, number)  # type: ignore[attr-defined]
        return function
    if rules.is_generated(function) or module.startswith("namedtuple_"):
        return _reading(function, number)
    if module == "logging":
        return _logging(function, logging.root, code.co_name, number)
    if code.co_qualname == "singledispatch.<locals>.wrapper":
        if not all(map(rules.is_known_function, function.registry.values())):  # type: ignore[attr-defined]
            unknown(_name(function), number)
        return function
    # A function inside one of these modules may call anything: it is what a decorator made.
    if module in known.READING_MODULES and vars(sys.modules[module]).get(code.co_name) is function:
        return function if code.co_flags & 0x2A0 else _reading(function, number)
    unknown(_name(function), number)
    return function


def _copying(function: Any, number: int) -> Any:
    """`copy` and `deepcopy` read all fields; the copy is new."""

    def copied(obj: Any, *memo: Any) -> Any:
        __tracebackhide__ = True
        objects.copied(obj, number, set())
        if memo:
            unknown("deepcopy with a memo", number)
        result = function(obj, *memo)
        own = hasattr(type(obj), "__copy__") or hasattr(type(obj), "__deepcopy__")
        if result is not obj and (type(obj) in known.CONTAINERS or not own):
            CREATED.append(result)
        return result

    return copied


def _get(number: int, obj: Any, attr: str, *default: Any) -> None:
    _dynamic(obj, attr, number, READ)


def _set(number: int, obj: Any, attr: str, *value: Any) -> None:
    _dynamic(obj, attr, number, WRITE)


def _dynamic(obj: Any, attr: Any, number: int, kind: int) -> None:
    """`getattr` and its kin: as the attribute access that it is."""
    if attr in known.NAMESPACES:
        objects.dict_set(obj, number) if kind == WRITE else objects.dict_held(obj, number, attr)
    elif isinstance(attr, str):
        log((obj, _dynamic_site(number, attr, kind)))


@functools.cache
def _dynamic_site(number: int, attr: str, kind: int) -> int:
    return site(Kind(kind), attr, *PLACES[number])


def imported(module: str, level: int, here: str, names: tuple[str, ...], number: int) -> None:
    """`from module import names`, in a function."""
    if level:
        package = getattr(sys.modules.get(here), "__package__", None)
        module = importlib.util.resolve_name("." * level + module, package) if package else ""
    found = sys.modules.get(module)
    if found is None:
        unknown(f"import from {module}", number)
    for name in names:
        _dynamic(found, name, number, READ)


def checked(cls: Any, number: int) -> Any:
    """The second argument of `isinstance` and `issubclass`: a class may have its own idea of that."""
    if type(cls) is not type:
        _check(cls, number)
    return cls


def _check(cls: Any, number: int) -> None:
    if isinstance(cls, tuple | types.UnionType):
        for each in cls if isinstance(cls, tuple) else cls.__args__:
            checked(each, number)
        return
    if getattr(cls, "_is_protocol", False) and isinstance(cls, type):
        unknown(f"isinstance of {cls.__qualname__}", number)
    for name in ("__instancecheck__", "__subclasscheck__"):
        owner = next((base for base in type(cls).__mro__ if name in vars(base)), type)
        usual = owner in (type, abc.ABCMeta) or owner.__module__ in ("typing", "enum")
        if not usual and not rules.is_known_function(vars(owner)[name]):
            unknown(f"{owner.__qualname__}.{name}", number)


def _instance(number: int, obj: Any, cls: Any) -> None:
    checked(cls, number)


def _print(number: int, *values: Any, file: Any = None, **how: Any) -> None:
    """Text that goes where it always goes is seen by nobody."""
    for value in values:
        operand(value, number)
    out = sys.stdout if file is None else file
    if out is not None and not rules.is_outside(out) and rules.has_unknown(type(out), "write"):
        unknown("print", number)


def _warn(number: int, *args: Any, **kwargs: Any) -> None:
    for value in args:
        operand(value, number)
    log((warnings, number, WRITE, (".shown",)))


def _format_exc(number: int, *args: Any, **kwargs: Any) -> None:
    operand(sys.exc_info()[1], number)


def _item_of(number: int, obj: Any, key: Any) -> None:
    items.item(obj, key, number)


def _of_frame(function: Any, number: int) -> Any:
    """`globals`, `locals`: of the frame that calls, so it has to call itself."""
    unknown(f"{function.__name__}()", number)
    if function is globals:
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") == __name__ and frame.f_back is not None:
            frame = frame.f_back
        objects.hold(frame.f_globals)
    return function


def _vars(function: Any, number: int) -> Any:
    """A dict that is more than that."""

    def held(*args: Any) -> Any:
        __tracebackhide__ = True
        unknown("vars()", number)
        if not args:
            return dict(sys._getframe(1).f_locals)
        found = function(*args)
        objects.hold(found)
        return found

    return held


# Logging ------------------------------------------------------------------------------------------------------

_LOGS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"})
_LOG_LOOKS = frozenset({"isEnabledFor", "getEffectiveLevel", "hasHandlers", "getLevelName", "getLoggerClass"})


def _logging(function: Any, receiver: Any, name: str, number: int) -> Any:
    """What goes to the terminal is seen by nobody; a handler of the program records itself; the rest is opaque."""
    if isinstance(receiver, logging.LogRecord | logging.Handler | logging.Formatter) and name in (
        "getMessage",
        "format",
    ):

        def formatted(*record: Any) -> Any:
            __tracebackhide__ = True
            each = record[0] if record else receiver
            operand(each.msg, number)
            operand(each.args, number)
            own = getattr(receiver, "formatter", None)
            if type(own) not in (type(None), logging.Formatter) or type(receiver).__module__ != "logging":
                unknown("logging.Formatter", number)
            return function(*record)

        return formatted
    if name == "getLogger":

        def got(*which: Any) -> Any:
            __tracebackhide__ = True
            if which and which[0] is not None and which[0] not in logging.root.manager.loggerDict:
                unknown("logging.getLogger", number)
            return function(*which)

        return got
    while isinstance(receiver, logging.LoggerAdapter):
        receiver = receiver.logger
    if not isinstance(receiver, logging.Logger) or name not in _LOGS | _LOG_LOOKS:
        unknown(f"logging.{name}", number)
        return function
    level = getattr(logging, name.upper(), None)
    if isinstance(level, int) and not receiver.isEnabledFor(level):
        return function  # who changes that is opaque
    silent = _silent_logger(receiver, number)
    return function if silent or name in _LOG_LOOKS else _reading(function, number)


def _silent_logger(logger: Any, number: int) -> bool:
    """Does what is logged here go to the terminal only?"""
    silent, each = True, logger
    while each is not None:
        read_all(each.handlers, number)
        read_all(each.filters, number)
        for handler in each.handlers:
            if isinstance(handler, logging.NullHandler):
                continue
            if type(handler) is logging.StreamHandler and rules.is_outside(handler.stream):
                continue
            silent = False
            if not rules.is_known_function(type(handler).emit):
                unknown(f"logging to {type(handler).__qualname__}", number)
        each = each.parent if each.propagate else None
    return silent and not logger.filters


def _next(number: int, iterator: Any, *default: Any) -> None:
    iterate(iterator, number)


def _iter(function: Any, number: int) -> Any:
    """`iter`: a new iterator that reads its container, or the iterator that it was given."""

    def made(obj: Any, *sentinel: Any) -> Any:
        __tracebackhide__ = True
        if sentinel:
            unknown("iter(function, sentinel)", number)
            return function(obj, *sentinel)
        iterate(obj, number)
        iterator = function(obj)
        return iterator if iterator is obj or not is_c_iterator(type(iterator)) else derive(iterator, (obj,))

    return made


def _async_next(function: Any, number: int) -> Any:
    def made(obj: Any, *default: Any) -> Any:
        __tracebackhide__ = True
        result = function(obj, *default)
        if isinstance(obj, types.AsyncGeneratorType):
            return awaiting.framed(result, obj, number)
        if rules.has_unknown(type(obj), "__anext__"):
            unknown(f"{type(obj).__qualname__}.__anext__", number)
        return result

    return made


def _identity(function: Any, number: int) -> Any:
    """`id` gives another number in each run; what is found by it cannot be named."""

    def identity(obj: Any) -> int:
        found = id(obj)
        rules.IDENTITIES.add(found)
        return found

    return identity


def _shape(number: int, obj: Any) -> None:
    kind = type(obj)
    if rules.has_c_method(kind, "__len__"):
        read_shape(obj, number)
    elif kind in VIEWS:
        read_sources(obj, number)
    elif kind not in rules.PLAIN and rules.has_unknown(kind, "__len__"):
        unknown(f"{kind.__qualname__}.__len__", number)


def _heap(number: int, heap: Any, *values: Any, **options: Any) -> None:
    operand(heap, number)
    write_all(heap, number)
    for value in values:
        operand(value, number)


def _opaque(name: str) -> Model:
    def model(number: int, *args: Any, **kwargs: Any) -> None:
        unknown(name, number)

    return model


_MUTATING_OPERATORS = (
    *("setitem", "delitem", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior"),
    *("ipow", "irshift", "isub", "itruediv", "ixor"),
)
_BUILTINS: dict[Any, Model] = {
    len: _shape,
    next: _next,
    getattr: _get,
    hasattr: _get,
    setattr: _set,
    delattr: _set,
    print: _print,
    isinstance: _instance,
    issubclass: _instance,
    warnings.warn: _warn,
    operator.getitem: _item_of,
    operator.contains: _opaque("operator.contains"),
    operator.length_hint: _opaque("operator.length_hint"),
    operator.call: _opaque("operator.call"),
    **{getattr(heapq, n): _heap for n in ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")},
    **{getattr(bisect, n): _heap for n in ("insort", "insort_left", "insort_right")},
    **{getattr(operator, n): _opaque(f"operator.{n}") for n in _MUTATING_OPERATORS},
    struct.pack_into: _opaque("struct.pack_into"),
    contextvars.copy_context: lambda number: _context(number),
}
_MAKERS: dict[Any, Callable[[Any, int], Any]] = {
    iter: _iter,
    anext: _async_next,
    id: _identity,
    vars: _vars,
    globals: _of_frame,
    locals: _of_frame,
}
_PYTHON: dict[Any, Model] = {
    functools.update_wrapper: _opaque("functools.update_wrapper"),
    traceback.format_exc: _format_exc,
    json.dump: _opaque("json.dump"),
    **{function: _opaque(function.__name__) for function in (dataclasses.asdict, dataclasses.astuple)},
}


# Classes ------------------------------------------------------------------------------------------------------


def _class(cls: type, number: int) -> Any:
    """A call of a class. If it is certain that this makes a new object, that is named by its creation."""
    if cls in _LAZY:
        return _lazy_class(cls, number)
    if cls in known.CONTAINERS:
        return _container_class(cls, number)
    if cls in known.ALWAYS_PLAIN:
        return _plain_class(cls, number)
    if cls is weakref.finalize:
        return _finalising_class(cls, number)
    if issubclass(cls, BaseException | type) or cls.__module__ in known.KEEPING_MODULES or cls is slice:
        _initialised(cls, number)
        return cls
    if cls.__module__ in known.READING_MODULES:
        return _reading(cls, number)
    if type(cls).__call__ is not type.__call__ and not rules.is_known_function(type(cls).__call__):
        if not issubclass(cls, enum.Enum):
            unknown(_name(cls), number)
        return cls
    if not _initialised(cls, number):
        return cls
    return _object_class(cls, number) if _default_new(cls) else cls


def _finalising(function: Any, number: int) -> Any:
    def finalised(*args: Any, **kwargs: Any) -> Any:
        entries.finalised(number)
        return later(function, number)(*args, **kwargs)

    return finalised


def _finalising_class(cls: Any, number: int) -> Any:
    """`weakref.ref(obj, callback)` and `weakref.finalize(obj, callback, ...)`."""

    def made(obj: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if args and args[0] is not None:
            mortal(obj)
            args = (_finalising(args[0], number), *args[1:])
        return cls(obj, *args, **kwargs)

    return made


def _plain_class(cls: Any, number: int) -> Any:
    if cls is type or cls is object:
        return _object_class(cls, number)
    if cls is weakref.ref:
        return _finalising_class(cls, number)
    if cls in known.CODE:
        return cls
    if cls is bytes:

        def made(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if args and not hasattr(type(args[0]), "__bytes__") and hasattr(type(args[0]), "__iter__"):
                args = (iterating.source(args[0], number), *args[1:])
            return cls(*args, **kwargs)

        return made
    return _reading(cls, number)


_LAZY = frozenset(
    {enumerate, zip, map, filter, reversed} | {v for v in vars(itertools).values() if isinstance(v, type)}
)


_PASSING = frozenset(
    {enumerate, zip, reversed, itertools.chain, itertools.islice, itertools.cycle, itertools.repeat}
)
"""These hand items on without looking into them."""


def _default_new(cls: Any) -> bool:
    """Is what `cls()` gives certainly new?"""
    made: Any = cls.__new__
    return any(made is getattr(base, "__new__", None) for base in _MAKING_NEW)


_MAKING_NEW = (object, *known.CONTAINERS, asyncio.Future, asyncio.Task)


def _initialised(cls: type, number: int) -> bool:
    """Is all that creating an instance runs known? If not, say so."""
    for name in ("__new__", "__init__"):
        owner = next(base for base in cls.__mro__ if name in vars(base))
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
            unknown(_name(cls), number)
            return False
        if rules.is_generated(function) and not rules.known_fields(cls):
            unknown(f"fields of {_name(cls)}", number)
    return True


def _object_class(cls: type, number: int) -> Any:
    """Its result is new. A generated `__init__` makes new containers for fields that were not given."""
    initialise: Any = getattr(cls, "__init__", None)
    if rules.is_known_function(initialise):
        return _Made(cls, number)
    generated = rules.is_generated(initialise)
    base = rules.container_base(cls)

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if base is not None and not generated:
            args = _contents(base, args, number)
        obj = cls(*args, **kwargs)
        if hasattr(cls, "__del__"):
            mortal(obj)
        elif type(obj) is cls:
            CREATED.append(obj)
            if generated:
                _made_fields(obj, len(args), kwargs)
        return obj

    return made


class _Made:
    """Calls a class and names the result."""

    __slots__ = ("cls", "number")

    def __init__(self, cls: type, number: int) -> None:
        self.cls, self.number = cls, number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if issubclass(self.cls, tuple | frozenset) and not rules.is_known_function(self.cls.__new__):
            for value in args:
                operand(value, self.number)
                if type(value) not in rules.PLAIN and rules.container_base(type(value)) is None:
                    unknown(_name(self.cls), self.number)
        obj = self.cls(*args, **kwargs)
        if hasattr(self.cls, "__del__"):
            mortal(obj)
        elif type(obj) is self.cls:
            CREATED.append(obj)
        return obj


def _made_fields(obj: Any, given: int, kwargs: dict[str, Any]) -> None:
    position = 0
    for field in dataclasses.fields(obj) if dataclasses.is_dataclass(obj) else ():
        passed = field.name in kwargs or (field.init and not field.kw_only and position < given)
        position += field.init and not field.kw_only
        if not passed and field.default_factory in known.CONTAINERS:
            CREATED.append(rules.peek(obj, field.name))


_KEEPING = frozenset({list, tuple, deque})
"""These take items as they are."""


def _contents(base: type, args: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    """The arguments of a container's class: what is in them is read."""
    at = 1 if base is defaultdict else 0
    if len(args) <= at:
        return args
    value = args[at]
    if issubclass(base, dict):
        seen = containers.pairs(value, number, counts=base is Counter)
    elif base is bytearray and (not hasattr(type(value), "__iter__") or hasattr(type(value), "__index__")):
        seen = operand(value, number)
    else:
        seen = iterating.source(value, number, deep=base not in _KEEPING)
    return (*args[:at], seen, *args[at + 1 :])


def _container_class(cls: type, number: int) -> Any:
    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        obj = cls(*_contents(cls, args, number), **kwargs)
        if cls is not tuple and cls is not frozenset:
            CREATED.append(obj)
        return obj

    return made


_CALLING: dict[Any, tuple[int, str]] = {
    **dict.fromkeys((map, filter, itertools.starmap, itertools.takewhile, itertools.dropwhile), (0, "")),
    itertools.filterfalse: (0, ""),
    itertools.accumulate: (1, "func"),
    itertools.groupby: (1, "key"),
}
"""Which argument of these is a function."""


_ALL_ITERATED = frozenset(
    {map, zip, itertools.chain, itertools.zip_longest, itertools.product, itertools.compress}
)


def _lazy_class(cls: type, number: int) -> Any:
    """`enumerate`, `zip`, `map`, `itertools`: the result reads the arguments whenever it is used."""
    position, keyword = _CALLING.get(cls, (-1, "-"))
    first = 1 if position == 0 else 0
    count = 0 if cls in (itertools.repeat, itertools.count) else 1 if cls not in _ALL_ITERATED else 1 << 30

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        given, seen, sources, plain = list(args), dict(kwargs), [], cls in _PASSING
        for index, value in [*enumerate(args), *kwargs.items()]:
            into: Any = given if isinstance(index, int) else seen
            if index in (position, keyword):
                into[index] = callback(value, number)
                plain = value is not None and (into[index] is not value or rules.is_known_function(value))
            elif index == "iterable" or (isinstance(index, int) and first <= index < first + count):
                into[index] = value if cls is reversed else iterating.source(value, number)
                sources.append(into[index])
        if not plain:
            given = [iterating.watched(v, number) if type(v) is types.GeneratorType else v for v in given]
        if cls is reversed and args and rules.container_base(type(args[0])) is None:
            kind = type(args[0])
            if kind not in rules.PLAIN and kind not in VIEWS and rules.has_unknown(kind, "__reversed__"):
                unknown(f"{kind.__qualname__}.__reversed__", number)
        return derive(cls(*given, **seen), tuple(sources), deep=not plain)

    return made


# Methods ------------------------------------------------------------------------------------------------------


def _method(function: Any, receiver: Any, name: str, number: int) -> Any:
    """A C method, bound to its receiver."""
    kind = type(receiver)
    if kind is types.GeneratorType:
        frame(receiver, number)
        return function
    if kind is types.AsyncGeneratorType:
        return lambda *args: awaiting.framed(function(*args), receiver, number)
    if kind is types.CoroutineType:
        if name in ("send", "throw"):
            awaiting.awaited(receiver, number)
        return function
    if kind in known.CODE and kind is not type and kind is not object:
        if name == "__call__" and kind is not types.GenericAlias:
            return call(receiver, number)
        if name not in _OF_CODE and not (kind is types.FunctionType and name == "__get__"):
            unknown(f"{kind.__qualname__}.{name}", number)
        return function
    if kind is Context or kind is ContextVar:
        if name == "run":
            rules.SHARED_CONTEXTS.add(id(receiver))
        _context(number)
        return function
    if kind is re.Match:
        operand(receiver.string, number)
        return _reading(function, number)
    if kind in rules.PLAIN and kind in known.ALWAYS_PLAIN and kind is not type:
        return _text(function, receiver, name, number) if kind in _TEXT else _reading(function, number)
    if isinstance(receiver, random.Random):
        log((receiver, number, WRITE, STATE))
        return _reading(function, number)
    if isinstance(receiver, asyncio.Future):
        return _future(function, receiver, name, number)
    if isinstance(receiver, asyncio.AbstractEventLoop | asyncio.Handle):
        if name.startswith("set_"):
            unknown(f"loop.{name}", number)
        return function
    if isinstance(receiver, type) and name == "fromkeys" and receiver in known.CONTAINERS:
        return lambda keys, *value: new(function(iterating.source(keys, number, deep=True), *value))
    if isinstance(receiver, type) and name in ("__new__", "mro"):
        return _reading(function, number)
    base = rules.container_base(kind)
    model = containers.model_of(base, name)
    if model is not None:
        return _bound(model, function, receiver, number)
    if name in ("__init__", "__init_subclass__", "__exit__", "__enter__") and isinstance(receiver, BaseException):
        return function
    if name in ("__setattr__", "__delattr__", "__getattribute__"):
        access = READ if name == "__getattribute__" else WRITE
        return _modelling(lambda n, attr, *v: _dynamic(receiver, attr, n, access), function, number)
    if name in containers.OBJECT:
        return _bound(containers.OBJECT[name], function, receiver, number)
    if kind in VIEWS or is_c_iterator(kind):
        iterate(receiver, number)
        return function
    if kind.__module__ in known.HASH_MODULES:
        log((receiver, number, WRITE if name == "update" else READ, STATE))
        return _reading(function, number)
    if kind.__module__ in known.CONSTANT_MODULES:
        return _reading(function, number)
    unknown(f"{kind.__module__}.{kind.__qualname__}.{name}", number)
    return function


_OF_CODE = frozenset({"__eq__", "__ne__", "__hash__", "__repr__", "__str__"})


def _context(number: int) -> None:
    """Each task has a context of its own, unless the program gives one to several."""
    if rules.SHARED_CONTEXTS:
        unknown("a shared context", number)


def shared_context(context: Any, number: int) -> Any:
    """`context=...` in a call."""
    if isinstance(context, Context):
        rules.SHARED_CONTEXTS.add(id(context))
    return context


def _bound(model: Model, function: Any, receiver: Any, number: int) -> Any:
    if model in containers.WITHOUT_ARGUMENTS:
        model(receiver, number)
        return function
    if model is containers.copying:
        read_all(receiver, number)
        return lambda *args: new(function(*args)) if type(receiver) in known.CONTAINERS else function(*args)
    if model is containers.viewing:
        iterate(receiver, number)
        return lambda *args: derive(function(*args), (receiver,))
    return _modelling(model, function, number, receiver)


def _python_method(function: Any, number: int) -> Any:
    """A bound Python method that is not instrumented."""
    receiver: Any = function.__self__
    inner: Any = function.__func__
    if isinstance(receiver, asyncio.Future):
        return _future(function, receiver, inner.__name__, number)
    if isinstance(receiver, known.LOOP_CLASSES):
        if inner.__name__.startswith("set_"):
            unknown(f"loop.{inner.__name__}", number)
        return function
    base = rules.container_base(type(receiver))
    name: str = getattr(inner, "__name__", "")
    if base is not None and vars(base).get(name) is inner:
        model = containers.model_of(base, name)
        if model is not None:
            return _bound(model, function, receiver, number)
    if isinstance(receiver, random.Random):
        log((receiver, number, WRITE, STATE))
        return _modelling(_heap, function, number) if name == "shuffle" else _reading(function, number)
    if isinstance(receiver, _LOGGING):
        return _logging(function, receiver, name, number)
    if isinstance(inner, types.FunctionType):
        module = inner.__globals__.get("__name__", "")
        if rules.is_generated(inner):
            operand(receiver, number)
            return _reading(function, number)
        pure = module in known.CONSTANT_MODULES or inner.__qualname__.startswith("PurePath.")
        pure = pure or (isinstance(receiver, type) and module in known.READING_MODULES)
        if pure or module.startswith("namedtuple_") or isinstance(receiver, enum.Enum):
            return _reading(function, number)
        unknown(_name(inner), number)
        return function
    call(inner, number)
    return function


_LOGGING = (logging.Filterer, logging.LoggerAdapter, logging.LogRecord, logging.Formatter)


def _unbound(function: Any, number: int) -> Any:
    """`dict.get(d, k)`, `object.__setattr__(o, name, value)`."""

    def called(receiver: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if isinstance(receiver, asyncio.Future):
            unknown(_name(function), number)
        return _method(functools.partial(function, receiver), receiver, function.__name__, number)(*args, **kwargs)

    return called


_READS_STATE = frozenset({"result", "exception", "done", "cancelled", "cancelling", "print_stack", "get_stack"})
_WRITES_STATE = frozenset(
    {"set_result", "set_exception", "cancel", "uncancel", "add_done_callback", "remove_done_callback"}
)


def _future(function: Any, future: Any, name: str, number: int) -> Any:
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
