"""What a process may do next, and what it did: two types, never mixed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from porcini.core.errors import Place
from porcini.core.footprints import NOWHERE, Footprint, Location
from porcini.core.pids import Pid

FailureKind = Literal["assertion", "error"]


class Label(Protocol):
    """The name of a step: it prints as text, and equal labels denote the same step of the program."""

    def __str__(self) -> str: ...

    def __hash__(self) -> int: ...


class EventId(NamedTuple):
    """The index-th event of a process: the same event in every schedule of one class."""

    pid: Pid
    index: int  # type: ignore[assignment]  # it hides the tuple's method of the same name, which is not needed

    def __str__(self) -> str:
        return f"{self.pid}#{self.index}"


class Move(NamedTuple):
    """One entry of a schedule: which process moves, and by which of its choices."""

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
    """The file that `place` refers to, if the program has more than one."""


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """What a process may do next; its footprint over-approximates what it will do.

    A blocked process has an action too: it reads the guard that it waits for. `guard_locations` are the
    locations whose values determine whether the process can go on, and by which step: as long as nobody writes
    them, it does the same thing. They may differ in another state, where a reference or a branch leads to other
    locations.
    """

    pid: Pid
    choice: int
    label: Label
    footprint: Footprint
    enabled: bool = True
    guard_locations: frozenset[Location] = NOWHERE
    awaits: frozenset[Location] = NOWHERE
    """Locations that it reads only to decide whether it can go on: once it can, no write to them disables it or
    changes what it does."""
    move: Move = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "move", Move(self.pid, self.choice))


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """What a process did. `spawned` are the processes that it created.

    `woke` are processes that could not have gone on before this event: their next step comes after it, and that is
    not a race. `awaits` says the same from the other side: of locations that this event reads, those whose last
    writer had to come first, for the process to go on at all. A `barrier` comes after everything before it and
    before everything after it: it is opaque, and races with nothing.
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
    awaits: frozenset[Location] = NOWHERE
    fault: str = ""
    """What went wrong in this step because the search chose so: a fault, in words."""
    move: Move = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "move", Move(self.pid, self.choice))
