"""The processes of a state, each with its code: a process set.

A process is compiled once for its slot, its template and the values of its constant parameters, and shared by all
sets that contain it. Most programs have few sets; a few bits of a state determine which one it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from porcini.ir.expr import TRUE, Select
from porcini.ir.operations import loads, variable_of
from porcini.ir.packed.code import Coder, Constants, EdgeCode, Surroundings
from porcini.ir.packed.layout import Channel, Layout, RunError
from porcini.ir.packed.touch import Resources, Touch, Toucher
from porcini.ir.program import Edge, Point, Template, Variable, nodes_of, rivals

_MOST_SELECTORS = 3


@dataclass(eq=False, slots=True)
class PointCode:
    """A point of one process, compiled."""

    number: int
    point: Point
    edges: tuple[EdgeCode, ...]
    ranks: tuple[tuple[EdgeCode, ...], ...]
    """The edges of each rank, the lowest first."""
    touches: tuple[Touch, ...]
    """What each edge touches."""
    touch: Touch
    """What all edges together touch."""


class Process:
    """One process, compiled for its slot and its constants."""

    def __init__(
        self,
        layout: Layout,
        number: int,
        slot: int,
        values: dict[Variable, int],
        around: Surroundings,
        channels: dict[int, Channel],
        resources: Resources,
    ) -> None:
        self.number, self.slot = number, slot
        self.template: Template = layout.program.templates[number]
        self.constants = Constants(slot, values, layout.declared)
        self.base = layout.base(slot)
        self.point_at = layout.point_at(slot)
        self.point_mask = (1 << layout.point_bits[number]) - 1
        self.frame_mask = layout.frame_mask(slot, number)
        self.failed_assertion, self.failed_error = len(self.template.points), len(self.template.points) + 1
        self.coder = Coder(layout, number, self.constants, around, channels)
        self.toucher = Toucher(layout, number, self.constants, channels, resources, channels.get)
        self.provided: Callable[[int], int] | None = None
        """The condition under which it may do anything; None if there is none."""
        if self.template.provided is not TRUE:
            self.provided = self.coder.function(self.template.provided)
        self._points: dict[int, PointCode] = {}

    def may_run(self, s: int) -> bool:
        """Does what it is provided with hold? Without a value it does: the process can go, and fails."""
        try:
            return self.provided is None or bool(self.provided(s))
        except RunError:
            return True

    def stopped(self, s: int) -> RunError | None:
        """Why it fails before it does anything: what it is provided with has no value."""
        try:
            if self.provided is not None:
                self.provided(s)
        except RunError as problem:
            return problem
        return None

    def point(self, number: int) -> PointCode:
        """The code of a point; that of a failed process has no edges."""
        found = self._points.get(number)
        if found is None:
            found = self._points[number] = self._compile(number)
        return found

    def _compile(self, number: int) -> PointCode:
        points = self.template.points
        point = points[number] if number < len(points) else Point(points[-1].place)
        touches = tuple(self._touch(point, edge) for edge in point.edges)
        touch = Touch(bits=self.toucher.point)
        for part in touches:
            touch |= part
        edges = tuple(map(self.coder.edge, point.edges))
        numbers = sorted({edge.rank for edge in point.edges})
        ranks = tuple(tuple(code for code in edges if code.edge.rank == rank) for rank in numbers)
        return PointCode(number, point, edges, ranks, touches, touch)

    def _touch(self, point: Point, edge: Edge) -> Touch:
        """What an edge touches. An `else` also reads the guards and channels of its family, and an edge with a
        rank those of the edges with a lower rank."""
        touch = self.toucher.edge(edge)
        for other in rivals(edge, point.edges):
            seen = self.toucher.edge(other)
            touch |= Touch(bits=seen.bits, reads=seen.reads, wide=seen.wide)
            if other.talk is not None:
                touch |= self.toucher.tested(other.talk.channel)
        return touch

    @cached_property
    def selectors(self) -> dict[Variable, tuple[int, int]]:
        """Private variables that select cells of arrays, with where they are in a state and their bits. Given
        their values, a step depends on fewer bits: those of one cell instead of a whole array."""
        declared, found = self.toucher.layout.declared, dict[Variable, tuple[int, int]]()
        for edge in self.template.edges:
            for node in nodes_of(edge):
                for read in loads(node.index) if isinstance(node, Select) else ():
                    var = declared[variable_of(read)]
                    if var.local and not (var.array or var.constant) and len(found) < _MOST_SELECTORS:
                        found[var] = self.base + self.toucher.layout.of_var[var], var.bounded.bits
        return found

    @cached_property
    def selecting_bits(self) -> int:
        mask = 0
        for at, bits in self.selectors.values():
            mask |= (1 << bits) - 1 << at
        return mask

    def bits_at(self, s: int) -> int:
        """The bits on which the steps of the process depend, where it stands and with its selectors as in a state;
        for those of a `d_step` or of an atomic sequence, with all that their first statement looks at."""
        here = self.at(s)
        if not self.selectors or any(code.edge.atomic or code.edge.d_step for code in here.edges):
            return here.touch.bits
        values = {var: var.bounded.wrap(s >> at & (1 << bits) - 1) for var, (at, bits) in self.selectors.items()}
        assumed, found = self.toucher.assuming(values), self.toucher.point
        for code in here.edges:
            found |= self.toucher.bits_of(code.edge, assumed, self.selectors)
        return found

    def rest_of_d_step(self, code: EdgeCode) -> list[EdgeCode]:
        """The edges that may follow one within the same step: the rest of a `d_step`."""
        found: list[EdgeCode] = []
        seen: set[int] = set()
        left = [code]
        while left:
            edge = left.pop().edge
            if edge.d_step and edge.target not in seen:
                seen.add(edge.target)
                left += self.point(edge.target).edges
                found += self.point(edge.target).edges
        return found

    def step_touch(self, code: EdgeCode) -> Touch:
        """What an edge touches as a step: with the rest of a `d_step`, and what determines whether the turn is
        kept."""
        touch = Touch()
        for part in (code, *self.rest_of_d_step(code)):
            touch |= self.toucher.edge(part.edge)
            if part.edge.d_step:
                touch |= self.point(part.edge.target).touch
            if part.edge.atomic:
                then = self.point(part.edge.target).touch
                touch |= Touch(then.bits, then.reads | then.writes, 0, 0, then.wide)
        return touch

    def here(self, s: int) -> int:
        return s >> self.point_at & self.point_mask

    def at(self, s: int) -> PointCode:
        number = s >> self.point_at & self.point_mask
        return self._points.get(number) or self.point(number)

    def move_to(self, s: int, point: int) -> int:
        return s ^ ((s >> self.point_at ^ point) & self.point_mask) << self.point_at


@dataclass(eq=False, slots=True)
class ProcessSet:
    """All processes of a state, by their numbers."""

    members: tuple[Process, ...]
