"""Search for a run that a claim accepts: the product of a graph of states with an automaton, built on the fly.

    ClaimAutomaton   the automaton of a formula's negation, or a never claim
    Product          searches depth first over pairs of a state and a state of the claim; a strongly connected
                     component that has all marks contains an accepted run (Couvreur: On-the-fly verification of
                     linear temporal logic, FM 1999)
    Lasso            a stem and a loop in such a component, for the user

The claim reads the state before each step. A run that ends repeats its last state for ever. Weak fairness adds one
mark for each process: on steps by which it moves, its own or as the partner of another, and in states in which it
has no step of its own.

A reduction does not leave out visible steps (C2 of P1), and must not leave out anything on a whole cycle: where
one of the chosen successors is on the search stack, all successors are taken (C3). The formula must not count
steps: it must not contain X.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from porcini.core.errors import InternalError, LimitHit
from porcini.core.systems import LetterPart, StateGraph
from porcini.engines.graph import StateReduction
from porcini.engines.limits import BETWEEN_LOOKS
from porcini.engines.stats import SearchStats

S = TypeVar("S", bound=Hashable)
N = TypeVar("N")
S_in = TypeVar("S_in", bound=Hashable, contravariant=True)
Node = tuple[S, int]

_DONE = -1


class ClaimAutomaton(Protocol[S_in]):
    """An automaton over states: it accepts the runs that get each of its `acceptance` marks infinitely often."""

    initial: int
    acceptance: int

    def moves(self, here: int, state: S_in) -> Sequence[tuple[int, int]]:
        """The states to which the claim can go when it reads a state, each with the marks that it gets, as
        bits."""


class LetterClaim(ClaimAutomaton[S_in], Protocol[S_in]):
    """A claim that looks at a state by letters, so that it can be kept in tables."""

    states: int

    @property
    def lists(self) -> Sequence[Sequence[LetterPart[S_in]]] | None:
        """What it looks at in all of its states, if this is one list; or in each of them. None if it does not
        depend on few bits."""

    def moves_on(self, here: int, letter: int) -> Sequence[tuple[int, int]]:
        """The same as `moves`, in a state that has this letter."""


class ProcessSuccessors(Protocol[S]):
    """Successors with the process that moves, which fairness needs."""

    def successors_by_process(self, state: S) -> Sequence[tuple[int, int, S]]:
        """Each successor with the number of the process whose step it is, and a mask of all that move in it."""


@dataclass(frozen=True, slots=True)
class Lasso(Generic[S]):
    """The states of the stem, up to and including the first of the loop, and those after it up to the same state
    again."""

    stem: tuple[S, ...]
    loop: tuple[S, ...]


def close_loop(
    first: N, marks: int, path_by: Callable[[N, int], tuple[list[N], int]], path_back: Callable[[N], list[N]]
) -> list[N]:
    """The nodes of a loop in a component, after its first one, that has all of some marks. `path_by` gives the
    shortest path whose last step has one of those wanted, if there are any, and the marks of that step;
    `path_back` leads to the first node."""
    here, missing, loop = first, marks, list[N]()
    while missing or not loop:
        part, found = path_by(here, missing)
        loop += part
        missing &= ~found
        here = loop[-1]
    return loop if here == first else loop + path_back(here)


class Product(Generic[S]):
    """A search for a run that a claim accepts."""

    def __init__(
        self,
        graph: StateGraph[S],
        claim: ClaimAutomaton[S],
        stats: SearchStats,
        reduction: StateReduction[S] | None = None,
        fair: ProcessSuccessors[S] | None = None,
        *,
        stutter: bool = True,
    ) -> None:
        self.graph, self.claim, self.stats, self.reduction, self.fair = graph, claim, stats, reduction, fair
        self.stutter = stutter
        """Does a run that has ended count as an infinite run that repeats its last state?"""
        self.order: dict[Node[S], int] = {}
        self.transitions = 0
        self._claims = (1 << claim.acceptance) - 1
        self._everyone = 0
        """The marks of all processes that were enabled in some visited state."""

    def search(self) -> Lasso[S] | None:
        try:
            component = self._find_accepting_component()
        finally:
            self._count()
        return None if component is None else self._build_lasso(set(component))

    def _find_accepting_component(self) -> Sequence[Node[S]] | None:
        """The nodes of a strongly connected component that has all marks (Couvreur's algorithm).

        `live` are the nodes of unfinished components. A step to a live node merges all components whose roots come
        after it, with the marks inside of them and those of the steps between them.
        """
        order = self.order
        live: list[Node[S]] = []
        on_the_way: set[Node[S]] = set()
        frames: list[tuple[Node[S], Iterator[tuple[Node[S], int]]]] = []
        roots: list[int] = []
        inside: list[int] = []  # for each root: the marks within its component
        between: list[int] = []  # for each root: the marks of the step by which it was entered

        def enter(node: Node[S], marks: int) -> None:
            order[node] = len(order)
            roots.append(order[node])
            inside.append(0)
            between.append(marks)
            live.append(node)
            on_the_way.add(node)
            frames.append((node, iter(self._reduced_successors(node, on_the_way))))
            if len(order) % BETWEEN_LOOKS == 0 or len(order) > self.stats.limits.states:
                self._count()
                self.stats.check_limits()
                if len(order) > self.stats.limits.states:
                    raise LimitHit(f"the limit of {self.stats.limits.states:,} states")

        enter((self.graph.initial(), self.claim.initial), 0)
        while frames:
            node, left = frames[-1]
            step = next(left, None)
            if step is None:
                frames.pop()
                on_the_way.discard(node)
                if roots[-1] == order[node]:
                    roots.pop()
                    inside.pop()
                    between.pop()
                    while True:
                        gone = live.pop()
                        order[gone] = _DONE
                        if gone == node:
                            break
                continue
            new, marks = step
            at = order.get(new)
            if at is None:
                enter(new, marks)
            elif at != _DONE:
                while roots[-1] > at:
                    marks |= inside.pop() | between.pop()
                    roots.pop()
                inside[-1] |= marks
                if self._is_accepting(inside[-1]):
                    root = roots[-1]
                    return live[next(n for n, node in enumerate(live) if order[node] == root) :]
        return None

    def _is_accepting(self, marks: int) -> bool:
        wanted = self._claims
        if self.fair is not None:
            wanted |= self._everyone << self.claim.acceptance
        return not wanted & ~marks

    # Steps of the product

    def _reduced_successors(self, node: Node[S], on_the_way: set[Node[S]]) -> list[tuple[Node[S], int]]:
        state, here = node
        moves = self.claim.moves(here, state)
        if not moves:
            return []
        choice = self.reduction.choose(state) if self.reduction and self.fair is None else None
        if choice is not None:
            chosen = [((after, there), marks) for after in choice.after for there, marks in moves]
            if choice.whole or not any(new in on_the_way for new, _ in chosen):
                self.transitions += len(chosen)
                return chosen
        found = list(self._successors(state, moves))
        self.transitions += len(found)
        return found

    def _successors(self, state: S, moves: Sequence[tuple[int, int]]) -> Iterable[tuple[Node[S], int]]:
        if self.fair is None:
            for after in self.graph.successors(state) or ((state,) if self.stutter else ()):
                for there, marks in moves:
                    yield (after, there), marks
            return
        steps = self.fair.successors_by_process(state)
        able = 0
        for process, _, _ in steps:
            able |= 1 << process
        self._everyone |= able
        if not steps and self.stutter:
            for there, marks in moves:
                yield (state, there), marks | -1 << self.claim.acceptance
        for _, movers, after in steps:
            fairly = ~(able & ~movers) << self.claim.acceptance
            for there, marks in moves:
                yield (after, there), marks | fairly

    def _count(self) -> None:
        self.stats.counts.states, self.stats.counts.events = len(self.order), self.transitions

    # A lasso

    def _steps(self, node: Node[S]) -> list[tuple[Node[S], int]]:
        return list(self._successors(node[0], self.claim.moves(node[1], node[0])))

    def _build_lasso(self, component: set[Node[S]]) -> Lasso[S]:
        """The shortest path to the component through visited nodes, and a loop in the component that has all
        marks."""
        start = (self.graph.initial(), self.claim.initial)
        stem = self._find_path(start, lambda node, _: node in component, self.order)
        first = stem[-1][0] if stem else start

        def path_by(here: Node[S], wanted: int) -> tuple[list[Node[S]], int]:
            path = self._find_path(here, lambda _, marks: bool(marks & wanted) or not wanted, component, step=True)
            return [node for node, _ in path], path[-1][1]

        def path_back(here: Node[S]) -> list[Node[S]]:
            return [node for node, _ in self._find_path(here, lambda node, _: node == first, component, step=True)]

        loop = close_loop(first, self._required_marks(), path_by, path_back)
        states = [start[0], *(node[0] for node, _ in stem)]
        return Lasso(tuple(states), tuple(node[0] for node in loop))

    def _required_marks(self) -> int:
        return self._claims | (self._everyone << self.claim.acceptance if self.fair is not None else 0)

    def _find_path(
        self,
        start: Node[S],
        wanted: Callable[[Node[S], int], bool],
        within: set[Node[S]] | dict[Node[S], int],
        *,
        step: bool = False,
    ) -> list[tuple[Node[S], int]]:
        """The shortest path to a wanted node or by a wanted edge; if `step`, with at least one step."""
        if not step and wanted(start, 0):
            return []
        before: dict[Node[S], tuple[Node[S], int]] = {}
        queue = deque([start])
        seen = {start}
        while queue:
            node = queue.popleft()
            for new, marks in self._steps(node):
                if new not in within:
                    continue
                if wanted(new, marks):
                    path = [(new, marks)]
                    while node != start:
                        previous, used = before[node]
                        path.append((node, used))
                        node = previous
                    return path[::-1]
                if new not in seen:
                    seen.add(new)
                    before[new] = node, marks
                    queue.append(new)
        raise InternalError("a component that is not connected")
