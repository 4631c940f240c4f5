"""Getting instrumented code to run: as modules are imported, or in place of the code of functions that exist.

Instrumented code finds what it calls (see `hooks`) in its globals. While no recording is on, that does nothing,
and instrumented code behaves as plain code; `recording` puts the real functions there.
"""

from __future__ import annotations

import ast
import asyncio
import asyncio.tasks
import contextlib
import functools
import gc
import importlib
import importlib.abc
import importlib.machinery
import inspect
import linecache
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

from porcini.langs.aio import lookups, rules
from porcini.langs.aio.groups import seen_groups
from porcini.langs.aio.guarding import guarded_locks
from porcini.langs.aio.hooks import IDLE, RECORDING
from porcini.langs.aio.log import CREATED, LOG, ModuleToken
from porcini.langs.aio.operations.entries import redirect
from porcini.langs.aio.recorder import Recorder
from porcini.langs.aio.twins import NoSource, compile_instrumented, statements_of, twin_of

F = TypeVar("F", bound=Callable[..., Any])

ASYNCIO_MODULES = ("locks", "queues", "timeouts")
"""asyncio's code with shared state of its own; the rest works on futures and tasks, which the loop sees."""

_globals: dict[int, dict[str, Any]] = {}
_active: Recorder | None = None


def prepare(namespace: dict[str, Any], module: str) -> None:
    """Put the names that instrumented code uses into its globals."""
    if id(namespace) not in _globals:
        _globals[id(namespace)] = namespace
        namespace["@module"] = ModuleToken(module)
    namespace.update(RECORDING if _active is not None else IDLE)


@functools.cache
def frozen_by_others() -> bool:
    """Had somebody frozen what there was before the first recording? It is asked once: to count takes long."""
    return gc.get_freeze_count() > 0


