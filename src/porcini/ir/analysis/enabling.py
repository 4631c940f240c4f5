"""What processes may do at each point of a program, and what must be written before they can.

    reach                     the points that a process may reach from a point, with those of processes it may
                              spawn
    points_conflicting_with   the points at which something may be done that conflicts with a footprint
    points_writing            the points at which one of some locations may be written
    unmet_locations           for a point at which nothing can be done: what must be written before that changes

Sets of points are whole numbers, a bit for each: programs may have thousands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from porcini.core.footprints import Footprint, Location
from porcini.core.systems import Value
from porcini.ir.analysis import footprint
from porcini.ir.analysis.lookahead import close_under_successors, footprints_by_point
from porcini.ir.analysis.numbering import Numbering
from porcini.ir.evaluation import defined, evaluate
from porcini.ir.expr import TRUE, Expr, Junction, free


class PointEnabling:
    """The relations of one program, computed once."""

    def __init__(self, numbering: Numbering) -> None:
        self._touching: defaultdict[Location, int] = defaultdict(int)
        self._writing: defaultdict[Location, int] = defaultdict(int)
        for number, foot in enumerate(footprints_by_point(numbering)):
            for place in foot.reads | foot.writes:
                self._touching[place] |= 1 << number
            for place in foot.writes:
                self._writing[place] |= 1 << number
        self.reach = close_under_successors([1 << number for number in range(len(numbering.points))], numbering)
        self._guards = [[_safe_conjuncts(edge.guard) for edge in point.edges] for point in numbering.points]

    def points_conflicting_with(self, foot: Footprint) -> int:
        found = self.points_writing(foot.reads)
        for place in foot.writes:
            found |= self._touching[place]
        return found

    def points_writing(self, places: Iterable[Location]) -> int:
        found = 0
        for place in places:
            found |= self._writing[place]
        return found

    def unmet_locations(self, point: int, store: Mapping[str, Value]) -> frozenset[Location] | None:
        """If every edge of a point has a condition over shared variables that is false: the locations that these
        conditions read. None if there is an edge without such a condition."""
        found: set[Location] = set()
        for conjuncts in self._guards[point]:
            false = next((each for each in conjuncts if not evaluate(each, store)), None)
            if false is None:
                return None
            found.update(place for variable in free(false) for place in footprint.locations(variable))
        return frozenset(found)


def _safe_conjuncts(guard: Expr) -> list[Expr]:
    """The conjuncts of a guard that can block it on their own: they read shared variables only, and are evaluated
    without an error. (A guard that cannot be evaluated lets its process go on, and fail.)"""
    found: list[Expr] = []
    for part in guard.args if isinstance(guard, Junction) and guard.op == "and" else (guard,):
        if defined(part) is not TRUE:
            break
        if not any(variable.private for variable in free(part)):
            found.append(part)
    return found
