"""What a process may touch by its next step, and by all that it may still do, in terms of formula variables.

This is for persistent sets of symbolic execution. What is touched at a point follows from its options and the
lines of its edges, for any state: through all of a `d_step`, with what decides who has the turn afterwards. Where
processes are started, nothing is known about what they will do, so everything may be touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from porcini.core.footprints import EMPTY, OPAQUE, Footprint, Location
from porcini.ir import expr as ir
from porcini.ir.analysis import footprint
from porcini.ir.operations import Assert, Assign, variable_of
from porcini.ir.packed.formulas.lines import Line, Need
from porcini.ir.packed.formulas.options import WorldOptions
from porcini.ir.packed.formulas.world import POPULATION_VAR, TURN, Instance
from porcini.ir.program import Edge


class Reach:
    """Footprints of the processes of a world in which no process is started."""

    def __init__(self, options: WorldOptions) -> None:
        self.options, self.world = options, options.world
        self._now: dict[tuple[Instance, int], Footprint] = {}
        self._later: dict[tuple[Instance, int], Footprint] = {}

    def now(self, me: Instance, point: int) -> Footprint:
        if self.world.started:
            return OPAQUE
        key = me, point
        if key not in self._now:
            self._now[key] = self._at(me, point)
        return self._now[key]

    def later(self, me: Instance, point: int) -> Footprint:
        if self.world.started:
            return OPAQUE
        key = me, point
        if key not in self._later:
            foot = EMPTY
            for reached in self._reachable(me, point):
                foot |= self.now(me, reached)
            self._later[key] = foot
        return self._later[key]

    def _reachable(self, me: Instance, point: int) -> set[int]:
        points = self.world.program.templates[me.template].points
        seen, left = {point}, [point]
        while left:
            here = left.pop()
            for edge in points[here].edges if here < len(points) else ():
                if edge.target not in seen:
                    seen.add(edge.target)
                    left.append(edge.target)
        return seen

    def _at(self, me: Instance, point: int) -> Footprint:
        foot = touched_by([self.world.point(me.slot)], [])
        if self.world.system.has_atomic:
            foot |= touched_by([TURN], [])
        for option in self.options.at(me, point):
            foot |= touched_by([option.when], []) | of_line(option.line)
            foot |= self._edge(me, option.edge, {point})
            if option.partner is not None:
                foot |= self._edge(option.partner.me, option.partner.edge, {option.partner.point})
        return foot

    def _edge(self, me: Instance, edge: Edge, seen: set[int]) -> Footprint:
        """What an edge touches after its communication, with the rest of its `d_step`."""
        foot = of_line(self.options.lines(me).ops(edge, None))
        foot |= touched_by([], [self.world.point(me.slot)])
        if self.world.system.has_atomic:
            foot |= touched_by([self.options.can_move(me, edge.target)] if edge.atomic else [], [TURN])
        if edge.exits:
            foot |= touched_by([POPULATION_VAR], [POPULATION_VAR])
        if edge.d_step and edge.target not in seen:
            seen.add(edge.target)
            for inner in self.world.program.templates[me.template].points[edge.target].edges:
                broken, ways = self.options.ways(me, inner, inside=True)
                foot |= touched_by([broken, *(way.when for way in ways)], [])
                for way in ways:
                    foot |= of_line(way.line)
                foot |= self._edge(me, inner, seen)
        return foot


def of_line(line: Line) -> Footprint:
    reads: list[ir.Expr] = []
    writes: list[ir.Var | ir.Select] = []
    for op in line:
        match op:
            case Assign(target=target, value=value):
                reads.append(value)
                writes.append(target)
                if isinstance(target, ir.Select):
                    reads.append(target.index)
            case Assert(test=test) | Need(test=test):
                reads.append(test)
    return touched_by(reads, writes)


def touched_by(reads: Iterable[ir.Expr], writes: Iterable[ir.Var | ir.Select]) -> Footprint:
    """The locations of what is read and written; a cell that is not known is the whole array."""
    return Footprint(
        frozenset(place for expr in reads for place in _places(expr)),
        frozenset(place for target in writes for place in _place(target)),
    )


def _places(expr: ir.Expr) -> Iterator[Location]:
    for node in ir.nodes(expr):
        if isinstance(node, ir.Select) or (isinstance(node, ir.Var) and node.type == "int"):
            yield from _place(node)


def _place(target: ir.Var | ir.Select) -> list[Location]:
    places = footprint.locations(variable_of(target))
    if isinstance(target, ir.Select) and isinstance(target.index, ir.Const):
        return [places[int(target.index.value)]]
    return places
