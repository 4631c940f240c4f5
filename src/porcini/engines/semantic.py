"""Semantic independence for the engines: steps that interfere by their footprints but provably commute."""

from __future__ import annotations

from porcini.core.events import Action, Event
from porcini.core.execution import Dependence
from porcini.ir.commuting import commute
from porcini.ir.labels import Label
from porcini.solvers.smt import Smt


class SemanticDependence(Dependence):
    """Dependent unless a solver proves that the two labels commute in every state. Answers are kept by label."""

    direct = False

    def __init__(self, timeout: float = 0.5) -> None:
        super().__init__()
        self.smt = Smt(timeout)
        self._commuting: dict[tuple[Label, Label], bool] = {}

    def conflict(self, a: Event | Action, b: Event | Action) -> bool:
        if not a.footprint.conflicts(b.footprint):
            return False
        one, two = a.label, b.label
        if a.footprint.opaque or b.footprint.opaque or not (isinstance(one, Label) and isinstance(two, Label)):
            return True
        known = self._commuting.get((one, two))
        if known is None:
            known = self._commuting[one, two] = self._commuting[two, one] = commute(one, two, self.smt)
        return not known

    def notes(self) -> tuple[str, ...]:
        if not self.smt.gave_up:
            return ()
        return (f"the solver gave up {self.smt.gave_up} times; the steps in question count as dependent",)
