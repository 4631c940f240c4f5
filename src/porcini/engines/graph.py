"""States instead of runs: every reachable state once, in depth or in breadth, all of it or a reduced part.

    search      each state is visited once; for each is kept from where it was found first
    reduction   which of the successors of a state are enough (`engines.ample`, `engines.stubborn`)

A reduction alone keeps the states in which nothing can move. If something else is looked for (a failed assertion),
what is left out must not be left out for ever: where all successors that were chosen are on the way here (in
depth) or were seen before (in breadth), all are taken. This is C3 of P1, in the form that is enough for
reachability.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Generic, Literal, Protocol, TypeVar

from porcini.core.errors import LimitHit
from porcini.core.events import Event
from porcini.core.systems import StateGraph
from porcini.engines.tally import Tally

Order = Literal["dfs", "bfs"]
S = TypeVar("S", bound=Hashable)

_BETWEEN_LOOKS = 1024


class Chooser(Protocol[S]):
    """A reduction: successors that are enough in a state, or None if all of them are needed."""

    def chosen(self, state: S) -> Sequence[S] | None: ...


class Graph(Generic[S]):
    """A search under way. `found` holds, for each state, the one from which it was first found."""

    def __init__(
        self, graph: StateGraph[S], reduction: Chooser[S] | None, tally: Tally, *, careful: bool = True
    ) -> None:
        self.graph = graph
        self.reduction = reduction
        self.tally = tally
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
            else:
                self._in_depth(start)
        finally:
            self._count()
        self._note_failures()

    def _all(self, start: S) -> None:
        """Depth first without a reduction: nothing needs to know the way."""
        found, successors, stack = self.found, self.graph.successors, [start]
        while stack:
            state = stack.pop()
            after = successors(state)
            if not after:
                self._ended(state)
            for new in after:
                if new not in found:
                    found[new] = state
                    stack.append(new)
            self._tick(len(after))

    def _in_breadth(self, start: S) -> None:
        found, queue = self.found, deque([start])
        while queue:
            state = queue.popleft()
            after = self._chosen(state)
            if after is None or (self.careful and all(new in found for new in after)):
                after = self.graph.successors(state)
            if not after:
                self._ended(state)
            for new in after:
                if new not in found:
                    found[new] = state
                    queue.append(new)
            self._tick(len(after))

    def _in_depth(self, start: S) -> None:
        found, careful = self.found, self.careful
        on_the_way: set[S] = {start}
        stack: list[tuple[S, list[S]]] = [(start, list(self._from(start, on_the_way)))]
        while stack:
            state, left = stack[-1]
            if not left:
                stack.pop()
                on_the_way.discard(state)
                continue
            new = left.pop()
            if new in found:
                continue
            found[new] = state
            if careful:
                on_the_way.add(new)
            stack.append((new, list(self._from(new, on_the_way))))

    def _from(self, state: S, on_the_way: set[S]) -> Sequence[S]:
        after = self._chosen(state)
        if after is None or (self.careful and all(new in on_the_way for new in after)):
            after = self.graph.successors(state)
        if not after:
            self._ended(state)
        self._tick(len(after))
        return after

    def _chosen(self, state: S) -> Sequence[S] | None:
        return self.reduction.chosen(state) if self.reduction else None

    # What is noticed

    def _tick(self, taken: int) -> None:
        self.transitions += taken
        self._looked += 1
        if len(self.graph.failures) > len(self._noted) and self.tally.violated:
            self._note_failures()
        if self._looked % _BETWEEN_LOOKS == 0 or len(self.found) > self.tally.limits.states:
            self._count()
            self.tally.look()
            if len(self.found) > self.tally.limits.states:
                raise LimitHit(f"the limit of {self.tally.limits.states:,} states")

    def _count(self) -> None:
        self.tally.counts.states, self.tally.counts.events = len(self.found), self.transitions

    def _ended(self, state: S) -> None:
        self.tally.complete(lambda: self.way_to(state), self.graph.final(state), None)
        self.tally.counts.classes = 0  # of runs, which are not looked at here

    def _note_failures(self) -> None:
        """A failure after which others go on for ever ends in no state, and counts all the same."""
        if any(outcome.kind in ("assertion", "error") for outcome in self.tally.outcomes):
            return
        for kind, (state, after) in list(self.graph.failures.items()):
            if kind in self._noted:
                continue
            self._noted.add(kind)
            way = [*self.way_to(state), *self.graph.way(state, after)]
            self.tally.complete(way, self.graph.final(after), None)
            self.tally.counts.classes = 0

    def way_to(self, state: S) -> list[Event]:
        """The steps by which a state was first found."""
        states = [state]
        while (before := self.found[states[-1]]) is not None:
            states.append(before)
        states.reverse()
        return [event for a, b in pairwise(states) for event in self.graph.way(a, b)]
