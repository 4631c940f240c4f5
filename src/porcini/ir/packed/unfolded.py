"""Guarded commands and the parallel language in packed states.

Runs are those of `FlatSystem`, which is what the program means. A search that keeps states keeps packed ones, if
the program can be unfolded (`ir.passes.unfolding`): it looks successors up, knows which edge enables which, and
can be taken over by native code. What people see (events, outcomes, who waits for what) is told by the flat system
about the flat state that a packed one stands for, so names and schedules are the same everywhere.

An integer that outgrows its bits ends such a search, which starts again with flat states.
"""

from __future__ import annotations

from collections.abc import Sequence

from porcini.core.events import Event
from porcini.core.pids import Pid
from porcini.core.systems import Final, Scalar, SystemGraph, Watched
from porcini.ir.analysis.numbering import FAILED_ASSERTION, FAILED_ERROR
from porcini.ir.evaluation import defined
from porcini.ir.expr import ArrayType, Expr, Var, conj
from porcini.ir.flat.frames import State
from porcini.ir.flat.interpreter import FlatSystem, Standing
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.view import PackedView
from porcini.ir.passes.unfolding import Instance, Unfolded, unfold


class Unfolding:
    """A program in packed states, and the flat states that these stand for."""

    @staticmethod
    def of(flat: FlatSystem) -> Unfolding | None:
        """None if a program cannot be unfolded."""
        found = unfold(flat.program)
        return None if found is None else Unfolding(flat, found)

    def __init__(self, flat: FlatSystem, unfolded: Unfolded) -> None:
        self.flat, self.instances = flat, unfolded.instances
        self.view = PackedView(unfolded.program, wider=flat)
        self.system = self.view.system

    def graph(self) -> UnfoldedGraph:
        return UnfoldedGraph(self)

    def watching(self, propositions: Sequence[Expr]) -> Watched[int]:
        """A proposition without a value does not hold."""
        return self.view.watching([conj(defined(expr), expr) for expr in propositions])

    def _cells(self, state: int, instance: Instance | None, variable: Var) -> list[Scalar]:
        declared = self.system.layout.declared[variable]
        slot = instance.number if instance is not None and declared.local else None
        values = [self.system.read(state, declared, cell, slot) for cell in range(declared.size)]
        kind = variable.type.cell if isinstance(variable.type, ArrayType) else variable.type
        return [bool(value) for value in values] if kind == "bool" else list[Scalar](values)

    def exists(self, state: int, instance: Instance) -> bool:
        return instance.flag is None or bool(self._cells(state, None, instance.flag)[0])

    def flat_state(self, state: int) -> State:
        """The flat state that a packed one stands for."""
        shared = [
            cell for variable in self.flat.program.variables for cell in self._cells(state, None, variable.var)
        ]
        present = [each for each in self.instances if self.exists(state, each)]
        children = dict.fromkeys((each.pid for each in present), 0)
        for each in present:
            if each.flag is not None:
                children[Pid(each.pid[:-1])] += 1
        processes = [
            Standing(
                each.pid,
                each.template,
                self._point(state, each),
                children[each.pid],
                tuple(cell for variable in each.variables for cell in self._cells(state, each, variable)),
            )
            for each in sorted(present, key=lambda each: each.pid)
        ]
        return self.flat.state_of_parts(shared, processes)

    def _point(self, state: int, instance: Instance) -> int:
        number = self.system.layout.point_of(state, instance.number, instance.number)
        failed = number - len(self.flat.program.templates[instance.template].points)
        if failed >= 0:
            return (FAILED_ASSERTION, FAILED_ERROR)[failed]
        return self.flat.numbering.numbers[instance.template][number]


class UnfoldedGraph(PackedGraph):
    """The graph of packed states; what is told about them is told by the flat system."""

    def __init__(self, unfolding: Unfolding) -> None:
        super().__init__(unfolding.view)
        self.unfolding = unfolding
        self._flat = SystemGraph(unfolding.flat)

    def events_between(self, state: int, after: int) -> list[Event]:
        flat_state = self.unfolding.flat_state
        return self._flat.events_between(flat_state(state), flat_state(after))

    def with_run_names(self, events: Sequence[Event]) -> Sequence[Event]:
        return events

    def state_after(self, events: Sequence[Event]) -> int:
        state, instances = self.initial(), self.unfolding.instances
        for event in events:
            state = next(
                step.after
                for step in self.view.system.steps(state)
                if instances[step.process.slot].pid == event.pid and step.code.edge.choice == event.choice
            )
        return state

    def final(self, state: int) -> Final:
        return self.unfolding.flat.final(self.unfolding.flat_state(state))
