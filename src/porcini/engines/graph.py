"""States instead of runs: every reachable state once, in depth or in breadth, all of it or a reduced part.

    search      each state is visited once; for each is kept from where it was found first
    reduction   which of the successors of a state are enough (`engines.ample`, `engines.stubborn`)

A reduction alone keeps the states in which nothing can move. If something else is looked for (a failed assertion),
nothing may be left out for ever. In depth: a strongly connected component that is not left must have taken a step
of each process that could move, else all is taken at its root (Valmari: Stop It, and Be Stubborn!, 2017). In
breadth: where all that was chosen has been left behind, all is taken; else what is left out is met again later.
These are C3 of P1, in forms that are enough for reachability.
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
class Choice(Generic[S]):
    """Successors of a state that are enough, by which processes, and who else could move."""

    after: list[S]
    """The search's own, to take from."""
    movers: Hashables
    able: Hashables
    whole: bool = False
    """Are these all successors that there are?"""


class Chooser(Protocol[S]):
    """A reduction."""

    def chosen(self, state: S) -> Choice[S] | None:
        """What is enough in a state; None if all of it is needed."""


@dataclass(slots=True)
class _Frame(Generic[S]):
    """A state on the way: where its component begins, if it is the first of one, the lowest that was seen from it,
    what is left to visit, who moves and who could."""

    state: S
    low: int
    begins: int
    left: list[S]
    movers: Hashables
    able: Hashables
    leaves: bool = False


