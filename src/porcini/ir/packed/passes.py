"""Fewer states for the same behaviour: passes over packed programs.

    forget   a private variable that will be assigned before it is read again is set to 0: its value makes no
             difference, and states that differ in nothing else become one (as in SPIN, where `-o1` turns it off)
    merge    a step that touches only private variables, and can always be taken, is merged with the one before it:
             nobody can observe whether others go first (SPIN: `-o3`). But the sender of a rendezvous can observe
             that another process has not reached a point where it would receive: by `else`, or by giving up the
             turn. Where that is possible, steps to such points are not merged

Points keep their numbers and their labels. An edge keeps the edges that it was merged from (`parts`), so that a
run of the smaller program is a run of the original one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from porcini.ir.expr import TRUE, Binary, Const, Expr, Ite, Junction, Neg, Not, OwnNumber, Select, Var, is_partial
from porcini.ir.operations import (
    Assign,
    Forget,
    Op,
    Print,
    Receive,
    Send,
    Spawn,
    Target,
    loads,
    reads_of,
    reads_of_talk,
    variable_of,
)
from porcini.ir.program import Edge, Point, Program, Template, Variable, targets_of

Declared = Mapping[Var, Variable]


def optimise_program(program: Program) -> Program:
    """The same program with fewer states."""
    declared = program.declared
    missed = _may_be_missed(program)
    merged = program.templates
    if program.priorities is None:  # with priorities, no step can always be taken
        merged = [_merge(template, declared, missed) for template in merged]
    return replace(program, templates=[_forget(template, declared) for template in merged])


# Merging


def _may_be_missed(program: Program) -> bool:
    """May it make a difference to a sender that no process stands where it would receive?"""
    own = (channel for template in program.templates for channel in template.channels)
    if all(channel.capacity for channel in (*program.channels, *own)):
        return False
    for template in program.templates:
        held = {edge.target for edge in template.edges if edge.atomic}
        for number, point in enumerate(template.points):
            tests = number in held or any(edge.otherwise or edge.rank for edge in point.edges)
            if tests and any(isinstance(edge.talk, Send) for edge in point.edges):
                return True
    return False


def _merge(template: Template, declared: Declared, missed: bool) -> Template:
    if template.provided is not TRUE:
        return template  # no step of it can always be taken
    inside = {edge.target for edge in template.edges if edge.d_step}
    points = [
        point
        if number in inside
        else replace(point, edges=[_extend(template, number, edge, declared, missed) for edge in point.edges])
        for number, point in enumerate(template.points)
    ]
    return replace(template, points=points)


def _extend(template: Template, source: int, edge: Edge, declared: Declared, missed: bool) -> Edge:
    """An edge with the private steps after it, as far as they go."""
    if edge.atomic or edge.d_step or edge.target == source:
        return edge
    seen = {source}
    while edge.target not in seen:
        seen.add(edge.target)
        following = _private_step(template.points[edge.target], declared)
        if following is None or (missed and _receives(template.points[following.target])):
            break
        if template.points[source].labels and template.points[following.target].labels:
            break  # a formula may ask whether the process stands at a label: in between it does not
        edge = replace(
            edge,
            block=edge.block + following.block,
            target=following.target,
            parts=(edge.parts or (edge,)) + (following,),
        )
    return edge


def _receives(point: Point) -> bool:
    return any(isinstance(edge.talk, Receive) for edge in point.edges)


def _private_step(point: Point, declared: Declared) -> Edge | None:
    """The only step from a point, if it is always possible and nobody else can observe whether it was taken."""
    if len(point.edges) != 1 or point.labels:
        return None
    edge = point.edges[0]
    if edge.guards or edge.talk is not None or edge.otherwise or edge.atomic or edge.d_step:
        return None
    return edge if all(_private(op, declared) for op in edge.block) else None


def _private(op: Op, declared: Declared) -> bool:
    if not isinstance(op, Assign):
        return isinstance(op, Print)
    var = declared[variable_of(op.target)]
    if not var.local or var.remote or not _is_there(op.target, var):
        return False
    return all(_own(expr, declared) for expr in reads_of(op))


def _own(expr: Expr, declared: Declared) -> bool:
    """Does an expression read only the process itself, and never fail?"""
    match expr:
        case Var() | Select():
            var = declared[variable_of(expr)]
            return _is_there(expr, var) and (var.local or var.constant)
        case Const() | OwnNumber():
            return True
        case Not() | Neg() | Binary() | Junction() | Ite():
            return not is_partial(expr) and all(_own(child, declared) for child in expr.children)
        case _:
            return False


def _is_there(cell: Target, var: Variable) -> bool:
    """Is it a variable, or a cell that its array has for sure?"""
    return isinstance(cell, Var) or (isinstance(cell.index, Const) and 0 <= cell.index.value < var.size)


# Forgetting


def _forget(template: Template, declared: Declared) -> Template:
    forgettable = {v.var for v in template.variables if not (v.array or v.remote or v.constant)}
    if not forgettable:
        return template
    live = _live(template)
    points = [
        replace(point, edges=[_forgetting(edge, live, live[number], forgettable) for edge in point.edges])
        for number, point in enumerate(template.points)
    ]
    return replace(template, points=points)


def _forgetting(edge: Edge, live: list[set[Var]], before: set[Var], forgettable: set[Var]) -> Edge:
    if edge.exits:
        return edge
    held = (before | set(map(variable_of, targets_of(edge)))) & forgettable
    dead = held - live[edge.target]
    if not dead:
        return edge
    forget = Forget(tuple(sorted(dead, key=lambda var: var.name)))
    return replace(edge, block=(*edge.block, forget), parts=edge.parts or (edge,))


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
    for op in reversed(edge.block):
        target = op.target if isinstance(op, Assign) else op.into if isinstance(op, Spawn) else None
        if isinstance(target, Var):
            live.discard(target)
        live |= _read(reads_of(op))
    if isinstance(edge.talk, Receive):
        live -= {target for target in edge.talk.into if isinstance(target, Var)}
    return live | _read(reads_of_talk(edge.talk)) | _read(edge.guards)


def _read(exprs: Iterable[Expr]) -> set[Var]:
    return {var for expr in exprs for cell in loads(expr) if (var := variable_of(cell)).private}
