"""A step that touches only private variables, and can always be taken, is merged with the one before it: nobody
can observe whether others go first (SPIN: `-o3`). But the sender of a rendezvous can observe that another
process has not reached a point where it would receive: by `else`, or by giving up the turn. Where that is
possible, steps to such points are not merged.

Points keep their numbers and their labels. An edge keeps the edges that it was merged from (`parts`), so that a
run of the smaller program is a run of the original one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porcini.ir.expr import TRUE, Binary, Const, Expr, Ite, Junction, Neg, Not, OwnNumber, Select, Var, is_partial
from porcini.ir.operations import (
    Assign,
    Op,
    Print,
    Receive,
    Send,
    Target,
    reads_of,
    variable_of,
)
from porcini.ir.program import Edge, Point, Program, Template, Variable

Declared = Mapping[Var, Variable]


def merge_private_steps(program: Program) -> Program:
    """The same program with fewer points at which a process stands."""
    if program.priorities is not None:
        return program  # no step can always be taken
    declared, missed = program.declared, _may_be_missed(program)
    return replace(program, templates=[_merge(template, declared, missed) for template in program.templates])


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
