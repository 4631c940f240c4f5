"""Ample sets on the states of any transition system (P1, section 3.3, Fig. 1).

P1's conditions, with its errata corrected:

- C0: an ample set is empty only if nothing is enabled.
- C'1: the actions of the chosen processes, enabled or not, are independent of all that every *other* process may
  still do, enabled or not, with what it may spawn (erratum 1). All choices of a process belong together (erratum
  2), and every process of a set is taken, not one of them (erratum 3).
- C2: with a formula, no enabled action of the set may be visible: neither here nor wherever it is taken after
  steps of others. P1 compares what holds here and after the step, and misses the latter. The search ensures C3.

    1  take a transition t that is enabled
    2  let S = {t}                                     `single`
       let S = all that depends on t, closed           `closure`
    3  if C'1(S) and C2(S, P) and C3(S): mark the thread of t as ample, and quit
    4  else go on with line 1
    5  mark all threads as ample

`choose` implements lines 1 and 3 to 5, `_candidates` line 2: `single` tries one process at a time; `closure` adds
to a process those whose future depends on it, until none is left.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Sequence

from porcini.core.events import Action
from porcini.core.footprints import EMPTY, Footprint
from porcini.core.pids import Pid
from porcini.core.systems import Lookahead, SystemGraph
from porcini.engines.closures import close_under_conflicts
from porcini.engines.graph import Chosen
from porcini.engines.options import Ample

State = Hashable


class AmpleSets:
    """Ample sets from footprints and a lookahead (`engines.graph.StateReduction`)."""

    def __init__(
        self,
        graph: SystemGraph,
        lookahead: Lookahead[State],
        heuristic: Ample,
        visible: Callable[[State, Action], bool] = lambda state, action: False,
    ) -> None:
        self.graph = graph
        self.visible = visible
        """C2: may an action change the value of a proposition?"""
        self.lookahead = lookahead
        self.heuristic = heuristic

    def choose(self, state: State) -> Chosen[State] | None:
        actions = self.graph.system.actions(state)
        able = frozenset(action.pid for action in actions if action.enabled)
        if len(able) < 2:
            return None
        for ample in self._candidates(state, actions, able):
            taken = [action for action in actions if action.pid in ample]
            if not any(action.enabled and self.visible(state, action) for action in taken):
                identities = self.graph.identities
                after = self.graph.successors_by(state, taken)
                return Chosen(after, identities(state, able & ample), identities(state, able))
        return None

    def _candidates(self, state: State, actions: Sequence[Action], able: frozenset[Pid]) -> list[frozenset[Pid]]:
        """Sets of processes whose actions are enough here, small ones first."""
        now = footprints_of(actions, {action.pid for action in actions if not action.enabled})
        later = {pid: self.lookahead.may_still_do(state, pid) for pid in now}
        most = 1 if self.heuristic == "single" else None
        closed = (close_under_conflicts(pid, now, later, most=most) for pid in now if pid in able)
        found = [ample for ample in closed if ample is not None and len(ample & able) < len(able)]
        return sorted(found, key=lambda ample: len(ample & able))


def footprints_of(actions: Iterable[Action], waiting: Container[Pid]) -> dict[Pid, Footprint]:
    """What each process reads and writes by all of these actions. The locations that an action awaits do not
    count, unless its process waits for another choice: writes to them cannot disturb it."""
    now: dict[Pid, Footprint] = {}
    for action in actions:
        foot = action.footprint
        if action.awaits and action.pid not in waiting:
            foot = Footprint(foot.reads - action.awaits, foot.writes, foot.opaque)
        now[action.pid] = now.get(action.pid, EMPTY) | foot
    return now
