"""Fakes that take their time. An `AsyncMock` answers without letting anybody else go, which no server does: code
that is wrong only while it waits for one would pass. So does a coroutine function that a test puts in the place of
another one, by `monkeypatch` or `mock.patch`, and that awaits nothing. While a run is under way, what is called is
told at once, and the answer comes later: another task may go first, or not. Both are orders of mode `any`.

To go on at once after having been suspended is the same as not to be suspended: nobody can tell. (Two can: who
cancels itself hears of it where it is suspended, and a task that starts eagerly comes back to its maker. There
only the answer that comes later is tried.)
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from porcini.coroutines.clocks import Watch, followed
from porcini.coroutines.failing import awaited

_Undo = Callable[[], object]


def replace_mocks() -> Iterator[_Undo]:
    """Let every `AsyncMock` suspend before it answers."""
    mock: Any = sys.modules.get("unittest.mock")
    if mock is not None:
        real = mock.AsyncMockMixin._execute_mock_call
        yield partial(setattr, mock.AsyncMockMixin, "_execute_mock_call", real)
        mock.AsyncMockMixin._execute_mock_call = _suspending_mock(real)


def _suspending_mock(real: Any) -> Any:
    async def _execute_mock_call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        loop = Watch.loop()
        if loop is None or loop.mode != "any":
            return await real(self, *args, **kwargs)
        try:
            answer = await real(self, *args, **kwargs)
        except Exception:
            await asyncio.sleep(0)
            raise
        await asyncio.sleep(0)
        return answer

    return followed(_execute_mock_call)


def suspending(function: Any) -> Any:
    """A fake that lets others go before its answer is there, unless it has done so itself; other things as they
    are."""
    if not inspect.iscoroutinefunction(function) or getattr(function, _MARK, False):
        return function

    @functools.wraps(function)
    async def answers_later(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        loop = Watch.loop()
        if loop is None or loop.mode != "any":
            return await awaited(function, *args, **kwargs)
        process = loop.current
        steps = process.steps
        try:
            answer = await awaited(function, *args, **kwargs)
        except Exception:
            if process.steps == steps:
                await asyncio.sleep(0)
            raise
        if process.steps == steps:
            await asyncio.sleep(0)
        return answer

    setattr(answers_later, _MARK, True)
    return followed(answers_later)


_MARK = "_porcini_suspends"
