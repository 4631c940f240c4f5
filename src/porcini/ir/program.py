"""One program for every language that has processes with points and guarded edges: GCL, par, actors and Promela.

A template is a kind of process: points, and edges from point to point. A process stands at a point, and may take
an edge when its guard is true and its communication, if it has one, can happen; then its block is carried out as
one step (`operations`). A process at `Template.end` has ended. Methods of classes are templates as well, and tasks
are their processes (`objects`).

Expressions refer to shared variables (`x`), variables of the process itself (`.x`) and fields of its object
(`@f`). A variable with `bounds` holds whole numbers of so many bits, and storing wraps around; a variable without
holds any number, a boolean, or a value of the language's own (`objects.Library`). A channel is identified by a
number, its id.

Edges have attributes; their meaning is defined here, once, and every machine must agree:

    otherwise   `else`: the edge can be taken when no other edge of its family can
    rank        an edge can be taken when no edge of its point with a lower rank can; of the receives by which a
                process may answer a rendezvous, only those of the lowest rank count (`unless`)
    atomic      after this edge the process keeps the turn: nobody else moves until it is blocked or leaves the
                sequence
    d_step      after this edge the process goes on at once, within the same step
    choice      edges with the same number exclude each other: the state decides between them, not the scheduler

A process can do something, including answering a rendezvous, only while the `provided` condition of its template
holds; and with `Program.priorities`, only while no process with a higher priority can do something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

from porcini.core.errors import Place
from porcini.core.systems import Scalar, Value
from porcini.ir.evaluation import wrap
from porcini.ir.expr import TRUE, ArrayType, Expr, Junction, Type, Var, disj, nodes, var
from porcini.ir.objects import CallSite, Library, ObjectClass
from porcini.ir.operations import (
    Block,
    Exit,
    Receive,
    Send,
    Spawn,
    Target,
    inside,
    reads_of,
    reads_of_talk,
    targets_of_op,
)
from porcini.ir.simplify import simplify

MOST_PROCESSES = 255
"""The limit for packed programs: process numbers have eight bits, as in SPIN."""

# Variables and channels


@dataclass(frozen=True, slots=True)
class Bounds:
    """Whole numbers of so many bits. `kind` is for display: `int`, `bool`, `mtype`, `mtype:fruit` or `chan`."""

    bits: int
    signed: bool = False
    kind: str = "int"
    exact: bool = False
    """Does a value that needs more bits end the search of packed states, instead of being wrapped around?"""

    @property
    def low(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.bits - self.signed)) - 1

    def holds(self, value: int) -> bool:
        return self.low <= value <= self.high

    def wrap(self, value: int) -> int:
        return wrap(value, self.bits, self.signed)


@dataclass(eq=False, slots=True)
class Variable:
    """A variable or an array, and its initial value; None for an input."""

    name: str
    type: Type
    value: Value | None
    bounds: Bounds | None = None
    sizes: tuple[int, ...] = ()
    """The dimensions of nested arrays, the outermost first."""
    constant: bool = False
    """Does nothing ever assign to it?"""
    set_up: bool = False
    """Does it get its first value when its process starts, as a parameter or by an initial expression?"""
    remote: bool = False
    """May another process read it?"""
    observed: bool = True
    """Is it part of the outcome of a run?"""

    @property
    def var(self) -> Var:
        return var(self.name, self.type)

    @property
    def local(self) -> bool:
        return self.name.startswith(".")

    @property
    def title(self) -> str:
        """Its name in the source."""
        return self.name.lstrip(".").partition("#")[0]

    @property
    def array(self) -> bool:
        return isinstance(self.type, ArrayType)

    @property
    def size(self) -> int:
        return self.type.size if isinstance(self.type, ArrayType) else 1

    @property
    def bounded(self) -> Bounds:
        """The bounds that it must have to be packed."""
        assert self.bounds is not None, f"{self.name} has no bounds"
        return self.bounds

    @property
    def initial(self) -> tuple[Scalar, ...]:
        """The initial values of its cells."""
        if self.value is None:
            raise ValueError(f"input {self.name} has no value")
        return self.value if isinstance(self.value, tuple) else (self.value,)

    def __repr__(self) -> str:
        return f"Variable({self.name})"


@dataclass(frozen=True, slots=True)
class ChannelType:
    """`capacity` 0 is a rendezvous."""

    name: str
    capacity: int
    fields: tuple[Bounds, ...]

    @property
    def message_bits(self) -> int:
        return sum(field.bits for field in self.fields)


# Edges


@dataclass(eq=False, slots=True)
class Edge:
    """A guarded step from a point; `text` is its source text, where that is kept."""

    guard: Expr
    block: Block
    target: int
    place: Place | None = None
    choice: int = 0
    text: str = ""
    talk: Send | Receive | None = None
    otherwise: bool = False
    families: tuple[int, ...] = ()
    """The selections that it is an option of, the outermost first."""
    rank: int = 0
    atomic: bool = False
    d_step: bool = False
    parts: tuple[Edge, ...] = ()
    """The original edges, if this one was merged from several."""

    @property
    def guards(self) -> tuple[Expr, ...]:
        """The conjuncts of the guard, in the order in which they are evaluated."""
        return conjuncts(self.guard)

    @property
    def exits(self) -> bool:
        return any(isinstance(op, Exit) for op in self.block)


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The conjuncts of an expression, in order; none if it is the constant true."""
    if isinstance(expr, Junction) and expr.op == "and":
        return expr.args
    return () if expr is TRUE else (expr,)


