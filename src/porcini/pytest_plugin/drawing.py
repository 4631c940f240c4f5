"""Tests with `@given`: Hypothesis draws the data, Porcini the order of steps. Each example is explored; the one
that Hypothesis ends with is shown with its schedule."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from porcini.core.errors import InputError
from porcini.pytest_plugin.life import Life

Explore = Callable[[Callable[..., Any]], BaseException | None]
"""What to raise for a coroutine function, if anything."""


def is_drawn(item: pytest.Function) -> bool:
    """Is it an async test that gets its data from Hypothesis?"""
    inner = getattr(getattr(item.obj, "hypothesis", None), "inner_test", None)
    return inspect.iscoroutinefunction(inner)


def explore_examples(item: pytest.Function, life: Life, explore: Explore) -> BaseException | None:
    """What to raise for a test that fails in some order, for some data."""
    if item.cls is not None or life.pending:
        what = "methods" if item.cls is not None else "tests with async fixtures"
        raise InputError(f"@given on {what} is not explored", hint="draw the data for a function without them")
    inner = item.obj.hypothesis.inner_test

    def explored(*args: Any, **drawn: Any) -> None:
        __tracebackhide__ = True
        given = {name: value for name, value in drawn.items() if name not in life.arguments}
        problem = explore(partial(inner, *args, **given))
        if problem is not None:
            raise problem

    with _called_instead(item.obj, explored):
        try:
            item.obj(**life.arguments)
        except (KeyboardInterrupt, InputError):
            raise
        except BaseException as problem:
            return problem
    return None


@contextmanager
def _called_instead(test: Any, function: Callable[..., None]) -> Iterator[None]:
    """While this is open, Hypothesis calls another function, which may take its time and sees to its fixtures. It
    does not explain failures: for that it would trace each line of every schedule, which takes ten times as long,
    and name lines of ours."""
    from hypothesis import HealthCheck, Phase, settings

    before, usual = test.hypothesis.inner_test, test._hypothesis_internal_use_settings
    calm = [*usual.suppress_health_check, HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    test.hypothesis.inner_test = function
    phases = [phase for phase in usual.phases if phase is not Phase.explain]
    test._hypothesis_internal_use_settings = settings(
        usual, deadline=None, suppress_health_check=calm, phases=phases
    )
    try:
        yield
    finally:
        test.hypothesis.inner_test, test._hypothesis_internal_use_settings = before, usual
