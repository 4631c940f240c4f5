"""For which inputs does the order matter? A solver compares classes of paths with each other.

Two classes whose conditions overlap are two orders of a run with the same input; if they end differently for some
of these inputs, the order matters there. Classes with the same `Ending` are grouped, so that few pairs have to be
compared. `simplest` looks for a short equivalent of a condition: a literal, two of them, or what is left when all
that is implied is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from porcini.core.systems import Kind
from porcini.ir.evaluation import defined
from porcini.ir.expr import (
    FALSE,
    TRUE,
    ArrayType,
    Binary,
    Datum,
    Expr,
    Junction,
    Not,
    Var,
    conj,
    const,
    disj,
    nodes,
    not_,
)
from porcini.ir.expr import binary as binary_of
from porcini.ir.simplify import simplify
from porcini.ir.symbolic.commuting import Terms
from porcini.ir.symbolic.program import cells_of
from porcini.solvers.smt import Smt, Term

_MOST_LITERALS = 24
_GLANCED_AT = 12


@dataclass(frozen=True, slots=True)
class Ending:
    """How paths end: the kind, and the observed values as expressions over the inputs."""

    kind: Kind
    state: tuple[tuple[str, Expr], ...]

    @staticmethod
    def of(kind: Kind, observed: Mapping[str, Expr]) -> Ending:
        return Ending(kind, tuple(observed.items()))

    def differs(self, other: Ending) -> Expr:
        """The condition on the inputs under which two endings differ."""
        if self.kind != other.kind or [name for name, _ in self.state] != [name for name, _ in other.state]:
            return TRUE
        parts = [_unequal(a, b) for (_, a), (_, b) in zip(self.state, other.state, strict=True) if a is not b]
        return simplify(disj(*parts)) if parts else FALSE


def _unequal(a: Expr, b: Expr) -> Expr:
    if isinstance(a.type, ArrayType):
        return disj(*(binary_of("!=", x, y) for x, y in zip(cells_of(a), cells_of(b), strict=True)))
    if isinstance(a, Datum) or isinstance(b, Datum):
        return const(a is not b)
    return binary_of("!=", a, b)


class Inputs:
    """Questions about conditions on inputs. `gave_up` counts those that the solver could not decide."""

    def __init__(self, smt: Smt, tick: Callable[[], None] = lambda: None, given: Expr = TRUE) -> None:
        self.smt = smt
        self.term = Terms(smt)
        self.given = given
        """A condition that holds for all inputs."""
        self.tick = tick
        """It is called between questions, and may stop the work."""
        self.found: dict[Expr, None] = {}
        """Conditions under which the order matters, as far as they are known."""

    @property
    def gave_up(self) -> int:
        return self.smt.gave_up

    def valid(self, condition: Expr) -> bool:
        self.tick()
        if condition is FALSE and self.given is TRUE:
            return False
        return condition is TRUE or self._proves(self.term(condition))

    def _proves(self, claim: Term) -> bool:
        if self.given is not TRUE:
            claim = self.smt.apply("or", self.smt.apply("not", self.term(self.given)), claim)
        return self.smt.proves(claim)

    def impossible(self, condition: Expr) -> bool:
        return self.valid(simplify(not_(condition)))

    def equivalent(self, one: Expr, two: Expr) -> bool:
        return one is two or self._proves(self._iff(one, two))

    def _iff(self, one: Expr, two: Expr) -> Term:
        return self.smt.apply("iff", self.term(one), self.term(two))

    def where_it_matters(self, endings: Mapping[Ending, Sequence[Expr]]) -> list[Expr]:
        """Conditions under which two orders end differently, from the conditions of each ending's classes."""
        found = self.found
        self._find_quickly(endings)
        shorter = {ending: self._fewer(conditions) for ending, conditions in endings.items()}
        for (one, conditions), (two, others) in combinations(shorter.items(), 2):
            differ = one.differs(two)
            if differ is FALSE or self.impossible(conj(disj(*conditions), disj(*others), differ)):
                continue
            for a in conditions:
                for b in others:
                    both = simplify(conj(a, b, differ))
                    if both is not FALSE and both not in found and not self.impossible(both):
                        found[self.without_implied(both)] = None
        return list(found)

    def _find_quickly(self, endings: Mapping[Ending, Sequence[Expr]]) -> None:
        """Find one condition soon, among the shortest ones, if possible: to find all of them may take long."""
        shortest = [(ending, min(conditions, key=lambda c: c.size)) for ending, conditions in endings.items()]
        shortest.sort(key=lambda pair: pair[1].size)
        for (one, a), (two, b) in combinations(shortest[:_GLANCED_AT], 2):
            both = simplify(conj(a, b, one.differs(two)))
            if both is not FALSE and not self.impossible(both):
                self.found[both] = None
                return

    def _fewer(self, conditions: Sequence[Expr]) -> list[Expr]:
        """Fewer conditions with the same disjunction: those that imply the rest are dropped."""
        distinct = list(dict.fromkeys(map(self.without_implied, dict.fromkeys(conditions))))
        for part in list(distinct):
            rest = [other for other in distinct if other is not part]
            if rest and self.valid(simplify(disj(not_(part), *rest))):
                distinct = rest
        return distinct

    # Short conditions

    def simplest(self, parts: Sequence[Expr]) -> Expr:
        """A short condition that is equivalent to a disjunction."""
        kept = list(dict.fromkeys(parts))
        for part in list(kept):  # drop those that the others cover
            rest = [other for other in kept if other is not part]
            if rest and self.valid(simplify(disj(not_(part), *rest))):
                kept.remove(part)
        whole = simplify(disj(*kept))
        if whole is FALSE or self.valid(whole):
            return FALSE if whole is FALSE else TRUE
        short = self._short(whole, kept)
        if simplify(defined(short)) is TRUE:
            return short
        # Our expressions are total, but to a reader `1 / y` has no value where y is 0: say so, or do not shorten.
        careful = simplify(conj(defined(short), short))
        return careful if self.equivalent(careful, whole) else whole

    def _short(self, whole: Expr, kept: Sequence[Expr]) -> Expr:
        literals = _literals(whole)[:_MOST_LITERALS]
        for literal in literals:
            if self.equivalent(literal, whole):
                return literal
        for one, two in combinations(literals, 2):
            for made in (conj(one, two), disj(one, two)):
                if self.equivalent(made, whole):
                    return simplify(made)
        return simplify(disj(*(self._shorter(part, whole) for part in kept)))

    def without_implied(self, condition: Expr) -> Expr:
        """A conjunction without the parts that follow from the rest."""
        if not (isinstance(condition, Junction) and condition.op == "and"):
            return condition
        parts = list(condition.children)
        for part in list(parts):
            rest = [other for other in parts if other is not part]
            if rest and self.valid(simplify(disj(part, *map(not_, rest)))):
                parts = rest
        shorter = simplify(conj(*parts))
        if len(parts) == 2:  # x <= 3 and x >= 3
            for literal in _literals(shorter):
                if isinstance(literal, Binary) and literal.op == "==" and self.equivalent(literal, shorter):
                    shorter = literal
                    break
        return shorter if simplify(defined(shorter)) is TRUE else condition

    def _shorter(self, part: Expr, whole: Expr) -> Expr:
        """A conjunction without the literals that make no difference to the whole."""
        if not (isinstance(part, Junction) and part.op == "and"):
            return part
        literals = list(part.children)
        for literal in list(literals):
            fewer = [other for other in literals if other is not literal]
            wider = conj(*fewer)
            if fewer and self.valid(simplify(disj(not_(wider), whole))):
                literals = fewer
        return simplify(conj(*literals))


def _literals(condition: Expr) -> list[Expr]:
    """The comparisons in a condition, and their negations, the simplest ones first."""
    found: dict[Expr, None] = {}
    for node in nodes(condition):
        if node.type == "bool" and isinstance(node, Binary | Var | Not) and not isinstance(node, Junction):
            for literal in (simplify(node), simplify(not_(node))):
                if literal not in (TRUE, FALSE):
                    found[literal] = None
    for node in list(found):
        if isinstance(node, Binary) and node.op in ("<", "<=", ">", ">="):
            for op in ("==", "!="):
                found[simplify(binary_of(op, *node.children))] = None
    return sorted(found, key=lambda expr: sum(1 for _ in nodes(expr)))


def group_by_ending(items: Iterable[tuple[Ending, Expr]]) -> dict[Ending, list[Expr]]:
    """The conditions of classes, by their endings."""
    found: dict[Ending, list[Expr]] = {}
    for ending, condition in items:
        found.setdefault(ending, []).append(condition)
    return found
