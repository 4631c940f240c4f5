"""The protocols: what a language gives, and all that an engine may ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, Self, TypeVar, runtime_checkable

from porcini.core.errors import InternalError, Line, Place
from porcini.core.events import Action, Event, FailureKind, Label
from porcini.core.footprints import Footprint, Location
from porcini.core.formulas import Formula
from porcini.core.pids import Pid

Scalar = int | bool
Value = Scalar | tuple[Scalar, ...]
Observed = Scalar | str | tuple["Observed", ...]
"""A value as reports show it; text for what is neither a number, a boolean nor a list."""
Kind = Literal["terminated", "deadlock", "assertion", "error", "unfinished", "unknown"]
"""How a run ended. `unfinished` is a permuted trace after which a process could still move, `unknown` one of which
it is not even known whether it can happen."""


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
class StepSource:
    """Where a step is written down: its place, and the kind of process whose step it is, if that has a name."""

    place: Place | None = None
    process: str = ""


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


class Program(ABC):
    """Something that can be run again and again, and does the same under the same schedule."""

    chooses: bool = False
    """May processes have several choices?"""
    discovers: bool = False
    """May a step touch other locations where it comes after other steps, so that this is known afterwards?"""

    @abstractmethod
    def start(self) -> Run: ...

    def start_after(self, events: Sequence[Event]) -> Run | None:
        """A fresh run in which these events of an earlier run have happened; None if there is no cheaper way than
        step by step."""
        return None

    def relying_on_footprints(self) -> Self:
        """The same program, for searches that rely on footprints from the first step on: one that finds out later
        that its footprints were too small says so by a `Restart`."""
        return self

    def noticed(self) -> tuple[str, ...]:
        """What the program did so far that a user should know."""
        return ()

    def state_of(self, run: Any) -> Hashable | None:
        """The state that a run of the program is in; None where states cannot be had."""
        return None

    def printed(self, run: Any) -> tuple[str, ...]:
        """What a run of the program has printed."""
        return ()

    def wrong_independence(self, message: str) -> Exception:
        """An error about steps that were taken for independent and are not: a bug of ours, unless the program says
        itself what its steps touch."""
        return InternalError(message)

    # For runs that a person follows

    def variables(self, run: Any) -> Mapping[str, Observed]:
        """All that can be watched of a run, by name: what processes share, and as `pid.name` what one of them has
        for itself."""
        return {}

    def source_of(self, label: Label) -> StepSource:
        """Where the step with this label is written down, as far as that is known."""
        return StepSource()

    # For runs that are written down

    def values(self, run: Any, locations: Iterable[Location]) -> Mapping[Location, Observed]:
        """What these locations hold now, of those whose value can be shown."""
        return {}

    def formula(self, label: Label) -> Formula | None:
        """When a step with this label happens and what it does, where the language has formulas."""
        return None

    def store_of(self, run: Any) -> Mapping[str, Observed]:
        """The variables that the formulas of a run name, with their values before it."""
        return {}


class Restart(Exception):
    """Footprints that a search has relied on were too small: it must begin again, with a program that has larger
    ones."""

    def __init__(self, program: Program) -> None:
        super().__init__("footprints were too small")
        self.program = program


class StateGraph(Protocol[S]):
    """A program as states and what comes after each, for searches that keep states instead of runs."""

    exact: bool
    """Are its states those of runs, names and all? Else a loop of states may be one of runs only up to names."""
    failures: dict[FailureKind, tuple[S, S]]
    """By kind, a step that was seen to fail: the state before it and the one after."""

    def initial(self) -> S: ...

    def successors(self, state: S) -> Sequence[S]: ...

    def way(self, state: S, after: S) -> Sequence[Event]:
        """The events that lead from a state to one of its successors."""

    def named(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events of a whole run, with processes named as in runs."""

    def along(self, events: Sequence[Event]) -> S:
        """The state to which the events of a run lead."""

    def final(self, state: S) -> Final: ...

    def ended(self, state: S, events: Sequence[Event]) -> Final:
        """The same of a state in which a run has ended, with processes named as in that run."""


class Lookahead(Protocol[S_in]):
    """A conservative answer to: what may this process still do?"""

    def may_still_do(self, state: S_in, pid: Pid) -> Footprint:
        """Everything that `pid`, and whatever it may spawn, may read or write from here on."""


@dataclass(frozen=True, slots=True)
class Watched(Generic[S_in]):
    """The propositions of a formula on the states of a program.

    `visible` is what they look at: locations, or bits of a packed state. Or it says of an action that is enabled
    in a state whether it may change a letter, there or wherever it is taken after actions that are independent of
    it. None: nothing is known, and any action may.
    """

    letter: Callable[[S_in], int]
    """The propositions that hold in a state, as bits."""
    visible: frozenset[Location] | int | Callable[[S_in, Action], bool] | None = frozenset()
    why: str | None = None
    """Why nothing is known, as a person should be told."""


