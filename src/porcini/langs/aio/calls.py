"""Calls: what is known about the callee. `call(f, site)` gives back what the program then calls with its arguments.

Instrumented functions record themselves, and are given back as they are. C methods of containers and futures,
builtins, and the modules in `_SILENT` are modelled; if the model needs the arguments, a small wrapper is given back.
Everything else makes the step opaque.
"""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import copy
import dataclasses
import functools
import heapq
import inspect
import itertools
import operator
import random
import struct
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any

from porcini.langs.aio import operations as op
from porcini.langs.aio import rules
from porcini.langs.aio.recorder import CREATED, LOG, READ, STATE, WRITE

Model = Callable[..., None]
"""Logs what a call will do: of the receiver (if it is a method), the site and the arguments."""

_SILENT = frozenset(
    """math cmath operator _operator itertools json json.encoder json.decoder _json re _sre time random _random
    datetime _datetime _pydatetime decimal _decimal _pydecimal fractions enum typing types inspect abc _abc string
    textwrap statistics uuid pathlib hashlib _hashlib _blake2 _sha2 _md5 base64 binascii struct _struct zlib bisect _bisect
    copy dataclasses functools _functools warnings _warnings logging traceback linecache numbers keyword
    contextvars _contextvars contextlib weakref _weakref secrets html urllib.parse ipaddress unicodedata
    secrets locale calendar pprint reprlib difflib colorsys _io.StringIO sys gc posixpath genericpath""".split()
)
_FRAMES = frozenset(
    {
        "locals",
        "super",
        "breakpoint",
        "__import__",
        "dir",
        "print",
        "isinstance",
        "issubclass",
        "callable",
        "id",
        "type",
    }
)
_SILENT_CLASSES = (ContextVar, Context, asyncio.AbstractEventLoop, asyncio.Handle, types.SimpleNamespace)


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
    return lambda *args, **kwargs: op.new(function(*args, **kwargs))


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
        op._log((function.__wrapped__, number, WRITE, (".<cache>",)))
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
    if kind is types.FunctionType or kind is types.MethodType or kind is functools.partial:
        call(value, number)
    elif kind is types.GeneratorType or op.is_c_iterator(kind):
        op.iterate(value, number)
        return op.watched(value, number)
    elif kind not in rules.PLAIN:
        if hasattr(kind, "__iter__") and rules.container_base(kind) is None:
            op.iterate(value, number)
        op.operand(value, number)
    return value