def rivals(edge: Edge, edges: Iterable[Edge]) -> list[Edge]:
    """The edges that prevent another one while they can be taken: those of the same family, for an `else`, and
    those with a lower rank."""
    family = edge.families[-1] if edge.otherwise else None
    return [
        other
        for other in edges
        if other is not edge and (other.rank < edge.rank or (family is not None and family in other.families))
    ]


# Points and programs


@dataclass(frozen=True, slots=True)
class Choice:
    """Edges of a point between which the state decides, not the scheduler."""

    number: int
    edges: tuple[Edge, ...]

    @property
    def waits_for(self) -> Expr:
        """The guard that lets the process go on by this choice; as written, if there is only one."""
        if len(self.edges) == 1:
            return self.edges[0].guard
        return simplify(disj(*(edge.guard for edge in self.edges)))


Standing = Literal["", "start", "await", "get", "suspend"]


@dataclass(eq=False, slots=True)
class Point:
    """A place where a process can stand, and what it may do from there. A task has one edge at each point, whose
    block is everything that may follow; the task waits there for the guard of this edge."""

    place: Place | None = None
    edges: list[Edge] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)
    kind: Standing = ""
    """For a task: why it stands there. At a `get` it blocks its group."""
    text: str = ""
    """The same in words."""

    @property
    def code(self) -> Block:
        """Everything that a task may do from here on."""
        return self.edges[0].block if self.edges else ()

    @property
    def guard(self) -> Expr:
        """What a task waits for here."""
        return self.edges[0].guard if self.edges else TRUE

    @property
    def choices(self) -> tuple[Choice, ...]:
        ordered = sorted(self.edges, key=lambda edge: edge.choice)
        return tuple(Choice(number, tuple(edges)) for number, edges in groupby(ordered, lambda edge: edge.choice))


