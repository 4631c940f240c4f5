"""The options of engines."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from porcini.core.execution import Dependence

Ample = Literal["closure", "single"]
Order = Literal["dfs", "bfs"]
Reducing = Literal["stubborn", "ample", "none"]
Machine = Literal["auto", "python", "native", "gpu"]
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
"""The default engine of each command."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of all engines; each engine uses those that concern it, and some are refused by all others
    (`PARTICULAR`)."""

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
    """Of searches that keep states: who takes the steps. `auto` is native code where that can be had and the graph
    is not small."""
    workers: int | None = None
    """How many threads native code may use; None is all cores, or one for a search in breadth, whose trails are
    the shortest ones."""
    max_memory: int | None = None
    """How many bytes native code may use; None is four fifths of what is free."""
    bitstate: int | None = None
    """Of searches that keep states: keep three bits of each state, in a table of so many bytes; what does not fit
    can be searched for errors then."""
    optimise: bool = True
    fair: bool = False
    """Weak fairness: a process that can always move moves eventually."""
    exact: bool = True
    """For searches that keep states: are states kept apart that differ only in names?"""

    @property
    def selection(self) -> str:
        return f"{self.actors}, {self.tasks}"


PARTICULAR = {
    "preemptions": "a bound on preemptions",
    "depth": "the depth of a bug",
    "actors": "a selection of actors",
    "tasks": "a selection of tasks",
}
"""Options that mean nothing to most engines, and what they are called. A seed is none of them: where nothing is
left to chance, it keeps what it promises."""


def particular(options: Options) -> list[str]:
    """Which of these were given."""
    values = attrgetter(*PARTICULAR)
    asked = zip(PARTICULAR, values(options), values(Options()), strict=True)
    return [name for name, given, usual in asked if given != usual]
