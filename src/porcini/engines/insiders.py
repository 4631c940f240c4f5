"""Engines that look into a model: into its states, its formulas, its actors.

Apart from the others because they bring most of the code with them, and a solver: real code is explored without.
"""

from __future__ import annotations

from typing import Any

from porcini.core.systems import Program, TransitionSystem
from porcini.engines.ample import AmpleSets, SystemGraph
from porcini.engines.catalogue import Options
from porcini.engines.graph import Chooser, Graph
from porcini.engines.seeding import fagiani
from porcini.engines.stubborn import PackedAmple, StubbornSets
from porcini.engines.tally import Tally
from porcini.engines.transdpor import transdpor
from porcini.ir.interpreter import GraphSystem
from porcini.ir.lookahead import GraphLookahead
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.view import PackedView
from porcini.ir.step_system import StepSystem


def by_formulas(program: Program, tally: Tally, options: Options) -> None:
    fagiani(program, tally)


def by_states(program: Program, tally: Tally, options: Options) -> None:
    if isinstance(program, PackedView):
        _by_packed_states(program, tally, options)
        return
    assert isinstance(program, TransitionSystem), "all that are loaded from files are"
    graph = SystemGraph(program)
    reduction: Chooser[Any] | None = None
    lookahead: Any = GraphLookahead(program.graph) if isinstance(program, GraphSystem) else program
    if options.reduction != "none" and hasattr(lookahead, "may_still_do"):
        reduction = AmpleSets(graph, lookahead, options.ample)
    Graph(graph, reduction, tally).explore(options.search)


def _by_packed_states(program: PackedView, tally: Tally, options: Options) -> None:
    graph = PackedGraph(program)
    reduction: Chooser[int] | None = None
    if options.reduction == "stubborn":
        reduction = StubbornSets(graph)
    elif options.reduction == "ample":
        reduction = PackedAmple(graph, options.ample)
    Graph(graph, reduction, tally, careful=program.system.may_fail).explore(options.search)


def by_actors(program: Program, tally: Tally, options: Options) -> None:
    assert isinstance(program, StepSystem), "checked before"
    transdpor(program, tally, options.actors, options.tasks, options.seed)
