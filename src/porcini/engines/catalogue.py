"""The engines by name, and what each of them takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from porcini.core.execution import Dependence
from porcini.core.systems import Program
from porcini.engines.backtracking import Classic, Sleep, Source
from porcini.engines.exhaustive import exhaustive
from porcini.engines.optimal import Optimal
from porcini.engines.search import Search
from porcini.engines.tally import Tally
from porcini.engines.walks import pct, random_walks

if TYPE_CHECKING:
    from porcini.engines.ample import Ample
    from porcini.engines.graph import Order
    from porcini.engines.transdpor import ActorSelection, TaskSelection

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


def _insider(name: str) -> Engine:
    """An engine that is loaded when it is used."""

    def engine(program: Program, tally: Tally, options: Options) -> None:
        from porcini.engines import insiders

        getattr(insiders, name)(program, tally, options)

    return engine


ENGINES: dict[str, Engine] = {
    "exhaustive": lambda program, tally, options: exhaustive(program, tally),
    "sleep": lambda program, tally, options: Search(program, Sleep(), tally, options.dependence).explore(),
    "dpor": lambda program, tally, options: Search(program, Classic(), tally, options.dependence).explore(),
    "source": lambda program, tally, options: Search(
        program, Source(options.preemptions), tally, options.dependence
    ).explore(),
    "optimal": lambda program, tally, options: Search(program, Optimal(), tally, options.dependence).explore(),
    "transdpor": _insider("by_actors"),
    "graph": _insider("by_states"),
    "fagiani": _insider("by_formulas"),
    "random": lambda program, tally, options: random_walks(program, tally, options.seed),
    "pct": lambda program, tally, options: pct(program, tally, options.seed, options.depth),
}
COMPLETE = ("exhaustive", "sleep", "dpor", "source", "optimal", "fagiani")
"""Engines that see every class, of every kind of program that they take."""

BY_FORMULAS, BY_ACTORS = ("fagiani",), ("transdpor",)
"""Engines for programs whose steps are formulas, and for actors."""
