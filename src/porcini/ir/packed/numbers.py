"""Do the numbers of processes matter?

A process gets the next number when it is started, and the youngest goes first when it is gone. So `run A()` by one
process depends on `run B()` by another, and on the end of a third: the numbers are others. Often nobody asks for
them. Then reductions may forget numbers (`is_number_blind`), by this argument.

Call two states alike if the shared parts are equal, and the processes that have not come to their end as well, in
any order. In a program that is blind for numbers,

    -end-        leads to a state that is alike, and is the only step that asks for numbers or for how many
                 processes there are
    other steps  depend on the shared part and on the processes that take them: of two states that are alike, each
                 can do what the other can, and what comes of it is alike again
    timeout      can differ only as long as an `-end-` can be taken, of which there are finitely many in a row
    errors       do not come from numbers: there are never more processes than there may be, and no channel goes
                 with its process

So take processes by who started them instead, and leave out `-end-`: all states that are alike behave as one
state of this other program. Steps of different processes there depend on each other by what they touch, and a
stubborn set there is one here. A set of one `-end-` alone leads to a state that is alike, which is what the
other program does without a step; that can be so only as often as there are processes. What a reduction must
keep (states in which nothing can move, failures, runs by the propositions of a formula that does not ask for
numbers either) is the same for states that are alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from porcini.ir.expr import Enabled, Expr, NoProgress, OwnNumber, Peek, Population, StandsAt, nodes
from porcini.ir.operations import Exit, Spawn, inside
from porcini.ir.program import MOST_PROCESSES, Program, Template, expressions

_ASK_FOR_NUMBERS = (OwnNumber, Population, Enabled, NoProgress, StandsAt, Peek)


def is_number_blind(program: Program) -> bool:
    """Does nothing in a program depend on the numbers of its processes, but the order in which they are gone?"""
    return not (
        program.priorities is not None
        or _asks_for_numbers(program)
        or _keeps_numbers(program)
        or _loses_channels(program)
        or _most_processes(program) > MOST_PROCESSES
    )


def _asks_for_numbers(program: Program) -> bool:
    return any(isinstance(node, _ASK_FOR_NUMBERS) for expr in _expressions(program) for node in nodes(expr))


def _keeps_numbers(program: Program) -> bool:
    blocks = (edge.block for template in program.templates for edge in template.edges)
    return any(isinstance(op, Spawn) and op.into is not None for block in blocks for op in inside(block))


def _loses_channels(program: Program) -> bool:
    """Are there channels that have their number from a process, and are gone with it?"""
    return any(template.channels for template in program.templates)


def _expressions(program: Program) -> Iterator[Expr]:
    """All that is evaluated, but for the order in which processes are gone."""
    yield program.settled
    for template in program.templates:
        yield template.provided
        yield from (expr for _, expr in template.setup)
        for edge in template.edges:
            if not isinstance(edge.block[0] if edge.block else None, Exit):
                yield from expressions(edge)


def _most_processes(program: Program) -> float:
    """How many processes can there be at most, in all?"""
    templates = program.templates
    known: dict[int, float] = {}

    def most(number: int) -> float:
        if number not in known:
            known[number] = float("inf")  # if it comes to start itself
            known[number] = 1 + sum(map(most, _started(templates[number])), 0.0)
        return known[number]

    return sum(map(most, program.initial))


def _started(template: Template) -> list[int]:
    """The templates that a process may start, each as often as it may; in a loop as often as there are numbers."""
    reach = reachable(template)
    found: list[int] = []
    for number, point in enumerate(template.points):
        for edge in point.edges:
            again = MOST_PROCESSES if reach[edge.target] >> number & 1 else 1
            found += [op.template for op in inside(edge.block) if isinstance(op, Spawn)] * again
    return found


def reachable(template: Template) -> list[int]:
    """For each point, the points that can be reached from it, itself included."""
    reach = [1 << number for number in range(len(template.points))]
    changed = True
    while changed:
        changed = False
        for number, point in enumerate(template.points):
            found = reach[number]
            for edge in point.edges:
                found |= reach[edge.target]
            if found != reach[number]:
                reach[number], changed = found, True
    return reach
