"""Random edits of GCL programs that people wrote.

A generator makes what its author thinks of; what is near a real program may be something else.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from conformance.expressions import COMPARISONS, TRUE, Binary, Cell, Const, Expression, Unary, Var
from conformance.gcl.program import Program, is_legal
from conformance.gcl.tree import (
    Assert,
    Assign,
    Call,
    Choose,
    Nested,
    Scope,
    Skip,
    Spawn,
    Statement,
    When,
    While,
)
from conformance.trees import Path, located, part, replaced

Edit = Callable[[Random, Program], Program | None]
"""A change, or None where there is nothing to change."""


def mutate(random: Random, program: Program) -> Program:
    """A legal program some edits away. It may have loops that do not end."""
    wanted = random.randint(1, 4)
    for _ in range(20 * wanted):
        edited = random.choice(_EDITS)(random, program)
        if edited is not None and edited != program and is_legal(edited):
            program, wanted = edited, wanted - 1
        if not wanted:
            break
    return program


def _places(program: Program, *kinds: type) -> list[Path]:
    return [path for path, each in located(program) if isinstance(each, kinds)]


def _statements(program: Program) -> list[Path]:
    return [path for path in _places(program, When, Choose, While, Scope, Skip) if isinstance(path[-1], int)]


def _swap_statements(random: Random, program: Program) -> Program | None:
    places = _statements(program)
    if len(places) < 2:
        return None
    one, other = random.sample(places, 2)
    if one == other[: len(one)] or other == one[: len(other)]:
        return None
    swapped = replaced(program, one, part(program, other))
    return replaced(swapped, other, part(program, one))


def _move_statement(random: Random, program: Program) -> Program | None:
    """Put a copy of a statement somewhere else, and perhaps leave it where it was."""
    places = _statements(program)
    if not places:
        return None
    source, place = random.choice(places), random.choice(places)
    moved = part(program, source)
    if random.random() < 0.5:
        program = _without(program, source)
    block, index = place[:-1], place[-1]
    try:
        target = part(program, block)
    except (AttributeError, IndexError):  # it was within what moved
        return None
    assert isinstance(index, int)
    return (
        replaced(program, block, (*target[:index], moved, *target[index:])) if isinstance(target, tuple) else None
    )


def _without(program: Program, place: Path) -> Program:
    block, index = part(program, place[:-1]), place[-1]
    return replaced(program, place[:-1], (*block[:index], *block[index + 1 :]))


def _duplicate_process(random: Random, program: Program) -> Program | None:
    spawns = [
        path
        for path in _statements(program)
        if isinstance(part(program, path), When) and isinstance(part(program, path).action, Spawn | Call)
    ]
    if not spawns:
        return None
    place = random.choice(spawns)
    block, index = part(program, place[:-1]), place[-1]
    return replaced(program, place[:-1], (*block[:index], block[index], *block[index:]))


def _drop_statement(random: Random, program: Program) -> Program | None:
    places = _statements(program)
    return _without(program, random.choice(places)) if places else None


def _change_guard(random: Random, program: Program) -> Program | None:
    places = _places(program, When, Choose)
    if not places:
        return None
    place = random.choice(places)
    statement = part(program, place)
    field = "guard" if isinstance(statement, When) else "condition"
    guard = getattr(statement, field)
    conditions = [getattr(part(program, each), "guard", TRUE) for each in _places(program, When)]
    other = random.choice((TRUE, Unary("not", guard), *conditions))
    joined = Binary(random.choice(("and", "or")), guard, other)
    return replaced(program, (*place, field), random.choice((other, joined)))


def _change_name(random: Random, program: Program) -> Program | None:
    places = _places(program, Var, Cell)
    if not places:
        return None
    place = random.choice(places)
    names = [each.name for _, each in located(program) if isinstance(each, Var)] or [""]
    arrays = [each.array for _, each in located(program) if isinstance(each, Cell)]
    if isinstance(part(program, place), Var):
        return replaced(program, place, Var(random.choice(names)))
    return replaced(program, (*place, "array"), random.choice(arrays))


def _change_index(random: Random, program: Program) -> Program | None:
    places = _places(program, Cell)
    if not places:
        return None
    names = [each.name for _, each in located(program) if isinstance(each, Var)]
    computed = [Binary("%", Var(name), Const(2)) for name in names]
    index = random.choice((Const(0), Const(1), *computed))
    return replaced(program, (*random.choice(places), "index"), index)


def _change_number(random: Random, program: Program) -> Program | None:
    places = [place for place in _places(program, Const) if type(part(program, place).number) is int]
    if not places:
        return None
    place = random.choice(places)
    return replaced(program, place, Const(part(program, place).number + random.choice((-1, 1, 2))))


def _change_operator(random: Random, program: Program) -> Program | None:
    """Another comparison, or a sum for a difference; no products, which grow beyond measure in loops."""
    places = [place for place in _places(program, Binary) if part(program, place).operator not in "*/%"]
    if not places:
        return None
    place = random.choice(places)
    for signs in (COMPARISONS, ("+", "-"), ("and", "or")):
        if part(program, place).operator in signs:
            return replaced(program, (*place, "operator"), random.choice(signs))
    return None


def _wrap_action(random: Random, program: Program) -> Program | None:
    """Make a statement part of a branch, of a block with a guard of its own, or of a process of its own."""
    places = [place for place in _statements(program) if isinstance(part(program, place), When)]
    if not places:
        return None
    place = random.choice(places)
    statement: When = part(program, place)
    conditions = [part(program, each).guard for each in places]
    condition: Expression = random.choice(conditions)
    wrapped: Statement = random.choice(
        (
            Choose(statement.action, condition, Skip()),
            Choose(Skip(), condition, statement.action),
            When(condition, Nested((statement,))),
            When(TRUE, Spawn((statement,))),
        )
    )
    return replaced(program, place, wrapped)


def _add_note(random: Random, program: Program) -> Program | None:
    """Assert somewhere what somebody waits for, or copy a variable into another."""
    places = _statements(program)
    names = [each.name for _, each in located(program) if isinstance(each, Var)]
    guards = [part(program, each).guard for each in _places(program, When)]
    if not places or not names:
        return None
    place = random.choice(places)
    added = When(TRUE, Assign(Var(random.choice(names)), Var(random.choice(names))))
    if guards and random.random() < 0.4:
        added = When(TRUE, Assert(random.choice(guards)))
    block, index = part(program, place[:-1]), place[-1]
    return replaced(program, place[:-1], (*block[:index], added, *block[index:]))


_EDITS: tuple[Edit, ...] = (
    _swap_statements,
    _swap_statements,
    _move_statement,
    _duplicate_process,
    _drop_statement,
    _change_guard,
    _change_guard,
    _change_name,
    _change_name,
    _change_index,
    _change_number,
    _change_operator,
    _wrap_action,
    _add_note,
)
