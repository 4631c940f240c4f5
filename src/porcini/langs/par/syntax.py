"""The abstract syntax of the parallel language. All variables are integers, so expressions are typed as they are
read.

Statements are made by the functions below: what has no events is `Skip`, and nothing else is; a sequence holds no
sequence, and a parallel composition no parallel composition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from porcini.core.errors import Place
from porcini.ir.expr import Expr, Var


@dataclass(frozen=True, slots=True)
class Expression:
    place: Place
    expr: Expr


@dataclass(frozen=True, slots=True)
class Skip:
    place: Place
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Assignment:
    place: Place
    depth: int
    target: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    place: Place
    depth: int
    guard: Expr
    then: Statement
    other: Statement


@dataclass(frozen=True, slots=True)
class Loop:
    place: Place
    depth: int
    guard: Expr
    body: Statement


@dataclass(frozen=True, slots=True)
class Sequence:
    place: Place
    depth: int
    parts: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Parallel:
    place: Place
    depth: int
    parts: tuple[Statement, ...]


Statement = Skip | Assignment | Conditional | Loop | Sequence | Parallel


def composed(kind: type[Sequence] | type[Parallel], statements: Iterable[Statement]) -> Statement:
    """Statements in sequence or in parallel, without those that do nothing."""
    given = tuple(statements)
    parts: list[Statement] = []
    for statement in given:
        if isinstance(statement, kind):
            parts += statement.parts
        elif not isinstance(statement, Skip):
            parts.append(statement)
    if len(parts) < 2:
        return parts[0] if parts else given[0]
    return kind(given[0].place, 1 + max(part.depth for part in parts), tuple(parts))
