"""Semantic independence for the engines: steps whose footprints conflict but that provably commute."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product

from porcini.core.events import Action, Event
from porcini.core.execution import Dependence
from porcini.core.footprints import Footprint
from porcini.core.pids import Pid
from porcini.ir.expr import Expr, conj
from porcini.ir.symbolic.commuting import commute, keeps_guards
from porcini.ir.symbolic.formulas import Formulated, Ways
from porcini.ir.symbolic.labels import Label, ways_to_end
from porcini.ir.tasks.events import StepLabel
from porcini.solvers.smt import Mismatch, Smt


class SemanticDependence(Dependence):
    """Steps are dependent unless a solver proves that their labels commute in every state. Answers are cached by
    label."""

    direct = False

    def __init__(self, timeout: float = 0.5) -> None:
        super().__init__()
        self.smt = Smt(timeout)
        self._commuting: dict[tuple[Hashable, Hashable], bool] = {}

    def conflict(self, a: Event | Action, b: Event | Action) -> bool:
        if not a.footprint.conflicts(b.footprint):
            return False
        if a.footprint.opaque or b.footprint.opaque:
            return True
        one, two = _formulas_of(a), _formulas_of(b)
        known = self._commuting.get((one, two))
        if known is None:
            known = self._commuting[one, two] = self._commuting[two, one] = self._commute(one, two)
        return not known or (isinstance(one, StepLabel) and not _only_fields(a.footprint, b.footprint, one.me))

    def _commute(self, one: Hashable, two: Hashable) -> bool:
        if isinstance(one, Label) and isinstance(two, Label):
            return all(commute(a, b, self.smt) for a, b in product(ways_to_end(one), ways_to_end(two)))
        if isinstance(one, StepLabel) and isinstance(two, StepLabel) and one.me == two.me:
            return one.effects.commute(one, two, self.smt)
        if isinstance(one, Ways) and isinstance(two, Ways):
            known = conj(one.invariant, two.invariant)
            return all(self._always_commute(a, b, known) for a, b in product(one.labels, two.labels))
        return False

    def _always_commute(self, one: Label, two: Label, known: Expr) -> bool:
        """Do two of the possible effects of two steps commute? Neither may change what the other process could do
        instead."""
        try:
            return (
                keeps_guards(one, two, self.smt, known)
                and keeps_guards(two, one, self.smt, known)
                and commute(one, two, self.smt, known)
            )
        except Mismatch:
            return False

    def notes(self) -> tuple[str, ...]:
        if not self.smt.gave_up:
            return ()
        return (f"the solver gave up {self.smt.gave_up} times; the steps in question count as dependent",)


def _formulas_of(step: Event | Action) -> Hashable:
    """What the solver is asked about: all formulas that a label stands for, or the label itself. A step that
    failed has the label of the step that was planned: before it is taken nobody knows that it will fail, and it
    must not become more independent by that."""
    if isinstance(step.label, Formulated):
        return step.label.formulas(step)
    if isinstance(step.label, Label):
        return step.label.whole or step.label
    return step.label


def _only_fields(a: Footprint, b: Footprint, ref: Pid) -> bool:
    """Do two steps conflict only on fields of one object? Formulas of macro-steps describe nothing else."""
    shared = (a.writes & (b.reads | b.writes)) | (a.reads & b.writes)
    prefix = f"{ref}."
    return all(location.startswith(prefix) and location[len(prefix) :].isidentifier() for location in shared)
