"""`graph`, the engine that keeps states, and the choice of a reduction for a program's graph of states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from porcini.core.events import Action
from porcini.core.systems import Program, StateGraph, System, SystemGraph, Watched
from porcini.engines.ample import AmpleSets
from porcini.engines.catalogue import Engine
from porcini.engines.graph import Graph, StateReduction
from porcini.engines.options import Options, Reducing
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import PackedAmple, StubbornSets
from porcini.engines.stubborn_points import PointStubborn
from porcini.engines.stubborn_processes import StubbornProcesses
from porcini.ir.flat.interpreter import FlatSystem
from porcini.ir.packed.graph import PackedGraph

NOTHING_WATCHED: Watched[Any] = Watched(lambda state: 0)


def choose_reduction(
    system: System, graph: StateGraph[Any], options: Options, watched: Watched[Any] = NOTHING_WATCHED
) -> tuple[StateReduction[Any] | None, Reducing]:
    """The reduction that was asked for, or the best one up to it that the program supports; and its name."""
    if options.reduction == "none":
        return None, "none"
    if isinstance(graph, PackedGraph):
        visible = watched.visible if isinstance(watched.visible, int) else 0
        if options.reduction == "ample":
            return PackedAmple(graph, options.ample, visible), "ample"
        return StubbornSets(graph, visible), "stubborn"
    if system.lookahead is None or not isinstance(graph, SystemGraph):
        return None, "none"
    if isinstance(system, FlatSystem) and isinstance(watched.visible, frozenset) and options.reduction != "ample":
        return PointStubborn(graph, system, watched.visible), "stubborn"
    if watched.visible is None:
        return None, "none"
    if options.reduction == "ample":
        return AmpleSets(graph, system.lookahead, options.ample, visibility_of(watched)), "ample"
    return StubbornProcesses(graph, system.lookahead, options.ample, visibility_of(watched)), "stubborn"


def visibility_of(watched: Watched[Any]) -> Callable[[Any, Action], bool]:
    """The function that says whether an action is visible: whether it may change a proposition."""
    visible = watched.visible
    if isinstance(visible, frozenset):
        return lambda state, action: (
            bool(visible) and (action.footprint.opaque or not visible.isdisjoint(action.footprint.writes))
        )
    assert callable(visible)
    return visible


def search_states(program: Program, stats: SearchStats, options: Options) -> None:
    assert isinstance(program, System), "it needs states"
    graph = program.state_graph(exact=options.exact)
    reduction, stats.reduction = choose_reduction(program, graph, options)
    stats.exact = graph.exact
    native = _native(graph, stats, options) if reduction is None else None
    search = native or Graph(graph, reduction, stats, avoid_ignoring=program.may_fail)
    if isinstance(graph, PackedGraph):
        stats.machine = "python" if native is None else "native"
    search.explore(options.search)


def _native(graph: StateGraph[Any], stats: SearchStats, options: Options) -> Graph[Any] | None:
    """A search by native code, if one is wanted, can be had, and is worth it. It goes in breadth."""
    if options.machine == "python" or not isinstance(graph, PackedGraph):
        return None
    if options.machine == "auto" and options.search == "dfs" and stats.violated is not None:
        return None  # what is found first depends on the order
    from porcini.engines.native_graph import NativeGraph
    from porcini.native.compiling import NoCompiler
    from porcini.native.library import load_library

    search = NativeGraph(graph, stats)
    if search.is_small() and options.machine == "auto":
        return None
    try:
        load_library()
    except NoCompiler as problem:
        stats.notes += (f"{problem}: the reference took the steps",)
        return None
    return search


GRAPH = Engine(
    "every state instead of every run, reduced by ample or stubborn sets",
    search_states,
    needs=("states",),
    complete=False,
    keeps_states=True,
    rank=7,
)
