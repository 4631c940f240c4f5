"""Calls: what is known about the callee. `call(f, site)` gives back what the program then calls.

Instrumented functions record themselves, and are given back as they are. C methods of containers (`containers`)
and of futures, builtins and the modules in `_SILENT` are modelled; if the model needs the arguments, a small
wrapper is given back. Everything else makes the step opaque.
"""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import copy
import dataclasses
import enum
import functools
import heapq
import inspect
import itertools
import json
import operator
import random
import re
import struct
import types
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any

from porcini.langs.aio import awaiting, containers, rules
from porcini.langs.aio import operations as op
from porcini.langs.aio.containers import Model
from porcini.langs.aio.recorder import CREATED, LOG, READ, STATE, WRITE

_CALLABLE = frozenset(
    {types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType, functools.partial}
    | {types.MethodDescriptorType, types.WrapperDescriptorType}
)
_SILENT = frozenset(
    """math cmath operator _operator itertools json json.encoder json.decoder _json re _sre time random _random
    datetime _datetime _pydatetime decimal _decimal _pydecimal fractions enum typing types inspect abc _abc string
    textwrap statistics uuid hashlib _hashlib _blake2 _sha1 _sha2 _sha3 _md5 base64 binascii struct _struct zlib
    bisect _bisect copy dataclasses functools _functools warnings _warnings logging traceback linecache numbers
    keyword contextvars _contextvars contextlib weakref _weakref secrets html urllib.parse ipaddress unicodedata
    locale calendar pprint reprlib difflib colorsys sys gc posixpath genericpath""".split()  # noqa: SIM905
)
"""Modules whose functions only read their arguments, or whose effects do not count: logging, time, random."""
_PURE = frozenset(
    """datetime _pydatetime decimal _pydecimal fractions enum typing uuid ipaddress json.encoder json.decoder
    string textwrap logging warnings numbers dataclasses statistics calendar operator re""".split()  # noqa: SIM905
)
"""Modules whose objects do not change."""
_HASHES = frozenset({"_hashlib", "_blake2", "_sha1", "_sha2", "_sha3", "_md5", "_sha256", "_sha512"})
_FRAMES = frozenset(
    {"locals", "super", "breakpoint", "__import__", "dir", "print", "isinstance", "issubclass", "callable"}
)
"""Builtins that look at the frame that calls them, or at nothing that changes."""
_SILENT_CLASSES = (ContextVar, Context, asyncio.AbstractEventLoop, asyncio.Handle)


def call(function: Any, number: int) -> Any:
    """The callee of a call whose arguments are evaluated without being suspended."""
    if len(LOG) > 4096:
        op.relieve()
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
    return lambda *args, **kwargs: op.generator(function(*args, **kwargs))


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
        inner = call(function.func, number)
        return (
            function if inner is function.func else functools.partial(inner, *function.args, **function.keywords)
        )
    if isinstance(function, functools._lru_cache_wrapper):
        op.log((function.__wrapped__, number, WRITE, (".<cache>",)))
        call(function.__wrapped__, number)
        return function
    if kind.__module__ in ("operator", "_operator", "types", "typing", "weakref", "_weakref"):
        return _reading(function, number)
    if rules.has_unknown(kind, "__call__"):
        op.unknown(_name(function), number)
    return function


def _name(function: Any) -> str:
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", function)).__module__
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


# Wrappers -----------------------------------------------------------------------------------------------------


