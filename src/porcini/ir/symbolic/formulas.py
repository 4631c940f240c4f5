"""What a language provides for searches that work with formulas, whatever its programs consist of.

    SymbolicSystem   the program run on symbols instead of values: what `symbolic` searches
    FormulaSystem    a compiled program whose recorded runs can be labelled: what `permute` rearranges

Both describe steps by `ir.symbolic.labels.Label`s over named variables: shared variables by their names, private
variables of a process as `pid.name`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from porcini.core.events import Action, Event
from porcini.core.footprints import Footprint
from porcini.core.observations import Observation
from porcini.core.pids import Pid
from porcini.core.systems import Final, Kind, Observed, Run, Value
from porcini.core.traces import Trace
from porcini.ir.expr import Expr, ScalarType
from porcini.ir.symbolic.labels import Label


class SymbolicStep(Protocol):
    """What a process may do in a symbolic state; `choice` is as in schedules."""

    @property
    def label(self) -> Label: ...

    @property
    def choice(self) -> int: ...

    @property
    def pid(self) -> Pid: ...


class SymbolicSystem(Protocol):
    """A program on symbols. A state has the point of each process, and the value of each variable as an expression
    over the inputs. A process that has not ended may take one of its `steps`, each under the condition that `when`
    returns; these conditions exclude each other unless the process has a choice."""

    @property
    def inputs(self) -> Mapping[str, ScalarType]:
        """The symbols, with their types."""

    @property
    def assumed(self) -> Expr:
        """What is known about the symbols."""

    @property
    def arrays(self) -> Mapping[str, Value]:
        """Arrays that expressions over the inputs may name, with their initial values."""

    def initial(self) -> Any: ...

    def waiting(self, state: Any) -> Sequence[Pid]:
        """The processes that have not ended."""

    def steps(self, state: Any, pid: Pid) -> Sequence[SymbolicStep]:
        """All that a process may do at its point, for any inputs."""

    def when(self, state: Any, step: Any) -> Expr:
        """The condition on the inputs under which a step happens here."""

    def take(self, state: Any, step: Any) -> Any:
        """The state after a step."""

    def now(self, state: Any, pid: Pid) -> Footprint:
        """All that a process may touch by its next step."""

    def later(self, state: Any, pid: Pid) -> Footprint:
        """All that a process, and what it may spawn, may still touch."""

    def kind(self, state: Any) -> Kind:
        """How a run that cannot be extended has ended; `unfinished` if its last step was not followed to its
        end."""

    def observed(self, state: Any) -> dict[str, Expr]:
        """The observed values, as expressions over the inputs."""

    def show_observed(self, name: str, value: Expr) -> Observed:
        """One of the observed values, as a report shows it."""


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A recorded run as formulas. The names in `final.state` are those that are observed."""

    trace: Trace
    labels: Sequence[Label]
    waiting: Sequence[Label]
    """What the processes that have not ended wait for at the end."""
    before: Mapping[str, Any]
    """The initial values of all variables in labels, including those of processes that are spawned later."""
    roots: Sequence[Pid]
    """The initial processes."""
    final: Final
    observed: Observation
    """How the observed values are made of the values of variables."""
    inputs: frozenset[str] = frozenset()
    """The variables that are not observed, but may occur in path conditions."""
    tells_values: bool = False
    """Do the texts of labels contain values, which may differ in another order?"""
    bookkeeping: frozenset[str] = frozenset()
    """The variables in labels that are not locations: what a label touches says which of its accesses conflict
    with others."""
    seen_by: Mapping[Pid, Mapping[str, str]] = field(default_factory=dict)
    """The variables that blocked processes see, by the names in their source, where labels do not tell them."""
    in_guards: Callable[[Label], Label | None] = lambda label: label
    """The same label with guards that determine whether its process can move, for who cannot call `can_move`; None
    if formulas cannot say that."""


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """All possible effects of a step, as labels; the guards of each include those of all other steps that its
    process could take instead."""

    labels: tuple[Label, ...]
    invariant: Expr
    """An invariant, which holds in all states: variables are within their bounds."""


@runtime_checkable
class Formulated(Protocol):
    """The label of a step that is not a formula itself, but can be described by formulas."""

    def formulas(self, step: Event | Action) -> Ways | None:
        """All possible effects of a step with this label, in any state. None if they are not known."""


@runtime_checkable
class FormulaSystem(Protocol):
    """A compiled program whose recorded runs can be labelled."""

    def label_run(self, trace: Trace, after: Run) -> LabelledRun:
        """Label a recorded run with these events; `after` is the run at its end."""
