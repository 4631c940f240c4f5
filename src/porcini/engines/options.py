"""What engines may be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from porcini.core.execution import Dependence

Ample = Literal["closure", "single"]
Order = Literal["dfs", "bfs"]
Reducing = Literal["stubborn", "ample", "none"]
Machine = Literal["auto", "python", "native"]
Equivalence = Literal["syntactic", "semantic", "traces"]
Independence = Literal["syntactic", "semantic"]
ActorSelection = Literal["first", "random", "stable", "refined"]
TaskSelection = Literal["all", "independent"]

USUAL = {
    "run": "random",
    "replay": "random",
    "explore": "optimal",
    "check": "graph",
    "permute": "fagiani",
    "symbolic": "symbolic",
}
"""By which engine each command answers, unless it is told otherwise."""


@dataclass(frozen=True, slots=True)
class Options:
    """Each engine looks at what concerns it."""

    dependence: Dependence = field(default_factory=Dependence)
    seed: int = 0
    depth: int = 3
    preemptions: int | None = None
    actors: ActorSelection = "stable"
    tasks: TaskSelection = "independent"
    search: Order = "dfs"
    reduction: Reducing | None = None
    """None is the best that the program's language has."""
    ample: Ample = "closure"
    machine: Machine = "auto"
    """Of searches that keep states without a reduction: who takes the steps. `auto` is native code where that can
    be had and the graph is not small."""
    optimise: bool = True
    fair: bool = False
    """Weak fairness: who can always move does move."""
    exact: bool = True
    """Of searches that keep states: may none be one with another from which it differs only in names?"""

    @property
    def selection(self) -> str:
        return f"{self.actors}, {self.tasks}"
