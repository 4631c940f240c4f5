"""The protocols: what a language provides, and all that an engine may use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, Self, TypeVar, runtime_checkable

from porcini.core.errors import InternalError, Line, Place
from porcini.core.events import Action, Event, FailureKind, Label, Schedule
from porcini.core.footprints import Footprint, Location
from porcini.core.pids import Pid

Scalar = int | bool
Value = Scalar | tuple[Scalar, ...]
Observed = Scalar | str | tuple["Observed", ...]
"""A value as reports show it; text for what is neither a number, a boolean nor a list."""
Kind = Literal["terminated", "deadlock", "assertion", "error", "unfinished", "unknown"]
"""How a run ended. `unfinished` is a permuted trace after which a process could still move; `unknown` is one that
may not be executable."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A blocked process: the guard it waits for, the values it reads, and its place in the program."""

    pid: Pid
    guard: str
    values: Mapping[str, Observed]
    place: Place | None = None
    waits_for: tuple[Pid, ...] = ()
    """The processes that could let it go on, where that is known."""
    holds: str | None = None
    """What it keeps from others meanwhile."""
    name: str = ""
    """A name for the process, where its pid alone says little."""
    stack: tuple[Line, ...] = field(default=(), compare=False)
    """Its stack in the source, the outermost line first, for programs of more than one file."""
    why: str = field(default="", compare=False)
    """Why nobody lets it go on, where that is known."""


@dataclass(frozen=True, slots=True)
class StepSource:
    """Where a step is in the source: its place, and the name of its kind of process, if that has one."""

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
    """One execution in progress, which can only move forward."""

    def actions(self) -> Sequence[Action]: ...

    def step(self, action: Action) -> Event: ...

    def final(self) -> Final: ...


@runtime_checkable
class Forkable(Run, Protocol):
    """A run that can be saved: `fork` returns a second run that continues from the same state."""

    def fork(self) -> Self: ...


@runtime_checkable
class Incremental(Run, Protocol):
    """A run that can update its actions after an event without recomputing those of every process."""

    def actions_after(self, before: Sequence[Any], event: Event) -> Sequence[Action]:
        """The actions now, given those just before the last event."""

    def actions_of(self, pid: Pid) -> Sequence[Action]:
        """The actions of one process. An action of a state may be taken in every state that has it."""


class Program(ABC):
    """Something that can be run repeatedly, and does the same under the same schedule."""

    has_choices: bool = False
    """May processes have several choices?"""
    discovers_footprints: bool = False
    """Is the footprint of a step known only after it has run, because it may touch other locations after other
    steps?"""

    @abstractmethod
    def start(self) -> Run: ...

    def start_after(self, events: Sequence[Event]) -> Run | None:
        """A fresh run in which these events of an earlier run have happened; None if nothing is cheaper than to
        replay them step by step."""
        return None

    def start_under(self, schedule: Schedule) -> Run:
        """A fresh run that is to follow a schedule, which may tell more than the order: which faults strike."""
        return self.start()

    def relying_on_footprints(self) -> Self:
        """The same program, for searches that rely on footprints from the first step on: if it discovers later
        that its footprints were too small, it raises `Restart`."""
        return self

    def runtime_notes(self) -> tuple[str, ...]:
        """What a user should know about what the program has done so far."""
        return ()

    def state_of(self, run: Any) -> Hashable | None:
        """The current state of a run of the program; None where states are not available."""
        return None

    def output_of(self, run: Any) -> tuple[str, ...]:
        """What a run of the program has printed."""
        return ()

    def independence_error(self, message: str) -> Exception:
        """The error about steps that were assumed to be independent and are not: a bug in Porcini, unless the
        program itself declares what its steps touch."""
        return InternalError(message)

    # For runs that a user follows step by step

    def variables(self, run: Any) -> Mapping[str, Observed]:
        """Everything that can be watched in a run, by name: shared variables, and private ones as `pid.name`."""
        return {}

    def source_of(self, label: Label) -> StepSource:
        """Where the step with this label is in the source, as far as that is known."""
        return StepSource()

    # For runs that are recorded

    def values(self, run: Any, locations: Iterable[Location]) -> Mapping[Location, Observed]:
        """The current values of these locations, as far as they can be shown."""
        return {}


class Restart(Exception):
    """What a search has relied on does not hold: footprints were too small, or numbers too large. It must start
    again, with another form of the program."""

    def __init__(self, program: Program) -> None:
        super().__init__("the search must start again")
        self.program = program