class Graph(Generic[S]):
    """A search under way. `found` holds, for each state, the one from which it was first found."""

    def __init__(
        self, graph: StateGraph[S], reduction: Chooser[S] | None, stats: SearchStats, *, careful: bool = True
    ) -> None:
        self.graph = graph
        self.reduction = reduction
        self.stats = stats
        self.careful = careful
        """Nothing may be left out for ever: not needed if only states in which nothing can move are looked for."""
        self.found: dict[S, S | None] = {}
        self.transitions = 0
        self._noted: set[str] = set()
        self._looked = 0

    def explore(self, order: Order) -> None:
        start = self.graph.initial()
        self.found[start] = None
        try:
            if order == "bfs":
                self._in_breadth(start)
            elif self.reduction is None:
                self._all(start)
            elif not self.careful:
                self._chosen_only(start)
            else:
                self._by_components(start)
        finally:
            self._count()
        self._note_failures()

    def _all(self, start: S) -> None:
        """Depth first without a reduction: nothing needs to know the way. Most of the time is spent here."""
        found, successors, stack = self.found, self.graph.successors, [start]
        while stack:
            taken = 0
            for _ in range(BETWEEN_LOOKS):
                if not stack:
                    break
                state = stack.pop()
                after = successors(state)
                if not after:
                    self._ended(state)
                taken += len(after)
                for new in after:
                    if new not in found:
                        found[new] = state
                        stack.append(new)
            self._looked += BETWEEN_LOOKS - 1
            self._tick(taken)

    def _in_breadth(self, start: S) -> None:
        found, queue = self.found, deque([start])
        done: set[S] = set()
        careful = self.careful and self.reduction is not None
        while queue:
            state = queue.popleft()
            if careful:
                done.add(state)
            after = self._after(state)
            if careful and after and all(new in done for new in after):
                after = self._all_after(state)
            for new in after:
                if new not in found:
                    found[new] = state
                    queue.append(new)

    def _chosen_only(self, start: S) -> None:
        """Depth first, where it does not matter what is left out for ever."""
        found, stack = self.found, [start]
        while stack:
            state = stack.pop()
            after = self._after(state)
            for new in after:
                if new not in found:
                    found[new] = state
                    stack.append(new)

    def _by_components(self, start: S) -> None:
        """Depth first with Tarjan's algorithm: a component that is not left must have taken all that it can."""
        found = self.found
        order: dict[S, int] = {}
        component: list[tuple[S, Hashables]] = []
        frames: list[_Frame[S]] = []
        chosen = self.reduction.chosen if self.reduction else lambda state: None
        taken = 0

        def enter(state: S) -> None:
            nonlocal taken
            choice = chosen(state)
            first = order[state] = len(order)
            if choice is None:
                frame = _Frame(state, first, len(component), list(self._all_after(state)), NOBODY, NOBODY)
            else:
                frame = _Frame(state, first, len(component), choice.after, choice.movers, choice.able)
                taken += len(choice.after)
                if first % BETWEEN_LOOKS == 0:
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
                    if not frame.able <= moved:  # some were left out, all the way round
                        frame.left = list(self._all_after(frame.state))
                        frame.able = NOBODY
                        continue
                for state, _ in component[frame.begins :]:
                    order[state] = _DONE
                del component[frame.begins :]
                frame.leaves = True  # as seen from the one before it
                frame.low = _DONE
            frames.pop()
            if frames:
                outer = frames[-1]
                if frame.leaves:
                    outer.leaves = True
                if frame.low < outer.low:
                    outer.low = frame.low
        self.transitions += taken

    def _after(self, state: S) -> Sequence[S]:
        choice = self.reduction.chosen(state) if self.reduction else None
        if choice is None:
            return self._all_after(state)
        self._tick(len(choice.after))
        return choice.after

    def _all_after(self, state: S) -> Sequence[S]:
        after = self.graph.successors(state)
        if not after:
            self._ended(state)
        self._tick(len(after))
        return after

    # What is noticed

    def _tick(self, taken: int) -> None:
        self.transitions += taken
        self._looked += 1
        if len(self.graph.failures) > len(self._noted) and self.stats.violated:
            self._note_failures()
        if self._looked % BETWEEN_LOOKS == 0 or len(self.found) > self.stats.limits.states:
            self._count()
            self.stats.look()
            if len(self.found) > self.stats.limits.states:
                raise LimitHit(f"the limit of {self.stats.limits.states:,} states")

    def _count(self) -> None:
        self.stats.counts.states, self.stats.counts.events = len(self.found), self.transitions

    def _ended(self, state: S) -> None:
        ended = partial(self.graph.final_of_run, state)
        self.stats.complete(lambda: self.way_to(state), self.graph.final(state), None, ended)
        self.stats.counts.classes = 0  # of runs, which are not looked at here

    def _note_failures(self) -> None:
        """A failure after which others go on for ever ends in no state, and counts all the same."""
        if any(outcome.kind in ("assertion", "error") for outcome in self.stats.outcomes):
            return
        for kind, (state, after) in list(self.graph.failures.items()):
            if kind in self._noted:
                continue
            self._noted.add(kind)
            way, ended = partial(self._named, state, after), partial(self.graph.final_of_run, after)
            self.stats.complete(way, self.graph.final(after), None, ended)
            self.stats.counts.classes = 0

    def way_to(self, state: S) -> Sequence[Event]:
        """The steps by which a state was found."""
        return self._named(state)

    def _named(self, state: S, *after: S) -> Sequence[Event]:
        """The steps by which a state was found, and those from there on, with processes named as in runs. Where
        that way is too long for a run, the shortest one is taken."""
        try:
            return self.graph.with_run_names(self._steps((*self._first_way(state), *after)))
        except LimitHit:
            return self.graph.with_run_names(self._steps((*self._shortest_way(state), *after)))

    def _steps(self, states: Sequence[S]) -> list[Event]:
        return [event for a, b in pairwise(states) for event in self.graph.events_between(a, b)]

    def _first_way(self, state: S) -> list[S]:
        return _back(state, self.found)

    def _shortest_way(self, state: S) -> list[S]:
        start = self.graph.initial()
        before: dict[S, S | None] = {start: None}
        queue = deque([start])
        while state not in before:
            here = queue.popleft()
            for new in self.graph.successors(here):
                if new not in before and new in self.found:
                    before[new] = here
                    queue.append(new)
        return _back(state, before)


def _back(state: S, before: Mapping[S, S | None]) -> list[S]:
    """The states that lead to one, by what came before each."""
    states = [state]
    while (earlier := before[states[-1]]) is not None:
        states.append(earlier)
    return states[::-1]
