"""Seeded bugs in how faults are found and struck: what `langs/aio/striking` relies on, left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from porcini.coroutines import code, guards
from porcini.langs.aio.loop import ControlledLoop
from porcini.langs.aio.processes import Process
from porcini.langs.aio.program import AioRun
from porcini.langs.aio.striking import FAULTS, NO_FAULTS, Striking, rank

PutIn = Callable[[], AbstractContextManager[object]]


def _ticks_meet_none(self: AioRun, real: Any = AioRun._advance) -> Any:
    faults, self.faults, self.loop.faults = self.faults, None, None
    try:
        return real(self)
    finally:
        self.faults = self.loop.faults = faults


def _nobody_is_woken(self: Striking, process: Process) -> None:
    del self.held[process]
    process.task.cancel()
    self._cancelled[process, process.steps, self.ticks] += 1
    self.hold(process)


def _first_call_only(self: Striking, errors: Any, real: Any = Striking.raises) -> int | None:
    return None if self._calls else real(self, errors)


def _unplanned_ones_of_the_first(program: Any, faults: Any) -> Iterator[Any]:
    """As `plans`, from what is met without faults only."""
    level = [NO_FAULTS]
    first: list[Any] = []
    for number in range(faults.max_faults + 1):
        for plan in level:
            program.plan, program.possible.noted = plan, set() if number == 0 else None
            yield 0, 1
            first += sorted(program.possible.noted or (), key=rank)
        level = list(dict.fromkeys(plan.extended(f) for plan in level for f in first if f not in plan))


def _cancellations_first(self: AioRun, real: Any = AioRun.actions) -> Any:
    """The cancellation comes right after the step that brings the task to its await."""
    actions = real(self)
    return [action for action in actions if action.pid[:1] == FAULTS] or actions


FAULT_MUTANTS: list[tuple[str, PutIn, int]] = [
    ("the clock meets no faults", lambda: patch.object(AioRun, "_advance", _ticks_meet_none), 100),
    (
        "timers fire early where they are made only",
        lambda: patch.object(ControlledLoop, "_fire_early", lambda self: None),
        100,
    ),
    ("who is held back is not woken", lambda: patch.object(Striking, "_cancel", _nobody_is_woken), 2),
    ("the first call of a step only", lambda: patch.object(Striking, "raises", _first_call_only), 77),
    ("faults of runs without faults only", lambda: patch.object(code, "plans", _unplanned_ones_of_the_first), 289),
    ("tasks are cancelled at once", lambda: patch.object(AioRun, "actions", _cancellations_first), 28),
    ("what is replaced answers at once", lambda: patch.object(guards, "suspending", lambda value: value), 12),
]
