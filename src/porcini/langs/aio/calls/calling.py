"""`call`, and the wrappers that take a callee's place: they log what it will do with its arguments, and call it.

What a wrapper is given may itself be called by what it wraps, so wrappers and `call` know each other.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

from porcini.langs.aio import rules, trusted
from porcini.langs.aio.log import LOG, READ, WRITE
from porcini.langs.aio.operations.entries import MANY, drain_log, log, mark_opaque
from porcini.langs.aio.operations.values import VIEWS, read_all, read_operand, register_generator, write_all
from porcini.langs.aio.operations.weak import is_lasting

BY_TYPE: dict[type, Callable[[Any, int], Any]] = {}
"""By the type of the callee: what takes its place (see `calls`)."""
_GENERATOR = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def call(function: Any, number: int) -> Any:
    """The callee of a call whose arguments are evaluated without being suspended."""
    if len(LOG) > MANY:
        drain_log()
    kind = type(function)
    inner = function.__func__ if kind is types.MethodType else function
    if type(inner) is types.FunctionType:
        code = inner.__code__
        flags = code.co_flags
        if flags & rules.MARK or rules.is_instrumented(code):
            return function if not flags & _GENERATOR else _register_result(function)
    return BY_TYPE.get(kind, _replace_other)(function, number)


def _register_result(function: Any) -> Any:
    """What takes the place of a generator function: its result is new."""
    return lambda *args, **kwargs: register_generator(function(*args, **kwargs))


def call_later(function: Any, number: int) -> Any:
    """As `call`, where the arguments may be suspended: what is logged must be logged after that."""
    kind = type(function)
    inner = function.__func__ if kind is types.MethodType else function
    if type(inner) is types.FunctionType and rules.is_instrumented(inner.__code__):
        return call(function, number)

    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return call(function, number)(*args, **kwargs)

    return called


def _replace_other(function: Any, number: int) -> Any:
    """A callee whose very type is not listed."""
    kind = type(function)
    if issubclass(type(function), type):
        return BY_TYPE[type](function, number)
    if issubclass(type(function), functools._lru_cache_wrapper):
        return _replace_cached(function, number)
    if issubclass(type(function), weakref.ref):
        if kind is not weakref.ref or not is_lasting(function()):
            mark_opaque("a weak reference", number)  # it may be dead, and nobody said who let go of it
    elif kind.__module__ == "typing":
        return (
            replace_alias(function, number)
            if isinstance(_origin(function), type)
            else read_arguments(function, number)
        )
    elif rules.has_opaque(kind, "__call__"):
        mark_opaque(name_of(function), number)
    return function


def replace_partial(function: Any, number: int) -> Any:
    """`functools.partial`: as the function in it."""
    read_all(function.keywords, number)
    inner = call(function.func, number)
    return function if inner is function.func else functools.partial(inner, *function.args, **function.keywords)


def replace_alias(function: Any, number: int) -> Any:
    """`list[int](...)`: as the class in it; then the object is told, as `types.GenericAlias` and `typing` do."""
    inner = call(_origin(function), number)

    def construct(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if getattr(function, "_inst", True) is not True:
            return function(*args, **kwargs)  # an error
        obj = inner(*args, **kwargs)
        with contextlib.suppress(AttributeError, TypeError):
            obj.__orig_class__ = function
        return obj

    return construct


def _origin(function: Any) -> Any:
    return getattr(function, "__origin__", None)


def _replace_cached(function: Any, number: int) -> Any:
    """What `functools.lru_cache` made. Its arguments are compared. Who finds an answer there only reads, unless
    the cache is full: then it matters who was there last."""
    if call(function.__wrapped__, number) is not function.__wrapped__:
        mark_opaque(name_of(function), number)

    def cached(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        for value in (*args, *kwargs.values()):
            read_operand(value, number)
        before, kind = function.cache_info(), WRITE
        try:
            result = function(*args, **kwargs)
            after = function.cache_info()
            found = (after.hits, after.misses) == (before.hits + 1, before.misses)
            kind = READ if found and after.currsize != after.maxsize else WRITE
            return result
        finally:
            log((function.__wrapped__, number, kind, (".<cache>",)))

    return cached


_DECORATING = frozenset({"lru_cache.<locals>.decorating_function", "dataclass.<locals>.wrap"})


def call_decorator(function: Any, number: int) -> Any:
    """As `call`, for a decorator of a new function or class: to give that another name changes nothing else."""
    if type(function) is functools.partial and function.func is functools.update_wrapper:
        return function
    if type(function) is types.FunctionType and function.__module__ in ("functools", "dataclasses"):
        return function if function.__qualname__ in _DECORATING else call(function, number)
    return call(function, number)


def name_of(function: Any) -> str:
    """A callee, for reports of what made a step opaque."""
    if function is None:
        return "an argument"
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", function)).__module__
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def find_program_frame() -> types.FrameType:
    """The innermost frame that is not ours: all of `calls` may stand between the program and what it calls."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__package__") == __package__ and frame.f_back is not None:
        frame = frame.f_back
    return frame


