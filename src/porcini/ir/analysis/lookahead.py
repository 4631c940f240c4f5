"""What a process may still do, from points and edges alone: conservative, and computed once per point.

Everything that can be reached from a point counts, whether its guards can ever hold or not, with all processes
that may be spawned on the way; an array cell whose index is not known counts as the whole array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from porcini.core.footprints import EMPTY, Footprint
from porcini.core.pids import Pid
from porcini.ir.analysis import footprint
from porcini.ir.analysis.numbering import FIRST_POINT, Numbering
from porcini.ir.operations import Spawn
from porcini.ir.program import Program

T = TypeVar("T", Footprint, int)


class PointLookahead:
    """`core.systems.Lookahead` for the states of a `FlatSystem`."""

    def __init__(self, program: Program, numbering: Numbering | None = None) -> None:
        numbering = numbering or Numbering(program)
        self._from = close_under_successors(footprints_by_point(numbering), numbering)

    def may_still_do(self, state: Sequence[Any], pid: Pid) -> Footprint:
        return self.from_point(state[state[0].by_pid[pid].base])

    def from_point(self, point: int) -> Footprint:
        """The same for a process that stands at a point."""
        return self._from[point] if point >= FIRST_POINT else EMPTY


def footprints_by_point(numbering: Numbering) -> list[Footprint]:
    """For each point, what its edges may read and write."""
    found = [EMPTY] * len(numbering.points)
    for number, point in enumerate(numbering.points):
        for edge in point.edges:
            found[number] |= footprint.static(footprint.of_edge(edge))
    return found


def close_under_successors(found: list[T], numbering: Numbering) -> list[T]:
    """For each point, the union of what is given for all points that can be reached from it, by the process or by
    those that it may spawn: a least fixpoint."""
    found = list(found)
    before: list[set[int]] = [set() for _ in numbering.points]
    for number, point in enumerate(numbering.points):
        for edge in point.edges:
            before[numbering.target(number, edge)].add(number)
            for op in edge.block:
                if isinstance(op, Spawn):
                    before[numbering.entries[op.template]].add(number)
    left = dict.fromkeys(range(len(numbering.points)))
    while left:
        number, _ = left.popitem()  # the last point first, since most edges go forward
        for earlier in before[number]:
            grown = found[earlier] | found[number]
            if grown != found[earlier]:
                found[earlier] = grown
                left[earlier] = None
    return found
