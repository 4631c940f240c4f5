"""Installed packages are followed as they are met.

While a first run goes on, Python tells of every call (`sys.setprofile`), and so of every module whose code the
steps run through. The functions and classes of installed packages that were met are then instrumented, for as
long as the session is open, and in later sessions of the same function at once: what explains a run must see
what the search saw. Somebody who names packages narrows it to those, with all of their modules that are loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType, ModuleType
from typing import Any

from porcini.core.origins import origin_of
from porcini.coroutines.caches import Caches
from porcini.langs.aio import hook, rules
from porcini.langs.aio.recorder import Recorder

_TOOLS = frozenset(
    {"_pytest", "pytest", "pluggy", "hypothesis", "pytest_asyncio", "coverage", "debugpy"} | {"_distutils_hack"}
)
"""What runs around a test is not part of it."""
_LIBRARY: dict[str, frozenset[str]] = {
    **dict.fromkeys(("email", "http", "urllib.request"), frozenset()),
    "contextlib": frozenset(
        {"_BaseExitStack", "ExitStack", "AsyncExitStack", "AbstractContextManager", "AbstractAsyncContextManager"}
    ),
    "os": frozenset({"_Environ", "_createenviron", "getenv"}),
    "_collections_abc": frozenset(),
}
"""Modules of Python's own library that are followed, too, with the names in them, if it is not all: those of which
no table says what they do, and which we do not use ourselves while a step runs."""
Lines = dict[str, set[int]]
"""By module, the lines in which functions begin."""
_met: dict[str, Lines] = {}
"""By the name of a function, what was met in an earlier session."""


class Following:
    """The code of packages that is instrumented in a session."""

    def __init__(self, name: str, recorder: Recorder, packages: Sequence[str]) -> None:
        self.active = not packages
        self.modules: dict[str, ModuleType] = {}
        self._name = name
        self._recorder = recorder
        self._codes: dict[CodeType, dict[str, Any]] = {}
        self._followed: set[CodeType] = set()
        self._undo: list[Callable[[], None]] = []
        self.caches = Caches()
        if self.active:
            self._instrument(_met.get(name, {}))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While this is open, note which code runs. Somebody else who is told of calls goes first."""
        if not self.active or sys.getprofile() is not None:
            yield
            return
        codes = self._codes

        def called(frame: FrameType, event: str, argument: Any) -> None:
            if event == "call" and frame.f_code not in codes:
                codes[frame.f_code] = frame.f_globals

        sys.setprofile(called)
        try:
            yield
        finally:
            sys.setprofile(None)

    def follow(self) -> list[str]:
        """Instrument what was met since the last time, and is not yet; the names of these modules."""
        found: Lines = {}
        names = {id(vars(module)): name for name, module in _modules().items()}
        for code, namespace in self._codes.items():
            name = names.get(id(namespace), "")
            if code not in self._followed and not rules.is_instrumented(code):
                self._followed.add(code)
                if self._is_followed(code, name):
                    found.setdefault(name, set()).add(code.co_firstlineno)
        return self._instrument(_with_bases(found))

    def _instrument(self, lines: Lines) -> list[str]:
        if not lines:
            return []
        known = _met.setdefault(self._name, {})
        for name, numbers in lines.items():
            module = self.modules[name] = sys.modules[name]
            self._undo.append(hook.instrument_loaded(module, numbers))
            known[name] = known.get(name, set()) | numbers
        self._recorder.learn(*(self.modules[name] for name in lines))
        return list(lines)

    @staticmethod
    def _is_followed(code: CodeType, name: str) -> bool:
        if not name or name.partition(".")[0] in _TOOLS:
            return False
        origin = origin_of(code.co_filename)
        library = _LIBRARY.get(name, _LIBRARY.get(name.partition(".")[0]))
        if origin == "python" and library is not None:
            return not library or code.co_qualname.partition(".")[0] in library
        return origin == "installed"

    def give_up(self) -> None:
        """Follow no packages in this session, nor in later ones of the same function."""
        self.active = False
        self._undo_all()
        _met[self._name] = {}

    def close(self) -> None:
        self.caches.put_back()
        self._undo_all()

    def _undo_all(self) -> None:
        while self._undo:
            self._undo.pop()()


def _modules() -> dict[str, ModuleType]:
    return {name: module for name, module in list(sys.modules.items()) if isinstance(module, ModuleType)}


def _with_bases(lines: Lines) -> Lines:
    """With the classes from which those inherit that have some of these lines: operators may come from there."""
    found = {name: set(numbers) for name, numbers in lines.items()}
    for name, numbers in lines.items():
        for cls in [value for value in vars(sys.modules[name]).values() if isinstance(value, type)]:
            own = (f for f in hook.methods_of(cls) if f.__globals__ is vars(sys.modules[name]))
            if not numbers.isdisjoint(f.__code__.co_firstlineno for f in own):
                for function in (f for base in cls.__mro__[1:] for f in hook.methods_of(base)):
                    if origin_of(function.__code__.co_filename) == "installed":
                        lines_there = found.setdefault(function.__globals__.get("__name__", ""), set())
                        lines_there.add(function.__code__.co_firstlineno)
    return {name: numbers for name, numbers in found.items() if name in sys.modules}
