"""The coroutine function that is explored for a test: the test itself, or the test with what is awaited around it.

A method is that of the object that pytest has made for the run.

Async fixtures are made on the loop of the run, in the task of the test; `asyncSetUp` and `asyncTearDown` of a
`TestCase` are called there: what they do is explored like the test. All of them are torn down even if something
has failed, and the first failure counts.
"""

from __future__ import annotations

import functools
import inspect
import unittest
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from porcini.core.errors import InputError
from porcini.langs.aio import hook, rules
from porcini.langs.aio.sites import OUTSIDE
from porcini.pytest_plugin.life import AsyncFixture, Life

Function = Callable[..., Any]


def coroutine_function_of(item: pytest.Function, life: Life) -> Function:
    """What to explore for a test; its arguments are those of the test."""
    if isinstance(item.instance, unittest.TestCase):
        return _case(item)
    plain = item.cls is None and not life.pending
    return called_function(item) if plain else _with_fixtures(item, life)


def called_function(item: pytest.Function) -> Function:
    """What a test awaits: itself, or what a plain function is wrapped around, which only sees to the loop."""
    function: Function = item.obj
    inner: Any = inspect.unwrap(function)
    if inspect.iscoroutinefunction(function) or not inspect.iscoroutinefunction(inner):
        return function
    bound: Function = inner if item.instance is None or inspect.ismethod(inner) else inner.__get__(item.instance)
    return bound


def _named_after(item: pytest.Function, function: Function) -> Function:
    """For reports it is the test, and all that it does by itself is known."""
    named: Any = functools.update_wrapper(function, item.obj)
    named.__code__ = rules.mark_instrumented(named.__code__)
    return function


def _with_fixtures(item: pytest.Function, life: Life) -> Function:
    async def run(**arguments: Any) -> Any:
        __tracebackhide__ = True
        made: dict[int, Any] = {}
        opened: list[AsyncIterator[Any]] = []
        parts: list[Function] = [functools.partial(_make, fixture, made, opened) for fixture in life.pending]
        parts.append(lambda: called_function(item)(**_resolved(arguments, made)))
        return await _in_turn(parts, lambda: functools.partial(_close, opened.pop()) if opened else None)

    return _named_after(item, run)


def _resolved(given: dict[str, Any], made: dict[int, Any]) -> dict[str, Any]:
    return {name: made[id(v)] if isinstance(v, AsyncFixture) else v for name, v in given.items()}


async def _make(fixture: AsyncFixture, made: dict[int, Any], opened: list[AsyncIterator[Any]]) -> None:
    value = fixture.function(**_resolved(fixture.given, made))
    if inspect.isasyncgen(value):
        made[id(fixture)] = await anext(value)
        opened.append(value)
    else:
        made[id(fixture)] = await value


async def _close(generator: AsyncIterator[Any]) -> None:
    async for _ in generator:
        raise RuntimeError("an async fixture yields twice")


def _case(item: pytest.Function) -> Function:
    if getattr(item.obj, "__unittest_expecting_failure__", False):
        raise InputError("unittest.expectedFailure is not for marked tests", hint="use pytest.mark.xfail")

    async def run() -> Any:
        __tracebackhide__ = True
        case: Any = item.instance
        befores = _defined(case, "setUp", "asyncSetUp")
        afters: list[Function] = []

        def is_up() -> None:
            afters.extend(_defined(case, "tearDown", "asyncTearDown"))

        def next_after() -> Function | None:
            if afters:
                return afters.pop()
            if not case._cleanups:
                return None
            function, args, kwargs = case._cleanups.pop()
            return functools.partial(function, *args, **kwargs)

        return await _in_turn([*befores, is_up, item.obj], next_after)

    return _named_after(item, run)


def _defined(case: unittest.TestCase, *names: str) -> list[Function]:
    """Methods of a case, but for those of `unittest`, which do nothing."""
    own = [name for name in names if getattr(type(case), name, None) not in _EMPTY]
    return [getattr(case, name) for name in own]


_EMPTY = (
    None,
    unittest.TestCase.setUp,
    unittest.TestCase.tearDown,
    unittest.IsolatedAsyncioTestCase.asyncSetUp,
    unittest.IsolatedAsyncioTestCase.asyncTearDown,
)


async def _in_turn(parts: list[Function], next_after: Callable[[], Function | None]) -> Any:
    """Call functions until one fails, awaiting what is awaitable, and after that those that clean up."""
    __tracebackhide__ = True
    result, problem = None, None
    try:
        for part in parts:
            result = await _called(part)
    except GeneratorExit:
        raise  # the run is thrown away
    except BaseException as raised:
        problem = raised
    while (after := next_after()) is not None:
        try:
            await _called(after)
        except GeneratorExit:
            raise
        except BaseException as raised:
            problem = problem or raised
    if problem is not None:
        raise problem
    return result


async def _called(function: Function) -> Any:
    __tracebackhide__ = True
    value = globals()["@call_later"](function, OUTSIDE)()  # which records what that does
    return await value if inspect.isawaitable(value) else value


hook.prepare(globals(), __name__)
for _function in (_make, _close, _in_turn, _called):
    _function.__code__ = rules.mark_instrumented(_function.__code__)
