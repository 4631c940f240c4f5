"""Any transition system as a graph of states, and ample sets on it (P1, section 3.3, Fig. 1).

P1's conditions, with its errata corrected:

- C0: an ample set is empty only if nothing is enabled.
- C'1: the actions of the chosen processes, enabled or not, are independent of all that every *other* process may
  still do, enabled or not, with what it may spawn (erratum 1). All choices of a process belong together (erratum
  2), and every process of a set is taken, not one of them (erratum 3).
- C2: with a formula, nothing of the set that is enabled writes what the formula looks at. C3 is the search's.

`single` tries one process at a time; `closure` adds to a process those whose future depends on it, until none is
left.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

from porcini.core.events import Action, Event, FailureKind
from porcini.core.footprints import EMPTY, NOWHERE, Footprint, Location
from porcini.core.pids import Pid
from porcini.core.systems import Final, Lookahead, TransitionSystem
from porcini.engines.graph import Choice

Ample = Literal["closure", "single"]
State = Hashable


class SystemGraph:
    """The states of a transition system (`core.systems.StateGraph`)."""

    def __init__(self, system: TransitionSystem[State]) -> None:
        self.system = system
        self.failures: dict[FailureKind, tuple[State, State]] = {}
        self._numbers: dict[Pid, int] = {}

    def initial(self) -> State:
        return self.system.initial()

    def successors(self, state: State) -> list[State]:
        return self.after(state, self.system.actions(state))

    def after(self, state: State, actions: Sequence[Action]) -> list[State]:
        found = []
        for action in actions:
            if action.enabled:
                after, event = self.system.fire(state, action)
                if event.failure is not None:
                    self.failures.setdefault(event.failure.kind, (state, after))
                found.append(after)
        return found

    def way(self, state: State, after: State) -> list[Event]:
        for action in self.system.actions(state):
            if action.enabled:
                reached, event = self.system.fire(state, action)
                if reached == after:
                    return [event]
        raise AssertionError("Porcini bug: no step leads from a state to its successor")

    def moves_by(self, state: State) -> list[tuple[int, State]]:
        """The successors of a state, each with a number for the process that moves."""
        found = []
        for action in self.system.actions(state):
            if action.enabled:
                number = self._numbers.setdefault(action.pid, len(self._numbers))
                found.append((number, self.system.fire(state, action)[0]))
        return found

    def named(self, events: Sequence[Event]) -> Sequence[Event]:
        return events

    def final(self, state: State) -> Final:
        return self.system.final(state)


class AmpleSets:
    """Ample sets from footprints and a lookahead (`engines.graph.Chooser`)."""

    def __init__(
        self,
        graph: SystemGraph,
        lookahead: Lookahead[State],
        heuristic: Ample,
        visible: frozenset[Location] = NOWHERE,
    ) -> None:
        self.graph = graph
        self.visible = visible
        self.lookahead = lookahead
        self.heuristic = heuristic

    def chosen(self, state: State) -> Choice[State] | None:
        actions = self.graph.system.actions(state)
        ample = self._ample(state, actions)
        if ample is None or (self.visible and any(self._seen(a) for a in actions if a.pid in ample)):
            return None
        after = self.graph.after(state, [action for action in actions if action.pid in ample])
        able = frozenset(action.pid for action in actions if action.enabled)
        return Choice(after, able & ample, able)

    def _seen(self, action: Action) -> bool:
        """C2: may what an action does be seen by the formula?"""
        return action.enabled and (action.footprint.opaque or not self.visible.isdisjoint(action.footprint.writes))

    def _ample(self, state: State, actions: Sequence[Action]) -> set[Pid] | None:
        """Processes whose actions are enough here; None for all of them."""
        able = {action.pid for action in actions if action.enabled}
        if len(able) < 2:
            return None
        now: dict[Pid, Footprint] = {}
        for action in actions:
            now[action.pid] = now.get(action.pid, EMPTY) | action.footprint
        later = {pid: self.lookahead.may_still_do(state, pid) for pid in now}
        best: set[Pid] | None = None
        for pid in now:
            if pid not in able:
                continue
            chosen = self._grown({pid}, now, later)
            if chosen is not None and len(chosen & able) < len(best & able if best else able):
                best = chosen
        return best

    def _grown(self, chosen: set[Pid], now: dict[Pid, Footprint], later: dict[Pid, Footprint]) -> set[Pid] | None:
        """The set with all that its actions depend on, or None if it may not grow and would have to."""
        left = list(chosen)
        while left:
            foot = now[left.pop()]
            for pid in now.keys() - chosen:
                if foot.conflicts(later[pid]):
                    if self.heuristic == "single":
                        return None
                    chosen.add(pid)
                    left.append(pid)
        return chosen
