"""Making a coroutine function ready to be explored: its code instrumented, its world guarded, a recorder on.

modules_of      the user's modules that a function uses: its own, and what it imports outside of site-packages
instrumented    while this is open, they run instrumented, and so do the packages asked for and asyncio
session         that, with a recorder and guards: gives programs to explore
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import inspect
import operator
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

from porcini.core.errors import InputError, Place
from porcini.core.origins import origin_of
from porcini.coroutines.faults import Faults
from porcini.coroutines.following import Following
from porcini.coroutines.guards import Guarding, Guards
from porcini.coroutines.leftovers import Snapshot
from porcini.coroutines.lines import at, at_last, users_lines
from porcini.coroutines.steady import SteadyProgram
from porcini.langs.aio import hook, rules
from porcini.langs.aio.calls.calling import call_later
from porcini.langs.aio.inside import Staying
from porcini.langs.aio.loop import Mode
from porcini.langs.aio.operations.values import read_outcome
from porcini.langs.aio.program import AioProgram
from porcini.langs.aio.recorder import Recorder
from porcini.langs.aio.sites import OUTSIDE

Function = Callable[..., Any]

_MOST_NEAR = 10_000


def check(function: Function) -> None:
    """Explorable is what `async def` defines, possibly bound or with arguments given."""
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if not any(map(inspect.iscoroutinefunction, (inner, inspect.getattr_static(type(inner), "__call__", None)))):
        name = getattr(inner, "__qualname__", None) or repr(inner)
        generates = inspect.isasyncgenfunction(inner)
        hint = (
            "it has `yield`; explore a function that iterates over it" if generates else "define it by `async def`"
        )
        raise InputError(f"`{name}` is not a coroutine function", hint=hint)


def _bound(function: Function, args: Sequence[object]) -> None:
    """A function that cannot be called with these arguments is an error before anything is run."""
    try:
        inspect.signature(function, follow_wrapped=False).bind(*args)
    except TypeError as problem:
        hint = "explore a function without parameters that calls it, or give porcini.explore its args=(...)"
        raise InputError(f"cannot be called: {problem}", file=name_of(function), hint=hint) from None
    except ValueError:
        return  # it has no signature to look at


def from_name(name: str) -> Function:
    """The function that `package.module:function` names, imported from here."""
    module, _, path = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        value = operator.attrgetter(path)(_imported(module, path))
    except AttributeError:
        raise InputError(f"there is no `{path}` in it", file=module) from None
    if not callable(value):
        raise InputError(f"`{path}` is not a coroutine function", file=module)
    function: Function = value
    with contextlib.suppress(TypeError):
        _GIVEN[function] = name
    return function


_GIVEN: dict[Function, str] = {}
"""Functions that were named, by a name that may not be the one that they were defined by."""


def was_named(function: Function) -> bool:
    """Is there a name by which a new process finds it, too?"""
    try:
        return function in _GIVEN
    except TypeError:
        return False


def _imported(name: str, function: str) -> ModuleType:
    """A module; one that cannot be imported is bad input, with the line that is to blame."""
    try:
        return importlib.import_module(name)
    except SyntaxError as problem:
        place = Place(problem.lineno or 1, problem.offset or 1)
        where = {} if problem.filename is None else at(problem.filename, place.line) | {"place": place}
        raise InputError(f"cannot be imported: {problem.msg}", **where) from None
    except (Exception, SystemExit) as problem:
        if isinstance(problem, ModuleNotFoundError) and f"{name}.".startswith(f"{problem.name}."):
            hint = "it is looked for in this folder and in PYTHONPATH"
            if name.endswith(".py"):
                hint = f"name the module, not the file: {name.removesuffix('.py')}:{function}"
            raise InputError(f"there is no module `{name}`", file=f"{name}:{function}", hint=hint) from None
        blamed = at_last(users_lines(problem)) or {"file": name}
        text = f"{type(problem).__name__}: {problem}".rstrip(": ")
        raise InputError(f"cannot be imported: {text}", **blamed) from None


def name_of(function: Function) -> str:
    """`module:function`, as reports name it."""
    if was_named(function):
        return _GIVEN[function]
    while isinstance(function, functools.partial):
        function = function.func
    return f"{function.__module__}:{getattr(function, '__qualname__', type(function).__qualname__)}"


# Which code ---------------------------------------------------------------------------------------------------


def is_users(module: ModuleType) -> bool:
    """Is a module neither Python's, nor installed, nor Porcini's? One without a file is the REPL's."""
    path = vars(module).get("__file__")
    return module.__name__ == "__main__" if path is None else origin_of(str(path)) == "user"


