"""The life of a test around each of its runs: pytest sets it up, and tears it down, as often as it is run.

What pytest has set up before it calls a test is torn down at once, and then each run is set up by pytest itself: a
new object of the test's class, `setup_method` and its kin, and all fixtures for one function, whoever wrote them.
Fixtures with a wider scope stay. `tmp_path` is the same folder each time, and empty: a path that differs from run
to run would make runs differ.

Async fixtures cannot be made before a run, since they belong on its loop. pytest gets an `AsyncFixture` for each,
and the coroutine that is explored makes it first (`cases`).
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

LIFE = pytest.StashKey["Life"]()
_RUNNER = "_function_scoped_runner"
"""pytest-asyncio makes a loop by this fixture. No run needs it, and it is dear."""


@dataclass(frozen=True, slots=True, eq=False)
class AsyncFixture:
    """One that a run has to make: its function, and what that gets, other async fixtures included."""

    name: str
    function: Callable[..., Any]
    given: dict[str, Any]


class Life:
    """What pytest does around one test. It is made before pytest sets the test up for the first time."""

    def __init__(self, item: pytest.Function) -> None:
        self._item = item
        self._restore: list[Callable[[], None]] = []
        self._up, self._taken_over = True, False
        self.pending: list[AsyncFixture] = []
        """The async fixtures of the next run, in the order in which they are to be made."""
        for definition in _definitions(item):
            if waits(definition):
                self._replace(definition, partial(self._promise, definition, definition.func))
        for definition in item.session._fixturemanager.getfixturedefs(_RUNNER, item) or ():
            self._replace(definition, lambda **_: None)

    def _replace(self, definition: Any, function: Callable[..., Any]) -> None:
        self._restore.append(partial(setattr, definition, "func", definition.func))
        definition.func = function

    def _promise(self, definition: Any, function: Callable[..., Any], **given: Any) -> AsyncFixture:
        if inspect.ismethod(function):  # one object of a test's class for each run
            function = function.__func__.__get__(self._item.instance)
        fixture = AsyncFixture(definition.argname, function, given)
        self.pending.append(fixture)
        return fixture

    def restore(self) -> None:
        """Leave fixtures as they were, for other tests."""
        while self._restore:
            self._restore.pop()()

    # runs -----------------------------------------------------------------------------------------------------

    def take_over(self) -> None:
        """From here on, each run has a setup and a teardown of its own. The test is left with the arguments that
        pytest has made, by which its code is found."""
        if self._taken_over:
            return
        self._taken_over = True
        made = self._made()
        self.made_anew = tuple(name for name, definition in made.items() if definition.scope == "function")
        self.looks_back = any(map(_looks_back, made.values()))
        self._repeats = bool(self.made_anew) or self._item.cls is not None
        if self._repeats:
            folder = made["tmp_path"].cached_result[0] if "tmp_path" in made else None
            self.give_up()
            if folder is not None:
                self._replace(made["tmp_path"], partial(_emptied, folder))

    def _made(self) -> dict[str, Any]:
        made: dict[str, Any] = self._item._request._fixture_defs
        return made

    @property
    def arguments(self) -> dict[str, Any]:
        """What the test gets."""
        return {name: self._item.funcargs[name] for name in self._item._fixtureinfo.argnames}

    def set_up(self) -> None:
        """A run is about to begin."""
        if self._up or not self._repeats:
            return
        item: Any = self._item
        self.pending.clear()
        item._initrequest()
        if item.cls is not None:
            vars(item).pop("_instance", None)
            item._obj = None
        self._up = True
        item.session._setupstate.setup(item)
        if "caplog" in self._made():
            item.funcargs["caplog"].clear()

    def tear_down(self) -> None:
        """A run is over. What is raised here is how it ended."""
        item: Any = self._item
        if self._up and self._repeats:
            self._up = False
            item.session._setupstate.teardown_exact(item.parent)

    def give_up(self) -> None:
        """Tear down what was set up for a run that did not come to its end: that says nothing about the test."""
        try:
            self.tear_down()
        except KeyboardInterrupt:
            raise
        except BaseException:  # of which pytest's own ways to end a test are some
            return


def _definitions(item: pytest.Function) -> list[Any]:
    """The fixtures that a test asks for, or that these ask for, and those that it gets without asking."""
    found: dict[str, Any] = {}
    todo = [*item._fixtureinfo.argnames, *item._fixtureinfo.initialnames]
    while todo:
        name = todo.pop()
        if name not in found:
            for definition in item._fixtureinfo.name2fixturedefs.get(name, ())[-1:]:
                found[name] = definition
                todo += definition.argnames
    return list(found.values())


def waits(definition: Any) -> bool:
    """Is it an async fixture?"""
    function = inspect.unwrap(definition.func)
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def refusal_of(item: pytest.Function) -> str | None:
    """Why the async fixtures of a test cannot be made for each run, if they cannot."""
    asked = _definitions(item)
    waiting = {definition.argname for definition in asked if waits(definition)}
    for definition in asked:
        name = definition.argname
        if name in waiting and definition.scope != "function":
            return (
                f"`{name}` is an async fixture for a {definition.scope}. Each schedule has a loop of its own, on "
                'which it has to be made: give it the scope "function"'
            )
        taken = sorted(waiting.intersection(definition.argnames))
        if taken and name not in waiting:
            return (
                f"the fixture `{name}` takes the async fixture `{taken[0]}`, which is made when the test is run: "
                f"define `{name}` by `async def`, too"
            )
    return None


def _looks_back(definition: Any) -> bool:
    """Does a fixture do something after the test that may depend on what the test has done? Those of pytest do
    not, except for `teardown_method` and its kin, which are made into fixtures."""
    function = inspect.unwrap(definition.func)
    ours = function.__module__.startswith("_pytest.") and "xunit" not in definition.argname
    return bool(definition.scope == "function" and inspect.isgeneratorfunction(function) and not ours)


def _emptied(folder: Path, **_: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for inner in folder.iterdir():
        if inner.is_dir() and not inner.is_symlink():
            shutil.rmtree(inner)
        else:
            inner.unlink()
    return folder
