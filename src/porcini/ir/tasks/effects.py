"""What a macro-step does, as formulas: for independence that a solver can prove.

A step is executed symbolically: its fields and variables are symbols, its parameters have their values. The result
is a set of leaves: each has a condition, the final values of fields, and what others can observe of the step
(where it ends, what it sends and creates, what it returns, where it could fail). Loops, synchronous calls and
futures have no formulas here; a step with those stays dependent.

Two steps on one object commute if neither changes the conditions of the other's leaves or what can be observed of
them, and both orders lead to the same fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from porcini.ir.analysis.numbering import ENDED, Numbering
from porcini.ir.expr import (
    TRUE,
    Apply,
    Binary,
    DataType,
    Expr,
    Let,
    Var,
    conj,
    const,
    datum,
    free,
    ite,
    nodes,
    not_,
    substitute,
    var,
)
from porcini.ir.objects import RESOLVED, VALUE
from porcini.ir.operations import (
    Assert,
    Assign,
    Await,
    Block,
    Call,
    Get,
    If,
    New,
    Op,
    Post,
    Return,
    Suspend,
    While,
    reads_of,
)
from porcini.ir.symbolic.commuting import Terms
from porcini.solvers.smt import Mismatch, Smt

MOST_LEAVES = 32


class NoFormula(Exception):
    """A step does something that has no formula here."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One path through a step: its condition, its final values, and what can be observed of it."""

    condition: Expr
    values: dict[Var, Expr]
    observed: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """All paths through a step, and the guard under which it is enabled."""

    guard: Expr
    leaves: tuple[Leaf, ...]

    def fields(self) -> dict[Var, Expr]:
        """Each field that may change, as an expression over the fields before."""
        changed = {v for leaf in self.leaves for v in leaf.values if v.own}
        final: dict[Var, Expr] = {}
        for v in changed:
            value: Expr = v
            for leaf in self.leaves:
                value = ite(leaf.condition, leaf.values.get(v, v), value)
            final[v] = value
        return final

    def rename(self, prefix: str) -> Effect:
        """The same effect, with names for the task's own variables that differ from those of another task."""
        names = {v for e in self._expressions() for v in free(e) if v.private}
        other: dict[Var, Expr] = {v: var(f".{prefix}{v.name}", v.type) for v in names}
        leaves = tuple(
            Leaf(
                substitute(leaf.condition, other),
                {v: substitute(value, other) for v, value in leaf.values.items() if v.own},
                tuple(substitute(e, other) for e in leaf.observed),
            )
            for leaf in self.leaves
        )
        return Effect(substitute(self.guard, other), leaves)

    def _expressions(self) -> Iterator[Expr]:
        yield self.guard
        for leaf in self.leaves:
            yield from (leaf.condition, *leaf.observed, *(e for v, e in leaf.values.items() if v.own))


@dataclass(frozen=True, slots=True)
class _Path:
    condition: Expr
    values: dict[Var, Expr]
    observed: tuple[Expr, ...]

    def value(self, expr: Expr) -> Expr:
        return substitute(expr, self.values)


def effect_of(numbering: Numbering, point: int, arguments: tuple[Any, ...]) -> Effect | None:
    """The effect of the step from a point; None if it has no formula."""
    here = numbering.points[point]
    method = numbering.template_at(point)
    values: dict[Var, Expr] = {}
    if here.kind == "start":
        values = {v.var: _constant(value, v.var) for v, value in zip(method.parameters, arguments, strict=True)}
    elif here.kind == "get":
        return None
    try:
        _check(here.guard)
        leaves = [
            Leaf(path.condition, path.values, path.observed)
            for path in _run(here.code, _Path(TRUE, values, ()), _Budget(numbering))
        ]
    except NoFormula:
        return None
    return Effect(here.guard, tuple(leaves))


def _constant(value: Any, variable: Var) -> Expr:
    if isinstance(value, bool | int) and variable.type in ("int", "bool"):
        return const(value)
    return datum(value, DataType(str(variable.type)))


class _Budget:
    def __init__(self, numbering: Numbering) -> None:
        self.numbering, self.program = numbering, numbering.program
        self.left = MOST_LEAVES

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise NoFormula