@dataclass(frozen=True, slots=True)
class OwnReduction(Generic[S]):
    """The graph of a reduction that a language builds into its programs: the state that each of its states stands
    for, beginning with the initial one, and the numbers of those that come after it."""

    states: Sequence[S]
    after: Sequence[Sequence[int]]
    identity: Callable[[S], Hashable]
    """What tells two states apart in it."""
    problem: str | None = None
    """What it does that the program does not, if anything."""


@dataclass(slots=True)
class SystemRun:
    """A run of a transition system."""

    system: TransitionSystem[Any]
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


class System(Program):
    """A program as states and steps (`TransitionSystem`): what models are compiled to."""

    may_fail: bool = True
    """Could a step of it fail?"""

    @abstractmethod
    def initial(self) -> Any: ...

    @abstractmethod
    def actions(self, state: Any) -> Sequence[Action]: ...

    @abstractmethod
    def fire(self, state: Any, action: Action) -> tuple[Any, Event]: ...

    @abstractmethod
    def final(self, state: Any) -> Final: ...

    def start(self) -> Run:
        """A run, whose `state` is one of the system's."""
        return SystemRun(self, self.initial())

    def state_of(self, run: Any) -> Hashable | None:
        state: Hashable = run.state
        return state

    def variables(self, run: Any) -> Mapping[str, Observed]:
        found: Mapping[str, Observed] = run.final().state
        return found

    @property
    def lookahead(self) -> Lookahead[Any] | None:
        """What processes may still do, where that is known."""
        return None

    def unmet_conditions(self, state: Any, action: Action) -> Sequence[frozenset[Location]]:
        """Of an action that is blocked in a state, for each of some conditions that it needs and that do not hold:
        what they look at. The action stays blocked until something is written of each. None are known where the
        footprint is opaque. Who writes a place may wait for it, too: announcing a write announces a read."""
        foot = action.footprint
        return () if foot.opaque else (foot.reads | foot.writes | action.guard_locations,)

    def state_graph(self, *, exact: bool = True) -> StateGraph[Any]:
        """The states between steps. Unless they are to be `exact`, states may be one that differ only in names, or
        in what nothing can come upon any more: then outcomes are the same up to that, and who moves cannot be told
        from the name."""
        return SystemGraph(self)

    def watching(self, propositions: Sequence[Any]) -> Watched[Any]:
        """The propositions of a formula, as the model has read them."""
        if propositions:
            raise InternalError("propositions about a program that has none")
        return Watched(lambda state: 0)

    def examine(self, state: Any, watched: Watched[Any]) -> None:
        """Compare what the program says about its steps with what they do, in one state."""
        raise InternalError("a program that says nothing about its steps was examined")


class SystemGraph:
    """The states of any transition system (`StateGraph`)."""

    exact = True

    def __init__(self, system: System) -> None:
        self.system = system
        self.failures: dict[FailureKind, tuple[Hashable, Hashable]] = {}
        self._numbers: dict[Pid, int] = {}

    def initial(self) -> Any:
        return self.system.initial()

    def fire(self, state: Any, action: Action) -> tuple[Any, Event]:
        return self.system.fire(state, action)

    def successors(self, state: Hashable) -> list[Hashable]:
        return self.after(state, self.system.actions(state))

    def after(self, state: Hashable, actions: Sequence[Action]) -> list[Hashable]:
        found = []
        for action in actions:
            if action.enabled:
                after, event = self.fire(state, action)
                if event.failure is not None:
                    self.failures.setdefault(event.failure.kind, (state, after))
                found.append(after)
        return found

    def way(self, state: Hashable, after: Hashable) -> list[Event]:
        for action in self.system.actions(state):
            if action.enabled:
                reached, event = self.fire(state, action)
                if reached == after:
                    return [event]
        raise InternalError("no step leads from a state to its successor")

    def moves_by(self, state: Hashable) -> list[tuple[int, Hashable]]:
        """The successors of a state, each with a number for the process that moves."""
        found = []
        for action in self.system.actions(state):
            if action.enabled:
                number = self._numbers.setdefault(action.pid, len(self._numbers))
                found.append((number, self.fire(state, action)[0]))
        return found

    def identities(self, state: Hashable, pids: frozenset[Pid]) -> frozenset[Hashable]:
        """What tells processes of a state from each other, in other states too."""
        return pids

    def named(self, events: Sequence[Event]) -> Sequence[Event]:
        return events

    def along(self, events: Sequence[Event]) -> Any:
        state = self.initial()
        for event in events:
            state = self.fire(state, next(a for a in self.system.actions(state) if a.move == event.move))[0]
        return state

    def final(self, state: Hashable) -> Final:
        return self.system.final(state)

    def ended(self, state: Hashable, events: Sequence[Event]) -> Final:
        return self.final(state)
