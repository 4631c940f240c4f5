"""Sets of processes that are closed under conflicts with what other processes may still do."""

from __future__ import annotations

from collections.abc import Mapping

from porcini.core.footprints import Footprint
from porcini.core.pids import Pid


def close_under_conflicts(
    start: Pid, now: Mapping[Pid, Footprint], later: Mapping[Pid, Footprint], *, most: int | None = None
) -> frozenset[Pid] | None:
    """The least set with `start` that contains every process whose future conflicts with what a member would do
    now; None if it has more than `most` members."""
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
