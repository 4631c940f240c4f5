"""Native code against the reference on one model: the same states, one by one, and the same ends.

Without a reduction, by one worker and by several, and once with hashes of four bits, so that states which have
nothing in common share a line of the table; then by stubborn sets. Of a search by one worker these are the same
states, too; several do without the order in which states are found, and have the same ends and failures.
"""

from __future__ import annotations

from typing import Any

import porcini
from conformance.laws import Broken
from conformance.oracle import TooMany
from porcini.core.errors import InputError
from porcini.engines.graph import Graph
from porcini.engines.machines import NotForNativeCode
from porcini.engines.native_graph import NativeGraph
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import StubbornSets
from porcini.native.library import ALL_BITS

MOST_STATES = 20_000
WAYS = ((1, ALL_BITS), (2, ALL_BITS), (3, ALL_BITS), (1, 0xF), (2, 0xF << 30))
"""How many workers, and which bits of hashes are used."""


def compare(model: Any) -> int:
    """As many as there are states."""
    try:
        read = porcini.loads(model.text(), "pml")
    except InputError:
        raise TooMany from None
    return max(_compare(read, optimise) for optimise in (False, True))


def _compare(model: porcini.Model, optimise: bool) -> int:
    states, counts, *ends = _found(model, optimise, None, reduces=False)
    for way in WAYS:
        if _found(model, optimise, way, reduces=False) != (states, counts, *ends):
            raise Broken(f"native code finds other states or ends than the reference: {way}, {optimise=}")
    try:
        reduced, _, *ends = _found(model, optimise, None, reduces=True)
        for way in WAYS[:3]:
            found, _, *native_ends = _found(model, optimise, way, reduces=True)
            if native_ends != ends or (way[0] == 1 and found != reduced):
                raise Broken(f"native code by stubborn sets finds something else: {way}, {optimise=}")
    except NotForNativeCode:
        pass
    return len(states)


def _found(
    model: porcini.Model, optimise: bool, way: tuple[int, int] | None, *, reduces: bool
) -> tuple[set[int], tuple[int, int], Any, Any]:
    """The states, how many states and steps, the ends, and the failures; by the reference, if there is no way."""
    system = model.system(optimise=optimise)
    graph: Any = system.state_graph()
    stats = SearchStats(porcini.Limits(max_states=MOST_STATES))
    sets, careful = StubbornSets(graph) if reduces else None, system.may_fail
    search: Any
    if way is None:
        search = Graph(graph, sets, stats, avoid_ignoring=careful)
    else:
        workers, mask = way
        search = NativeGraph(graph, stats, sets, avoid_ignoring=careful, workers=workers, hash_mask=mask)
    stats.explore(lambda stats: search.explore("bfs"))
    if stats.stopped == "limit":
        raise TooMany
    states = set(search.found) if way is None else set(search.states())
    if len(states) != stats.counts.states:
        raise Broken("states are counted twice")
    ends = {(outcome.kind, str(sorted(outcome.state.items()))) for outcome in stats.outcomes}
    return states, (stats.counts.states, stats.counts.events), ends, sorted(graph.failures)
