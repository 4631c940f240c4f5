"""Guard-based stubborn sets for flat states: as in `stubborn`, with all edges of a point as one transition.

A transition (i, q) is what process i may do at point q: now, if it stands there, or later. It stands also for what
the processes do that i may spawn. A set T of them is stubborn in a state if

    D1  of each (i, q) in T where i stands at q and can go: all transitions of others that conflict with what i can
        do now are in T;
    D2  of each other one, all by which it may become possible are in T: that is what i does where it stands, if
        that is not q; or else, if every edge of q has a condition that is false now, whatever writes what these
        conditions read. Where both are possible, the one that adds less is taken.

and somebody in T can go. If such a set does not contain all that can be taken, taking what is in it loses no state
in which nothing can move. *Why*: let w be a run from here to such a state. Something of T is in w: what can be
taken in T is enabled and stays so until something that conflicts with it is taken, which is in T by D1. Let t be
the first of w in T. If t were not enabled now, then by D2 something in T would have to come before it. So t is
enabled now; all before it in w is not in T, so by D1 independent of t: t can be taken first, and the rest leads to
the same state. C2 and C3 are as in `ample` and `stubborn`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from porcini.core.bits import bits
from porcini.core.events import Action
from porcini.core.footprints import EMPTY, NOWHERE, Footprint, Location
from porcini.core.pids import Pid
from porcini.core.systems import SystemGraph, Value
from porcini.engines.graph import Choice
from porcini.ir.analysis.enabling import PointEnabling
from porcini.ir.flat.interpreter import FlatSystem

Transitions = tuple[Pid, int]
"""Of one process: a bit for each point."""
_DEAR = 1_000
"""What a transition costs that can be taken, against one that cannot."""


class PointStubborn:
    """Chooses among the successors of a state (`engines.graph.Chooser`)."""

    def __init__(self, graph: SystemGraph, system: FlatSystem, visible: frozenset[Location] = NOWHERE) -> None:
        self.graph = graph
        self.system = system
        self.enabling = PointEnabling(system.numbering)
        self.visible = visible

    def chosen(self, state: Any) -> Choice[Any] | None:
        actions: Sequence[Action] = self.system.actions(state)
        able = frozenset(action.pid for action in actions if action.enabled)
        if len(able) < 2:
            return None
        here = _Here(self.system, self.enabling, state, actions, able)
        best: set[Pid] | None = None
        for pid in sorted(able):
            movers = here.grown(pid, most=len(able) if best is None else len(best))
            if movers is not None and not self._seen(actions, movers):
                best = movers
                if len(best) == 1:
                    break
        if best is None:
            return None
        taken = [action for action in actions if action.pid in best]
        return Choice(self.graph.successors_by(state, taken), frozenset(best), able)

    def _seen(self, actions: Iterable[Action], movers: set[Pid]) -> bool:
        """C2: may what they do be seen by the formula?"""
        return bool(self.visible) and any(
            action.enabled and not self.visible.isdisjoint(action.footprint.writes)
            for action in actions
            if action.pid in movers
        )


class _Here:
    """One state: who stands where, what they can do now, and what they may do later."""

    def __init__(
        self,
        system: FlatSystem,
        enabling: PointEnabling,
        state: Any,
        actions: Sequence[Action],
        able: frozenset[Pid],
    ) -> None:
        self.system, self.enabling, self.state, self.able = system, enabling, state, able
        self.points = {pid: state[state[0].by_pid[pid].base] for pid in {action.pid for action in actions}}
        self.now: dict[Pid, Footprint] = {}
        self.awaited: dict[Pid, frozenset[Location]] = {}
        """Of the choices of a process that it cannot take now: what they look at."""
        for action in actions:
            if action.enabled:
                self.now[action.pid] = self.now.get(action.pid, EMPTY) | action.footprint
            else:
                self.awaited[action.pid] = self.awaited.get(action.pid, NOWHERE) | action.footprint.reads

    @cached_property
    def store(self) -> Mapping[str, Value]:
        return self.system.store(self.state)

    def grown(self, pid: Pid, most: int) -> set[Pid] | None:
        """Who of a stubborn set can go, from one process on; None if these are not fewer than `most`."""
        found = {pid: 1 << self.points[pid]}
        left: list[Transitions] = [(pid, found[pid])]
        movers = {pid}
        while left:
            for other, points in self._demanded(*left.pop(), found):
                new = points & ~found.get(other, 0)
                if new:
                    found[other] = found.get(other, 0) | new
                    left.append((other, new))
                    if new >> self.points[other] & 1 and other in self.able:
                        movers.add(other)
            if len(movers) >= most:
                return None
        return movers

    def _demanded(self, pid: Pid, new: int, found: Mapping[Pid, int]) -> list[Transitions]:
        """What a set must contain because of some transitions of a process. Once it contains what the process does
        where it stands, nothing more is asked of what it does elsewhere."""
        here = 1 << self.points[pid]
        if new & here:
            return self._demanded_here(pid)
        if found[pid] & here:
            return []
        writing = 0
        for point in bits(new):
            needed = self.enabling.needed(point, self.store)
            if needed is None:
                return [(pid, here)]
            writing |= self.enabling.writing(needed)
        return min([(pid, here)], self._of_all(writing), key=lambda each: self._cost(each, found))

    def _demanded_here(self, pid: Pid) -> list[Transitions]:
        demanded: list[Transitions] = []
        if pid in self.now:
            others = self._of_all(self.enabling.conflicting(self.now[pid]))
            demanded += [(other, points) for other, points in others if other != pid]
        if pid in self.awaited:
            needed = self.enabling.needed(self.points[pid], self.store) if pid not in self.now else None
            demanded += self._of_all(self.enabling.writing(self.awaited[pid] if needed is None else needed))
        return demanded

    def _of_all(self, points: int) -> list[Transitions]:
        """Who may come to these points, and to which of them."""
        reach = self.enabling.reach
        return [(pid, points & reach[at]) for pid, at in self.points.items() if points & reach[at]]

    def _cost(self, demanded: list[Transitions], found: Mapping[Pid, int]) -> int:
        cost = 0
        for pid, points in demanded:
            new = points & ~found.get(pid, 0)
            dear = pid in self.able and new >> self.points[pid] & 1
            cost += new.bit_count() + (_DEAR if dear else 0)
        return cost
