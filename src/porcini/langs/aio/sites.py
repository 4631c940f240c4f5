"""Places in instrumented source: what an access there is, and where. Instrumented code carries their numbers."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What happens at a site. Bit 1 reads, bit 2 writes; the others ask about a value, not an attribute."""

    READ = 1
    WRITE = 2
    UPDATE = 3
    TRUTH = 4
    VALUE = 5


KINDS: list[int] = []
NAMES: list[str] = []
PLACES: list[tuple[str, int]] = []


def site(kind: Kind, name: str, file: str, line: int) -> int:
    """The number of a new site."""
    KINDS.append(int(kind))
    NAMES.append(name)
    PLACES.append((file, line))
    return len(KINDS) - 1


OUTSIDE = site(Kind.UPDATE, "", "<porcini>", 0)
"""What the controlled loop reports itself has no place in the program."""
