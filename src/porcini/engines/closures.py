"""Processes that must be taken together: closed under what others may still do to them."""

from __future__ import annotations

from collections.abc import Mapping

from porcini.core.footprints import Footprint
from porcini.core.pids import Pid


def close_under_conflicts(
    start: Pid, now: Mapping[Pid, Footprint], later: Mapping[Pid, Footprint], *, most: int | None = None
) -> frozenset[Pid] | None:
    """One process, with all whose future conflicts with what these would do now, again and again. None if that
    takes more than `most`."""
    found, left = {start}, [start]
    while left:
        foot = now[left.pop()]
        for other in now.keys() - found:
            if foot.conflicts(later[other]):
                found.add(other)
                left.append(other)
                if most is not None and len(found) > most:
                    return None
    return frozenset(found)
