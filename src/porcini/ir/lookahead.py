"""What a process may still do, from the graph alone: conservative, and worked out once per control point.

Everything that can be reached from a point counts, whether its guards can ever hold or not, with all that may be
spawned on the way; an array cell whose index is not known stands for the whole array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from porcini.core.footprints import EMPTY, Footprint
from porcini.core.pids import Pid
from porcini.ir import footprint
from porcini.ir.frames import FIRST_POINT
from porcini.ir.graph import Graph, Spawn


class GraphLookahead:
    """`core.systems.Lookahead` for the states of a `GraphSystem`."""

    def __init__(self, graph: Graph) -> None:
        self._from = _closure(graph)

    def may_still_do(self, state: Sequence[Any], pid: Pid) -> Footprint:
        return self.from_point(state[state[0].by_pid[pid].base])

    def from_point(self, point: int) -> Footprint:
        """The same of a process that stands at a point."""
        return self._from[point] if point >= FIRST_POINT else EMPTY


def _closure(graph: Graph) -> list[Footprint]:
    """For each point, all that may happen from there on: a least fixpoint."""
    found = [EMPTY] * len(graph.points)
    after: list[set[int]] = [set() for _ in graph.points]
    for number, point in enumerate(graph.points):
        for edge in point.edges:
            found[number] |= footprint.static(footprint.of_edge(edge))
            after[number].add(edge.target)
            after[number] |= {graph.templates[op.template].entry for op in edge.block if isinstance(op, Spawn)}
    before: list[set[int]] = [set() for _ in graph.points]
    for number, targets in enumerate(after):
        for target in targets:
            before[target].add(number)
    left = set(range(len(graph.points)))
    while left:
        number = left.pop()
        for earlier in before[number]:
            grown = found[earlier] | found[number]
            if grown != found[earlier]:
                found[earlier] = grown
                left.add(earlier)
    return found