@contextlib.contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Instrumented code reports to this recorder. One at a time.

    Garbage is collected between runs only (`Recorder.start_run`): a finaliser that runs in the middle of whichever
    step happens to allocate much is one more thing that no schedule controls, and the log is walked each time.
    So that this is quick, what is there already is frozen; where somebody else has done so, it stays frozen after.
    """
    global _active
    if _active is not None:
        raise RuntimeError("a recording is on already")
    _active = recorder
    log = recorder.log
    redirect(log, recorder.drain, recorder.release_objects)
    rules.reset_caches()
    # What pytest captures can be looked at, by capsys; its plugin puts something else there if nobody will.
    rules.STREAMS[:] = [s for s in (sys.stdout, sys.stderr) if type(s).__module__ != "_pytest.capture"]
    collecting, frozen = gc.isenabled(), frozen_by_others()
    gc.disable()
    if not frozen:
        gc.freeze()
    try:
        for namespace in _globals.values():
            namespace.update(RECORDING)
            namespace["@log"] = log
        yield recorder
    finally:
        _active = None
        redirect(LOG.append, LOG.clear, CREATED.clear)
        for namespace in _globals.values():
            namespace.update(IDLE)
        LOG.clear()
        if not frozen:
            gc.unfreeze()
        if collecting:
            gc.enable()


@contextlib.contextmanager
def thawed() -> Iterator[None]:
    """While this is open, the garbage collector finds what the recording has frozen; what others have stays."""
    frozen = _active is not None and not frozen_by_others()
    if frozen:
        gc.unfreeze()
    try:
        yield
    finally:
        if frozen:
            gc.freeze()


# From source to code ------------------------------------------------------------------------------------------


def instrument_tree(tree: ast.Module, filename: str, module: str) -> CodeType:
    """The code of a module whose tree may have been rewritten before, by pytest for its assertions, say."""
    return compile_instrumented(tree, filename, module, False)


def instrument_source(source: str | bytes, filename: str, module: str) -> CodeType:
    """The code of a module; its globals must be `prepare`d before it runs."""
    return instrument_tree(ast.parse(source, filename), filename, module)


# Import hook --------------------------------------------------------------------------------------------------


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        return instrument_source(self.get_data(path), path, fullname)

    def exec_module(self, module: ModuleType) -> None:
        prepare(vars(module), module.__name__)
        super().exec_module(module)


class ImportHook(importlib.abc.MetaPathFinder):
    """Instruments modules of these packages as they are imported."""

    def __init__(self, packages: Iterable[str]) -> None:
        self.packages = tuple(packages)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not any(fullname == name or fullname.startswith(name + ".") for name in self.packages):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        spec.loader = _Loader(fullname, spec.loader.get_filename(fullname))
        return spec


@contextlib.contextmanager
def import_hook(packages: Iterable[str]) -> Iterator[ImportHook]:
    """While this is open, these modules and packages are imported instrumented."""
    hook = ImportHook(packages)
    sys.meta_path.insert(0, hook)
    try:
        yield hook
    finally:
        sys.meta_path.remove(hook)


# Code that is loaded already ----------------------------------------------------------------------------------


def recompiled(function: F) -> F:
    """An instrumented twin of a function, with the same globals, defaults and closure cells."""
    inner: Any = function
    if isinstance(inner, types.MethodType):
        return types.MethodType(recompiled(inner.__func__), inner.__self__)  # type: ignore[return-value]
    if not isinstance(inner, FunctionType):
        raise NoSource(f"{inner!r} is not a Python function")
    if rules.is_instrumented(inner.__code__):
        return function
    linecache.checkcache(inner.__code__.co_filename)
    code = twin_of(inner)
    prepare(inner.__globals__, inner.__globals__.get("__name__", ""))
    twin = FunctionType(code, inner.__globals__, inner.__name__, inner.__defaults__, inner.__closure__)
    twin.__kwdefaults__ = inner.__kwdefaults__
    twin.__qualname__ = inner.__qualname__
    twin.__annotations__ = inner.__annotations__
    twin.__dict__.update(inner.__dict__)
    twin.__doc__, twin.__module__ = inner.__doc__, inner.__module__
    return twin  # type: ignore[return-value]


Undo = Callable[[], None]


def instrument_functions(functions: Iterable[FunctionType]) -> Undo:
    """Swap the code of functions for instrumented code, in place; the result swaps it back."""
    swapped: list[tuple[FunctionType, CodeType]] = []
    functions = list(functions)
    for file in {function.__code__.co_filename for function in functions}:
        linecache.checkcache(file)
    for function in functions:
        if rules.is_instrumented(function.__code__):
            continue
        try:
            twin = twin_of(function)
        except NoSource:
            continue
        prepare(function.__globals__, function.__globals__.get("__name__", ""))
        swapped.append((function, function.__code__))
        function.__code__ = twin
    rules.reset_caches()

    def undo() -> None:
        while swapped:
            function, code = swapped.pop()
            function.__code__ = code
        rules.reset_caches()

    return undo


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """Every function and method that was defined in a module and can be reached from its names."""
    seen: set[int] = set()
    todo: list[object] = list(vars(module).values())
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, FunctionType):
            if value.__globals__ is vars(module):
                yield value
            todo.extend(_cell_contents(value))
            todo.append(getattr(value, "__wrapped__", None))
        elif isinstance(value, type):
            if value.__module__ == module.__name__ or _has_methods_of(value, module):
                todo.extend(vars(value).values())
        elif isinstance(value, staticmethod | classmethod):
            todo.append(value.__func__)
        elif isinstance(value, property):
            todo.extend((value.fget, value.fset, value.fdel))
        elif isinstance(value, functools.cached_property | functools.partial):
            todo.append(value.func)
        elif type(value).__module__ == module.__name__:  # it may keep functions that were made for it
            todo.extend(field for _, field in lookups.fields_of(value) if isinstance(field, FunctionType))
        elif hasattr(value, "__wrapped__") and not isinstance(value, ModuleType):
            with contextlib.suppress(ValueError):  # what has every attribute wraps without end
                todo.append(inspect.unwrap(value, stop=lambda f: isinstance(f, FunctionType)))  # type: ignore[arg-type]


def _has_methods_of(cls: type, module: ModuleType) -> bool:
    """Was a class defined in a module, although it says that it is of another one?"""
    return any(function.__globals__ is vars(module) for function in methods_of(cls))


def methods_of(cls: type) -> Iterator[FunctionType]:
    """The functions that a class holds, as they are or as methods of some kind."""
    for value in vars(cls).values():
        inner = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        inner = inner.fget if isinstance(inner, property) else inner
        if isinstance(inner, FunctionType):
            yield inner


def _cell_contents(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):
            yield cell.cell_contents


def instrument_loaded(module: ModuleType, lines: set[int] | None = None) -> Undo:
    """Instrument what a module defined when it was loaded, in place; the result undoes it. With lines, only what
    is in the same statements as these."""
    functions = functions_of(module)
    return instrument_functions(functions if lines is None else statements_of(functions, lines))


@contextlib.contextmanager
def instrumented_asyncio() -> Iterator[None]:
    """While this is open, asyncio's own synchronisation runs instrumented; its classes stay the same objects."""
    undos = [instrument_loaded(importlib.import_module(f"asyncio.{name}")) for name in ASYNCIO_MODULES]
    undos.append(instrument_functions(_waiting()))
    try:
        with seen_groups(), guarded_locks():
            yield
    finally:
        for undo in reversed(undos):
            undo()


def _waiting() -> list[FunctionType]:
    """`wait`, which goes over what it is given when it is awaited, and the code of `as_completed`, which keeps a
    list of what is left to do: a generator, since 3.13 a class."""
    functions: list[Any] = [asyncio.tasks.wait, asyncio.tasks.as_completed]
    iterator = getattr(asyncio.tasks, "_AsCompletedIterator", None)
    methods = vars(iterator).values() if iterator is not None else ()
    return [*functions, *(each for each in methods if isinstance(each, FunctionType))]
