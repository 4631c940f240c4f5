"""Private variables that will be assigned before they are read again are forgotten: their values make no
difference, and states that differ in nothing else become one (as in SPIN, where `-o1` turns it off).

    _live_at     for each point, what may still be read from there on
    _forgetting  an edge that forgets at its end what is not read at its target
    _in_block    the block of a task, which forgets before each place where its step may end; the point there has
                 all that may follow, which is also what follows in the block if the step goes on

Arrays are kept, and so are variables that others may read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from porcini.ir.expr import Expr, Var
from porcini.ir.operations import (
    Await,
    Block,
    Forget,
    Get,
    If,
    Op,
    Receive,
    Return,
    Suspend,
    While,
    loads,
    reads_of,
    reads_of_talk,
    targets_of_op,
    variable_of,
)
from porcini.ir.program import Edge, Program, Template, targets_of

Vars = frozenset[Var]


def forget_dead_variables(program: Program) -> Program:
    """The same program, in which values that are not read any more are forgotten."""
    return replace(program, templates=[_in_template(template) for template in program.templates])


def _in_template(template: Template) -> Template:
    forgettable = frozenset(v.var for v in template.variables if not (v.array or v.remote or v.constant))
    if not forgettable:
        return template
    live = _live_at(template)
    points = [
        replace(
            point,
            edges=[_forgetting(edge, live, live[number], forgettable) for edge in point.edges],
        )
        for number, point in enumerate(template.points)
    ]
    return replace(template, points=points)


def _forgetting(edge: Edge, live: list[Vars], before: Vars, forgettable: Vars) -> Edge:
    if edge.exits:
        return edge
    block = _in_block(edge.block, live, forgettable)
    held = (before | {variable_of(target) for target in targets_of(edge)}) & forgettable
    dead = held - live[edge.target]
    if dead and not isinstance(block[-1] if block else None, Return):
        block = (*block, _forget(dead))
    return edge if block == edge.block else replace(edge, block=block, parts=edge.parts or (edge,))


def _in_block(block: Block, live: list[Vars], forgettable: Vars) -> Block:
    found: list[Op] = []
    for op in block:
        match op:
            case Await(point=point) | Get(point=point) | Suspend(point=point):
                dead = forgettable - live[point] - _read(reads_of(op))
                found += [_forget(dead), op] if dead else [op]
            case If(then=then, other=other):
                parts = [_in_block(part, live, forgettable) for part in (then, other)]
                found.append(replace(op, then=parts[0], other=parts[1]))
            case While(body=body):
                found.append(replace(op, body=_in_block(body, live, forgettable)))
            case _:
                found.append(op)
    return tuple(found)


def _forget(variables: Iterable[Var]) -> Forget:
    return Forget(tuple(sorted(variables, key=lambda var: var.name)))


# What is still read


def _live_at(template: Template) -> list[Vars]:
    live = [_read((template.provided,)) for _ in template.points]  # that is asked before each step
    changed = True
    while changed:
        changed = False
        for number, point in enumerate(template.points):
            for edge in point.edges:
                found = live[number] | _live_before_edge(edge, live[edge.target])
                if found != live[number]:
                    live[number], changed = found, True
    return live


def _live_before_edge(edge: Edge, after: Vars) -> Vars:
    live = _live_before_block(edge.block, after)
    if isinstance(edge.talk, Receive):
        live -= {target for target in edge.talk.into if isinstance(target, Var)}
    return live | _read(reads_of_talk(edge.talk)) | _read(edge.guards)


def _live_before_block(block: Block, after: Vars) -> Vars:
    for op in reversed(block):
        after = _live_before(op, after)
    return after


def _live_before(op: Op, after: Vars) -> Vars:
    match op:
        case Return():
            return _read(reads_of(op))
        case If(then=then, other=other):
            after = _live_before_block(then, after) | _live_before_block(other, after)
        case While(body=body):
            after |= _read(reads_of(op))
            while not (again := _live_before_block(body, after)) <= after:
                after |= again
        case _:
            after -= {target for target in targets_of_op(op) if isinstance(target, Var)}
    return after | _read(reads_of(op))


def _read(exprs: Iterable[Expr]) -> Vars:
    return frozenset(var for expr in exprs for cell in loads(expr) if (var := variable_of(cell)).private)
