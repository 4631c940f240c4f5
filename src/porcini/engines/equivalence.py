"""Does a reduction keep what it must? Both graphs are built and compared.

    build                 all states with their successors, reduced or not; with propositions, every cycle has a
                          state in which all successors are taken
    compare               first, both graphs must have the same states in which nothing can move
    bisimulation_blocks   then equivalent states of both graphs are merged, by divergence-sensitive branching
                          bisimulation, computed by signatures; if the two initial states are equivalent, so are
                          the graphs
    find_lost_sequence    if they are not: every sequence of letters of the whole graph, up to repetition of
                          letters, must be one of the reduced graph (stuttering equivalence; the other direction
                          holds since the reduced graph is a part of the whole one)

A run that ends repeats its last letter for ever, and so does one that loops without changing a proposition: both
diverge. For infinite sequences that change for ever it is enough to compare finite ones, since each state has
finitely many successors; those that end in one letter for ever are compared separately.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from porcini.core.components import strongly_connected_components
from porcini.core.errors import LimitHit
from porcini.core.systems import StateGraph
from porcini.engines.graph import StateReduction

S = TypeVar("S", bound=Hashable)
N = TypeVar("N", bound=Hashable)
Edges = list[list[int]]
Letter = Callable[[int, Any], int]
"""The propositions that hold in a state of the first graph (0) or the second (1)."""

_MOST_PAIRS = 200_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison: the sizes of both graphs; `problem` is None if the reduction kept everything."""

    whole: int
    reduced: int
    problem: str | None


def build(graph: StateGraph[S], reduction: StateReduction[S] | None, most: int) -> dict[S, Sequence[S]]:
    """All states with their successors, depth first. Where a chosen successor is on the search stack, all
    successors are taken."""
    start = graph.initial()
    found: dict[S, Sequence[S]] = {}
    on_the_way: set[S] = set()
    stack: list[tuple[S, list[S]]] = []

    def enter(state: S) -> None:
        on_the_way.add(state)
        choice = reduction.choose(state) if reduction else None
        if choice is None or any(after in on_the_way for after in choice.after):
            found[state] = list(dict.fromkeys(graph.successors(state)))
        else:
            found[state] = list(dict.fromkeys(choice.after))
        if len(found) > most:
            raise LimitHit(f"the limit of {most:,} states for a comparison")
        stack.append((state, list(found[state])))

    enter(start)
    while stack:
        state, left = stack[-1]
        if not left:
            stack.pop()
            on_the_way.discard(state)
            continue
        new = left.pop()
        if new not in found:
            enter(new)
    return found


def compare(
    whole: Mapping[S, Sequence[S]],
    reduced: Mapping[N, Sequence[N]],
    letter: Callable[[S], int],
    *,
    state_of: Callable[[N], S] = lambda node: node,  # type: ignore[assignment,return-value]
    identity: Callable[[S], Hashable] = lambda state: state,
) -> Comparison:
    """Is the reduced graph stuttering equivalent to the whole one, with the same ends? The first state of each is
    its initial one. A node of the reduced graph is a state, or `state_of` says which."""
    problem = None
    ends = {identity(state_of(node)) for node, after in reduced.items() if not after}
    lost = sum(1 for state, after in whole.items() if not after and identity(state) not in ends)
    if lost:
        problem = f"{lost:,} states in which nothing can move were lost"
    else:
        joined = _UnionGraph(whole, reduced, lambda side, node: letter(state_of(node) if side else node))
        blocks = joined.bisimulation_blocks()
        if blocks[0] != blocks[len(whole)]:
            problem = joined.find_lost_sequence(blocks, 0, len(whole))
    return Comparison(len(whole), len(reduced), problem)


