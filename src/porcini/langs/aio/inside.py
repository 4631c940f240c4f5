"""Which loop is the running one: that of a run while its code runs, and none for what happens between runs."""

from __future__ import annotations

import sys
from asyncio import events
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from porcini.langs.aio.loop import ControlledLoop


class Inside:
    """While code of a run runs: its loop is the running one, and hears of asynchronous generators."""

    __slots__ = ("_loop", "_outer")

    def __init__(self, loop: ControlledLoop) -> None:
        self._loop = loop

    def __enter__(self) -> None:
        if not Staying.open:
            self._outer = _around()
        elif Staying.inside is self._loop:
            return
        else:
            Staying.inside = self._loop
        _become(self._loop, self._loop.hooks)

    def __exit__(self, kind: type | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        if not Staying.open:
            _become(*self._outer)


class Staying:
    """While this is open, the loop of a run stays the running one between its steps: each change costs a system
    call, in some versions of Python, which is a lot for a step."""

    open = False
    inside: ControlledLoop | None = None

    def __enter__(self) -> None:
        self._outer = _around()
        self._was = Staying.open, Staying.inside
        Staying.open, Staying.inside = True, None

    def __exit__(self, kind: type | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        Staying.open, Staying.inside = self._was
        _become(*self._outer)


@contextmanager
def between_runs() -> Iterator[None]:
    """No loop is running: code that is called here may run one of its own."""
    before = _around()
    _become(None, (None, None))
    try:
        yield
    finally:
        _become(*before)


def _around() -> tuple[Any, Any]:
    return events._get_running_loop(), sys.get_asyncgen_hooks()


def _become(loop: Any, hooks: Any) -> None:
    events._set_running_loop(loop)
    sys.set_asyncgen_hooks(*hooks)
