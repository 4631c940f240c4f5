"""The outcomes of an asyncio program in which things may go wrong: a judge of faults that tries them all.

As `judge`, with more to choose from at each moment, as long as faults are left:

    cancel      any task but the main one that has begun and is not done is cancelled
    cancel main the main task is, instead
    timeouts    any timer that is not of a sleep fires, whatever time it is; for its callback it is the time it
                waited for
    errors      a call of `pause` or `call` in the step that is taken raises an OSError
    suspend     a call of `pause` in the step waits for a moment; this is no fault, and may happen any time

Which calls a step makes is known when it was run: each that did nothing is tried again doing it. Nothing of this
knows about plans, about steps and ticks that are counted, or about tasks that are held back.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
from asyncio import events, futures
from collections.abc import Hashable
from typing import Any, NamedTuple

from conformance.coroutines.judge import _LONGEST, _RUNS_PER_COLLECTION, Main, NotRepeatable, _quiet, _Run
from conformance.oracle import Outcome, TooMany

KINDS = ("cancel", "timeouts", "errors", "suspend", "cancel main")
_sleeping: Any = futures._set_result_unless_cancelled  # type: ignore[attr-defined]


class Choice(NamedTuple):
    """What to do, of how many things that can be done, and which calls in the step do what they may."""

    chosen: int
    options: int
    calls: tuple[int, ...] = ()


class _Calls:
    """Of the run under way: which calls of the current step do what they may, and how many there were."""

    strike: tuple[int, ...] = ()
    number = 0


async def raising() -> None:
    """What `pause` is for `errors`."""
    struck = _does()
    await asyncio.sleep(0)
    if struck:
        raise OSError


def calling() -> None:
    """What `call` is for `errors`."""
    if _does():
        raise OSError


async def suspending() -> None:
    """What `pause` is for `suspend`."""
    if _does():
        await asyncio.sleep(0)


def _does() -> bool:
    _Calls.number += 1
    return _Calls.number - 1 in _Calls.strike


class _FaultyRun(_Run):
    """A run with so many faults left."""

    def __init__(self, main: Main, kind: str, most: int) -> None:
        super().__init__(main)
        self.kind = kind
        self.left = most

    def options(self) -> list[tuple[str, Any]]:
        """What can be done now. Nothing once the main task is done."""
        loop = self.loop
        if self.main.done():
            return []
        loop.waiting = [handle for handle in loop.waiting if not handle.cancelled()]
        loop.timers = [timer for timer in loop.timers if not timer.cancelled()]
        found: list[tuple[str, Any]] = [("go", handle) for handle in loop.waiting]
        if not found and loop.timers:
            found.append(("tick", None))
        if self.left and self.kind in ("cancel", "cancel main"):
            begun = [t for t in loop.tasks if inspect.getcoroutinestate(t.get_coro()) != inspect.CORO_CREATED]
            wanted = [task for task in begun if (task is self.main) == (self.kind == "cancel main")]
            found += [("cancel", task) for task in wanted if not task.done()]
        if self.left and self.kind == "timeouts":
            found += [("early", timer) for timer in loop.timers if timer._callback is not _sleeping]
        return found

    @property
    def stuck(self) -> bool:
        """Can nothing happen that is not a fault?"""
        return all(what in ("cancel", "early") for what, _ in self.options())

    def do(self, choice: Choice) -> None:
        options = self.options()
        if len(options) != choice.options:
            raise NotRepeatable(choice)
        what, whom = options[choice.chosen]
        _Calls.strike, _Calls.number = choice.calls, 0
        self.left -= len(choice.calls) if self.kind == "errors" else what in ("cancel", "early")
        self.steps += 1
        if self.steps > _LONGEST:
            raise TooMany
        self._act(what, whom)

    def _act(self, what: str, whom: Any) -> None:
        loop = self.loop
        if what == "tick":
            self.ready()
        elif what == "go":
            loop.waiting = [handle for handle in loop.waiting if handle is not whom]
            whom._run()
        elif what == "cancel":
            whom.cancel()
        else:
            loop.timers = [timer for timer in loop.timers if timer is not whom]
            now, loop.now = loop.now, max(loop.now, whom.when())
            whom._run()
            loop.now = now

    def otherwise(self, choice: Choice) -> list[Choice]:
        """The choice that was just made, with one more call that does what it may."""
        if self.kind == "errors" and not self.left:
            return []
        first = choice.calls[-1] + 1 if choice.calls else 0
        return [choice._replace(calls=(*choice.calls, call)) for call in range(first, _Calls.number)]


def outcomes(main: Main, kind: str, most_faults: int, most: int = 5_000) -> set[Outcome]:
    """How the runs of a program can end; `most` bounds the moments that have different futures."""
    found: set[Outcome] = set()
    seen: set[Hashable] = set()
    left: list[tuple[Choice, ...]] = [()]
    runs = 0
    with _quiet():
        while left:
            left += _search(_FaultyRun(main, kind, most_faults), left.pop(), seen, found)
            if len(seen) > most:
                raise TooMany
            runs += 1
            if runs % _RUNS_PER_COLLECTION == 0:
                gc.collect(0)
    return found


def _search(
    run: _FaultyRun, choices: tuple[Choice, ...], seen: set[Hashable], found: set[Outcome]
) -> list[tuple[Choice, ...]]:
    left: list[tuple[Choice, ...]] = []
    try:
        for choice in choices:
            run.do(choice)
        if choices:
            left += ((*choices[:-1], other) for other in run.otherwise(choices[-1]))
        while options := run.options():
            here = run.left, run.key()
            if here in seen:
                return left
            seen.add(here)
            if run.stuck:
                found.add(run.outcome())
            left += ((*choices, Choice(other, len(options))) for other in range(1, len(options)))
            choice = Choice(0, len(options))
            run.do(choice)
            left += ((*choices, other) for other in run.otherwise(choice))
            choices = (*choices, choice)
        found.add(run.outcome())
    finally:
        run.abandon()
        events._set_running_loop(None)
    return left
