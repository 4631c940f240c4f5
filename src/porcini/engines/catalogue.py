"""The engines by name, and what each of them takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from porcini.core.execution import Dependence
from porcini.core.systems import Program, TransitionSystem
from porcini.engines.ample import Ample, AmpleSets, SystemGraph
from porcini.engines.backtracking import Classic, Sleep, Source
from porcini.engines.exhaustive import exhaustive
from porcini.engines.graph import Chooser, Graph, Order
from porcini.engines.optimal import Optimal
from porcini.engines.search import Search
from porcini.engines.seeding import fagiani
from porcini.engines.stubborn import PackedAmple, StubbornSets
from porcini.engines.tally import Tally
from porcini.engines.transdpor import ActorSelection, TaskSelection, transdpor
from porcini.engines.walks import pct, random_walks
from porcini.ir.interpreter import GraphSystem
from porcini.ir.lookahead import GraphLookahead
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.view import PackedView
from porcini.ir.step_system import StepSystem

Reducing = Literal["stubborn", "ample", "none"]


@dataclass(frozen=True, slots=True)
class Options:
    """What engines may be told; each looks at what concerns it."""

    dependence: Dependence = field(default_factory=Dependence)
    seed: int = 0
    depth: int = 3
    preemptions: int | None = None
    actors: ActorSelection = "stable"
    tasks: TaskSelection = "independent"
    search: Order = "dfs"
    reduction: Reducing = "stubborn"
    ample: Ample = "closure"
    optimise: bool = True
    fair: bool = False
    """Weak fairness: who can always move does move."""


Engine = Callable[[Program, Tally, Options], None]

ENGINES: dict[str, Engine] = {
    "exhaustive": lambda program, tally, options: exhaustive(program, tally),
    "sleep": lambda program, tally, options: Search(program, Sleep(), tally, options.dependence).explore(),
    "dpor": lambda program, tally, options: Search(program, Classic(), tally, options.dependence).explore(),
    "source": lambda program, tally, options: Search(
        program, Source(options.preemptions), tally, options.dependence
    ).explore(),
    "optimal": lambda program, tally, options: Search(program, Optimal(), tally, options.dependence).explore(),
    "transdpor": lambda program, tally, options: _by_actors(program, tally, options),
    "graph": lambda program, tally, options: _by_states(program, tally, options),
    "fagiani": lambda program, tally, options: fagiani(program, tally),
    "random": lambda program, tally, options: random_walks(program, tally, options.seed),
    "pct": lambda program, tally, options: pct(program, tally, options.seed, options.depth),
}
COMPLETE = ("exhaustive", "sleep", "dpor", "source", "optimal", "fagiani")
"""Engines that see every class, of every kind of program that they take."""

BY_FORMULAS, BY_ACTORS = ("fagiani",), ("transdpor",)
"""Engines for programs whose steps are formulas, and for actors."""


def _by_states(program: Program, tally: Tally, options: Options) -> None:
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


def _by_actors(program: Program, tally: Tally, options: Options) -> None:
    assert isinstance(program, StepSystem), "checked before"
    transdpor(program, tally, options.actors, options.tasks, options.seed)
