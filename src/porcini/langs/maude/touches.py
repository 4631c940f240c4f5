"""Footprints in Maude's words, and locations that stand for many: "field f of any object".

A description may say by `group` that a location is one of many that go by a name of their own: with
`eq group(field(O, F)) = fields(F)`, whoever writes `fields(F)` may write the field F of any object. Groups may be
parts of others.

Maude compares locations with their groups by itself (`Clash` in `sections.txt`). Engines compare sets of
locations, so that a group needs two more of these: one that all accesses below the group read (`_below`), and one
that all writes below it read (`_written`). Who may still write the group writes both, who may still read it writes
the second: it then conflicts with writes below, and with no reads. Accesses below one group conflict by that with
nobody else, since they only read these two. A *step* that touches a group is said to touch anything: engines look
for the steps that decide about others by what is written, and writes below a group do not write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from porcini.core.footprints import NOWHERE, Footprint, Location
from porcini.langs.maude.terms import Apply
from porcini.langs.maude.theory import Theory


@dataclass(frozen=True, slots=True)
class Touch:
    """A footprint in Maude's words: what is awaited matters only to a step that cannot go yet."""

    reads: frozenset[Location] = NOWHERE
    writes: frozenset[Location] = NOWHERE
    awaits: frozenset[Location] = NOWHERE
    anything: bool = False
    wide: bool = False
    """A step that touches a group: what it may touch is known, and engines take it for anything."""

    def __or__(self, other: Touch) -> Touch:
        return Touch(
            self.reads | other.reads,
            self.writes | other.writes,
            self.awaits | other.awaits,
            self.anything or other.anything,
            self.wide or other.wide,
        )

    @property
    def opaque(self) -> bool:
        return self.anything or self.wide

    @property
    def locations(self) -> frozenset[Location]:
        return self.reads | self.writes | self.awaits


@dataclass(slots=True)
class Groups:
    """Which locations are in which groups; `ask` gives the groups of a location, as terms."""

    theory: Theory
    ask: Callable[[Any], Iterable[Any]]
    _above: dict[Location, tuple[Location, ...]] = field(default_factory=dict)
    _groups: set[Location] = field(default_factory=set)

    def learn(self, location: Any) -> Location:
        """A location, with its groups."""
        name = Location(str(location))
        if name not in self._above and are_declared(self.theory):
            self._above[name] = tuple(self.learn(each) for each in self.ask(location))
            heads = _heads(self.theory)
            if heads is None or str(location.symbol()) in heads:
                self._groups.add(name)
        return name

    def is_group(self, location: Location) -> bool:
        """May it stand for others?"""
        return location in self._groups

    def spread(self, reads: Set[Location], writes: Set[Location]) -> Footprint:
        """A footprint that conflicts with those of groups, and as a group with all that is in it."""
        if not self._above:
            return Footprint(frozenset(reads), frozenset(writes))
        more_reads = {_below(group) for each in {*reads, *writes} for group in self._above.get(each, ())}
        more_reads |= {_written(group) for each in writes for group in self._above.get(each, ())}
        more_writes = {_written(each) for each in {*reads, *writes} & self._groups}
        more_writes |= {_below(each) for each in writes & self._groups}
        return Footprint(frozenset({*reads, *more_reads}), frozenset({*writes, *more_writes}))

    def not_among(self, touch: Touch, said: Touch, *, awaited: bool = False) -> str | None:
        """What is touched though it was not said, neither by itself nor by one of its groups."""
        if said.anything:
            return None
        missing = {each for each in touch.writes if not self._is_among(each, said.writes)}
        missing |= {each for each in touch.reads if not self._is_among(each, said.reads | said.writes)}
        if awaited:
            missing |= {each for each in touch.awaits if not self._is_among(each, said.locations)}
        return "anything" if touch.anything else ", ".join(sorted(missing)) or None

    def _is_among(self, location: Location, said: frozenset[Location]) -> bool:
        return location in said or any(group in said for group in self._above.get(location, ()))


def _below(group: Location) -> Location:
    return Location(f"{group} *")


def _written(group: Location) -> Location:
    return Location(f"{group} *!")


def are_declared(theory: Theory) -> bool:
    """Does the user say which locations belong together?"""
    signature = theory.signature
    return theory.description.dependence is not None and any(
        operator.domain == ("Location",) and signature.same_kind(operator.range, "Location")
        for operator in signature.declared("group", 1)
    )


def _heads(theory: Theory) -> set[str] | None:
    """The operators that groups are made with; None if that cannot be told."""
    found = set()
    for equation in theory.equations:
        if isinstance(equation.left, Apply) and equation.left.op == "group" and len(equation.left.args) == 1:
            right = equation.right
            if not isinstance(right, Apply) or not any(
                operator.constructor for operator in theory.signature.declared(right.op, len(right.args))
            ):
                return None
            found.add(right.op)
    return found