def modules_of(function: Function, packages: Sequence[str] = (), args: Sequence[object] = ()) -> list[ModuleType]:
    """The function's module, the user's modules that it and its arguments use, and the loaded ones of packages."""
    found: dict[str, ModuleType] = {}
    near = near_functions(function, tuple(args))
    todo = [module for each in near if (module := _module_of(each)) is not None and not _is_pythons(module)]
    todo += [module for name, module in list(sys.modules.items()) if in_packages(name, packages)]
    while todo:
        module = todo.pop()
        if module.__name__ in found:
            continue
        found[module.__name__] = module
        for value in list(vars(module).values()):
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            used = sys.modules.get(name) if isinstance(name, str) else None
            if used is not None and used.__name__ not in found and isinstance(used, ModuleType) and is_users(used):
                todo.append(used)
    return list(found.values())


def _is_pythons(module: ModuleType) -> bool:
    """Is it of the standard library? A decorator of `unittest.mock`, say, may be around what is the user's."""
    path = vars(module).get("__file__")
    return path is not None and origin_of(str(path)) == "python"


def in_packages(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def near_functions(*values: object) -> list[FunctionType]:
    """The functions that values lead to by closures, methods, partial calls and classes: those of local code."""
    found: list[FunctionType] = []
    seen: set[int] = set()
    todo = list(values)
    while todo and len(seen) < _MOST_NEAR:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, FunctionType):
            ours = origin_of(value.__code__.co_filename) == "porcini"  # around what it calls
            found += [] if ours else [value]
            todo += [value.__defaults__, value.__kwdefaults__, getattr(value, "__wrapped__", None)]
            if not ours and _module_of(value) is None:
                todo += _defined_in(value.__globals__)
            for cell in value.__closure__ or ():
                with contextlib.suppress(ValueError):
                    todo.append(cell.cell_contents)
        elif isinstance(value, MethodType):
            todo += [value.__func__, value.__self__]
        elif isinstance(value, functools.partial):
            todo += [value.func, value.args, value.keywords]
        elif isinstance(value, staticmethod | classmethod):
            todo.append(value.__func__)
        elif isinstance(value, property):
            todo += [value.fget, value.fset, value.fdel]
        elif isinstance(value, tuple | list):
            todo += value
        elif isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, type):
            if _of_user(value):
                todo += [*vars(value).values(), *value.__bases__]
        elif _of_user(type(value)):
            todo.append(type(value))
    return found


def _of_user(cls: type) -> bool:
    module = sys.modules.get(cls.__module__)
    return module is None or (isinstance(module, ModuleType) and is_users(module))


def _module_of(function: FunctionType) -> ModuleType | None:
    """The module in whose namespace a function was defined; None for code that was executed elsewhere."""
    module = sys.modules.get(function.__module__ or "")
    return module if isinstance(module, ModuleType) and vars(module) is function.__globals__ else None


def _defined_in(namespace: dict[str, Any]) -> list[object]:
    return [
        value
        for value in list(namespace.values())
        if (isinstance(value, FunctionType) and value.__globals__ is namespace)
        or (isinstance(value, type) and value.__module__ == namespace.get("__name__"))
    ]


