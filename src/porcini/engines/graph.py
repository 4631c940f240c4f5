"""States instead of runs: every reachable state once, in depth or in breadth, on a graph reduced by ample sets.

    search      states are visited once; those in which nothing can move are the outcomes
    ample       which actions of a state to take (P1, section 3.3, Fig. 1)

P1's conditions, with its errata corrected:

- C0: an ample set is empty only if nothing is enabled.
- C'1: the actions of the chosen processes, enabled or not, are independent of all that every *other* process may
  still do, enabled or not, with what it may spawn (erratum 1). All choices of a process belong together (erratum
  2), and every process of a set is taken, not one of them (erratum 3).
- C3: some action of the set leads to a state that is new and, in depth, not on the way here; else all are taken.
  C2 (visibility) matters to formulas only.

`single` tries one process at a time; `closure` adds to a process those whose future depends on it, until none is
left. States in which nothing can move are kept by either, so outcomes are those of the full graph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Literal

from porcini.core.errors import LimitHit
from porcini.core.events import Action, Event
from porcini.core.footprints import EMPTY, Footprint
from porcini.core.pids import Pid
from porcini.core.systems import Lookahead, TransitionSystem
from porcini.core.traces import Trace
from porcini.engines.tally import Tally

Order = Literal["dfs", "bfs"]
Ample = Literal["closure", "single", "none"]
State = Hashable


class Graph:
    """A search under way: for each state seen, the step by which it was found."""

    def __init__(
        self,
        system: TransitionSystem[State],
        lookahead: Lookahead[State] | None,
        tally: Tally,
        reduction: Ample,
    ) -> None:
        self.system = system
        self.lookahead = lookahead if reduction != "none" else None
        self.tally = tally
        self.reduction = reduction
        self.found_by: dict[State, tuple[State, Event] | None] = {}
        self.failed: dict[str, State] = {}

    def explore(self, order: Order) -> None:
        start = self.system.initial()
        self.found_by[start] = None
        self.tally.counts.states += 1
        if order == "bfs":
            self._in_breadth(start)
        else:
            self._in_depth(start)
        self._note_failures()

    def _in_breadth(self, start: State) -> None:
        queue = deque([start])
        while queue:
            state = queue.popleft()
            actions = self.system.actions(state)
            for ample in (self._ample(state, actions), None):
                fired = (self._fire(state, action) for action in _enabled(actions, ample))
                new = [after for after in fired if after is not None]
                queue += new
                if new or ample is None:
                    break
            self._note_end(state, actions)

    def _in_depth(self, start: State) -> None:
        on_the_way: set[State] = set()
        stack: list[tuple[State, list[Action], bool]] = []

        def arrive(state: State) -> None:
            actions = self.system.actions(state)
            ample = self._ample(state, actions)
            stack.append((state, _enabled(actions, ample), ample is None))
            on_the_way.add(state)
            self._note_end(state, actions)

        arrive(start)
        while stack:
            state, left, whole = stack[-1]
            if not left:
                stack.pop()
                on_the_way.discard(state)
                continue
            action = left.pop()
            after, event = self.system.fire(state, action)
            if not whole and after in on_the_way:  # C3: what is left out here must not be left out for ever
                rest = self.system.actions(state)
                stack[-1] = (state, [a for a in rest if a.enabled], True)
                continue
            if self._enter(state, event, after):
                arrive(after)

    def _fire(self, state: State, action: Action) -> State | None:
        """The state after an action, if it is new."""
        after, event = self.system.fire(state, action)
        return after if self._enter(state, event, after) else None

    def _enter(self, state: State, event: Event, after: State) -> bool:
        if after in self.found_by:
            self.tally.counts.events += 1
            return False
        self.found_by[after] = state, event
        if event.failure is not None:
            self.failed.setdefault(event.failure.kind, after)
        self.tally.step()
        if len(self.found_by) > self.tally.limits.states:
            raise LimitHit(f"the limit of {self.tally.limits.states:,} states")
        return True

    def _note_end(self, state: State, actions: Sequence[Action]) -> None:
        if not any(action.enabled for action in actions):
            self.tally.complete(self.way_to(state), self.system.final(state), None)
            self.tally.counts.classes = 0  # of runs, which are not looked at here

    def _note_failures(self) -> None:
        """A failure after which others go on for ever ends in no state, and counts all the same."""
        if any(outcome.kind in ("assertion", "error") for outcome in self.tally.outcomes):
            return
        for state in self.failed.values():
            self.tally.complete(self.way_to(state), self.system.final(state), None)
            self.tally.counts.classes = 0

    def way_to(self, state: State) -> Trace:
        """The steps by which a state was first found."""
        events: list[Event] = []
        step = self.found_by[state]
        while step is not None:
            before, event = step
            events.append(event)
            step = self.found_by[before]
        return Trace(events[::-1])

    # Ample sets

    def _ample(self, state: State, actions: Sequence[Action]) -> set[Pid] | None:
        """Processes whose actions are enough here; None for all of them."""
        if self.lookahead is None:
            return None
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
                    if self.reduction == "single":
                        return None
                    chosen.add(pid)
                    left.append(pid)
        return chosen


def _enabled(actions: Sequence[Action], ample: set[Pid] | None) -> list[Action]:
    return [action for action in actions if action.enabled and (ample is None or action.pid in ample)]
