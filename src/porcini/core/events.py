"""What a process may do next, and what it did: two types, never mixed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from porcini.core.errors import Place
from porcini.core.footprints import NOWHERE, Footprint, Location
from porcini.core.pids import Pid

FailureKind = Literal["assertion", "error"]


class Label(Protocol):
    """The name of a step; prints as text, and equal labels are the same step of the program."""

    def __str__(self) -> str: ...

    def __hash__(self) -> int: ...


class EventId(NamedTuple):
    """The index-th event of a process: the same event in every schedule of one class."""

    pid: Pid
    index: int  # type: ignore[assignment]  # the tuple's method of that name is not missed

    def __str__(self) -> str:
        return f"{self.pid}#{self.index}"


class Move(NamedTuple):
    """One entry of a schedule: which process goes, and by which of its choices."""

    pid: Pid
    choice: int = 0


Schedule = tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a process stopped: a failed assertion or a run-time error, and where."""

    kind: FailureKind
    message: str
    place: Place | None = None
    file: str | None = None
    """Where the place is, if not in the one file of the program."""


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """What a process may do next; its footprint over-approximates what it will do.

    A blocked process has an action too: it reads the guard that it waits for. `guard_locations` are the
    locations whose values settle whether it can go on, and by which step: where nobody writes those, it does
    the same thing. They may be others in another state: a reference or a branch leads to what else is looked
    at.
    """

    pid: Pid
    choice: int
    label: Label
    footprint: Footprint
    enabled: bool = True
    guard_locations: frozenset[Location] = NOWHERE
    awaits: frozenset[Location] = NOWHERE
    """What it reads only to know whether it can go on: once it can, no write of these stops it or changes it."""
    move: Move = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "move", Move(self.pid, self.choice))


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """What a process did. `spawned` are the processes that it created.

    `woke` are processes that could not have gone on before it: their next step comes after it, and is no race.
    A `barrier` comes after all that happened before and before all that follows: it is opaque, and races with
    nothing.
    """

    pid: Pid
    choice: int
    label: Label
    footprint: Footprint
    spawned: tuple[Pid, ...] = ()
    failure: Failure | None = None
    guard_locations: frozenset[Location] = NOWHERE
    woke: tuple[Pid, ...] = ()
    barrier: bool = False
    move: Move = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "move", Move(self.pid, self.choice))
