"""The abstract syntax of GCL, as written: names are not resolved and types not checked yet."""

from __future__ import annotations

from dataclasses import dataclass

from porcini.core.errors import Place
from porcini.core.systems import Value
from porcini.ir.expr import Type


@dataclass(frozen=True, slots=True)
class Node:
    place: Place
    depth: int


# Expressions


@dataclass(frozen=True, slots=True)
class Literal(Node):
    value: int | bool


@dataclass(frozen=True, slots=True)
class Name(Node):
    """`x`, or `a[e]` if there is an index."""

    name: str
    index: Expression | None


@dataclass(frozen=True, slots=True)
class Unary(Node):
    op: str
    arg: Expression


@dataclass(frozen=True, slots=True)
class Operation(Node):
    """A binary operator, or `and`/`or` over any number of arguments."""

    op: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Cases(Node):
    """`(test ? value : other)`: the value of the first test that holds. Programs do not have this."""

    cases: tuple[tuple[Expression, Expression], ...]
    other: Expression


Expression = Literal | Name | Unary | Operation | Cases


# Simple statements


@dataclass(frozen=True, slots=True)
class Assignment(Node):
    target: Name
    value: Expression


@dataclass(frozen=True, slots=True)
class SpawnBody(Node):
    body: Statements


@dataclass(frozen=True, slots=True)
class Call(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Skip(Node):
    pass


@dataclass(frozen=True, slots=True)
class Assertion(Node):
    test: Expression


@dataclass(frozen=True, slots=True)
class Nested(Node):
    body: Statements


Simple = Assignment | SpawnBody | Call | Skip | Assertion | Nested


# Guarded statements


@dataclass(frozen=True, slots=True)
class Silent(Node):
    """Bare `skip`: no step at all."""


@dataclass(frozen=True, slots=True)
class Guarded(Node):
    guard: Expression
    body: Simple


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`then <| guard |> other`."""

    guard: Expression
    then: Simple
    other: Simple


@dataclass(frozen=True, slots=True)
class Loop(Node):
    guard: Expression
    body: Simple


@dataclass(frozen=True, slots=True)
class Scope(Node):
    bindings: tuple[Binding, ...]
    body: Statements


Statement = Silent | Guarded | Conditional | Loop | Scope
Statements = tuple[Statement, ...]


# Programs


@dataclass(frozen=True, slots=True)
class Binding(Node):
    """`value` is None for an input."""

    name: str
    type: Type
    value: Value | None


@dataclass(frozen=True, slots=True)
class Procedure(Node):
    name: str
    body: Statements


@dataclass(frozen=True, slots=True)
class Program:
    bindings: tuple[Binding, ...]
    procedures: tuple[Procedure, ...]
    body: Statements
