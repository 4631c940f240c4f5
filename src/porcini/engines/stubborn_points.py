"""Guard-based stubborn sets for flat states: as in `stubborn`, with all edges of a point as one transition.

A transition (i, q) is what process i may do at point q: now, if it stands there, or later. It also represents the
steps of all processes that i may spawn. A set T of them is stubborn in a state if

    D1  for each (i, q) in T where i stands at q and is enabled: all transitions of other processes that conflict
        with what i can do now are in T;
    D2  for each other (i, q) in T, all transitions that may enable it are in T: those of i at its current point,
        if that is not q; or, if every edge of q has a condition that is false now, all that write what these
        conditions read. Where both are possible, the one that adds less is taken.

and some process in T is enabled. If such a set does not contain all enabled transitions, taking only its
transitions loses no state in which nothing can move. *Why*: let w be a run from here to such a state. Some
transition of T is in w: an enabled transition of T stays enabled until one that conflicts with it is taken, which
is in T by D1. Let t be the first transition of w in T. If t were not enabled now, then by D2 another one in T
would have to come before it. So t is enabled now; all transitions before it in w are not in T, so by D1 they are
independent of t: t can be taken first, and the rest leads to the same state. C2 and C3 are as in `ample` and
`stubborn`.
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
from porcini.engines.graph import Chosen
from porcini.ir.analysis.enabling import PointEnabling
from porcini.ir.flat.interpreter import FlatSystem

Transitions = tuple[Pid, int]
"""Transitions of one process: a bit for each point."""
_DEAR = 1_000
"""What an enabled transition costs, compared with 1 for a disabled one."""


class PointStubborn:
    """Stubborn sets for flat states (`engines.graph.StateReduction`)."""

    def __init__(self, graph: SystemGraph, system: FlatSystem, visible: frozenset[Location] = NOWHERE) -> None:
        self.graph = graph
        self.system = system
        self.enabling = PointEnabling(system.numbering)
        self.visible = visible

    def choose(self, state: Any) -> Chosen[Any] | None:
        actions: Sequence[Action] = self.system.actions(state)
        able = frozenset(action.pid for action in actions if action.enabled)
        if len(able) < 2:
            return None
        here = _Here(self.system, self.enabling, state, actions, able)
        best: set[Pid] | None = None
        for pid in sorted(able):
            movers = here.grow_stubborn_set(pid, most=len(able) if best is None else len(best))
            if movers is not None and not self._is_visible(actions, movers):
                best = movers
                if len(best) == 1:
                    break
        if best is None:
            return None
        taken = [action for action in actions if action.pid in best]
        return Chosen(self.graph.successors_by(state, taken), frozenset(best), able)

    def _is_visible(self, actions: Iterable[Action], movers: set[Pid]) -> bool:
        """C2: may one of their enabled actions change a proposition?"""
        return bool(self.visible) and any(
            action.enabled and not self.visible.isdisjoint(action.footprint.writes)
            for action in actions
            if action.pid in movers
        )


class _Here:
    """One state: the point of each process, what it can do now, and what it waits for."""

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
        """For each process, the locations that its disabled choices read."""
        for action in actions:
            if action.enabled:
                self.now[action.pid] = self.now.get(action.pid, EMPTY) | action.footprint
            else:
                self.awaited[action.pid] = self.awaited.get(action.pid, NOWHERE) | action.footprint.reads

    @cached_property
    def store(self) -> Mapping[str, Value]:
        return self.system.store(self.state)

    def grow_stubborn_set(self, pid: Pid, most: int) -> set[Pid] | None:
        """The enabled processes of the stubborn set that begins with one process; None unless there are fewer than
        `most`."""
        found = {pid: 1 << self.points[pid]}
        left: list[Transitions] = [(pid, found[pid])]
        movers = {pid}
        while left:
            for other, points in self._required_by(*left.pop(), found):
                new = points & ~found.get(other, 0)
                if new:
                    found[other] = found.get(other, 0) | new
                    left.append((other, new))
                    if new >> self.points[other] & 1 and other in self.able:
                        movers.add(other)
            if len(movers) >= most:
                return None
        return movers

    def _required_by(self, pid: Pid, new: int, found: Mapping[Pid, int]) -> list[Transitions]:
        """The transitions that a set must contain because it contains the new transitions of a process. Once it
        contains those at the current point of the process, its transitions at other points require nothing
        more."""
        here = 1 << self.points[pid]
        if new & here:
            return self._required_by_current_point(pid)
        if found[pid] & here:
            return []
        writing = 0
        for point in bits(new):
            needed = self.enabling.unmet_locations(point, self.store)
            if needed is None:
                return [(pid, here)]
            writing |= self.enabling.points_writing(needed)
        return min([(pid, here)], self._of_all(writing), key=lambda each: self._cost(each, found))

    def _required_by_current_point(self, pid: Pid) -> list[Transitions]:
        demanded: list[Transitions] = []
        if pid in self.now:
            others = self._of_all(self.enabling.points_conflicting_with(self.now[pid]))
            demanded += [(other, points) for other, points in others if other != pid]
        if pid in self.awaited:
            needed = self.enabling.unmet_locations(self.points[pid], self.store) if pid not in self.now else None
            demanded += self._of_all(self.enabling.points_writing(self.awaited[pid] if needed is None else needed))
        return demanded

    def _of_all(self, points: int) -> list[Transitions]:
        """The transitions at these points, of all processes that may reach them."""
        reach = self.enabling.reach
        return [(pid, points & reach[at]) for pid, at in self.points.items() if points & reach[at]]

    def _cost(self, demanded: list[Transitions], found: Mapping[Pid, int]) -> int:
        cost = 0
        for pid, points in demanded:
            new = points & ~found.get(pid, 0)
            dear = pid in self.able and new >> self.points[pid] & 1
            cost += new.bit_count() + (_DEAR if dear else 0)
        return cost