def add_hooks(namespace: dict[str, Any]) -> None:
    """Instrumented code is to run in a namespace of the program's own: it needs what we have added to globals."""
    for name, value in list(find_program_frame().f_globals.items()):
        if name.startswith("@"):
            namespace.setdefault(name, value)


def count_own_frames() -> int:
    """How many of our frames stand between the program and the function that calls this, itself included."""
    count, frame = 0, sys._getframe(1)
    while frame.f_globals.get("__package__") == __package__ and frame.f_back is not None:
        count, frame = count + 1, frame.f_back
    return count


# Arguments ----------------------------------------------------------------------------------------------------


def read_arguments(function: Any, number: int, *bound: Any) -> Any:
    """A callable that only reads its arguments, all that is in them."""

    def reads(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        for value in (*args, *kwargs.values()):
            read(value, number, function)
        result = function(*args, **kwargs)
        if issubclass(type(result), type) and result.__module__ == __name__:
            result.__module__ = find_program_frame().f_globals.get(
                "__name__", ""
            )  # it was looked for in our frame
        return result

    return reads


def read(value: Any, number: int, function: Any = None) -> None:
    """What a trusted function may do with an argument: read all of it, call it. To iterate over it is opaque."""
    kind = type(value)
    if kind in trusted.CALLABLE:
        _read_callback(value, number)
    elif kind not in rules.PLAIN:
        own = not rules.has_c_method(kind, "__iter__") and kind not in VIEWS
        iterated = own and hasattr(kind, "__iter__") and function not in trusted.NOT_ITERATING
        if iterated or (callable(value) and rules.has_opaque(kind, "__call__")):
            mark_opaque(f"{name_of(function)} of {kind.__qualname__}", number)
        read_operand(value, number)
    elif issubclass(type(value), type) and function not in trusted.NOT_ITERATING and rules.is_foreign(value):
        mark_opaque(f"{name_of(function)} of {value.__qualname__}", number)


def call_back(function: Any, number: int) -> Any:
    """A function that trusted C code will call, and nobody else sees: what takes its place records each call."""
    plain = function is None or (type(function) is type and function in trusted.SCALARS)
    return function if plain else call_later(function, number)


def _read_callback(function: Any, number: int) -> None:
    """A function that trusted code may call, with arguments that cannot be seen."""
    kind = type(function)
    receiver = getattr(function, "__self__", None)
    in_c = kind in trusted.IN_C or kind is types.MethodWrapperType
    if in_c and rules.container_base(type(receiver)) is not None:
        read_operand(receiver, number)
        if function.__name__ not in trusted.READING_METHODS:
            write_all(receiver, number)
    elif kind is types.FunctionType or kind is types.MethodType:
        call(function, number)
    elif function not in trusted.NOT_ITERATING:
        mark_opaque(name_of(function), number)
