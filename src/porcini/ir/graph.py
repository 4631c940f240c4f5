"""Program graphs: what guarded commands, Promela, actors and the parallel language are lowered to.

A template is a kind of process: a graph of control points and guarded edges. A process stands at a point
and takes an edge when the edge's guard holds; the edge's block runs as one atomic step.

Expressions name shared variables (`x`) and variables of the process itself (`.i`). Points are numbered
over the whole graph. The first three are not standing points: a process ends in `ENDED`, or is stopped in
`FAILED_ASSERTION` or `FAILED_ERROR`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from porcini.core.errors import Place
from porcini.core.systems import Value
from porcini.ir.expr import Expr, Select, Type, Var, conj, defined, disj, var
from porcini.ir.simplify import simplify


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable and its initial value; `value` is None for an input."""

    name: str
    type: Type
    value: Value | None

    @property
    def var(self) -> Var:
        return var(self.name, self.type)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target := value`. Silent assignments keep house (a scope is left, say) and are not shown."""

    target: Var | Select
    value: Expr
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a process; `copies` gives private variables of the new one their values in this one."""

    template: int
    copies: tuple[tuple[Var, Expr], ...] = ()
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Assert:
    """If it does not hold, the process stops here and the run's kind is `assertion`."""

    test: Expr


Op = Assign | Spawn | Assert


@dataclass(frozen=True, slots=True)
class Edge:
    """A guarded atomic step. Edges with one `choice` exclude each other: at most one guard holds."""

    guard: Expr
    block: tuple[Op, ...]
    target: int
    place: Place | None = None
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """The edges of a point that are decided by the state, not by the scheduler."""

    number: int
    edges: tuple[Edge, ...]

    @property
    def waits_for(self) -> Expr:
        """The guard that lets the process go on by this choice; as written, if there is only one."""
        if len(self.edges) == 1:
            return self.edges[0].guard
        return simplify(disj(*(edge.guard for edge in self.edges)))


@dataclass(frozen=True, slots=True)
class Point:
    """A place where a process can stand, and what it may do from there."""

    template: int
    edges: tuple[Edge, ...]
    place: Place | None = None

    @property
    def choices(self) -> tuple[Choice, ...]:
        ordered = sorted(self.edges, key=lambda edge: edge.choice)
        return tuple(Choice(number, tuple(edges)) for number, edges in groupby(ordered, lambda edge: edge.choice))


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of process: where it starts and its private variables."""

    name: str
    entry: int
    variables: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """A whole program. Its initial processes are instances of `initial`, named 0, 1, 2, ..."""

    variables: tuple[Variable, ...]
    templates: tuple[Template, ...]
    points: tuple[Point, ...]
    initial: tuple[int, ...] = (0,)

    @property
    def inputs(self) -> dict[str, Type]:
        return {variable.name: variable.type for variable in self.variables if variable.value is None}

    def with_inputs(self, values: dict[str, Value]) -> Graph:
        """The same program with its inputs fixed."""
        variables = tuple(
            Variable(v.name, v.type, values.get(v.name)) if v.value is None else v for v in self.variables
        )
        return Graph(variables, self.templates, self.points, self.initial)


def reads_of(op: Op) -> tuple[Expr, ...]:
    """The expressions that an operation evaluates."""
    match op:
        case Assign(target=Select(index=index), value=value):
            return (index, value)
        case Assign(value=value):
            return (value,)
        case Assert(test=test):
            return (test,)
        case Spawn(copies=copies):
            return tuple(value for _, value in copies)


def defined_op(op: Op) -> Expr:
    """When an operation can be carried out without a run-time error."""
    parts = [defined(expr) for expr in reads_of(op)]
    if isinstance(op, Assign) and isinstance(op.target, Select):
        parts.append(defined(op.target))
    return conj(*parts)
