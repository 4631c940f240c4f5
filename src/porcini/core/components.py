"""Strongly connected components."""

from __future__ import annotations

from collections.abc import Sequence


def strongly_connected_components(successors: Sequence[Sequence[int]]) -> list[int]:
    """For each node, the number of its strongly connected component (Tarjan). Components that can be reached from
    another one have lower numbers."""
    unseen, component = -1, [-1] * len(successors)
    low, seen_at, count, found = [0] * len(successors), [unseen] * len(successors), 0, 0
    path: list[int] = []
    for root in range(len(successors)):
        if seen_at[root] != unseen:
            continue
        calls = [(root, iter(successors[root]))]
        seen_at[root] = low[root] = count
        count += 1
        path.append(root)
        while calls:
            node, rest = calls[-1]
            for other in rest:
                if seen_at[other] == unseen:
                    seen_at[other] = low[other] = count
                    count += 1
                    path.append(other)
                    calls.append((other, iter(successors[other])))
                    break
                if component[other] == unseen:
                    low[node] = min(low[node], seen_at[other])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == seen_at[node]:
                    while component[node] == unseen:
                        component[path.pop()] = found
                    found += 1
    return component
