"""Stubborn sets of whole processes, for every system that knows what its processes may still do.

A set S of processes is stubborn in a state if

    D1  what a process of S can do now is independent of all that processes outside of S may still do;
    D2  of each choice that a process of S has and cannot take, one condition is named that does not hold, and
        nobody outside of S may still write what it looks at;

and somebody in S can move. If S does not contain all who can move, letting only S move loses no state in which
nothing can move. *Why*: let w be a run from here to such a state, and t the first step in w of a process in S.
There is one: who can move in S stays able to until something that conflicts is done, which by D1 nobody outside
does. Before t only others have moved. By D2 they have not made t possible, so it is possible now; by D1 it is
independent of all that they did, so it can be taken first. C2 and C3 are as in `ample`.

Ample sets of whole processes (`ample`, `closure`) are the same with all conditions of a choice taken together. So
these are never larger; where a task waits for a group that another one keeps to itself, or for two things of which
one is far off, they are smaller.

    1  S := {p} for some p that can move
    2  while some q in S has not been looked at:
    3    add all whose future conflicts with what q can do now               D1
    4    for each choice that q cannot take: of the conditions that do not
         hold, take the one that adds least; add all who may write there     D2
    5  the smallest of these sets that no formula sees is taken              C2
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass

from porcini.core.events import Action
from porcini.core.footprints import Footprint, Location
from porcini.core.pids import Pid
from porcini.engines.ample import AmpleSets, footprints_of

Conditions = Sequence[frozenset[Location]]
"""Of a choice that cannot be taken: what must be written before it can, for each condition that does not hold."""


class StubbornProcesses(AmpleSets):
    """Chooses among the successors of a state (`engines.graph.Chooser`)."""

    def _sets(self, state: Hashable, actions: Sequence[Action], able: frozenset[Pid]) -> list[frozenset[Pid]]:
        later = {action.pid: self.lookahead.may_still_do(state, action.pid) for action in actions}
        waiting: dict[Pid, list[Conditions]] = {}
        for action in actions:
            if not action.enabled:
                conditions = self.graph.system.unmet_conditions(state, action)
                waiting.setdefault(action.pid, []).append(conditions)
        now = footprints_of([action for action in actions if action.enabled], waiting.keys())
        here = _Here(now, waiting, later, able)
        found = (here.closed(pid) for pid in sorted(able))
        return sorted((each for each in found if each is not None), key=lambda each: len(each & able))


@dataclass(slots=True)
class _Here:
    """One state: what processes can do now, what they wait for, and what they may still do."""

    now: Mapping[Pid, Footprint]
    waiting: Mapping[Pid, Sequence[Conditions]]
    later: Mapping[Pid, Footprint]
    able: frozenset[Pid]

    def closed(self, start: Pid) -> frozenset[Pid] | None:
        """The stubborn set from one process on; None if it contains all who can move."""
        found, left = {start}, [start]
        while left:
            for other in self._demanded(left.pop(), found):
                if other not in found:
                    found.add(other)
                    left.append(other)
            if self.able <= found:
                return None
        return frozenset(found)

    def _demanded(self, pid: Pid, found: set[Pid]) -> set[Pid]:
        demanded: set[Pid] = set()
        if pid in self.now:
            foot = self.now[pid]
            demanded.update(other for other, may in self.later.items() if foot.conflicts(may))
        for conditions in self.waiting.get(pid, ()):
            ways = [self._writing(places) for places in conditions]
            demanded |= min(ways, key=lambda each: self._cost(each - found - demanded), default=set(self.later))
        return demanded

    def _writing(self, places: frozenset[Location]) -> set[Pid]:
        return {pid for pid, may in self.later.items() if may.opaque or not may.writes.isdisjoint(places)}

    def _cost(self, added: Set[Pid]) -> tuple[int, int]:
        return len(added & self.able), len(added)
