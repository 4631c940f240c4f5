"""Fewer states for the same behaviour: passes over packed programs.

    forget   a private variable that will be assigned before it is read again is set to 0: what it held makes no
             difference, and states that differ in nothing else become one (SPIN does so too, `-o1` turns it off)
    merge    a step that touches nothing but private variables, and can always be taken, is taken together with the
             one before it: nobody can see whether others go first (SPIN: `-o3`)

Points keep their numbers and their labels. An edge remembers the edges that it was made of (`parts`), so that a
run of the smaller program is a run of the one that was written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from porcini.ir.packed.program import (
    Apply,
    Check,
    Const,
    Die,
    Edge,
    Expr,
    Load,
    Op,
    Point,
    Program,
    Receive,
    Reset,
    Say,
    Self,
    Send,
    Start,
    Store,
    Template,
    Var,
    walk,
)

_RISKY = ("/", "%", "<<", ">>", "check")
"""Operators that may fail: where they do should be seen."""


def optimised(program: Program) -> Program:
    """The same program with fewer states."""
    templates = [_forget(_merge(template)) for template in program.templates]
    return replace(program, templates=templates)


# Merging


def _merge(template: Template) -> Template:
    glued = {edge.target for point in template.points for edge in point.edges if edge.d_step}
    points = [
        point if number in glued else replace(point, edges=[_extended(template, number, e) for e in point.edges])
        for number, point in enumerate(template.points)
    ]
    return replace(template, points=points)


def _extended(template: Template, source: int, edge: Edge) -> Edge:
    """An edge with the private steps after it, as far as they go."""
    if edge.atomic or edge.d_step or edge.target == source:
        return edge
    seen = {source}
    while edge.target not in seen:
        seen.add(edge.target)
        following = _private_step(template.points[edge.target])
        if following is None:
            break
        edge = replace(
            edge,
            ops=edge.ops + following.ops,
            target=following.target,
            parts=(edge.parts or (edge,)) + (following,),
        )
    return edge


def _private_step(point: Point) -> Edge | None:
    """The only step from a point, if it is always possible and nobody else can tell whether it was taken."""
    if len(point.edges) != 1 or point.labels:
        return None
    edge = point.edges[0]
    if edge.guards or edge.talk is not None or edge.otherwise or edge.atomic or edge.d_step:
        return None
    return edge if all(_private(op) for op in edge.ops) else None


def _private(op: Op) -> bool:
    match op:
        case Store(var=var, index=index, value=value):
            return var.local and not var.remote and all(_own(expr) for expr in (index, value) if expr is not None)
        case Say():
            return True
        case _:
            return False


def _own(expr: Expr) -> bool:
    """Does an expression look at nothing but the process itself, and never fail?"""
    for part in walk(expr):
        match part:
            case Load(var=var, index=index):
                constant = isinstance(index, Const) and 0 <= index.value < var.size
                if not (var.local or var.constant) or (index is not None and not constant):
                    return False
            case Apply(op=op) if op in _RISKY:
                return False
            case Const() | Self() | Apply():
                continue
            case _:
                return False
    return True


# Forgetting


def _forget(template: Template) -> Template:
    forgettable = {var for var in template.variables if not (var.array or var.remote or var.constant)}
    if not forgettable:
        return template
    live = _live(template)
    points = [
        replace(point, edges=[_forgetting(edge, live, live[number], forgettable) for edge in point.edges])
        for number, point in enumerate(template.points)
    ]
    return replace(template, points=points)


def _forgetting(edge: Edge, live: list[set[Var]], before: set[Var], forgettable: set[Var]) -> Edge:
    if any(isinstance(op, Die) for op in edge.ops):
        return edge
    held = (before | set(_defined(edge))) & forgettable
    dead = held - live[edge.target]
    if not dead:
        return edge
    reset = Reset(tuple(sorted(dead, key=lambda var: var.name)))
    return replace(edge, ops=(*edge.ops, reset), parts=edge.parts or (edge,))


def _live(template: Template) -> list[set[Var]]:
    """For each point, the private variables whose values may still be read."""
    live: list[set[Var]] = [set() for _ in template.points]
    changed = True
    while changed:
        changed = False
        for number, point in enumerate(template.points):
            for edge in point.edges:
                found = _live_before(edge, live[edge.target])
                if not found <= live[number]:
                    live[number] |= found
                    changed = True
    return live


def _live_before(edge: Edge, after: set[Var]) -> set[Var]:
    live = set(after)
    for op in reversed(edge.ops):
        match op:
            case Store(var=var, index=index, value=value):
                if not var.array:
                    live.discard(var)
                live |= _read([value] if index is None else [value, index])
            case Start(args=args, into=into):
                if into is not None:
                    live = live - {into.var} if into.index is None else live | _read([into.index])
                live |= _read(args)
            case Check(test=test):
                live |= _read([test])
            case Say(args=args):
                live |= _read(args)
    match edge.talk:
        case Send(channel=channel, values=values):
            live |= _read([channel, *values])
        case Receive(channel=channel, pattern=pattern, into=into_):
            live -= {load.var for load in into_ if load is not None and load.index is None}
            live |= _read([load.index for load in into_ if load is not None and load.index is not None])
            live |= _read([channel, *(part for part in pattern if part is not None)])
    return live | _read(edge.guards)


def _read(exprs: Iterable[Expr]) -> set[Var]:
    return {part.var for expr in exprs for part in walk(expr) if isinstance(part, Load) and part.var.local}


def _defined(edge: Edge) -> Iterable[Var]:
    if isinstance(edge.talk, Receive):
        yield from (load.var for load in edge.talk.into if load is not None)
    for op in edge.ops:
        if isinstance(op, Store):
            yield op.var
        elif isinstance(op, Start) and op.into is not None:
            yield op.into.var
