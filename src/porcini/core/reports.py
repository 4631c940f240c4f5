"""The result of every command: the JSON of the contract, as attributes."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TextIO

from porcini.core.events import EventId, Schedule
from porcini.core.explanations import Explanation
from porcini.core.registry import Registry
from porcini.core.steps import Snapshot, TakenStep
from porcini.core.systems import Final, Kind, Observed, Waiting
from porcini.core.traces import Trace

Verdict = Literal["holds", "violated", "unknown"]
Stopped = Literal["exhausted", "first-violation", "limit"]
PropertyName = Literal["deterministic", "deadlock-free", "failure-free", "terminates", "equivalent"]
Advice = Literal["follow", "longer", "sample", "smaller"]
"""What helps a search that hit a limit: following packages, a higher limit, sampling, or fewer tasks."""
Cycles = Literal["acceptance", "non-progress"]
"""The kinds of infinite runs that labels describe."""


@dataclass(slots=True)
class Counts:
    """`executions` are complete runs, `blocked` are runs that were given up, `classes` are distinct normal
    forms."""

    executions: int = 0
    blocked: int = 0
    classes: int = 0
    states: int = 0
    events: int = 0
    heuristic: int | None = None
    """States at which no actor was provably stable (H of P4's Table 1): `transdpor` only."""


BITSTATE = "what a bitstate search can tell apart"
"""In the place of a limit, where such a search has come to its end."""


@dataclass(frozen=True, slots=True)
class BitstateCoverage:
    """What a bitstate search saw: how many states it found, in a table of so many bytes, and how many others it is
    expected to have taken for one of them."""

    bytes: int
    states: int
    missed: float

    @property
    def hash_factor(self) -> float:
        """How many bits of the table there are for each state."""
        return 8 * self.bytes / max(1, self.states)

    @property
    def estimate(self) -> float:
        """The share of the states to which the search came that it saw."""
        return self.states / (self.states + self.missed) if self.states else 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A way in which executions end, how many do, and one of them as an example."""

    kind: Kind
    state: Mapping[str, Observed]
    executions: int
    schedule: Schedule
    trace: Trace
    waiting: tuple[Waiting, ...] = ()

    @classmethod
    def of(cls, trace: Trace, final: Final, executions: int = 1) -> Outcome:
        """The outcome that a run is an example of."""
        return cls(final.kind, final.state, executions, trace.schedule, trace, final.waiting)

    @property
    def faults(self) -> tuple[str, ...]:
        """What went wrong in the example because the search chose so."""
        return tuple(event.fault for event in self.trace if event.fault)


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One class of `permute`: a schedule, its labels, its path condition, and how it ends."""

    schedule: Schedule
    labels: tuple[str, ...]
    path: str
    state: Mapping[str, Observed]
    kind: Kind
    input: Mapping[str, int | bool] | None = None
    """For `symbolic`: an input that takes this path."""
    reversed: tuple[tuple[EventId, EventId], ...] | None = None
    """For a trace without formulas: conflicting events that were recorded in the other order."""


@dataclass(frozen=True, slots=True)
class TraceSource:
    """Where the run of `permute --trace` came from. Without formulas the answer is not `exact`."""

    exact: bool
    program: str | None = None
    inputs: Mapping[str, Observed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two runs that differ, with the names in which they differ; or one run that ends badly."""

    runs: tuple[Outcome, ...]
    differs: tuple[str, ...]
    input: Mapping[str, int | bool] | None = None
    contrast: Outcome | None = field(default=None, compare=False)
    """For real code: the closest run that ends differently."""

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        return tuple(run.schedule for run in self.runs)


@dataclass(frozen=True, slots=True)
class Trail:
    """An infinite run: a stem, then a loop that repeats for ever. `notes` says after each step which propositions
    changed; the first note is about the initial state."""

    stem: Trace
    loop: Trace
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Solution:
    """A state that was searched for: a run that leads to it, what is observed there, and what the variables of the
    pattern stand for."""

    trace: Trace
    state: Mapping[str, Observed]
    binding: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Solutions:
    """What a search for a pattern has found: the number of solutions, in how many states, and the first of them.
    Unless it is `exact`, there may be more."""

    pattern: str
    count: int
    states: int
    exact: bool
    first: tuple[Solution, ...]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A search through runs that hit a limit: about how many schedules there are in all, if that can be told, what
    most of those that were run have been for, and what to do."""

    estimate: int | None
    locations: tuple[tuple[str, int], ...] = ()
    """What steps met at, and how many schedules it took to try them in other orders."""
    opaque: tuple[tuple[str, int], ...] = ()
    """The same for what is not followed, and so may touch anything."""
    tasks: int = 0
    """How many tasks and callbacks met at the dearest location."""
    advice: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what real code did was observed. `opaque` steps conflict with everything: `places` say what made
    them opaque, and how often, and `packages` names the packages that could be instrumented as well."""

    steps: int
    opaque: int
    places: tuple[tuple[str, int], ...] = ()
    packages: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    """What a run read that the previous run had changed."""
    unretrieved: tuple[tuple[str, int], ...] = ()
    """Exceptions that nobody retrieved, and in how many runs."""
    initialised: tuple[str, ...] = ()
    """What packages set up for themselves in a first run, which was not explored."""
    unfinished: Unfinished | None = None
    """What is known of a search that hit a limit."""


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The answer of one command; `holds` is possible only when everything was explored."""

    command: str
    file: str
    language: str
    engine: str
    independence: str
    property: str
    verdict: Verdict
    stopped: Stopped
    counts: Counts
    outcomes: tuple[Outcome, ...]
    counterexample: Counterexample | None = None
    traces: tuple[TraceEntry, ...] | None = None
    seeds: tuple[Schedule, ...] | None = None
    trace: TraceSource | None = None
    """For `permute --trace`."""
    limit: str | None = None
    condition: str | None = None
    """For `symbolic`: the inputs for which the order matters; None if there are none."""
    cases: tuple[Mapping[str, Any], ...] | None = None
    """For `symbolic`: one test for each class."""
    trail: Trail | None = None
    """For a formula that does not hold: a run that violates it."""
    search: Solutions | None = None
    """For `check` with a pattern: the states that match it."""
    formulas: Mapping[str, Verdict] | None = None
    """For `check`: the model's own formulas, each with its verdict."""
    seed: int | None = None
    """For `run`: the seed of its random choices, so that the run can be repeated."""
    steps: tuple[TakenStep, ...] | None = None
    """For `replay`: every step with what it changed; only watched variables, if some are watched."""
    watched: Mapping[str, Observed | None] | None = None
    """For `replay`: the watched variables before the first step; None for one that does not exist yet."""
    snapshot: Snapshot | None = None
    """For `replay` that stops before the end: the state there, and the steps that are enabled."""
    said: tuple[str, ...] = ()
    """What the program printed, for `run` and `replay`."""
    selection: str | None = None
    """How `transdpor` selected actors and tasks."""
    reduction: str | None = None
    """For a search that keeps states: the reduction that was really used."""
    machine: str | None = None
    """For such a search of a packed program: the machine that took the steps, `python` or `native`."""
    bitstate: BitstateCoverage | None = None
    """For a bitstate search."""
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    seconds: float = field(default=0.0, compare=False)
    explanation: Explanation | None = field(default=None, compare=False)
    """For real code: the counterexample in lines of source."""
    coverage: Coverage | None = field(default=None, compare=False)
    """For real code only."""

    @builtins.property  # a field is called `property`
    def kept_states(self) -> bool:
        """Did the search visit states rather than runs?"""
        return self.reduction is not None

    def __repr__(self) -> str:
        return f"<Report of {self.command} {self.file}: {self.verdict}>"

    def __str__(self) -> str:
        """As the command line shows it."""
        return FORMATS["text"](self)


@dataclass(frozen=True, slots=True)
class View:
    """How a report is viewed: `stream` is where the text will go, so that it can fit a terminal; `options` are the
    command-line options that the printed replay lines repeat."""

    stream: TextIO | None = None
    options: str = ""
    verdict_only: bool = False


PLAIN = View()


class Format(Protocol):
    """Renders a report as text."""

    def __call__(self, report: Report, view: View = PLAIN, /) -> str: ...


FORMATS: Registry[Format] = Registry("porcini.formats", "format")


def differences(a: Final | Outcome, b: Final | Outcome) -> tuple[str, ...]:
    """The names in which two endings differ: `kind`, variables, array cells."""
    names = ["kind"] if a.kind != b.kind else []
    for name in sorted(a.state.keys() | b.state.keys()):
        x, y = a.state.get(name), b.state.get(name)
        if isinstance(x, tuple) and isinstance(y, tuple) and len(x) == len(y):
            names += [f"{name}[{i}]" for i, (u, v) in enumerate(zip(x, y, strict=True)) if u != v]
        elif x != y:
            names.append(name)
    return tuple(names)
