"""What processes may do at each point of a program graph, and what must be written before they can.

reach       the points that a process may come to from a point, with those of the processes that it may spawn
touches     what any edge of a point may read and write; a cell that is not known is the whole array
needed      of a point at which nothing can be done: locations, one of which must be written before that changes
"""

from __future__ import annotations

from collections.abc import Mapping

from porcini.core.footprints import EMPTY, Footprint, Location
from porcini.core.systems import Value
from porcini.ir import footprint
from porcini.ir.expr import TRUE, Expr, Junction, defined, evaluate, free
from porcini.ir.graph import Graph, Spawn


class GraphEnabling:
    """The relations of one program graph, worked out once."""

    def __init__(self, graph: Graph) -> None:
        self.touches: list[Footprint] = []
        after: list[set[int]] = []
        for point in graph.points:
            touched, targets = EMPTY, set[int]()
            for edge in point.edges:
                touched |= footprint.static(footprint.of_edge(edge))
                targets.add(edge.target)
                targets |= {graph.templates[op.template].entry for op in edge.block if isinstance(op, Spawn)}
            self.touches.append(touched)
            after.append(targets)
        self.reach = [_reached(number, after) for number in range(len(after))]
        self._guards = [[_safe_conjuncts(edge.guard) for edge in point.edges] for point in graph.points]

    def needed(self, point: int, store: Mapping[str, Value]) -> frozenset[Location] | None:
        """If every edge of a point has a condition that is false whatever the process itself knows: what these
        conditions read. None if there is an edge without one."""
        found: set[Location] = set()
        for conjuncts in self._guards[point]:
            false = next((each for each in conjuncts if not evaluate(each, store)), None)
            if false is None:
                return None
            found.update(place for variable in free(false) for place in footprint.locations(variable))
        return frozenset(found)


def _reached(point: int, after: list[set[int]]) -> frozenset[int]:
    found, left = {point}, [point]
    while left:
        new = after[left.pop()] - found
        found |= new
        left += new
    return frozenset(found)


def _safe_conjuncts(guard: Expr) -> list[Expr]:
    """The parts of a guard that say no on their own: about shared variables only, and reached without an error. (A
    guard that cannot be evaluated lets its process go on, and fail.)"""
    found: list[Expr] = []
    for part in guard.args if isinstance(guard, Junction) and guard.op == "and" else (guard,):
        if defined(part) is not TRUE:
            break
        if not any(variable.private for variable in free(part)):
            found.append(part)
    return found
