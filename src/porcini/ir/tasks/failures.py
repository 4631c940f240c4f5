"""How a task fails: run-time errors of the program under test, not of Porcini."""

from __future__ import annotations

import sys

from porcini.core.errors import LimitHit
from porcini.core.events import FailureKind
from porcini.ir.program import Template

MOST_ITERATIONS = 100_000


class Failed(Exception):
    """A task cannot go on because of a run-time error of the program."""

    kind: FailureKind = "error"


class Refuted(Failed):
    """An assertion does not hold."""

    kind = "assertion"


FAILURES = (Failed, ZeroDivisionError)


def too_deep() -> LimitHit:
    return LimitHit(f"the limit of {sys.getrecursionlimit():,} nested calls")


def waits_inside(method: Template) -> LimitHit:
    line = method.place.line if method.place else 0
    return LimitHit(
        f"the subset of ABS: `{method.name}` (line {line}) may wait and is called synchronously within its group"
    )


def again(count: int) -> int:
    """Count one more iteration of a loop."""
    if count >= MOST_ITERATIONS:
        raise LimitHit(f"the limit of {MOST_ITERATIONS:,} iterations of a loop within one step")
    return count + 1


def message_of(problem: Exception) -> str:
    """The message of a failure."""
    return "division by zero" if isinstance(problem, ZeroDivisionError) else str(problem)