class _UnionGraph:
    """The disjoint union of two graphs. States are numbered: those of the first graph, then those of the
    second."""

    def __init__(
        self, whole: Mapping[Any, Sequence[Any]], reduced: Mapping[Any, Sequence[Any]], letter: Letter
    ) -> None:
        nodes = [(side, state) for side, graph in enumerate((whole, reduced)) for state in graph]
        self.number: dict[tuple[int, Hashable], int] = {node: number for number, node in enumerate(nodes)}
        graphs = (whole, reduced)
        self.after: Edges = [[self.number[side, new] for new in graphs[side][state]] for side, state in nodes]
        self.letters = [letter(*node) for node in nodes]
        self.find_divergence()

    def find_divergence(self) -> None:
        """Find the states from which a run can stay in one letter for ever: those that end, and those on a cycle
        on which no letter changes. The states of such a cycle are equivalent, so each cycle becomes one node."""
        same = [
            [new for new in after if self.letters[new] == self.letters[n]] for n, after in enumerate(self.after)
        ]
        self.component = strongly_connected_components(same)
        members: dict[int, int] = {}
        for node in self.component:
            members[node] = members.get(node, 0) + 1
        self.diverges = [
            not after or members[self.component[n]] > 1 or n in same[n] for n, after in enumerate(self.after)
        ]

    def bisimulation_blocks(self) -> list[int]:
        """The block of each state under divergence-sensitive branching bisimulation.

        The signature of a node is the set of blocks that it can reach by one step out of its block, possibly after
        steps within its block. Blocks are split by signature until none changes.
        """
        count = max(self.component) + 1
        edges: list[set[int]] = [set() for _ in range(count)]
        letters, endless = [0] * count, [False] * count
        for node, after in enumerate(self.after):
            mine = self.component[node]
            letters[mine] = self.letters[node]
            endless[mine] = endless[mine] or self.diverges[node]
            edges[mine] |= {self.component[new] for new in after} - {mine}
        block = _number_keys(zip(letters, endless, strict=True))
        while True:
            signature: list[frozenset[int]] = [frozenset()] * count
            for node in range(count):  # components are numbered so that successors with the same letter come first
                seen: set[int] = set()
                for new in edges[node]:
                    if block[new] == block[node] and letters[new] == letters[node]:
                        seen |= signature[new]
                    else:
                        seen.add(block[new])
                signature[node] = frozenset(seen)
            finer = _number_keys(zip(block, signature, strict=True))
            if max(finer) == max(block):
                return [block[self.component[node]] for node in range(len(self.after))]
            block = finer

    def find_lost_sequence(self, block: Sequence[int], whole: int, reduced: int) -> str | None:
        """Is every sequence of letters from one state also one from the other? Decided by a subset construction on
        blocks; the answer says what was lost."""
        after: dict[int, set[int]] = {}
        letter: dict[int, int] = {}
        endless: set[int] = set()
        for node, news in enumerate(self.after):
            letter[block[node]] = self.letters[node]
            after.setdefault(block[node], set()).update(block[new] for new in news if block[new] != block[node])
            if self.diverges[node]:
                endless.add(block[node])

        def close_under_stuttering(blocks: Iterable[int]) -> frozenset[int]:
            """These blocks, with all that can be reached from them without changing the letter."""
            found, left = set(blocks), list(blocks)
            while left:
                here = left.pop()
                for new in after[here]:
                    if letter[new] == letter[here] and new not in found:
                        found.add(new)
                        left.append(new)
            return frozenset(found)

        start = block[whole], close_under_stuttering({block[reduced]})
        seen, queue = {start}, deque([start])
        while queue:
            here, others = queue.popleft()
            if here in endless and not others & endless:
                return "a run that stays as it is for ever was lost"
            for new in after[here]:
                if letter[new] == letter[here]:
                    pair = new, others
                else:
                    reached = {n for other in others for n in after[other] if letter[n] == letter[new]}
                    pair = new, close_under_stuttering(reached)
                if not pair[1]:
                    return "a sequence of propositions was lost"
                if pair not in seen:
                    if len(seen) > _MOST_PAIRS:
                        raise LimitHit(f"the limit of {_MOST_PAIRS:,} pairs in a comparison")
                    seen.add(pair)
                    queue.append(pair)
        return None


def _number_keys(keys: Iterable[Hashable]) -> list[int]:
    known: dict[Hashable, int] = {}
    return [known.setdefault(key, len(known)) for key in keys]
