"""Makes a Büchi automaton smaller: a graph whose edges have guards and marks, as bit masks, from state 0.

States without an accepting run are removed; so are marks that do not count or are redundant, and edges that
another edge of the same state covers; bisimilar states are merged.
"""

from __future__ import annotations

from porcini.core.bits import bits
from porcini.core.components import strongly_connected_components

Edge = tuple[int, int, int, int]
"""Atoms that must hold, atoms that must not, the number of the target, marks."""

Graph = list[list[Edge]]


def reduce_automaton(graph: Graph, acceptance: int) -> tuple[Graph, int]:
    """An equivalent graph, and how many acceptance conditions it has left."""
    every = (1 << acceptance) - 1
    smaller = True
    while smaller:
        before = _size(graph)
        graph = _merge_bisimilar(_merge_edges(_remove_dead_states(graph, every)))
        smaller = _size(graph) < before
    graph, needed = _needed_marks(graph, every)
    return _merge_bisimilar(_merge_edges(graph)), needed


def _size(graph: Graph) -> int:
    return sum(1 + len(edges) for edges in graph)


def _remove_dead_states(graph: Graph, every: int) -> Graph:
    """Keep only the initial state and states from which there is an accepting run; keep marks only where they
    count, which is within components that have all of them.
    """
    component = strongly_connected_components([[target for _, _, target, _ in edges] for edges in graph])
    marked = [-1] * (max(component) + 1)  # -1: no edge within
    for state, edges in enumerate(graph):
        for _, _, target, marks in edges:
            if component[target] == component[state]:
                marked[component[state]] = max(marked[component[state]], 0) | marks
    accepting = [marks == every for marks in marked]
    living = list(accepting)
    for state in sorted(range(len(graph)), key=lambda s: component[s]):  # successors first
        if any(living[component[target]] for _, _, target, _ in graph[state]):
            living[component[state]] = True

    def kept_marks(state: int, target: int, marks: int) -> int:
        return marks if component[state] == component[target] and accepting[component[state]] else 0

    return _reachable(
        [
            [
                (must, must_not, target, kept_marks(state, target, marks))
                for must, must_not, target, marks in edges
                if living[component[target]]
            ]
            for state, edges in enumerate(graph)
        ]
    )


def _reachable(graph: Graph, initial: int = 0) -> Graph:
    """Number states in the order in which they are reached from the initial one; drop the others."""
    order = [initial]
    number = {initial: 0}
    for state in order:
        for _, _, target, _ in graph[state]:
            if target not in number:
                number[target] = len(order)
                order.append(target)
    return [[(a, b, number[target], marks) for a, b, target, marks in graph[state]] for state in order]


def _merge_edges(graph: Graph) -> Graph:
    """Of two edges to one target, drop one if the other has a weaker guard and at least its marks; merge guards
    that differ in the sign of one atom.
    """

    def merge_edges_of_state(edges: list[Edge]) -> list[Edge]:
        kept = set(edges)
        while True:
            joined = set()
            for must, must_not, target, marks in kept:
                for bit in bits(must):
                    one = 1 << bit
                    if (must & ~one, must_not | one, target, marks) in kept:
                        joined.add((must & ~one, must_not, target, marks))
            if joined <= kept:
                break
            kept |= joined
        result: list[Edge] = []
        weakest_first = sorted(kept, key=lambda e: (e[0].bit_count() + e[1].bit_count(), -e[3].bit_count(), e))
        for a, b, target, marks in weakest_first:
            if not any(t == target and not (w & ~a or x & ~b or marks & ~m) for w, x, t, m in result):
                result.append((a, b, target, marks))
        return result

    return [merge_edges_of_state(edges) for edges in graph]


def _merge_bisimilar(graph: Graph) -> Graph:
    """Refine one block of all states until the states of a block have the same edges to the same blocks."""
    block = [0] * len(graph)
    blocks = 1
    while True:
        numbers: dict[tuple[int, frozenset[Edge]], int] = {}
        looks = [frozenset((a, b, block[t], m) for a, b, t, m in edges) for edges in graph]
        block = [numbers.setdefault(look, len(numbers)) for look in zip(block, looks, strict=True)]
        if len(numbers) == blocks:
            break
        blocks = len(numbers)
    chosen: Graph = [[] for _ in range(blocks)]
    for state in reversed(range(len(graph))):  # the first of each block stays
        chosen[block[state]] = list(dict.fromkeys((a, b, block[t], m) for a, b, t, m in graph[state]))
    return _reachable(chosen, block[0])


def _needed_marks(graph: Graph, every: int) -> tuple[Graph, int]:
    """Remove a mark that is present wherever another one is, or on all edges of all cycles; count the rest."""
    component = strongly_connected_components([[target for _, _, target, _ in edges] for edges in graph])
    inner = {
        (state, edge)
        for state, edges in enumerate(graph)
        for edge in edges
        if component[state] == component[edge[2]]
    }
    where = {bit: {(state, edge) for state, edge in inner if edge[3] >> bit & 1} for bit in bits(every)}
    for bit, marked in list(where.items()):
        if marked == inner or any(other <= marked for b, other in where.items() if b != bit):
            del where[bit]
    number = {bit: k for k, bit in enumerate(where)}

    def renamed(marks: int) -> int:
        return sum(1 << number[bit] for bit in bits(marks) if bit in number)

    return [[(a, b, t, renamed(m)) for a, b, t, m in edges] for edges in graph], len(number)
