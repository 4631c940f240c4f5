"""`graph`, the engine that keeps states, and the choice of a reduction for a program's graph of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from porcini.core.events import Action
from porcini.core.systems import Program, StateGraph, Structure, System, Watched
from porcini.engines.ample import AmpleSets
from porcini.engines.catalogue import Engine
from porcini.engines.graph import Graph, StateReduction
from porcini.engines.machines import NotForNativeCode, native_search, refuse_machine
from porcini.engines.options import Options, Reducing
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import PackedAmple, StubbornSets
from porcini.engines.stubborn_processes import StubbornProcesses

NOTHING_WATCHED: Watched[Any] = Watched(lambda state: 0)


def choose_reduction(
    system: System, graph: StateGraph[Any], options: Options, watched: Watched[Any] = NOTHING_WATCHED
) -> tuple[StateReduction[Any] | None, Reducing]:
    """The reduction that was asked for, or the best one up to it that the program supports; and its name."""
    if options.reduction == "none":
        return None, "none"
    made = _MAKERS[system.structure](_Wanted(system, graph, options, watched))
    return made, "none" if made is None else "ample" if options.reduction == "ample" else "stubborn"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a reduction is made from. System and graph are of the kind that the structure of the system says."""

    system: Any
    graph: Any
    options: Options
    watched: Watched[Any]


def _for_packed(wanted: _Wanted) -> StateReduction[Any]:
    visible = wanted.watched.visible if isinstance(wanted.watched.visible, int) else 0
    if wanted.options.reduction == "ample":
        return PackedAmple(wanted.graph, wanted.options.ample, visible)
    return StubbornSets(wanted.graph, visible)


def _for_processes(wanted: _Wanted) -> StateReduction[Any] | None:
    """None if nothing is known about what processes may still do, or about what a formula depends on."""
    lookahead, watched = wanted.system.lookahead, wanted.watched
    if lookahead is None or watched.visible is None:
        return None
    kind = AmpleSets if wanted.options.reduction == "ample" else StubbornProcesses
    return kind(wanted.graph, lookahead, wanted.options.ample, visibility_of(watched))


_MAKERS: Mapping[Structure, Callable[[_Wanted], StateReduction[Any] | None]] = {
    "packed": _for_packed,
    "processes": _for_processes,
}


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
    search = None
    if program.structure == "packed":
        search = native_search(program, graph, reduction, stats, options)
        stats.machine = "python" if search is None else "gpu" if options.machine == "gpu" else "native"
    else:
        refuse_machine(options)
    try:
        (search or Graph(graph, reduction, stats, avoid_ignoring=program.may_fail)).explore(options.search)
    except NotForNativeCode:
        stats.begin_again()
        if options.bitstate is not None:
            stats.reduction = "none"
            native_search(program, graph, None, stats, options).explore(options.search)  # type: ignore[union-attr]
            return
        stats.machine = "python"
        Graph(graph, reduction, stats, avoid_ignoring=program.may_fail).explore(options.search)


GRAPH = Engine(
    "every state instead of every run, reduced by ample or stubborn sets",
    search_states,
    needs=("states",),
    complete=False,
    keeps_states=True,
    rank=7,
)