@dataclass(eq=False, slots=True)
class Template:
    """A kind of process: its points, where it starts and ends, its private variables and its own channels."""

    name: str
    place: Place | None = None
    points: list[Point] = field(default_factory=list)
    entry: int = 0
    end: int = 0
    variables: list[Variable] = field(default_factory=list)
    """Parameters first."""
    parameters: list[Variable] = field(default_factory=list)
    setup: list[tuple[Variable, Expr]] = field(default_factory=list)
    """Values that are computed when a process starts."""
    channels: list[ChannelType] = field(default_factory=list)
    """Channels that are created with each process."""
    channel_cells: list[tuple[Variable, int]] = field(default_factory=list)
    """For each own channel, the cell that initially holds its id."""
    labels: dict[str, int] = field(default_factory=dict)
    provided: Expr = TRUE
    """Its processes do nothing while this is false; but they do not stop in the middle of a `d_step`."""
    class_: int = 0
    """For a method: its class."""
    result: Type = "int"
    """For a method: the type of its future's value."""
    releases: bool = False
    """For a method: may it release its group before it ends?"""
    calls: tuple[CallSite, ...] = ()
    """For a method: the calls that it may make."""

    @property
    def vars(self) -> tuple[Var, ...]:
        """Its private variables as expressions."""
        return tuple(variable.var for variable in self.variables)

    @property
    def edges(self) -> Iterator[Edge]:
        for point in self.points:
            yield from point.edges

    @property
    def starts(self) -> set[int]:
        """The templates that it may start."""
        return {op.template for edge in self.edges for op in inside(edge.block) if isinstance(op, Spawn)}


@dataclass(eq=False, slots=True)
class Program:
    """A whole program. Its initial processes are instances of `initial`, named 0, 1, 2, ..."""

    variables: list[Variable]
    templates: list[Template]
    initial: list[int] = field(default_factory=lambda: [0])
    channels: list[ChannelType] = field(default_factory=list)
    """The channels that all processes share; their ids are 1, 2, 3, ..."""
    mtypes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each kind (`mtype`, `mtype:fruit`) its names, from the largest value down to 1."""
    notes: list[str] = field(default_factory=list)
    """What a user should know about how it was read."""
    unordered: list[Variable | int] = field(default_factory=list)
    """Declared by the model: variables and shared channels (by id) whose accesses count as independent."""
    strangers: list[tuple[int, int]] = field(default_factory=list)
    """Declared by the model: pairs of templates whose processes are independent of each other."""
    settled: Expr = TRUE
    """A condition that must hold where a run ends, besides that all processes stand where they may end."""
    priorities: Variable | None = None
    """An array with the priority of each process, by its number. Processes with a higher priority go first, and
    there is no rendezvous."""
    classes: list[ObjectClass] = field(default_factory=list)
    """Class 0 is that of the main block's own object; template 0 is the main block."""
    library: Library = field(default_factory=Library)
    uses_futures: bool = False
    """Does the program read futures?"""
    uses_get: bool = False
    """Does a task ever block its group while it waits for a future?"""

    @property
    def inputs(self) -> dict[str, Type]:
        return {variable.name: variable.type for variable in self.variables if variable.value is None}

    def with_inputs(self, values: Mapping[str, Value]) -> Program:
        """The same program with its inputs fixed."""
        variables = [replace(v, value=values.get(v.name)) if v.value is None else v for v in self.variables]
        return replace(self, variables=variables, library=self.library.with_inputs(values))

    @property
    def declared(self) -> dict[Var, Variable]:
        """All variables by their names in expressions; for programs in which these are unique."""
        private = (v for template in self.templates for v in template.variables)
        return {v.var: v for v in (*self.variables, *private)}


# What edges evaluate and assign


def expressions(edge: Edge) -> Iterator[Expr]:
    """All expressions that an edge evaluates."""
    yield from edge.guards
    yield from reads_of_talk(edge.talk)
    for op in inside(edge.block):
        yield from reads_of(op)


def nodes_of(edge: Edge) -> Iterator[Expr]:
    """All nodes of the expressions that an edge evaluates."""
    for expr in expressions(edge):
        yield from nodes(expr)


def targets_of(edge: Edge) -> Iterator[Target]:
    """The variables and cells that an edge assigns to."""
    if isinstance(edge.talk, Receive):
        yield from (target for target in edge.talk.into if target is not None)
    for op in inside(edge.block):
        yield from targets_of_op(op)