@contextlib.contextmanager
def instrumented(
    function: Function, args: Sequence[object] = (), packages: Sequence[str] = ()
) -> Iterator[list[ModuleType]]:
    """While this is open, the code that a function uses runs instrumented, as far as its source is known."""
    with contextlib.ExitStack() as stack:
        modules = modules_of(function, packages, args)
        names = {module.__name__ for module in modules}
        near = [f for f in near_functions(function, tuple(args)) if f.__module__ in names or not _module_of(f)]
        for module in modules:
            stack.callback(hook.instrument_loaded(module))
        stack.callback(hook.instrument_functions(near))
        stack.enter_context(hook.instrumented_asyncio())
        stack.enter_context(hook.import_hook(packages))
        _warm_up()
        yield modules


def _warm_up() -> None:
    """asyncio remembers which types are coroutines: let no run be the first to ask."""

    async def nothing() -> None: ...

    coroutine = nothing()
    asyncio.iscoroutine(coroutine)
    coroutine.close()


# A session ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Session:
    """Instrumented code, guarded and recorded."""

    function: Function
    args: tuple[object, ...]
    recorder: Recorder
    guarding: Guarding
    following: Following
    modules: tuple[ModuleType, ...] = ()
    packages: tuple[str, ...] = ()
    programs: list[SteadyProgram] = field(default_factory=list)

    def program(self, mode: Mode = "any") -> SteadyProgram:
        """The function as a program to explore."""
        seen = functools.partial(call_later, number=OUTSIDE)
        program = AioProgram(
            self.function, self.args, mode, self.recorder, rules.is_instrumented, seen=seen, shows=read_outcome
        )
        program.possible = self.guarding.faults.possible()
        anew = self.guarding.guards.made_anew
        holder = _holding(self.function, self.args, without=anew)
        steady = SteadyProgram(
            program,
            self.guarding,
            self.recorder,
            lambda: Snapshot(filter(is_users, self.modules), vars(holder), holder.__module__),
            (lambda: self.recorder.learn_for_run(_holding(self.function, self.args))) if anew else None,
            self.packages,
            self.following,
        )
        self.programs.append(steady)
        return steady


@contextlib.contextmanager
def session(
    function: Function,
    *,
    args: Sequence[object] = (),
    packages: Sequence[str] = (),
    guards: Guards | None = None,
    recorder: Recorder | None = None,
    faults: Faults | None = None,
) -> Iterator[Session]:
    """Instrument, guard and record; everything is as it was when it is left."""
    check(function)
    recorder = recorder or Recorder()
    _bound(function, args)
    with instrumented(function, args, packages) as modules, hook.recording(recorder):
        recorder.learn(*modules, *near_functions(function), _holding(function, args))
        with (
            contextlib.closing(Following(name_of(function), recorder, packages)) as following,
            Guarding(guards or Guards(), faults) as guarding,
            Staying(),
        ):
            opened = Session(function, tuple(args), recorder, guarding, following, tuple(modules), tuple(packages))
            try:
                yield opened
            finally:
                for program in opened.programs:
                    program.leave()


def _holding(function: Function, args: Sequence[object], without: Sequence[str] = ()) -> FunctionType:
    """A function with the arguments as its attributes, by which the recorder finds names for them."""
    inner: Any = function
    held: dict[str, object] = {}
    given = list(args)
    while isinstance(inner, functools.partial):
        held = {**inner.keywords, **held}
        given = [*inner.args, *given]
        inner = inner.func
    with contextlib.suppress(TypeError, ValueError):
        held = {**inspect.signature(inner).bind_partial(*given).arguments, **held}
        given = []
    held |= {f"argument{number}": value for number, value in enumerate(given)}
    if isinstance(inner, MethodType):
        held["self"] = inner.__self__
    holder = types.FunctionType((lambda: None).__code__, {}, "arguments")
    holder.__module__ = getattr(inner, "__module__", "")
    holder.__qualname__ = "arguments"
    holder.__dict__.update((name, value) for name, value in held.items() if name not in without)
    return holder
