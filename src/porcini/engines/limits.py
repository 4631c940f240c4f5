"""When to stop: bounds that a user sets, and how an engine notices that it hit one."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from porcini.core.errors import InputError, LimitHit

DEFAULT_DEPTH = 100_000
DEFAULT_STATES = 2_000_000
DEFAULT_SYMBOLIC_DEPTH = 200
DEFAULT_SOLVER_TIMEOUT = 5.0

BETWEEN_LOOKS = 64
"""How many states a search that keeps states visits between two checks of the clock."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a search. None means no bound, or for the depth a large one.

    With a depth limit that the user set, a search goes on after a run that is cut. A search that reaches the
    default limit has met a program that does not end, and stops.
    """

    max_executions: int | None = None
    max_depth: int | None = None
    timeout: float | None = None
    max_states: int | None = None
    usual_depth: int = DEFAULT_DEPTH
    """The depth limit if `max_depth` is None."""

    def __post_init__(self) -> None:
        bounds = {
            "max_executions": self.max_executions,
            "max_depth": self.max_depth,
            "max_states": self.max_states,
        }
        for name, value in bounds.items():
            if value is not None and value < 1:
                raise InputError(f"`{name}` must be at least 1, not {value}")

    @property
    def states(self) -> int:
        """How many states a search may keep."""
        return DEFAULT_STATES if self.max_states is None else self.max_states

    @property
    def depth(self) -> int:
        return self.usual_depth if self.max_depth is None else self.max_depth

    def clock(self) -> Clock:
        return Clock(self.timeout)


@dataclass(slots=True)
class Clock:
    """Measures a search and ends it in time."""

    timeout: float | None
    started: float = field(default_factory=monotonic)

    @property
    def seconds(self) -> float:
        return monotonic() - self.started

    def check(self) -> None:
        if self.timeout is not None and self.seconds > self.timeout:
            raise LimitHit(f"the time limit of {self.timeout:g} s")
