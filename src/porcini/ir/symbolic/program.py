"""Symbolic execution of programs (P3, Fig. 3): states are substitutions, steps are labels.

A state has the point of each process and the value of each variable, as an expression over the inputs. What a
process can do at a point is a set of labels, one for each edge and each way in which it may fail; a label's
condition says exactly when it happens (`ir.symbolic.labels.condition`). Labels are interned, and compared by
identity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from porcini.core.footprints import EMPTY, Footprint
from porcini.core.pids import Pid
from porcini.core.systems import Kind, Observed, Value
from porcini.ir.analysis import footprint
from porcini.ir.analysis.lookahead import PointLookahead
from porcini.ir.analysis.numbering import FAILED_ASSERTION, FAILED_ERROR, FIRST_POINT, Numbering
from porcini.ir.evaluation import defined
from porcini.ir.expr import (
    TRUE,
    ArrayType,
    Const,
    Datum,
    Expr,
    ScalarType,
    Var,
    conj,
    const,
    not_,
    select,
    store,
    substitute,
)
from porcini.ir.operations import Assert, Spawn, defined_op
from porcini.ir.program import Program
from porcini.ir.simplify import simplify
from porcini.ir.symbolic import labels
from porcini.ir.symbolic.labels import Label, condition
from porcini.ir.symbolic.paths import carry_out
from porcini.ir.text import show


@dataclass(frozen=True, slots=True)
class Standing:
    """A process: its template, its point, and how many children it has spawned."""

    template: int
    point: int
    children: int = 0


@dataclass(frozen=True, slots=True)
class PointStep:
    """What a process may do at a point; `choice` is as in schedules."""

    label: Label
    choice: int
    target: int
    spawned: tuple[tuple[Pid, int], ...] = ()

    @property
    def pid(self) -> Pid:
        return self.label.pid


@dataclass(frozen=True, slots=True)
class SymbolicState:
    """The points of processes, and the values of the variables in labels, over the inputs."""

    processes: Mapping[Pid, Standing]
    values: Mapping[Var, Expr]


class SymbolicProgram:
    """A program of points and edges, run on symbols (`ir.symbolic.formulas.SymbolicSystem`)."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.numbering = Numbering(program)
        self._lookahead = PointLookahead(program, self.numbering)
        self._steps: dict[tuple[Pid, Standing], tuple[PointStep, ...]] = {}
        self._now: dict[int, Footprint] = {}

    @property
    def inputs(self) -> dict[str, ScalarType]:
        return {name: type_ for name, type_ in self.program.inputs.items() if type_ in ("int", "bool")}

    @property
    def assumed(self) -> Expr:
        return TRUE

    @property
    def arrays(self) -> dict[str, Value]:
        return {v.name: v.value for v in self.program.variables if isinstance(v.value, tuple)}

    def waiting(self, state: SymbolicState) -> list[Pid]:
        return [pid for pid, standing in state.processes.items() if standing.point >= FIRST_POINT]

    def when(self, state: SymbolicState, step: PointStep) -> Expr:
        return simplify(substitute(condition(step.label), state.values))

    def kind(self, state: SymbolicState) -> Kind:
        points = [standing.point for standing in state.processes.values()]
        if FAILED_ERROR in points:
            return "error"
        if FAILED_ASSERTION in points:
            return "assertion"
        return "deadlock" if self.waiting(state) else "terminated"

    def initial(self) -> SymbolicState:
        processes: dict[Pid, Standing] = {}
        values: dict[Var, Expr] = {}
        for variable in self.program.variables:
            if variable.value is not None:
                values[variable.var] = literal(variable.var, variable.value)
        for number, template in enumerate(self.program.initial):
            pid = Pid((number,))
            processes[pid] = Standing(template, self.numbering.entries[template])
            self._declare(pid, template, values)
        return SymbolicState(processes, values)

    def _declare(self, pid: Pid, template: int, values: dict[Var, Expr]) -> None:
        for variable in self.program.templates[template].variables:
            named = labels.of_process(variable.var, pid)
            assert isinstance(named, Var)
            assert variable.value is not None
            values[named] = literal(named, variable.value)

    def steps(self, state: SymbolicState, pid: Pid) -> tuple[PointStep, ...]:
        """All that a process may do at its point, for any inputs."""
        standing = state.processes[pid]
        key = pid, standing
        if key not in self._steps:
            self._steps[key] = tuple(self._build_steps(pid, standing))
        return self._steps[key]

    def _build_steps(self, pid: Pid, standing: Standing) -> Iterator[PointStep]:
        if standing.point < FIRST_POINT:
            return
        for choice in self.numbering.points[standing.point].choices:
            for taken, edge in enumerate(choice.edges):
                label = labels.label_of(choice, taken, pid, standing.children)
                templates = [op.template for op in edge.block if isinstance(op, Spawn)]
                spawned = tuple(zip(label.spawned, templates, strict=True))
                yield PointStep(label, choice.number, self.numbering.target(standing.point, edge), spawned)
                for position, op in enumerate(edge.block):
                    spawned_before = spawned[: sum(isinstance(o, Spawn) for o in edge.block[:position])]
                    if isinstance(op, Assert):
                        failed = labels.label_of_failure(
                            choice, taken, standing.children, position, "assertion", label
                        )
                        yield PointStep(failed, choice.number, FAILED_ASSERTION, spawned_before)
                    if simplify(defined_op(op)) is not TRUE:
                        failed = labels.label_of_failure(
                            choice, taken, standing.children, position, "error", label
                        )
                        yield PointStep(failed, choice.number, FAILED_ERROR, spawned_before)
            if simplify(conj(*(defined(edge.guard) for edge in choice.edges))) is not TRUE:
                yield PointStep(labels.label_of_guard_error(choice, pid), choice.number, FAILED_ERROR)

    def take(self, state: SymbolicState, step: PointStep) -> SymbolicState:
        """The state after a step."""
        values = dict(state.values)
        for child, template in step.spawned:
            self._declare(child, template, values)
        for effect in step.label.effects:
            carry_out(effect, values)
        processes = dict(state.processes)
        standing = processes[step.pid]
        count = standing.children + len(step.spawned)
        processes[step.pid] = Standing(standing.template, step.target, count)
        for child, template in step.spawned:
            processes[child] = Standing(template, self.numbering.entries[template])
        return SymbolicState(processes, values)

    # What processes do now and later, for persistent sets

    def now(self, state: SymbolicState, pid: Pid) -> Footprint:
        """All that a process may touch by its next step."""
        point = state.processes[pid].point
        if point not in self._now:
            foot = EMPTY
            for edge in self.numbering.points[point].edges if point >= FIRST_POINT else ():
                foot |= footprint.static(footprint.of_edge(edge))
            self._now[point] = foot
        return self._now[point]

    def later(self, state: SymbolicState, pid: Pid) -> Footprint:
        """All that a process, and what it may spawn, may still touch."""
        return self._lookahead.from_point(state.processes[pid].point)

    def observed(self, state: SymbolicState) -> dict[str, Expr]:
        """The shared variables, as expressions over the inputs; hidden ones are left out."""
        return {
            v.name: state.values.get(v.var, v.var)
            for v in sorted(self.program.variables, key=lambda v: v.name)
            if "#" not in v.name
        }

    def show_observed(self, name: str, value: Expr) -> Observed:
        return show_result(value)


def show_result(value: Expr) -> Observed:
    """A value as a report shows it: a number or a boolean if it is constant, otherwise the expression."""
    if isinstance(value.type, ArrayType):
        return tuple(show_result(cell) for cell in cells_of(value))
    if isinstance(value, Datum):
        return cast(Observed, value.value)
    return value.value if isinstance(value, Const) else show(value)


def literal(variable: Var, value: Value) -> Expr:
    """A value as an expression; all cells of an array are stored, so that none depends on the variable."""
    if not isinstance(value, tuple):
        return const(value)
    array: Expr = variable
    for index, cell in enumerate(value):
        array = store(array, const(index), const(cell))
    return array


def cells_of(expr: Expr) -> list[Expr]:
    """The cells of an array, as expressions."""
    assert isinstance(expr.type, ArrayType)
    return [simplify(select(expr, const(index))) for index in range(expr.type.size)]


def blocked(conditions: list[Expr]) -> Expr:
    """The condition under which none of some steps happens."""
    return simplify(conj(*(not_(when) for when in conditions)))