def _modelling(model: Model, function: Any, number: int, *bound: Any) -> Any:
    def modelled(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        model(*bound, number, *args, **kwargs)
        return function(*args, **kwargs)

    return modelled


# Functions ----------------------------------------------------------------------------------------------------


def _builtin(function: Any, number: int) -> Any:
    name = function.__name__
    if function.__module__ == "builtins" and name in _FRAMES:
        return function
    if function is iter:
        return _iter(function, number)
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
            op._log((obj, number, kind, STATE))
    else:
        way = rules.attribute(type(obj), attr, kind == WRITE)
        if way in (rules.Way.UNKNOWN, rules.Way.CACHED):
            op.unknown(f"{type(obj).__qualname__}.{attr}", number)
        elif way is rules.Way.PLAIN:
            op._log((obj, number, kind, ("." + attr,)))
            if kind == READ and attr not in (getattr(obj, "__dict__", None) or ()):
                owner = next((c for c in type(obj).__mro__ if attr in vars(c)), None)
                if owner is not None and not rules.is_lookup(vars(owner)[attr]):
                    op._log((owner, number, READ, ("." + attr,)))


def _vars(number: int, *args: Any) -> None:
    if args:
        op.unknown("vars()", number)


def _next(number: int, iterator: Any, *default: Any) -> None:
    op.iterate(iterator, number)
    if type(iterator) is types.GeneratorType:
        op._log((iterator, number, WRITE, STATE))


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


def _async_next(number: int, obj: Any, *default: Any) -> None:
    kind = type(obj)
    known = rules.is_instrumented(obj.ag_code) if kind is types.AsyncGeneratorType else False
    if not known and rules.has_unknown(kind, "__anext__"):
        op.unknown(f"{kind.__qualname__}.__anext__", number)


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


_MUTATING_OPERATORS = "setitem delitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor".split()
_BUILTINS: dict[Any, Model] = {
    len: _shape,
    next: _next,
    anext: _async_next,
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
_PYTHON: dict[Any, Model] = {functools.update_wrapper: _opaque("functools.update_wrapper")}
_NEWLY = frozenset({sorted, heapq.nlargest, heapq.nsmallest})
_READING = frozenset(
    {abs, all, any, ascii, bin, chr, divmod, format, hash, hex, max, min, oct, ord, pow, repr, round, sum, aiter}
)  # fmt: skip
_SILENT_FUNCTIONS = frozenset(
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
        if not issubclass(cls, _ENUM):
            op.unknown(_name(cls), number)
        return cls
    if not _initialised(cls, number):
        return cls
    return _object_class(cls, number) if _default_new(cls) else cls


_ENUM = rules.enum.Enum
_LAZY = frozenset(
    {enumerate, zip, map, filter, reversed} | {v for v in vars(itertools).values() if isinstance(v, type)}
)


_PASSING = frozenset({enumerate, zip, reversed, itertools.chain, itertools.islice, itertools.cycle, itertools.repeat})
"""These hand items on without looking into them."""


def _default_new(cls: type) -> bool:
    return cls.__new__ is object.__new__ or any(cls.__new__ is base.__new__ for base in rules.CONTAINERS) or (
        cls.__new__ in (asyncio.Future.__new__, asyncio.Task.__new__)
    )  # fmt: skip


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
            if issubclass(cls, tuple) or issubclass(cls, _ENUM):
                continue
            op.unknown(_name(cls), number)
            return False
    return True


def _object_class(cls: type, number: int) -> Any:
    """Its result is new. A generated `__init__` makes new containers for fields that were not given."""
    if rules.is_known_function(cls.__init__):
        return _Made(cls, number)
    generated = rules.is_generated(cls.__init__)

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
            call(value, number)
        sources = [value for value in given if hasattr(type(value), "__iter__")]
        for value in sources:
            op.iterate(value, number)
        plain = cls in _PASSING or (functions and all(map(rules.is_known_function, functions)))
        seen = [
            op.watched(value, number) if not plain and type(value) is types.GeneratorType else value for value in args
        ]
        return op.derive(cls(*seen, **kwargs), tuple(sources), deep=not plain)

    return made


# Methods ------------------------------------------------------------------------------------------------------


def _method(function: Any, receiver: Any, name: str, number: int) -> Any:
    """A C method, bound to its receiver."""
    kind = type(receiver)
    if kind in rules.PLAIN and kind in rules.ALWAYS_PLAIN and kind not in (types.FunctionType, type):
        if kind is types.GeneratorType:
            op.iterate(receiver, number)
            op._log((receiver, number, WRITE, STATE))
            return function
        if kind is types.CoroutineType:
            if name in ("send", "throw"):
                op.awaited(receiver, number)
            return function
        if kind is Context and name == "run":
            return _modelling(lambda n, f, *a, **k: (call(f, n), None)[1], function, number)
        return _reading(function, number) if kind is str or kind is bytes else function
    if isinstance(receiver, asyncio.Future):
        return _future(function, receiver, name, number)
    if isinstance(receiver, asyncio.AbstractEventLoop | asyncio.Handle):
        return function
    if isinstance(receiver, type) and name in ("fromkeys", "__new__", "__subclasses__", "mro"):
        return _reading(function, number)
    base = rules.container_base(kind)
    model = _model_of(base, name)
    if model is not None:
        return _bound(model, function, receiver, number)
    if name in ("__init__", "__init_subclass__", "__exit__", "__enter__") and isinstance(receiver, BaseException):
        return function
    if name in _OBJECT:
        return _bound(_OBJECT[name], function, receiver, number)
    if kind in op._VIEWS or op.is_c_iterator(kind):
        op.iterate(receiver, number)
        return function
    if (
        isinstance(receiver, BaseException | types.AsyncGeneratorType | types.SimpleNamespace)
        or kind.__module__ in _SILENT
    ):
        return _reading(function, number)
    op.unknown(f"{kind.__module__}.{kind.__qualname__}.{name}", number)
    return function


def _bound(model: Model, function: Any, receiver: Any, number: int) -> Any:
    if model in _WITHOUT_ARGUMENTS:
        model(receiver, number)
        return function
    if model is _copied:
        op.read_all(receiver, number)
        return lambda *args: op.new(function(*args)) if type(receiver) in rules.CONTAINERS else function(*args)
    if model in _VIEWING:
        op.iterate(receiver, number)
        return lambda *args: op.derive(function(*args), (receiver,))
    return _modelling(model, function, number, receiver)


def _model_of(base: type | None, name: str) -> Model | None:
    while base is not None and base is not object:
        found = _METHODS.get(base, {}).get(name)
        if found is not None:
            return found
        base = base.__base__
    return None


def _python_method(function: Any, number: int) -> Any:
    """A bound Python method that is not instrumented."""
    receiver, inner = function.__self__, function.__func__
    if isinstance(receiver, asyncio.Future):
        return _future(function, receiver, inner.__name__, number)
    if isinstance(receiver, _SILENT_CLASSES):
        return function
    base = rules.container_base(type(receiver))
    if base is not None and vars(base).get(inner.__name__) is inner:
        model = _model_of(base, inner.__name__)
        if model is not None:
            return _bound(model, function, receiver, number)
    if isinstance(receiver, random.Random):
        return _modelling(_heap, function, number) if inner.__name__ == "shuffle" else _reading(function, number)
    if isinstance(inner, types.FunctionType):
        module = inner.__globals__.get("__name__", "")
        if rules.is_generated(inner):
            op.operand(receiver, number)
            return _reading(function, number)
        if module in _SILENT or module.startswith("namedtuple_") or isinstance(receiver, _ENUM):
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
    if name in _WRITES_STATE:
        op._log((future, number, WRITE, STATE))
    elif name in _READS_STATE:
        op._log((future, number, READ, STATE))
    elif not rules.is_silent_future_attribute(name) or name in ("__init__", "send", "throw"):
        op.unknown(f"{type(future).__qualname__}.{name}", number)
    return function


# What methods of containers do. Those without arguments of interest are logged at once.


def _extend(obj: Any, number: int, values: Any = (), *rest: Any, **more: Any) -> None:
    if type(values) not in rules.PLAIN or type(values) is types.GeneratorType:
        op.unpack(values, number)
    op.write_all(obj, number)
    if isinstance(obj, Counter):
        op.read_all(obj, number)


def _update(obj: Any, number: int, *others: Any, **more: Any) -> None:
    """`dict.update` and `set.update`: key by key if the keys can be seen."""
    for other in others:
        if (
            type(obj) not in (dict, set)
            or type(other) not in (dict, set, list, tuple)
            or isinstance(obj, dict) > isinstance(other, dict)
        ):
            _extend(obj, number, other)
            continue
        op.iterate(other, number)
        for key in other:
            op.write_key(obj, key, number) if isinstance(obj, dict) else op.add_key(obj, key, number)
    for key in more:
        op.write_key(obj, key, number)


def _all(obj: Any, number: int, *args: Any, **kwargs: Any) -> None:
    op.operand(obj, number)
    for value in args:
        _argument(value, number)


def _pop(obj: Any, number: int, *key: Any) -> None:
    if isinstance(obj, list) and not key and obj:
        op._log((obj, number, WRITE, (f"[{len(obj) - 1}]", op.SHAPE)))
        op._log((obj, number, READ, (f"[{len(obj) - 1}]", op.SHAPE, op.BASE)))
    elif isinstance(obj, dict) and key:
        op.add_key(obj, key[0], number, adds=False)  # type: ignore[arg-type]
    else:
        op.write_all(obj, number)
        op.read_all(obj, number)


def _lookup(obj: Any, number: int, key: Any, *default: Any) -> None:
    op.item(obj, key, number) if isinstance(obj, list | deque) else op.has_key(obj, key, number)


def _default(obj: Any, number: int, key: Any, value: Any = None) -> None:
    op.add_key(obj, key, number)


def _discard(obj: Any, number: int, key: Any) -> None:
    op.add_key(obj, key, number, adds=False)


def _remove(obj: Any, number: int, *value: Any, **kwargs: Any) -> None:
    op.operand(obj, number)
    op.write_all(obj, number)
    for each in value:
        _argument(each, number)


def _contains(obj: Any, number: int, key: Any) -> None:
    op.has_key(obj, key, number)


def _store(obj: Any, number: int, key: Any, value: Any) -> None:
    op.write_key(obj, key, number)


def _delete(obj: Any, number: int, key: Any) -> None:
    op.write_key(obj, key, number, adds=False)


def _append(obj: Any, number: int) -> None:
    op.append(obj, number)


def _whole(obj: Any, number: int) -> None:
    op.write_all(obj, number)
    op.read_all(obj, number)


def _length(obj: Any, number: int) -> None:
    op.read_shape(obj, number)


def _view(obj: Any, number: int) -> None:
    """`items` and the like; see `_bound`."""


def _copied(obj: Any, number: int) -> None:
    op.read_all(obj, number)


_WITHOUT_ARGUMENTS = (_append, _whole, _length)
_VIEWING = (_view,)
_COMMON: dict[str, Model] = {
    "__len__": _length,
    "__contains__": _contains,
    "__getitem__": _lookup,
    "__setitem__": _store,
    "__delitem__": _delete,
    "__iter__": _view,
    "__reversed__": _view,
    "clear": _whole,
    "copy": _copied,
    **{
        f"__{n}__": _all
        for n in "eq ne lt le gt ge add mul rmul or and sub xor repr str hash sizeof format".split()
    },
    **{f"__{n}__": _remove for n in "iadd imul ior iand isub ixor init".split()},
}
_METHODS: dict[type, dict[str, Model]] = {
    list: {
        **_COMMON,
        "append": _append,
        "extend": _extend,
        "pop": _pop,
        **dict.fromkeys(("insert", "remove", "sort"), _remove),
        "reverse": _whole,
        **dict.fromkeys(("index", "count"), _all),
    },
    deque: {
        **_COMMON,
        **dict.fromkeys(("append", "appendleft", "reverse"), _append),
        **dict.fromkeys(("pop", "popleft", "rotate"), _whole),
        **dict.fromkeys(("extend", "extendleft"), _extend),
        **dict.fromkeys(("insert", "remove"), _remove),
        **dict.fromkeys(("index", "count"), _all),
    },
    dict: {
        **_COMMON,
        "get": _lookup,
        "pop": _pop,
        "setdefault": _default,
        "update": _update,
        "popitem": _whole,
        **dict.fromkeys(("keys", "values", "items"), _view),
    },
    OrderedDict: {"move_to_end": _remove, "popitem": _remove, "clear": _whole},
    Counter: {
        **dict.fromkeys(("update", "subtract", "__init__", "_keep_positive"), _extend),
        **dict.fromkeys(("most_common", "total", "copy"), _all),
        "elements": _view,
        **dict.fromkeys(
            ("__add__", "__sub__", "__or__", "__and__", "__eq__", "__repr__", "__lt__", "__le__"), _all
        ),
        "__delitem__": _delete,
    },
    defaultdict: {"copy": _copied},
    set: {
        **_COMMON,
        "add": _default,
        "discard": _discard,
        "remove": _discard,
        "pop": _whole,
        "update": _update,
        **dict.fromkeys(("difference_update", "intersection_update", "symmetric_difference_update"), _extend),
        **dict.fromkeys(
            (
                "union",
                "difference",
                "intersection",
                "symmetric_difference",
                "issubset",
                "issuperset",
                "isdisjoint",
            ),
            _all,
        ),
    },
    tuple: {**_COMMON, **dict.fromkeys(("index", "count"), _all)},
    frozenset: {
        **_COMMON,
        **dict.fromkeys(
            (
                "union",
                "difference",
                "intersection",
                "symmetric_difference",
                "issubset",
                "issuperset",
                "isdisjoint",
            ),
            _all,
        ),
    },
    bytearray: dict.fromkeys((n for n in dir(bytearray) if not n.startswith("__")), _remove),
}


def _object_set(obj: Any, number: int, attr: str, *value: Any) -> None:
    op._log((obj, number, WRITE, ("." + attr,)))


def _object_get(obj: Any, number: int, attr: str) -> None:
    op._log((obj, number, READ, ("." + attr,)))


def _nothing(obj: Any, number: int, *args: Any, **kwargs: Any) -> None:
    for value in args:
        _argument(value, number)


_OBJECT: dict[str, Model] = {
    "__setattr__": _object_set,
    "__delattr__": _object_set,
    "__getattribute__": _object_get,
    **{
        f"__{n}__": _nothing
        for n in "init init_subclass eq ne hash repr str format new subclasshook get reduce_ex sizeof dir class_getitem".split()
    },
}