class StateGraph(Protocol[S]):
    """A program as states and their successors, for searches that keep states instead of runs."""

    exact: bool
    """Are its states those of runs, including names? Otherwise a loop of states may be a loop of runs only up to
    renaming."""
    failures: dict[FailureKind, tuple[S, S]]
    """For each kind, a failing step that was found: the state before it and the one after."""

    def initial(self) -> S: ...

    def successors(self, state: S) -> Sequence[S]: ...

    def events_between(self, state: S, after: S) -> Sequence[Event]:
        """The events that lead from a state to one of its successors."""

    def with_run_names(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events of a whole run, in which each process has the name that it has in runs."""

    def state_after(self, events: Sequence[Event]) -> S:
        """The state that the events of a run lead to."""

    def final(self, state: S) -> Final: ...

    def final_of_run(self, state: S, events: Sequence[Event]) -> Final:
        """The same for the state in which a run has ended, with the process names of that run."""


class Lookahead(Protocol[S_in]):
    """A conservative answer to: what may this process still do?"""

    def may_still_do(self, state: S_in, pid: Pid) -> Footprint:
        """Everything that `pid`, and whatever it may spawn, may read or write from here on."""


@dataclass(frozen=True, slots=True)
class LetterPart(Generic[S_in]):
    """One of the things that a letter says of a packed state."""

    letter: int
    """The bits of the letter that are set where it holds."""
    bits: int
    """The bits of the state on which it depends."""
    holds: Callable[[S_in], object]


@dataclass(frozen=True, slots=True)
class Watched(Generic[S_in]):
    """The propositions of a formula on the states of a program.

    `visible` is what they depend on: locations, or bits of a packed state. Or it is a function that says whether
    an action that is enabled in a state may change a letter, there or wherever it is taken after actions that are
    independent of it. None means that nothing is known, so that any action may be visible.
    """

    letter: Callable[[S_in], int]
    """The propositions that hold in a state, as bits."""
    visible: frozenset[Location] | int | Callable[[S_in, Action], bool] | None = frozenset()
    why: str | None = None
    """Why nothing is known, in words for the user."""
    parts: Sequence[LetterPart[S_in]] | None = None
    """The same letter, part by part; None if it does not depend on few bits of a packed state."""


@dataclass(frozen=True, slots=True)
class OwnReduction(Generic[S]):
    """The graph of a reduction that a language builds into its programs: for each of its states, beginning with
    the initial one, the program's state that it represents, and the numbers of its successors."""

    states: Sequence[S]
    after: Sequence[Sequence[int]]
    identity: Callable[[S], Hashable]
    """The key by which two states are distinguished in it."""
    problem: str | None = None
    """A behaviour that it has and the program does not, if there is one."""


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


Structure = Literal["packed", "processes"]
"""What is known about a program besides the actions of its processes, for searches of its graph of states:
`packed` are programs of `ir.program` in packed states, of which each edge is known."""


class System(Program):
    """A program as states and steps (`TransitionSystem`): what models are compiled to."""

    may_fail: bool = True
    """Can any step fail?"""

    @property
    def structure(self) -> Structure:
        return "processes"

    @abstractmethod
    def initial(self) -> Any: ...

    @abstractmethod
    def actions(self, state: Any) -> Sequence[Action]: ...

    @abstractmethod
    def fire(self, state: Any, action: Action) -> tuple[Any, Event]: ...

    @abstractmethod
    def final(self, state: Any) -> Final: ...

    def start(self) -> Run:
        """A run, whose `state` is a state of the system."""
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
        """For an action that is blocked in a state: some conditions that it needs and that do not hold, each as
        the locations that it reads. The action stays blocked until one location of each condition is written.
        Where the footprint is opaque, no conditions are known. An action may also wait for what it writes:
        announcing a write announces a read."""
        foot = action.footprint
        return () if foot.opaque else (foot.reads | foot.writes | action.guard_locations,)

    def state_graph(self, *, exact: bool = True) -> StateGraph[Any]:
        """The graph of states between steps. Unless it is to be `exact`, states that differ only in names, or in
        what nothing can reach any more, may be merged: then outcomes are the same up to that, and the name of a
        process does not identify it across states."""
        return SystemGraph(self)

    def watching(self, propositions: Sequence[Any]) -> Watched[Any]:
        """The propositions of a formula, which `Model.proposition` has parsed, on the states of this system."""
        if propositions:
            raise InternalError("propositions about a program that has none")
        return Watched(lambda state: 0)

    def examine(self, state: Any, watched: Watched[Any]) -> None:
        """Compare what the program declares about its steps with what they do, in one state."""
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
        return self.successors_by(state, self.system.actions(state))

    def successors_by(self, state: Hashable, actions: Sequence[Action]) -> list[Hashable]:
        found = []
        for action in actions:
            if action.enabled:
                after, event = self.fire(state, action)
                if event.failure is not None:
                    self.failures.setdefault(event.failure.kind, (state, after))
                found.append(after)
        return found

    def events_between(self, state: Hashable, after: Hashable) -> list[Event]:
        for action in self.system.actions(state):
            if action.enabled:
                reached, event = self.fire(state, action)
                if reached == after:
                    return [event]
        raise InternalError("no step leads from a state to its successor")

    def successors_by_process(self, state: Hashable) -> list[tuple[int, int, Hashable]]:
        """The successors of a state, each with the number of the process that moves, and a mask of this number."""
        found = []
        for action in self.system.actions(state):
            if action.enabled:
                number = self._numbers.setdefault(action.pid, len(self._numbers))
                found.append((number, 1 << number, self.fire(state, action)[0]))
        return found

    def identities(self, state: Hashable, pids: frozenset[Pid]) -> frozenset[Hashable]:
        """Keys that identify processes of a state across states."""
        return pids

    def with_run_names(self, events: Sequence[Event]) -> Sequence[Event]:
        return events

    def state_after(self, events: Sequence[Event]) -> Any:
        state = self.initial()
        for event in events:
            state = self.fire(state, next(a for a in self.system.actions(state) if a.move == event.move))[0]
        return state

    def final(self, state: Hashable) -> Final:
        return self.system.final(state)

    def final_of_run(self, state: Hashable, events: Sequence[Event]) -> Final:
        return self.final(state)
