"""The edges and choices of a program, each with the functions generated for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porcini.core.footprints import Footprint
from porcini.ir.analysis import footprint
from porcini.ir.analysis.numbering import Numbering
from porcini.ir.flat import codegen
from porcini.ir.operations import Spawn
from porcini.ir.program import Choice, Edge, Program


@dataclass(frozen=True, slots=True, eq=False)
class CompiledEdge:
    """An edge with its compiled block."""

    number: int
    position: int
    target: int
    apply: codegen.STEP
    cells: codegen.STEP | None
    fixed: Footprint
    spawns: bool


@dataclass(frozen=True, slots=True, eq=False)
class CompiledChoice:
    """A choice with its compiled decision; `number` is negative, so that it differs from those of edges."""

    number: int
    choice: Choice
    decide: codegen.STEP
    cells: codegen.STEP | None
    fixed: Footprint
    deciding_cells: codegen.STEP | None
    deciding: Footprint
    edges: tuple[CompiledEdge, ...]


def compile_program(
    program: Program,
    numbering: Numbering,
    shared: Mapping[str, int],
    private: Sequence[Mapping[str, int]],
    module: codegen.Module,
) -> list[tuple[CompiledChoice, ...]]:
    """For each control point, its choices; edges and choices are numbered over the whole program."""
    frames = [
        [(v.var, ", ".join(map(repr, v.initial))) for v in template.variables] for template in program.templates
    ]
    number = 0
    compiled: list[tuple[CompiledChoice, ...]] = []
    for standing, point in enumerate(numbering.points):
        slots = codegen.Slots(shared, private[numbering.template_of[standing]])
        choices: list[CompiledChoice] = []
        # A process that takes one of its choices gives up the others, whatever their guards are: so each of its
        # steps reads the guards of all of them.
        several = len(point.choices) > 1
        for choice in point.choices:
            read_by = Choice(0, tuple(point.edges)) if several else choice
            guards, decision = footprint.of_guards(read_by), footprint.of_decision(read_by)
            guards = guards | decision if several else guards
            edges: list[CompiledEdge] = []
            for position, edge in enumerate(choice.edges):
                number += 1
                edges.append(
                    CompiledEdge(
                        number,
                        position,
                        numbering.target(standing, edge),
                        module.add(codegen.apply(edge, slots, frames)),
                        *_touched(module, _of_edge(edge, guards if several else None), slots),
                        any(isinstance(op, Spawn) for op in edge.block),
                    )
                )
            number += 1
            choices.append(
                CompiledChoice(
                    -number,
                    choice,
                    module.add(codegen.decide(choice, slots)),
                    *_touched(module, guards, slots),
                    *_touched(module, decision, slots),
                    tuple(edges),
                )
            )
        compiled.append(tuple(choices))
    return compiled


def _of_edge(edge: Edge, others: footprint.Touched | None) -> footprint.Touched:
    own = footprint.of_edge(edge)
    return own if others is None else own | others


def _touched(
    module: codegen.Module, touched: footprint.Touched, slots: codegen.Slots
) -> tuple[codegen.STEP | None, Footprint]:
    if not touched.read_cells and not touched.written_cells:
        return None, touched.fixed
    return module.add(codegen.cells(touched.read_cells, touched.written_cells, slots)), touched.fixed
