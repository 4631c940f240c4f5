"""A function and how it is to be run; and what to paste to run it so once more."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from types import FunctionType
from typing import Any

from porcini.core.events import Schedule
from porcini.core.reports import Advice, Coverage
from porcini.coroutines.faults import Faults
from porcini.coroutines.guards import Guards
from porcini.coroutines.session import Function, Session, name_of, session, was_named
from porcini.formats.schedules import show_schedule
from porcini.formats.sources import short_path
from porcini.langs.aio.loop import Mode
from porcini.langs.aio.recorder import Recorder
from porcini.langs.aio.telling import Telling

NO_FAULTS = Faults()
_SCALARS = (int, float, str, bytes, bool, type(None))


@dataclass(frozen=True, slots=True)
class Setup:
    """A coroutine function with its arguments, and how it is run."""

    function: Function
    args: tuple[object, ...] = ()
    mode: Mode = "any"
    packages: tuple[str, ...] = ()
    guards: Guards | None = None
    faults: Faults = NO_FAULTS

    @contextlib.contextmanager
    def telling(self) -> Iterator[Session]:
        """A session that records everything, with values."""
        with self.session(Telling()) as opened:
            yield opened

    def session(self, recorder: Recorder | None = None) -> AbstractContextManager[Session]:
        """A session for this function."""
        return session(
            self.function,
            args=self.args,
            packages=self.packages,
            guards=self.guards,
            recorder=recorder,
            faults=self.faults,
        )


def lines_to_paste(setup: Setup, schedules: Sequence[Schedule]) -> Iterator[str]:
    """For the shell if a new process can find the function, else for the script that knows it."""
    name, function = name_of(setup.function), setup.function
    place = _importable_from(function)
    for schedule in schedules:
        text = show_schedule(schedule)
        if place is None or setup.args or setup.guards not in (None, Guards(), Guards(suspend=False)):
            yield f'porcini.replay({_shown(function)}, "{text}"{_keywords(setup)})'
            continue
        options = "--mode fifo " if setup.mode == "fifo" else ""
        options += f"--packages {shlex.quote(','.join(setup.packages))} " if setup.packages else ""
        options += "--no-suspend " if setup.guards == Guards(suspend=False) else ""
        options += "".join(f"--errors {shlex.quote(str(error))} " for error in setup.faults.errors)
        there = f"cd {shlex.quote(place)} && " if place else ""
        yield f'{there}porcini replay {name} {options}"{text}"'


def lines_to_try(setup: Setup, coverage: Coverage) -> Iterator[str]:
    """The command by which a search that hit a limit may come to an answer, if the shell can find the function."""
    place = _importable_from(setup.function)
    if coverage.unfinished is None or place is None or setup.args or setup.guards not in (None, Guards()):
        return
    packages = dict.fromkeys(setup.packages)
    for advice in coverage.unfinished.advice:
        if advice == "follow":
            packages |= dict.fromkeys(coverage.packages)
        options = f"--packages {shlex.quote(','.join(packages))} " if packages else ""
        options += "--mode fifo " if setup.mode == "fifo" else ""
        options += _TO_TRY.get(advice, "")
        if advice in ("follow", *_TO_TRY):
            there = f"cd {shlex.quote(place)} && " if place else ""
            yield f"{_WHY[advice]}: {there}porcini explore {name_of(setup.function)} {options}".rstrip()


_TO_TRY: dict[Advice, str] = {"longer": "--timeout 600", "sample": "--engine pct --max-executions 1000"}
_WHY: dict[Advice, str] = {
    "follow": "to follow what is opaque",
    "longer": "to go on for longer",
    "sample": "to look for failures without a proof",
}


def _shown(function: Any) -> str:
    return function.__qualname__.rpartition("<locals>.")[2] if isinstance(function, FunctionType) else "function"


def _keywords(setup: Setup) -> str:
    given: list[str] = []
    if setup.args:
        plain = all(isinstance(arg, _SCALARS) for arg in setup.args)
        given.append(f"args={setup.args!r}" if plain else "args=(...)")
    given += [f'mode="{setup.mode}"'] if setup.mode != "any" else []
    given += [f"packages={list(setup.packages)!r}"] if setup.packages else []
    errors = [f'{error.raises.__qualname__}: "{error.target}"' for error in setup.faults.errors]
    given += [f"errors={{{', '.join(errors)}}}"] if errors else []
    given += [f"guards=porcini.{setup.guards!r}"] if setup.guards not in (None, Guards()) else []
    return "".join(f", {text}" for text in given)


def _importable_from(function: Any) -> str | None:
    """The folder in which `porcini replay module:function` finds a function: empty for here, None for nowhere."""
    if was_named(function):
        return ""
    module = sys.modules.get(function.__module__ or "") if isinstance(function, FunctionType) else None
    file = vars(module).get("__file__") if module is not None else None
    if module is None or file is None or module.__name__ == "__main__":
        return None
    try:
        found = attrgetter(function.__qualname__)(module)
    except AttributeError:
        return None
    if found is not function:
        return None
    parents = len(module.__name__.split(".")) - (Path(file).name != "__init__.py")
    root = Path(file).resolve().parents[parents]
    known = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), sysconfig.get_path("purelib")]
    if root == Path.cwd() or root in {Path(path).resolve() for path in known if path}:
        return ""
    return short_path(str(root)) if str(root) in sys.path else None
