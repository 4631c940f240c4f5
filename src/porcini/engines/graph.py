"""A search through states instead of runs: every reachable state once, depth first or breadth first, reduced or
not.

    search      visits each state once, and remembers for each the state from which it was found first
    reduction   says which successors of a state are enough (`engines.ample`, `engines.stubborn`)

A reduction alone preserves the states in which nothing can move. If something else is looked for (a failed
assertion), no enabled process may be ignored for ever. Depth first, a strongly connected component that has no way
out must contain a step of each process that could move; otherwise all successors of its root are taken (Valmari:
Stop It, and Be Stubborn!, 2017). Breadth first, where all chosen successors were visited before, all successors
are taken; otherwise what is left out is met again later. These are forms of P1's C3 that are enough for
reachability.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

from porcini.core.errors import LimitHit
from porcini.core.events import Event
from porcini.core.systems import StateGraph
from porcini.engines.limits import BETWEEN_LOOKS
from porcini.engines.options import Order
from porcini.engines.stats import SearchStats

S = TypeVar("S", bound=Hashable)


Hashables = frozenset[Hashable]
NOBODY: Hashables = frozenset()
_DONE = 1 << 62


@dataclass(slots=True, eq=False)  # one for each state: a frozen one takes three times as long to make
class Chosen(Generic[S]):
    """The successors of a state that are enough, which processes move to them, and which processes are enabled."""

    after: list[S]
    """It belongs to the search, which may remove states from it."""
    movers: Hashables
    able: Hashables
    whole: bool = False
    """Are these all successors of the state?"""


class StateReduction(Protocol[S]):
    """A reduction of a graph of states."""

    def choose(self, state: S) -> Chosen[S] | None:
        """The successors that are enough in a state; None if all of them are needed."""


@dataclass(slots=True)
class _Frame(Generic[S]):
    """A state on the search stack: the lowest state that can be reached from it, where its component begins if it
    is the root of one, the successors still to visit, the processes that move, and those that are enabled.
    `leaves` says that its component has a way out."""

    state: S
    low: int
    begins: int
    left: list[S]
    movers: Hashables
    able: Hashables
    leaves: bool = False


class Graph(Generic[S]):
    """A search in progress. `found` holds, for each state, the one from which it was first found."""

    def __init__(
        self,
        graph: StateGraph[S],
        reduction: StateReduction[S] | None,
        stats: SearchStats,
        *,
        avoid_ignoring: bool = True,
    ) -> None:
        self.graph = graph
        self.reduction = reduction
        self.stats = stats
        self.avoid_ignoring = avoid_ignoring
        """May no enabled process be ignored for ever? This is not needed if only states in which nothing can move
        are looked for."""
        self.found: dict[S, S | None] = {}
        self.transitions = 0
        self._noted: set[str] = set()
        self._looked = 0
        self._events: dict[tuple[S, S], Sequence[Event]] = {}
        """From a state to one after it. The ways to end states of a search in depth have most steps in common."""

    def explore(self, order: Order) -> None:
        start = self.graph.initial()
        self.found[start] = None
        try:
            if order == "bfs":
                self._search_breadth_first(start)
            elif self.reduction is None:
                self._search_all(start)
            elif not self.avoid_ignoring:
                self._search_reduced(start)
            else:
                self._search_components(start)
        finally:
            self._count()
        self._note_failures()

    def _search_all(self, start: S) -> None:
        """Depth first without a reduction, where the search stack does not matter. Most of the time is spent
        here."""
        found, successors, stack = self.found, self.graph.successors, [start]
        while stack:
            taken = 0
            for _ in range(BETWEEN_LOOKS):
                if not stack:
                    break
                state = stack.pop()
                after = successors(state)
                if not after:
                    self._report_end(state)
                taken += len(after)
                for new in after:
                    if new not in found:
                        found[new] = state
                        stack.append(new)
            self._looked += BETWEEN_LOOKS - 1
            self._tick(taken)

    def _search_breadth_first(self, start: S) -> None:
        found, queue = self.found, deque([start])
        done: set[S] = set()
        avoid_ignoring = self.avoid_ignoring and self.reduction is not None
        while queue:
            state = queue.popleft()
            if avoid_ignoring:
                done.add(state)
            after = self._reduced_successors(state)
            if avoid_ignoring and after and all(new in done for new in after):
                after = self._successors(state)
            for new in after:
                if new not in found:
                    found[new] = state
                    queue.append(new)

    def _search_reduced(self, start: S) -> None:
        """Depth first, where processes may be ignored for ever."""
        found, stack = self.found, [start]
        while stack:
            state = stack.pop()
            after = self._reduced_successors(state)
            for new in after:
                if new not in found:
                    found[new] = state
                    stack.append(new)

    def _search_components(self, start: S) -> None:
        """Depth first with Tarjan's algorithm: in a component without a way out, each enabled process must have
        moved.

        `order` numbers states as they are entered; a finished component has the number `_DONE`. When the root of a
        component is left and no step leads out of it, the processes that were enabled at the root must have moved
        somewhere in it; otherwise the root is expanded fully, and the search goes on from it.
        """
        found = self.found
        order: dict[S, int] = {}
        component: list[tuple[S, Hashables]] = []
        frames: list[_Frame[S]] = []
        chosen = self.reduction.choose if self.reduction else lambda state: None
        taken, most = 0, self.stats.limits.states

        def enter(state: S) -> None:
            nonlocal taken
            choice = chosen(state)
            first = order[state] = len(order)
            if choice is None:
                frame = _Frame(state, first, len(component), list(self._successors(state)), NOBODY, NOBODY)
            else:
                frame = _Frame(state, first, len(component), choice.after, choice.movers, choice.able)
                taken += len(choice.after)
                if first % BETWEEN_LOOKS == 0 or len(found) > most:
                    self._looked += BETWEEN_LOOKS - self._looked % BETWEEN_LOOKS - 1
                    self._tick(taken)
                    taken = 0
            frames.append(frame)
            component.append((state, frame.movers))

        enter(start)
        while frames:
            frame = frames[-1]
            if frame.left:
                new = frame.left.pop()
                seen = order.get(new)
                if seen is None:
                    found[new] = frame.state
                    enter(new)
                elif seen == _DONE:
                    frame.leaves = True
                elif seen < frame.low:
                    frame.low = seen
                continue
            if frame.low == order[frame.state]:
                if not frame.leaves:
                    moved = frozenset(mover for _, movers in component[frame.begins :] for mover in movers)
                    if not frame.able <= moved:  # some process was ignored everywhere in the component
                        frame.left = list(self._successors(frame.state))
                        frame.able = NOBODY
                        continue
                for state, _ in component[frame.begins :]:
                    order[state] = _DONE
                del component[frame.begins :]
                frame.leaves = True  # for the frame below, a step into a finished component is a way out
                frame.low = _DONE
            frames.pop()
            if frames:
                outer = frames[-1]
                if frame.leaves:
                    outer.leaves = True
                if frame.low < outer.low:
                    outer.low = frame.low
        self.transitions += taken

    def _reduced_successors(self, state: S) -> Sequence[S]:
        choice = self.reduction.choose(state) if self.reduction else None
        if choice is None:
            return self._successors(state)
        self._tick(len(choice.after))
        return choice.after

    def _successors(self, state: S) -> Sequence[S]:
        after = self.graph.successors(state)
        if not after:
            self._report_end(state)
        self._tick(len(after))
        return after

    # What is counted and reported

    def _tick(self, taken: int) -> None:
        self.transitions += taken
        self._looked += 1
        if len(self.graph.failures) > len(self._noted) and self.stats.violated:
            self._note_failures()
        if self._looked % BETWEEN_LOOKS == 0 or len(self.found) > self.stats.limits.states:
            self._count()
            self.stats.check_limits()
            if len(self.found) > self.stats.limits.states:
                raise LimitHit(f"the limit of {self.stats.limits.states:,} states")

    def _count(self) -> None:
        self.stats.counts.states, self.stats.counts.events = len(self.found), self.transitions

    def _report_end(self, state: S) -> None:
        ended = partial(self.graph.final_of_run, state)
        self.stats.complete(lambda: self.path_to(state), self.graph.final(state), None, ended)
        self.stats.counts.classes = 0  # they are classes of runs, which this search does not look at

    def _note_failures(self) -> None:
        """Report failures after which other processes go on for ever: they end in no state, but count all the
        same."""
        if any(outcome.kind in ("assertion", "error") for outcome in self.stats.outcomes):
            return
        for kind, (state, after) in list(self.graph.failures.items()):
            if kind in self._noted:
                continue
            self._noted.add(kind)
            way, ended = partial(self._events_to, state, after), partial(self.graph.final_of_run, after)
            self.stats.complete(way, self.graph.final(after), None, ended)
            self.stats.counts.classes = 0

    def path_to(self, state: S) -> Sequence[Event]:
        """The steps by which a state was found."""
        return self._events_to(state)

    def _events_to(self, state: S, *after: S) -> Sequence[Event]:
        """The events by which a state was found, then those to the states `after`, with the process names of runs.
        If that path is too long for a run, the shortest one is taken."""
        try:
            return self.graph.with_run_names(self._steps((*self._first_path(state), *after)))
        except LimitHit:
            return self.graph.with_run_names(self._steps((*self._shortest_path(state), *after)))

    def _steps(self, states: Sequence[S]) -> list[Event]:
        return [event for pair in pairwise(states) for event in self._events_between(pair)]

    def _events_between(self, pair: tuple[S, S]) -> Sequence[Event]:
        events = self._events.get(pair)
        if events is None:
            events = self._events[pair] = self.graph.events_between(*pair)
        return events

    def _first_path(self, state: S) -> list[S]:
        return _path_back(state, self.found)

    def _shortest_path(self, state: S) -> list[S]:
        start = self.graph.initial()
        before: dict[S, S | None] = {start: None}
        queue = deque([start])
        while state not in before:
            here = queue.popleft()
            for new in self.graph.successors(here):
                if new not in before and new in self.found:
                    before[new] = here
                    queue.append(new)
        return _path_back(state, before)


def _path_back(state: S, before: Mapping[S, S | None]) -> list[S]:
    """The states that lead to a given one, found by going back from each state to the one before it."""
    states = [state]
    while (earlier := before[states[-1]]) is not None:
        states.append(earlier)
    return states[::-1]
