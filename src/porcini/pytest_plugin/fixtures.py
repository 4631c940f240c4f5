"""Fixtures for one schedule after the other: what a test gets is as new in each run.

pytest makes fixtures once for a test, and the first run gets those. Before each run after it, the fixtures that
are for one test, and that the user wrote, are torn down and made anew. Those of pytest and of plugins,
asynchronous ones, those that take `request`, and what any of these is made from, stay as they are.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from operator import methodcaller
from typing import Any

import pytest

from porcini.coroutines.session import is_users

_clear, _read = methodcaller("clear"), methodcaller("readouterr")
_EMPTIED = {"caplog": _clear, "recwarn": _clear, "capsys": _read, "capfd": _read}
"""Fixtures of pytest's that collect what a test does: each run begins with nothing in them."""


class Fixtures:
    """The fixtures of one test; `arguments` are what the next run is to get."""

    def __init__(self, item: pytest.Function) -> None:
        self._item = item
        self._request: Any = item._request
        self._definitions = _made_anew(self._request._fixture_defs)
        self._open: list[Iterator[object]] | None = None
        self._runs = 0
        self.arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
        self.made_anew = tuple(name for name in self.arguments if name in self._definitions)

    def start_run(self) -> None:
        """A run is about to begin."""
        for name, empty in _EMPTIED.items():
            if name in self.arguments:
                empty(self.arguments[name])
        self._runs += 1
        if self._runs > 1 and self._definitions:
            self.tear_down()
            self._open = []
            values: dict[str, Any] = {}
            for name, definition in self._definitions.items():  # in the order in which pytest made them
                values[name] = self._made(definition, values)
            self.arguments.update((name, values[name]) for name in self.made_anew)

    def tear_down(self) -> None:
        """What the last run got is not used any more. If there was one run only, pytest sees to what it made."""
        if self._open is None and self._runs > 1:
            for definition in reversed(self._definitions.values()):
                definition.finish(self._request)
        while self._open:
            for _ in self._open.pop():
                raise RuntimeError("a fixture yields twice")

    def _made(self, definition: Any, values: dict[str, Any]) -> Any:
        function = definition.func
        if inspect.ismethod(function):  # one object of a test's class for each test
            function = function.__func__.__get__(self._item.instance)
        made = function(
            **{
                name: values[name] if name in values else self._request.getfixturevalue(name)
                for name in definition.argnames
            }
        )
        if not inspect.isgeneratorfunction(inspect.unwrap(function)):
            return made
        assert self._open is not None
        self._open.append(made)
        return next(made)


def _made_anew(definitions: dict[str, Any]) -> dict[str, Any]:
    """To tear one down tears down what was made from it: that must be made anew, too."""
    anew = {name: definition for name, definition in definitions.items() if _can_be_made_anew(definition)}
    stay = [definition for name, definition in definitions.items() if name not in anew]
    while stay:
        definition = stay.pop()
        stay += [anew.pop(name) for name in definition.argnames if name in anew]
    return anew


def _can_be_made_anew(definition: Any) -> bool:
    function = inspect.unwrap(definition.func)
    module = inspect.getmodule(function)
    waits = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    own = module is not None and is_users(module)
    for_itself = {"request", definition.argname}.isdisjoint(definition.argnames)  # or it overrides its own name
    return bool(definition.scope == "function" and own and not waits and for_itself)
