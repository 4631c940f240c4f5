"""What a language gives to searches that work with formulas, whatever its programs are made of.

    SymbolicSystem   the program run on symbols instead of values: what `symbolic` searches
    FormulaSystem    a compiled program whose recorded runs can be labelled: what `permute` rearranges

Both speak of steps as `ir.symbolic.labels.Label`s, over named variables: shared ones by their names, those of
a process as `pid.name`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from porcini.core.events import Action, Event
from porcini.core.footprints import Footprint
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
    """A program on symbols. States say where each process stands, and what each variable is as an expression over
    the inputs. A process that has not ended may take one of its `steps`, each under the condition that `when`
    gives; these conditions exclude each other unless the process has a choice."""

    @property
    def inputs(self) -> Mapping[str, ScalarType]:
        """The symbols."""

    @property
    def assumed(self) -> Expr:
        """What is known of the symbols."""

    @property
    def arrays(self) -> Mapping[str, Value]:
        """Arrays that expressions over the inputs may name, with their initial values."""

    def initial(self) -> Any: ...

    def waiting(self, state: Any) -> Sequence[Pid]:
        """The processes that have not ended."""

    def steps(self, state: Any, pid: Pid) -> Sequence[SymbolicStep]:
        """All that a process may do where it stands, whatever the inputs."""

    def when(self, state: Any, step: Any) -> Expr:
        """The condition on the inputs under which a step happens here."""

    def take(self, state: Any, step: Any) -> Any:
        """The state after a step."""

    def now(self, state: Any, pid: Pid) -> Footprint:
        """All that a process may touch by its next step."""

    def later(self, state: Any, pid: Pid) -> Footprint:
        """All that a process, and what it may spawn, may still touch."""

    def kind(self, state: Any) -> Kind:
        """How a run has ended that nothing can be added to: `unfinished` if its last step is not known to its
        end."""

    def observed(self, state: Any) -> dict[str, Expr]:
        """What is observed, as expressions over the inputs."""

    def shown(self, name: str, value: Expr) -> Observed:
        """A part of what is observed as a report has it."""


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A recorded run as formulas. `final.state` names what is observed of it."""

    trace: Trace
    labels: Sequence[Label]
    waiting: Sequence[Label]
    """What processes that have not ended wait for at its end."""
    before: Mapping[str, Any]
    """The initial values of all variables that labels name, also of processes that are spawned on the way."""
    roots: Sequence[Pid]
    """The processes that are there from the start."""
    final: Final
    observed: Callable[[Callable[[str], Any]], Mapping[str, Observed]]
    """What is observed, given the values of variables."""
    show: Callable[[str, Any], Observed] = lambda name, value: value
    """A variable by name and value, as reports show it."""
    inputs: frozenset[str] = frozenset()
    """Of the variables that nobody observes, those that path conditions speak of all the same."""
    tells_values: bool = False
    """Do labels speak of values, which may be others in another order?"""


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """All ways in which a step may go; the guards of each are all that its process may do instead."""

    labels: tuple[Label, ...]
    known: Expr
    """What holds in all states: variables are within their bounds."""


@runtime_checkable
class Formulated(Protocol):
    """The label of a step that is not a formula itself, but can be told by formulas."""

    def formulas(self, step: Event | Action) -> Ways | None:
        """All ways in which a step with this label may go, whatever the state. None if that is not known."""


@runtime_checkable
class FormulaSystem(Protocol):
    """A compiled program whose recorded runs can be labelled."""

    def labelled(self, trace: Trace, after: Run) -> LabelledRun:
        """A run with its events; `after` stands at its end."""
