"""Mocks that take their time. An `AsyncMock` answers without letting anybody else go, which no server does: code
that is wrong only while it waits for one would pass. While a run is under way, what is called is told at once, and
the answer comes later: another task may go first, or not. Both are orders of mode `any`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from porcini.coroutines.clocks import Watch, followed

_Undo = Callable[[], object]


def replace_mocks() -> Iterator[_Undo]:
    """Let every `AsyncMock` suspend before it answers."""
    mock: Any = sys.modules.get("unittest.mock")
    if mock is not None:
        real = mock.AsyncMockMixin._execute_mock_call
        yield partial(setattr, mock.AsyncMockMixin, "_execute_mock_call", real)
        mock.AsyncMockMixin._execute_mock_call = _suspending(real)


def _suspending(real: Any) -> Any:
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
