"""The protocols: what a language gives, and all that an engine may ask for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self, TypeVar, runtime_checkable

from porcini.core.errors import Line, Place
from porcini.core.events import Action, Event, FailureKind
from porcini.core.footprints import Footprint
from porcini.core.pids import Pid

Scalar = int | bool
Value = Scalar | tuple[Scalar, ...]
Observed = Scalar | str | tuple["Observed", ...]
"""A value as reports show it; text for what is neither a number, a boolean nor a list."""
Kind = Literal["terminated", "deadlock", "assertion", "error", "unfinished"]
"""How a run ended. `unfinished` is a permuted trace after which a process could still move."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A blocked process: the guard it waits for, the values it sees, where it stands."""

    pid: Pid
    guard: str
    values: Mapping[str, Observed]
    place: Place | None = None
    waits_for: tuple[Pid, ...] = ()
    """The processes that could let it go on, where that is known."""
    holds: str | None = None
    """What it keeps from others meanwhile."""
    name: str = ""
    """What it is, where its pid alone says little."""
    stack: tuple[Line, ...] = field(default=(), compare=False)
    """Where it stands in source, the outermost line first, where the program is of more than one file."""
    why: str = field(default="", compare=False)
    """Why nobody lets it go on, where that can be told."""


@dataclass(frozen=True, slots=True)
class Final:
    """The end of a run, when nothing can move."""

    kind: Kind
    state: Mapping[str, Observed]
    waiting: tuple[Waiting, ...] = field(default=(), compare=False)


S = TypeVar("S", bound=Hashable)
S_in = TypeVar("S_in", bound=Hashable, contravariant=True)


@runtime_checkable
class TransitionSystem(Protocol[S]):
    """A program as states and steps. States are hashable, and equal when they behave the same."""

    def initial(self) -> S: ...

    def actions(self, state: S) -> Sequence[Action]:
        """The next action of each process that has not ended, enabled or blocked."""

    def fire(self, state: S, action: Action) -> tuple[S, Event]: ...

    def final(self, state: S) -> Final: ...


class Run(Protocol):
    """One execution under way, which can only go on."""

    def actions(self) -> Sequence[Action]: ...

    def step(self, action: Action) -> Event: ...

    def final(self) -> Final: ...


@runtime_checkable
class Forkable(Run, Protocol):
    """A run that can be saved: `fork` gives a second one that goes on from here."""

    def fork(self) -> Self: ...


@runtime_checkable
class Incremental(Run, Protocol):
    """A run that can say what an event changed, without looking at every process again."""

    def actions_after(self, before: Sequence[Any], event: Event) -> Sequence[Action]:
        """The actions now, given those just before the last event."""

    def actions_of(self, pid: Pid) -> Sequence[Action]:
        """The actions of one process. An action of a state may be taken in every state that has it."""


class Program(Protocol):
    """Something that can be run again and again, and does the same under the same schedule."""

    def start(self) -> Run: ...

    # A program of which processes may have several choices says so by an attribute `chooses`; one of which a step
    # may touch other locations where it comes after other steps, so that this is known afterwards, by `discovers`.
    # One that knows a cheaper way than step by step to what happened in an earlier run has a method
    # `again(events: Sequence[Event]) -> Run`: a fresh run in which they happened.


class StateGraph(Protocol[S]):
    """A program as states and what comes after each, for searches that keep states instead of runs."""

    failures: dict[FailureKind, tuple[S, S]]
    """By kind, a step that was seen to fail: the state before it and the one after."""

    def initial(self) -> S: ...

    def successors(self, state: S) -> Sequence[S]: ...

    def way(self, state: S, after: S) -> Sequence[Event]:
        """The events that lead from a state to one of its successors."""

    def named(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events of a whole run, with processes named as in runs."""

    def final(self, state: S) -> Final: ...


class Lookahead(Protocol[S_in]):
    """A conservative answer to: what may this process still do?"""

    def may_still_do(self, state: S_in, pid: Pid) -> Footprint:
        """Everything that `pid`, and whatever it may spawn, may read or write from here on."""


@dataclass(slots=True)
class SystemRun:
    """A run of a transition system."""

    system: TransitionSystem[Hashable]
    state: Hashable

    def actions(self) -> Sequence[Action]:
        return self.system.actions(self.state)

    def step(self, action: Action) -> Event:
        self.state, event = self.system.fire(self.state, action)
        return event

    def final(self) -> Final:
        return self.system.final(self.state)

    def fork(self) -> SystemRun:
        return SystemRun(self.system, self.state)


@dataclass(frozen=True, slots=True)
class SystemProgram:
    """Any transition system is a program."""

    system: TransitionSystem[Hashable]

    def start(self) -> SystemRun:
        return SystemRun(self.system, self.system.initial())
