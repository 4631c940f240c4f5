"""What a step reads and writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NewType

Location = NewType("Location", str)
"""Anything two processes can share, by name: a variable `x`, a cell `a[2]`, a field, a channel, a lock."""

NOWHERE: frozenset[Location] = frozenset()


@dataclass(frozen=True, slots=True)
class Footprint:
    """The locations a step reads and writes; an opaque step may touch anything."""

    reads: frozenset[Location] = NOWHERE
    writes: frozenset[Location] = NOWHERE
    opaque: bool = False

    def conflicts(self, other: Footprint) -> bool:
        """Write against read or write of one location; opaque against everything (P0, Def. 9)."""
        if type(other) is not Footprint:  # a subclass may answer without discovering its locations
            return other.conflicts(self)
        return (
            self.opaque
            or other.opaque
            or not self.writes.isdisjoint(other.writes)
            or not self.writes.isdisjoint(other.reads)
            or not self.reads.isdisjoint(other.writes)
        )

    def within(self, other: Footprint) -> bool:
        """Is this footprint covered by the other one? An announced write covers a read as well."""
        if other.opaque:
            return True
        return not self.opaque and self.writes <= other.writes and self.reads <= other.reads | other.writes

    def __or__(self, other: Footprint) -> Footprint:
        return Footprint(self.reads | other.reads, self.writes | other.writes, self.opaque or other.opaque)


EMPTY = Footprint()
OPAQUE = Footprint(opaque=True)


def footprint(reads: Iterable[str] = (), writes: Iterable[str] = ()) -> Footprint:
    """A footprint from plain names."""
    return Footprint(frozenset(map(Location, reads)), frozenset(map(Location, writes)))