def _check(expr: Expr) -> None:
    """Raise `NoFormula` for futures, which others resolve, and for `let`, inside which nothing can be
    substituted."""
    for node in nodes(expr):
        if isinstance(node, Let) or (isinstance(node, Apply) and node.function in (RESOLVED, VALUE)):
            raise NoFormula


def _run(code: Block, path: _Path, budget: _Budget) -> Iterator[_Path]:
    """The paths through some code, each to where the step ends."""
    if not code:
        raise NoFormula  # the code of a point always ends explicitly
    op, rest = code[0], code[1:]
    path = _observe_failures(op, path, budget)
    match op:
        case Assign(target=Var() as target, value=value):
            yield from _run(rest, replace(path, values=path.values | {target: path.value(value)}), budget)
        case If(test=test, then=then, other=other):
            yield from _split(path.value(test), then + rest, other + rest, path, budget)
        case Assert(test=test):
            yield from _run(rest, _observe(path, path.value(test)), budget)
        case Post() | New():
            kind = f"{op.method}!" if isinstance(op, Post) else f"{op.class_} {op.local}"
            made = [path.value(e) for e in reads_of(op)]
            path = _observe(path, datum(kind, DataType("made")), *made)
            if op.target is not None:
                raise NoFormula  # the name of what was made may be used later
            yield from _run(rest, path, budget)
        case Return(value=value):
            budget.spend()
            yield _observe(path, const(ENDED), path.value(value))
        case Suspend(point=point):
            budget.spend()
            yield _stop(path, point)
        case Await(guard=guard, point=point):
            holds = path.value(guard)
            budget.spend()
            yield _stop(replace(path, condition=conj(path.condition, not_(holds))), point)
            yield from _run(rest, replace(path, condition=conj(path.condition, holds)), budget)
        case While() | Call() | Get():
            raise NoFormula


def _split(test: Expr, then: Block, other: Block, path: _Path, budget: _Budget) -> Iterator[_Path]:
    budget.spend()
    yield from _run(then, replace(path, condition=conj(path.condition, test)), budget)
    yield from _run(other, replace(path, condition=conj(path.condition, not_(test))), budget)


def _observe(path: _Path, *exprs: Expr) -> _Path:
    return replace(path, observed=(*path.observed, *exprs))


def _stop(path: _Path, point: int) -> _Path:
    """The path of a task that stops at a point and keeps its variables."""
    kept = sorted((v for v in path.values if v.private), key=lambda v: v.name)
    return _observe(path, const(point), *(path.values[v] for v in kept))


def _observe_failures(op: Op, path: _Path, budget: _Budget) -> _Path:
    """Observe the operands that determine whether an operation fails."""
    found: list[Expr] = []
    for expr in reads_of(op):
        _check(expr)
        for node in nodes(expr):
            if isinstance(node, Apply) and node.function not in budget.program.library.total:
                found += node.args
            elif isinstance(node, Binary) and node.op in ("/", "%"):
                found.append(node.right)
    return _observe(path, *(path.value(e) for e in found)) if found else path


def commute_on_one_object(a: Effect, b: Effect, theory: Mapping[str, str], smt: Smt) -> bool:
    """Is it proved that two steps on the same object commute?"""
    a, b = a.rename("a"), b.rename("b")
    after_a, after_b = a.fields(), b.fields()
    term = Terms(smt, theory)
    claims: list[tuple[Expr, Expr, Expr]] = []  # where the first holds, the other two are equal
    for one, after in ((a, after_b), (b, after_a)):
        claims.append((TRUE, one.guard, substitute(one.guard, after)))
        for leaf in one.leaves:
            claims.append((TRUE, leaf.condition, substitute(leaf.condition, after)))
            claims += [(leaf.condition, e, substitute(e, after)) for e in leaf.observed]
    for v in after_a.keys() | after_b.keys():
        left = substitute(after_b.get(v, v), after_a)
        right = substitute(after_a.get(v, v), after_b)
        claims.append((TRUE, left, right))
    try:
        return all(x is y or smt.proves(term.same_where(where, x, y)) for where, x, y in claims)
    except Mismatch:  # what the solver's data cannot express is not proved
        return False