def _reading(function: Any, number: int) -> Any:
    """A function that only reads its arguments, all that is in them."""

    def reads(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        seen = [_argument(value, number) for value in args]
        return function(*seen, **{name: _argument(value, number) for name, value in kwargs.items()})

    return reads


def _argument(value: Any, number: int) -> Any:
    """What a known function may do with an argument: read all of it, iterate over it, call it."""
    kind = type(value)
    if kind in _CALLABLE:
        _called_back(value, number)
    elif kind is types.GeneratorType or op.is_c_iterator(kind):
        op.iterate(value, number)
        return op.watched(value, number)
    elif kind not in rules.PLAIN:
        if hasattr(kind, "__iter__") and rules.container_base(kind) is None:
            op.iterate(value, number)
        op.operand(value, number)
    return value


def _called_back(function: Any, number: int) -> None:
    """A function that known C code will call, with arguments that cannot be seen."""
    kind = type(function)
    if kind in (types.MethodDescriptorType, types.WrapperDescriptorType):
        if function.__objclass__ in _CHANGEABLE and function.__name__ not in containers.LOOKING:
            op.unknown(_name(function), number)
        return
    receiver = getattr(function, "__self__", None)
    in_c = kind is types.BuiltinFunctionType or kind is types.MethodWrapperType
    if in_c and rules.container_base(type(receiver)) is not None:
        op.operand(receiver, number)
        if function.__name__ not in containers.LOOKING:
            op.write_all(receiver, number)
    else:
        call(function, number)


_CHANGEABLE = frozenset((list, dict, set, deque, bytearray))


def _modelling(model: Model, function: Any, number: int, *bound: Any) -> Any:
    def modelled(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        for value in (*args, *kwargs.values()):
            if type(value) in _CALLABLE:
                _called_back(value, number)
        model(*bound, number, *args, **kwargs)
        return function(*args, **kwargs)

    return modelled


# Functions ----------------------------------------------------------------------------------------------------


def _builtin(function: Any, number: int) -> Any:
    name = function.__name__
    if function.__module__ == "builtins" and name in _FRAMES:
        return function
    making = _MAKERS.get(function)
    if making is not None:
        return making(function, number)
    model = _BUILTINS.get(function)
    if model is not None:
        return _modelling(model, function, number)
    if function in _SILENT_FUNCTIONS:
        return function
    if function in _NEWLY:
        return _newly(function, number)
    if function.__module__ in _SILENT or function in _READING:
        return _reading(function, number)
    op.unknown(_name(function), number)
    return function


_TEXT = frozenset({str, bytes, re.Pattern})


def _listing(function: Any, number: int) -> Any:
    """A method of a string or a pattern: a list that it gives is new."""
    reads = _reading(function, number)

    def listed(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = reads(*args, **kwargs)
        return op.new(result) if type(result) is list else result

    return listed


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


def _newly(function: Any, number: int) -> Any:
    """A function whose result, a list, is new."""
    reads = _reading(function, number)

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return op.new(reads(*args, **kwargs))

    return made


def _function(function: types.FunctionType, number: int) -> Any:
    """A Python function that is not instrumented."""
    code, module = function.__code__, function.__globals__.get("__name__", "")
    model = _PYTHON.get(function)
    if model is not None:
        return _modelling(model, function, number)
    if function in _SILENT_FUNCTIONS:
        return function
    if function is json.loads:
        return _parsing(function, number)
    if function is copy.copy or function is copy.deepcopy:
        return _copying(function, number)
    if module == "contextlib" and code.co_name == "helper":
        call(function.__wrapped__, number)  # type: ignore[attr-defined]
        return function
    if rules.is_generated(function) or module.startswith("namedtuple_"):
        return _reading(function, number)
    if module in _SILENT:
        if module in ("warnings", "logging") or code.co_flags & 0x2A0:
            return function
        return _reading(function, number)
    op.unknown(_name(function), number)
    return function


def _copying(function: Any, number: int) -> Any:
    """`copy` and `deepcopy` read all fields; the copy is new."""

    def copied(obj: Any, *memo: Any) -> Any:
        __tracebackhide__ = True
        op.copied(obj, number, set())
        result = function(obj, *memo)
        own = hasattr(type(obj), "__copy__") or hasattr(type(obj), "__deepcopy__")
        if result is not obj and (type(obj) in rules.CONTAINERS or not own):
            CREATED.append(result)
        return result

    return copied


def _get(number: int, obj: Any, attr: str, *default: Any) -> None:
    _dynamic(obj, attr, number, READ)


def _set(number: int, obj: Any, attr: str, *value: Any) -> None:
    _dynamic(obj, attr, number, WRITE)


def _dynamic(obj: Any, attr: str, number: int, kind: int) -> None:
    """`getattr` and its kin: as the attribute access that it is."""
    if isinstance(obj, types.ModuleType | type) and kind == WRITE:
        op.unknown(f"setattr of {obj.__name__}.{attr}", number)
    elif isinstance(obj, asyncio.Future):
        if not rules.is_silent_future_attribute(attr):
            op.log((obj, number, kind, STATE))
    else:
        way = rules.attribute(type(obj), attr, kind == WRITE)
        if way in (rules.Way.UNKNOWN, rules.Way.CACHED):
            op.unknown(f"{type(obj).__qualname__}.{attr}", number)
        elif way is rules.Way.PLAIN:
            op.log((obj, number, kind, ("." + attr,)))
            if kind == READ and attr not in (getattr(obj, "__dict__", None) or ()):
                owner = next((c for c in type(obj).__mro__ if attr in vars(c)), None)
                if owner is not None and not rules.is_lookup(vars(owner)[attr]):
                    op.log((owner, number, READ, ("." + attr,)))


def _vars(number: int, *args: Any) -> None:
    if args:
        op.unknown("vars()", number)


def _next(number: int, iterator: Any, *default: Any) -> None:
    op.iterate(iterator, number)


def _iter(function: Any, number: int) -> Any:
    """`iter`: a new iterator that reads its container, or the iterator that it was given."""

    def made(obj: Any, *sentinel: Any) -> Any:
        __tracebackhide__ = True
        if sentinel:
            op.unknown("iter(function, sentinel)", number)
            return function(obj, *sentinel)
        op.iterate(obj, number)
        iterator = function(obj)
        return iterator if iterator is obj or not op.is_c_iterator(type(iterator)) else op.derive(iterator, (obj,))

    return made


def _async_next(function: Any, number: int) -> Any:
    def made(obj: Any, *default: Any) -> Any:
        __tracebackhide__ = True
        result = function(obj, *default)
        if isinstance(obj, types.AsyncGeneratorType):
            return awaiting.framed(result, obj, number)
        if rules.has_unknown(type(obj), "__anext__"):
            op.unknown(f"{type(obj).__qualname__}.__anext__", number)
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
    base = rules.container_base(kind)
    if base is not None and not op._overridden(kind, base, "__len__"):
        op.read_shape(obj, number)
    elif kind in op._VIEWS:
        op.read_sources(obj, number)
    elif kind not in rules.PLAIN and rules.has_unknown(kind, "__len__"):
        op.unknown(f"{kind.__qualname__}.__len__", number)


def _heap(number: int, heap: Any, *values: Any) -> None:
    op.operand(heap, number)
    op.write_all(heap, number)
    for value in values:
        op.operand(value, number)


def _opaque(name: str) -> Model:
    def model(number: int, *args: Any, **kwargs: Any) -> None:
        op.unknown(name, number)

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
    vars: _vars,
    **{getattr(heapq, n): _heap for n in ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")},
    **{getattr(bisect, n): _heap for n in ("insort", "insort_left", "insort_right")},
    **{getattr(operator, n): _opaque(f"operator.{n}") for n in _MUTATING_OPERATORS},
    struct.pack_into: _opaque("struct.pack_into"),
}
_MAKERS: dict[Any, Callable[[Any, int], Any]] = {iter: _iter, anext: _async_next, id: _identity}
_PYTHON: dict[Any, Model] = {functools.update_wrapper: _opaque("functools.update_wrapper")}
_NEWLY = frozenset({sorted, heapq.nlargest, heapq.nsmallest})
_READING = frozenset(
    {abs, all, any, ascii, bin, chr, divmod, format, hash, hex, max, min, oct, ord, pow, repr, round, sum, aiter}
)  # fmt: skip
_SILENT_FUNCTIONS: frozenset[Any] = frozenset(
    {
        asyncio.get_running_loop,
        asyncio.get_event_loop,
        asyncio.current_task,
        asyncio.iscoroutine,
        asyncio.iscoroutinefunction,
        asyncio.isfuture,
        asyncio.tasks._register_task,
        asyncio.tasks._unregister_task,
        asyncio.events._get_running_loop,
        contextlib.contextmanager,
        contextlib.asynccontextmanager,
    }
)


# Classes ------------------------------------------------------------------------------------------------------


def _class(cls: type, number: int) -> Any:
    """A call of a class. If it is certain that this makes a new object, that is named by its creation."""
    if cls in _LAZY:
        return _lazy_class(cls, number)
    if cls in rules.CONTAINERS:
        return _container_class(cls, number)
    if cls in rules.ALWAYS_PLAIN:
        return _reading(cls, number) if cls is not type and cls is not object else _object_class(cls, number)
    if issubclass(cls, BaseException | type) or cls.__module__ in _SILENT:
        _initialised(cls, number)
        return cls
    if type(cls).__call__ is not type.__call__ and not rules.is_known_function(type(cls).__call__):
        if not issubclass(cls, enum.Enum):
            op.unknown(_name(cls), number)
        return cls
    if not _initialised(cls, number):
        return cls
    return _object_class(cls, number) if _default_new(cls) else cls


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


_MAKING_NEW = (object, *rules.CONTAINERS, asyncio.Future, asyncio.Task)


def _initialised(cls: type, number: int) -> bool:
    """Is all that creating an instance runs known? If not, say so."""
    for name in ("__new__", "__init__"):
        owner = next(base for base in cls.__mro__ if name in vars(base))
        function = vars(owner)[name]
        if owner in rules._CONTAINER_CLASSES or issubclass(owner, BaseException | asyncio.Future) or owner is type:
            continue
        if owner.__module__ in _SILENT or owner.__module__ == "typing":
            continue
        if not rules.is_known_function(function) and not rules.is_generated(function):
            if not owner.__flags__ & (1 << 9) and issubclass(cls, tuple | int | str | float | bytes):
                continue
            if issubclass(cls, tuple) or issubclass(cls, enum.Enum):
                continue
            op.unknown(_name(cls), number)
            return False
    return True


def _object_class(cls: type, number: int) -> Any:
    """Its result is new. A generated `__init__` makes new containers for fields that were not given."""
    initialise: Any = getattr(cls, "__init__", None)
    if rules.is_known_function(initialise):
        return _Made(cls, number)
    generated = rules.is_generated(initialise)

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        obj = cls(*args, **kwargs)
        if type(obj) is cls:
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
        obj = self.cls(*args, **kwargs)
        if type(obj) is self.cls:
            CREATED.append(obj)
        return obj


def _made_fields(obj: Any, given: int, kwargs: dict[str, Any]) -> None:
    position = 0
    for field in dataclasses.fields(obj) if dataclasses.is_dataclass(obj) else ():
        passed = field.name in kwargs or (field.init and not field.kw_only and position < given)
        position += field.init and not field.kw_only
        if not passed and field.default_factory in rules.CONTAINERS:
            CREATED.append(rules.peek(obj, field.name))


_KEEPING = frozenset({list, tuple, deque})
"""These take items as they are."""


def _container_class(cls: type, number: int) -> Any:
    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if cls in _KEEPING:
            for value in args:
                op.iterate(value, number)
            obj = cls(*args, **kwargs)
        else:
            obj = cls(*[_argument(value, number) for value in args], **kwargs)
        if cls is not tuple and cls is not frozenset:
            CREATED.append(obj)
        return obj

    return made


def _lazy_class(cls: type, number: int) -> Any:
    """`enumerate`, `zip`, `map`, `itertools`: the result reads the arguments whenever it is used."""

    def made(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        given = [*args, *kwargs.values()]
        functions = [value for value in given if callable(value) and not hasattr(type(value), "__iter__")]
        for value in functions:
            _called_back(value, number) if type(value) in _CALLABLE else call(value, number)
        sources = [value for value in given if hasattr(type(value), "__iter__")]
        for value in sources:
            op.iterate(value, number)
        plain = cls in _PASSING or (functions and all(map(rules.is_known_function, functions)))
        seen = [
            op.watched(value, number) if not plain and type(value) is types.GeneratorType else value
            for value in args
        ]
        return op.derive(cls(*seen, **kwargs), tuple(sources), deep=not plain)

    return made


# Methods ------------------------------------------------------------------------------------------------------


def _method(function: Any, receiver: Any, name: str, number: int) -> Any:
    """A C method, bound to its receiver."""
    kind = type(receiver)
    if kind in rules.PLAIN and kind in rules.ALWAYS_PLAIN and kind not in (types.FunctionType, type):
        if kind is types.GeneratorType:
            op.frame(receiver, number)
            return function
        if kind is types.AsyncGeneratorType:
            return lambda *args: awaiting.framed(function(*args), receiver, number)
        if kind is types.CoroutineType:
            if name in ("send", "throw"):
                awaiting.awaited(receiver, number)
            return function
        if kind is Context and name == "run":
            return _modelling(lambda n, f, *a, **k: (call(f, n), None)[1], function, number)
        return _listing(function, number) if kind in _TEXT else function
    if isinstance(receiver, asyncio.Future):
        return _future(function, receiver, name, number)
    if isinstance(receiver, asyncio.AbstractEventLoop | asyncio.Handle):
        return function
    if isinstance(receiver, type) and name in ("fromkeys", "__new__", "__subclasses__", "mro"):
        return _reading(function, number)
    base = rules.container_base(kind)
    model = containers.model_of(base, name)
    if model is not None:
        return _bound(model, function, receiver, number)
    if name in ("__init__", "__init_subclass__", "__exit__", "__enter__") and isinstance(receiver, BaseException):
        return function
    if name in containers.OBJECT:
        return _bound(containers.OBJECT[name], function, receiver, number)
    if kind in op._VIEWS or op.is_c_iterator(kind):
        op.iterate(receiver, number)
        return function
    if kind.__module__ in _HASHES:
        op.log((receiver, number, WRITE if name == "update" else READ, STATE))
        return _reading(function, number)
    if isinstance(receiver, BaseException | types.AsyncGeneratorType) or kind.__module__ in _PURE:
        return _reading(function, number)
    op.unknown(f"{kind.__module__}.{kind.__qualname__}.{name}", number)
    return function


def _bound(model: Model, function: Any, receiver: Any, number: int) -> Any:
    if model in containers.WITHOUT_ARGUMENTS:
        model(receiver, number)
        return function
    if model is containers.copying:
        op.read_all(receiver, number)
        return lambda *args: op.new(function(*args)) if type(receiver) in rules.CONTAINERS else function(*args)
    if model is containers.viewing:
        op.iterate(receiver, number)
        return lambda *args: op.derive(function(*args), (receiver,))
    return _modelling(model, function, number, receiver)


def _python_method(function: Any, number: int) -> Any:
    """A bound Python method that is not instrumented."""
    receiver: Any = function.__self__
    inner: Any = function.__func__
    if isinstance(receiver, asyncio.Future):
        return _future(function, receiver, inner.__name__, number)
    if isinstance(receiver, _SILENT_CLASSES):
        return function
    base = rules.container_base(type(receiver))
    name: str = getattr(inner, "__name__", "")
    if base is not None and vars(base).get(name) is inner:
        model = containers.model_of(base, name)
        if model is not None:
            return _bound(model, function, receiver, number)
    if isinstance(receiver, random.Random):
        return _modelling(_heap, function, number) if name == "shuffle" else _reading(function, number)
    if isinstance(inner, types.FunctionType):
        module = inner.__globals__.get("__name__", "")
        if rules.is_generated(inner):
            op.operand(receiver, number)
            return _reading(function, number)
        pure = module in _PURE or inner.__qualname__.startswith("PurePath.")
        pure = pure or (isinstance(receiver, type) and module in _SILENT)
        if pure or module.startswith("namedtuple_") or isinstance(receiver, enum.Enum):
            return function if module in ("logging", "warnings") else _reading(function, number)
        op.unknown(_name(inner), number)
        return function
    call(inner, number)
    return function


def _unbound(function: Any, number: int) -> Any:
    """`dict.get(d, k)`, `object.__setattr__(o, name, value)`."""

    def called(receiver: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return _method(functools.partial(function, receiver), receiver, function.__name__, number)(*args, **kwargs)

    return called


_READS_STATE = frozenset({"result", "exception", "done", "cancelled", "cancelling", "print_stack", "get_stack"})
_WRITES_STATE = frozenset(
    {"set_result", "set_exception", "cancel", "uncancel", "add_done_callback", "remove_done_callback"}
)


def _future(function: Any, future: Any, name: str, number: int) -> Any:
    if rules.is_seen_by_loop(future):
        return function
    if name in _WRITES_STATE:
        op.log((future, number, WRITE, STATE))
    elif name in _READS_STATE:
        op.log((future, number, READ, STATE))
    elif not rules.is_silent_future_attribute(name) or name in ("__init__", "send", "throw"):
        op.unknown(f"{type(future).__qualname__}.{name}", number)
    return function
