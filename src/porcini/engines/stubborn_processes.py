"""Stubborn sets of whole processes, for every system with a lookahead: it says what processes may still do.

A set S of processes is stubborn in a state if

    D1  what a process of S can do now is independent of all that processes outside of S may still do;
    D2  each disabled choice of a process of S has a condition that does not hold, and no process outside of S may
        still write what that condition reads;

and some process in S can move. If S does not contain all processes that can move, letting only S move loses no
state in which nothing can move. *Why*: let w be a run from here to such a state, and t the first step in w of a
process in S. There is one: a process of S that can move stays enabled until a conflicting step is taken, and by D1
no process outside of S takes one. Before t only processes outside of S have moved. By D2 they have not enabled t,
so it is enabled now; by D1 it is independent of all that they did, so it can be taken first. C2 and C3 are as in
`ample`.

Ample sets of whole processes (`ample`, `closure`) are the same with all conditions of a choice taken together. So
stubborn sets are never larger. They are smaller where a task waits for a group that another task keeps to itself,
or for two things one of which is far off.

    1  S := {p} for some p that can move
    2  while some q in S has not been considered:
    3    add all processes whose future conflicts with what q can do now     D1
    4    for each disabled choice of q: of the conditions that do not hold,
         take the one that adds least; add all processes that may write
         what it reads                                                       D2
    5  the smallest of these sets without a visible action is taken          C2
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass

from porcini.core.events import Action
from porcini.core.footprints import Footprint, Location
from porcini.core.pids import Pid
from porcini.engines.ample import AmpleSets, footprints_of

Conditions = Sequence[frozenset[Location]]
"""For a disabled choice and each condition that does not hold: the locations that the condition reads."""


class StubbornProcesses(AmpleSets):
    """Stubborn sets of whole processes (`engines.graph.StateReduction`)."""

    def _candidates(
        self, state: Hashable, actions: Sequence[Action], able: frozenset[Pid]
    ) -> list[frozenset[Pid]]:
        later = {action.pid: self.lookahead.may_still_do(state, action.pid) for action in actions}
        waiting: dict[Pid, list[Conditions]] = {}
        for action in actions:
            if not action.enabled:
                conditions = self.graph.system.unmet_conditions(state, action)
                waiting.setdefault(action.pid, []).append(conditions)
        now = footprints_of([action for action in actions if action.enabled], waiting.keys())
        here = _Here(now, waiting, later, able)
        found = (here.grow_stubborn_set(pid) for pid in sorted(able))
        return sorted((each for each in found if each is not None), key=lambda each: len(each & able))


@dataclass(slots=True)
class _Here:
    """One state: what processes can do now, what they wait for, and what they may still do."""

    now: Mapping[Pid, Footprint]
    waiting: Mapping[Pid, Sequence[Conditions]]
    later: Mapping[Pid, Footprint]
    able: frozenset[Pid]

    def grow_stubborn_set(self, start: Pid) -> frozenset[Pid] | None:
        """The stubborn set that begins with one process; None if it contains all processes that can move."""
        found, left = {start}, [start]
        while left:
            for other in self._required_by(left.pop(), found):
                if other not in found:
                    found.add(other)
                    left.append(other)
            if self.able <= found:
                return None
        return frozenset(found)

    def _required_by(self, pid: Pid, found: set[Pid]) -> set[Pid]:
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
