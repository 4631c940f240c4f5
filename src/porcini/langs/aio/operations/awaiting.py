"""What instrumented code awaits, iterates over asynchronously, and enters. Code that is followed records itself.

Other code is wrapped, so that each step in which it runs is opaque.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.log import READ, STATE, WRITE
from porcini.langs.aio.operations import iterating, values
from porcini.langs.aio.operations.entries import log, mark_opaque
from porcini.langs.aio.operations.values import is_c_iterator


def watch_awaited(obj: Any, number: int, _: None = None) -> Any:
    """What is awaited. Followed code records itself, a future is read, and other code is opaque whenever it runs.

    A third argument is there to be evaluated: it lets go of the last object that was logged.
    """
    kind = type(obj)
    if kind is types.CoroutineType:
        if rules.is_instrumented(obj.cr_code):
            return obj
        return Watched(obj, partial(mark_opaque, obj.cr_code.co_qualname, number))
    if issubclass(type(obj), asyncio.Future):
        if not rules.is_seen_by_loop(obj):
            log((obj, number, READ, STATE))
        return obj
    if (
        kind is Watched
        or kind is WatchedGenerator
        or (kind is types.GeneratorType and rules.is_instrumented(obj.gi_code))
    ):
        return obj
    if kind is types.GeneratorType and not obj.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE:
        return obj  # an error
    if rules.has_opaque(kind, "__await__") or kind is types.GeneratorType:
        return Watched(obj, partial(mark_opaque, f"{kind.__module__}.{kind.__qualname__}", number))
    return obj


def watch_awaited_again(obj: Any, number: int, _: None = None) -> Any:
    """As `watch_awaited`, of something that was not made here: somebody else may have awaited it."""
    if type(obj) is types.CoroutineType:
        log((obj, number, WRITE, STATE))
    return watch_awaited(obj, number)


def resume_coroutine(coroutine: Any, number: int) -> None:
    """`send` and the like: the coroutine goes on, here and now."""
    log((coroutine, number, WRITE, STATE))
    if not rules.is_instrumented(coroutine.cr_code):
        mark_opaque(coroutine.cr_code.co_qualname, number)


def delegate(obj: Any, number: int) -> Any:
    """`yield from` this: what gets what is sent or thrown, and has a value in the end, goes on getting it."""
    kind = type(obj)
    if kind is types.GeneratorType:
        values.resume_generator(obj, number)
        return (
            obj
            if rules.is_instrumented(obj.gi_code)
            else WatchedGenerator(obj, partial(values.resume_generator, obj, number))
        )
    if kind is _COROUTINE_WRAPPER or kind is types.CoroutineType:
        coroutine = obj if kind is types.CoroutineType else gc.get_referents(obj)[0]
        resume_coroutine(coroutine, number)
        if rules.is_instrumented(coroutine.cr_code):
            return obj
        if kind is types.CoroutineType and not sys._getframe(1).f_code.co_flags & inspect.CO_ITERABLE_COROUTINE:
            return obj  # an error
        return WatchedGenerator(obj, partial(resume_coroutine, coroutine, number))
    if rules.has_opaque(kind, "__iter__") and not is_c_iterator(kind) and rules.container_base(kind) is None:
        iterator = iter(obj)
        if hasattr(iterator, "send") or hasattr(iterator, "throw"):
            note = partial(mark_opaque, f"{kind.__module__}.{kind.__qualname__}.__iter__", number)
            note()
            return WatchedGenerator(iterator, note)
        obj = iterator
    return iterating.iterate_suspended(obj, number)


async def _nothing() -> None:
    return None


def _wrapper_type() -> type:
    coroutine = _nothing()
    try:
        return type(coroutine.__await__())
    finally:
        coroutine.close()


_COROUTINE_WRAPPER = _wrapper_type()
"""What `coroutine.__await__()` gives."""


class Watched:
    """Awaits something, and notes each time that it goes on."""

    __slots__ = ("_note", "inner")

    def __init__(self, inner: Any, note: Callable[[], None]) -> None:
        self.inner, self._note = inner, note

    def __await__(self) -> Any:
        inner = self.inner
        if not hasattr(inner, "send"):
            inner = type(inner).__await__(inner)
            if not hasattr(type(inner), "__next__"):
                self._note()
                return inner  # an error
        return WatchedGenerator(inner, self._note)


class WatchedGenerator(Watched):
    """The same, of what can be driven by hand as well: `agen.asend(...)`."""

    __slots__ = ()

    def __iter__(self) -> WatchedGenerator:
        return self

    def __next__(self) -> Any:
        self._note()
        return self.inner.send(None) if hasattr(self.inner, "send") else next(self.inner)

    def send(self, value: Any) -> Any:
        self._note()
        return self.inner.send(value)

    def throw(self, *error: Any) -> Any:
        self._note()
        return self.inner.throw(*error)

    def close(self) -> None:
        self._note()
        self.inner.close()


def watch_generator(awaitable: Any, agen: Any, number: int) -> WatchedGenerator:
    """`anext` of an asynchronous generator, and the like: its frame runs in each step until it answers."""
    note = partial(values.resume_generator, agen, number)
    note()
    return WatchedGenerator(awaitable, note)


def watch_async_iterable(obj: Any, number: int) -> Any:
    """`async for` over this."""
    if issubclass(type(obj), types.AsyncGeneratorType):
        return _WatchedIteration(obj, partial(values.resume_generator, obj, number))
    kind = type(obj)
    if rules.has_opaque(kind, "__aiter__") or rules.has_opaque(kind, "__anext__"):
        return _WatchedIteration(obj, partial(mark_opaque, f"{kind.__module__}.{kind.__qualname__}", number))
    return obj


class _WatchedIteration:
    def __init__(self, inner: Any, note: Callable[[], None]) -> None:
        self._inner, self._note = inner.__aiter__(), note

    def __aiter__(self) -> _WatchedIteration:
        return self

    def __anext__(self) -> Watched:
        self._note()
        return Watched(self._inner.__anext__(), self._note)


_SILENT_MANAGERS = frozenset({"contextlib", "_pytest.raises", "_pytest.python_api"})


_SILENT_NAMES = frozenset({"suppress", "nullcontext", "RaisesContext", "RaisesExc", "RaisesGroup"})


def _is_followed_manager(obj: Any, enter: str, leave: str) -> bool:
    kind = type(obj)
    generator = getattr(obj, "gen", None)
    if generator is not None and kind.__module__ == "contextlib":
        code = getattr(generator, "gi_code", None) or getattr(generator, "ag_code", None)
        return code is not None and rules.is_instrumented(code)
    if kind.__module__ in _SILENT_MANAGERS and kind.__name__ in _SILENT_NAMES:
        return True
    return not rules.has_opaque(kind, enter) and not rules.has_opaque(kind, leave)


def watch_manager(obj: Any, number: int, again: bool = False) -> Any:
    """The context manager of `with`; `again` if it was made elsewhere, where somebody may have entered it."""
    if again:
        _use_up(obj, number)
    return (
        obj
        if _is_followed_manager(obj, "__enter__", "__exit__")
        else _OpaqueManager(obj, type(obj).__exit__, number)
    )


def watch_async_manager(obj: Any, number: int, again: bool = False) -> Any:
    """The context manager of `async with`."""
    if again:
        _use_up(obj, number)
    if _is_followed_manager(obj, "__aenter__", "__aexit__"):
        return obj
    return _OpaqueManager(obj, type(obj).__aexit__, number)


def _use_up(obj: Any, number: int) -> None:
    """A manager made from a generator can be entered once."""
    if type(obj).__module__ == "contextlib" and hasattr(obj, "gen"):
        log((obj, number, WRITE, STATE))


class _OpaqueManager:
    """Enters and leaves a context manager, and notes each time that its code runs."""

    def __init__(self, inner: Any, leave: Callable[..., Any], number: int) -> None:
        self._inner, self._leave = inner, leave
        self._note = partial(mark_opaque, f"{type(inner).__module__}.{type(inner).__qualname__}", number)

    def __enter__(self) -> Any:
        self._note()
        return type(self._inner).__enter__(self._inner)

    def __exit__(self, *error: Any) -> Any:
        self._note()
        return self._leave(self._inner, *error)

    def __aenter__(self) -> Watched:
        self._note()
        return Watched(type(self._inner).__aenter__(self._inner), self._note)

    def __aexit__(self, *error: Any) -> Watched:
        self._note()
        return Watched(self._leave(self._inner, *error), self._note)
