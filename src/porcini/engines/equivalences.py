"""When are two traces equivalent? The parameter of P3, behind one protocol.

    InterferenceFree   steps of different processes commute if neither writes what the other touches (Def. 3.7)
    Commuting          steps commute if a solver proves it for every state: `x := x` and `x < 3` do
    Semantic           the same; and whole traces are equivalent if one is a permutation of the other, they end in
                       equal states and have equivalent path conditions (Def. 3.1, 3.2), decided by a solver

The symbolic engine is given one of these. Steps of one process are never swapped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from porcini.core.footprints import Footprint
from porcini.ir.analysis import footprint
from porcini.ir.expr import Expr, Var, not_
from porcini.ir.symbolic.commuting import Terms, commute
from porcini.ir.symbolic.labels import Label
from porcini.ir.symbolic.paths import forward
from porcini.solvers.smt import Mismatch, Smt


class TraceEquivalence(Protocol):
    """What the symbolic engine needs to know: may two steps be swapped, and are two whole traces equivalent?"""

    name: str
    compares: bool
    """Does it identify more traces than swapping independent steps does?"""

    def independent(self, one: Label, two: Label) -> bool: ...

    def same(self, one: Sequence[Label], two: Sequence[Label]) -> bool: ...


class InterferenceFree:
    """Def. 3.7, decided by what labels touch."""

    name = "syntactic"
    compares = False

    def __init__(self) -> None:
        self._footprints: dict[Label, Footprint] = {}

    def independent(self, one: Label, two: Label) -> bool:
        if one.pid == two.pid or one.pid in two.spawned or two.pid in one.spawned:
            return False
        return not self._footprint(one).conflicts(self._footprint(two))

    def same(self, one: Sequence[Label], two: Sequence[Label]) -> bool:
        return False  # the search lists no class twice

    def _footprint(self, label: Label) -> Footprint:
        if label not in self._footprints:
            self._footprints[label] = footprint.static(label.touched)
        return self._footprints[label]


class Commuting(InterferenceFree):
    """Steps that touch the same locations may still commute; without a proof they count as dependent."""

    name = "semantic"

    def __init__(self, smt: Smt | None = None) -> None:
        super().__init__()
        self.smt = smt or Smt()
        self._proved: dict[frozenset[Label], bool] = {}

    def independent(self, one: Label, two: Label) -> bool:
        if one.pid == two.pid or one.pid in two.spawned or two.pid in one.spawned:
            return False
        if super().independent(one, two):
            return True
        pair = frozenset((one, two))
        if pair not in self._proved:
            try:
                self._proved[pair] = commute(one, two, self.smt)
            except Mismatch:
                self._proved[pair] = False
        return self._proved[pair]


class Semantic(Commuting):
    """Whole traces are compared as well."""

    name = "traces"
    compares = True

    def same(self, one: Sequence[Label], two: Sequence[Label]) -> bool:
        return Counter(one) == Counter(two) and equivalent(one, two, self.smt)


def equivalent(one: Sequence[Label], two: Sequence[Label], smt: Smt) -> bool:
    """Def. 3.1 for two traces of the same steps, and the inputs that take them: are path conditions equivalent and
    final states equal?"""
    (path, state), (other_path, other_state) = forward(one), forward(two)
    term = Terms(smt)
    claims = [smt.apply("iff", term(path), term(other_path))]
    for variable in state.keys() | other_state.keys():
        claims.append(_equal(term, smt, path, state, other_state, variable))
    return all(map(smt.proves, claims))


def _equal(term: Terms, smt: Smt, path: Expr, one: dict[Var, Expr], two: dict[Var, Expr], variable: Var) -> object:
    same = smt.apply("==", term(one.get(variable, variable)), term(two.get(variable, variable)))
    return smt.apply("or", term(not_(path)), same)


EQUIVALENCES = {"syntactic": InterferenceFree, "semantic": Commuting, "traces": Semantic}
