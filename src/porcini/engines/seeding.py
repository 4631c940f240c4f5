"""`explore --engine fagiani`: P0's section 8 carried through.

It records a run, lists its permutations, takes the prefixes after which a run does something that was not
recorded, runs each of them, and so on until nothing is new. Here a seed is kept whole, not cut down to what its
last step needs: then each new run agrees with any unexplored execution for at least one step more, so all of them
are reached.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from random import Random

from porcini.core.errors import LimitHit
from porcini.core.events import Schedule
from porcini.core.systems import Program
from porcini.engines.catalogue import Engine
from porcini.engines.fagiani import Seeds
from porcini.engines.options import Options
from porcini.engines.permuting import Permuting
from porcini.engines.replaying import run_freely
from porcini.engines.stats import SearchStats
from porcini.ir.symbolic.formulas import FormulaSystem
from porcini.ir.symbolic.labels import Label


def fagiani(program: Program, stats: SearchStats, options: Options) -> None:
    """Every class, by permuting recorded runs and following their seeds."""
    assert isinstance(program, FormulaSystem), "it needs formulas"
    todo: list[Schedule] = [()]
    permuted: set[Hashable] = set()
    while todo:
        recorded = run_freely(program, todo.pop(), Random(0), stats.limits)
        if recorded.limit is not None:
            raise LimitHit(recorded.limit)
        run = program.label_run(recorded.trace, recorded.run)
        steps = _steps_of_each(run.labels)
        if steps in permuted:
            continue
        permuted.add(steps)
        permuting = Permuting(run, stats, path_conditions=False)
        permuting.search_for(Seeds(permuting.recorded, whole=True))
        todo += permuting.seeds


def _steps_of_each(labels: Sequence[Label]) -> Hashable:
    """What each process did: the same for all permutations of a trace."""
    steps: dict[object, list[Label]] = {}
    for label in labels:
        steps.setdefault(label.pid, []).append(label)
    return frozenset((pid, tuple(labels)) for pid, labels in steps.items())


FAGIANI = Engine("permutations of recorded runs, by formulas", fagiani, needs=("formulas",), rank=5)
