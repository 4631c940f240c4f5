"""Who may call whom: chains of calls between methods, found once per program (P4, section 4.2).

A chain goes from a method through other methods to one of a given class. Methods in the middle are distinct, but
may be those at the ends (the table of P4 needs that). Two calls of one method from another count once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from porcini.ir.analysis.numbering import Numbering
from porcini.ir.objects import CallSite
from porcini.ir.operations import Call, New, Post, inside

MOST_CHAINS = 2_000
"""The limit per method and class: beyond it, one more chain makes no difference to a heuristic."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The classes in the middle, how many conditions the calls are nested in, and the first call."""

    middle: frozenset[int]
    length: int
    depth: int
    first: tuple[CallSite, ...]


@dataclass(slots=True)
class Chains:
    """The chains of a program, by the point of a task and the class at their end.

    The first call of a chain is one that the task may still make; after that all calls of a method count.
    """

    numbering: Numbering
    _chains: dict[tuple[int, int], tuple[Chain, ...]] = field(default_factory=dict)
    _calls: dict[int, dict[int, tuple[CallSite, ...]]] = field(default_factory=dict)
    _reached: dict[int, frozenset[int]] = field(default_factory=dict)

    def between(self, point: int, class_: int) -> tuple[Chain, ...]:
        """All chains from a task that stands at a point to methods of a class."""
        found = self._chains.get((point, class_))
        if found is None:
            found = self._chains[point, class_] = tuple(islice(self._from(point, class_, ()), MOST_CHAINS))
        return found

    def _from(self, start: int, class_: int, middle: tuple[int, ...]) -> Iterator[Chain]:
        numbering = self.numbering
        for callee in self.calls(self._entry(middle[-1]) if middle else start):
            if numbering.program.templates[callee].class_ == class_:
                points = [start, *map(self._entry, middle)]
                calls = [self.calls(at)[m] for at, m in zip(points, (*middle, callee), strict=True)]
                depth = sum(min(site.depth for site in sites) for sites in calls)
                classes = frozenset(numbering.program.templates[m].class_ for m in middle)
                yield Chain(classes, len(middle) + 2, depth, calls[0])
            if callee not in middle:
                yield from self._from(start, class_, (*middle, callee))

    def _entry(self, method: int) -> int:
        return self.numbering.entries[method]

    def calls(self, point: int) -> dict[int, tuple[CallSite, ...]]:
        """The methods that may be called from a point on, each with its call sites."""
        found = self._calls.get(point)
        if found is None:
            found = {}
            left = {
                (class_, op.method)
                for op in inside(self.numbering.points[point].code)
                if isinstance(op, Post | Call)
                for class_ in op.classes
            }
            makes = {op.class_ for op in inside(self.numbering.points[point].code) if isinstance(op, New)}
            left |= {(class_, "run") for class_ in makes}
            for site in self.numbering.template_at(point).calls:
                callee = self.numbering.program.classes[site.class_].methods.get(site.method)
                if callee is not None and (site.class_, site.method) in left:
                    found[callee] = (*found.get(callee, ()), site)
            self._calls[point] = found
        return found

    def reaches(self, point: int) -> frozenset[int]:
        """The classes whose methods may be called from a point on, directly or indirectly."""
        known = self._reached.get(point)
        if known is None:
            seen: set[int] = set()
            left = [point]
            while left:
                for callee in self.calls(left.pop()):
                    if callee not in seen:
                        seen.add(callee)
                        left.append(self._entry(callee))
            known = self._reached[point] = frozenset(self.numbering.program.templates[m].class_ for m in seen)
        return known
