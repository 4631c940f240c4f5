"""Random edits of programs of the parallel language that people wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from conformance.expressions import COMPARISONS, Binary, Const, Unary, Var, names
from conformance.par.program import Assign, Given, If, Parallel, Program, Skip, While, is_legal
from conformance.trees import Path, located, part, replaced

Edit = Callable[[Random, Program], Program | None]
"""A change, or None where there is nothing to change."""


def mutate(random: Random, program: Program) -> Program:
    """A legal program some edits away, with values for its inputs. It may have loops that do not end."""
    wanted = random.randint(1, 4)
    for _ in range(20 * wanted):
        edited = random.choice(_EDITS)(random, program)
        if edited is not None and edited != program and is_legal(edited):
            program, wanted = edited, wanted - 1
        if not wanted:
            break
    given = tuple(Given(name, random.randint(0, 3)) for name in sorted(names(program.body)))
    return replace(program, given=given)


def _places(program: Program, *kinds: type) -> list[Path]:
    return [path for path, each in located(program) if isinstance(each, kinds)]


def _statements(program: Program) -> list[Path]:
    return _places(program, Assign, If, While, Parallel, Skip)


def _swap_statements(random: Random, program: Program) -> Program | None:
    places = _statements(program)
    if len(places) < 2:
        return None
    one, other = random.sample(places, 2)
    if one == other[: len(one)] or other == one[: len(other)]:
        return None
    return replaced(replaced(program, one, part(program, other)), other, part(program, one))


def _copy_statement(random: Random, program: Program) -> Program | None:
    places = _statements(program)
    if not places:
        return None
    copied, place = part(program, random.choice(places)), random.choice(places)
    block, index = part(program, place[:-1]), place[-1]
    return replaced(program, place[:-1], (*block[:index], copied, *block[index:]))


def _drop_statement(random: Random, program: Program) -> Program | None:
    places = _statements(program)
    if not places:
        return None
    place = random.choice(places)
    block, index = part(program, place[:-1]), place[-1]
    return replaced(program, place[:-1], (*block[:index], *block[index + 1 :]))


def _duplicate_branch(random: Random, program: Program) -> Program | None:
    places = _places(program, Parallel)
    if not places:
        return None
    place = (*random.choice(places), "branches")
    branches = part(program, place)
    return replaced(program, place, (*branches, random.choice(branches)))


def _divide_block(random: Random, program: Program) -> Program | None:
    """What came one after the other goes on side by side."""
    blocks = [path for path in {place[:-1] for place in _statements(program)} if len(part(program, path)) > 1]
    if not blocks:
        return None
    path = random.choice(sorted(blocks, key=str))
    block = part(program, path)
    cut = random.randint(1, len(block) - 1)
    return replaced(program, path, (Parallel((block[:cut], block[cut:])),))


def _wrap_statement(random: Random, program: Program) -> Program | None:
    """Make a statement part of a branch, or of a `||` with another."""
    places = _statements(program)
    if not places:
        return None
    place, other = random.choice(places), random.choice(places)
    statement, beside = part(program, place), part(program, other)
    variables = sorted(names(program.body)) or ["x"]
    condition = Binary(random.choice(COMPARISONS), Var(random.choice(variables)), Const(random.randint(0, 2)))
    wrapped = random.choice(
        (
            If(condition, (statement,), (Skip(),)),
            If(condition, (beside,), (statement,)),
            Parallel(((statement,), (beside,))),
            Parallel(((Skip(),), (statement,))),
        )
    )
    return replaced(program, place, wrapped)


def _change_name(random: Random, program: Program) -> Program | None:
    places = _places(program, Var)
    if not places:
        return None
    return replaced(program, random.choice(places), Var(random.choice(sorted(names(program.body)))))


def _change_number(random: Random, program: Program) -> Program | None:
    places = [place for place in _places(program, Const) if type(part(program, place).number) is int]
    if not places:
        return None
    place = random.choice(places)
    return replaced(program, place, Const(part(program, place).number + random.choice((-1, 1, 2))))


def _change_condition(random: Random, program: Program) -> Program | None:
    """Another comparison, its contrary, or a sum for a difference; products grow beyond measure in loops."""
    places = [place for place in _places(program, Binary) if part(program, place).operator != "*"]
    if not places:
        return None
    place = random.choice(places)
    binary = part(program, place)
    if binary.operator not in COMPARISONS:
        return replaced(
            program, (*place, "operator"), random.choice("+-" if binary.operator in "+-" else ("and", "or"))
        )
    if random.random() < 0.3:
        return replaced(program, place, Unary("not", binary))
    return replaced(program, (*place, "operator"), random.choice(COMPARISONS))


_EDITS: tuple[Edit, ...] = (
    _swap_statements,
    _swap_statements,
    _copy_statement,
    _drop_statement,
    _duplicate_branch,
    _divide_block,
    _wrap_statement,
    _change_name,
    _change_name,
    _change_number,
    _change_condition,
)
