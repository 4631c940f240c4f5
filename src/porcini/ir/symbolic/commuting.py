"""Do two labels commute in every state? Semantic independence, proved by a solver.

Two steps commute if, wherever one is enabled, the other is enabled after it exactly if it was enabled before it,
and where both are enabled, both orders lead to the same state. `x := x + 1` and `x := x + 2` commute; so do `x :=
x` and the guard `x < 3`.
"""

from __future__ import annotations

from collections.abc import Mapping

from porcini.ir.evaluation import default
from porcini.ir.expr import (
    TRUE,
    Apply,
    ArrayType,
    Binary,
    Const,
    Datum,
    Expr,
    Ite,
    Junction,
    Neg,
    Not,
    Select,
    Store,
    Var,
    conj,
    free,
    nodes,
    substitute,
)
from porcini.ir.symbolic.labels import Label, condition
from porcini.ir.symbolic.paths import forward
from porcini.solvers.smt import Smt, Term


def commute(a: Label, b: Label, smt: Smt, known: Expr = TRUE) -> bool:
    """Is it proved that two labels of different processes commute, in all states in which `known` holds?"""
    after_a, after_b = forward([a])[1], forward([b])[1]
    can_a, can_b = condition(a), condition(b)
    term = Terms(smt)
    same_after_a = smt.apply("iff", term(can_b), term(substitute(can_b, after_a)))
    same_after_b = smt.apply("iff", term(can_a), term(substitute(can_a, after_b)))
    claims = [
        smt.apply("or", smt.apply("not", term(can_a)), same_after_a),
        smt.apply("or", smt.apply("not", term(can_b)), same_after_b),
    ]
    both = conj(can_a, can_b)
    for variable in after_a.keys() | after_b.keys():
        a_then_b = substitute(after_b.get(variable, variable), after_a)
        b_then_a = substitute(after_a.get(variable, variable), after_b)
        claims.append(term.same_where(both, a_then_b, b_then_a))
    return all(smt.proves(term.where(known, claim)) for claim in claims)


def keeps_guards(a: Label, b: Label, smt: Smt, known: Expr = TRUE) -> bool:
    """Is it proved that a step does not change which steps another process may take at its point?"""
    after, can, term = forward([a])[1], conj(known, condition(a)), Terms(smt)
    claims = (
        term.where(can, smt.apply("iff", term(guard), term(substitute(guard, after))))
        for guard in b.guards
        if free(guard) & after.keys()
    )
    return all(map(smt.proves, claims))


class Terms:
    """Translates expressions to solver terms, each distinct node once.

    `theory` says which functions of a language are built into the solver; all others are uninterpreted.
    """

    def __init__(self, smt: Smt, theory: Mapping[str, str] | None = None) -> None:
        self.smt = smt
        self.theory = theory or {}
        self.terms: dict[Expr, Term] = {}

    def __call__(self, expr: Expr) -> Term:
        for node in nodes(expr):
            if node not in self.terms:
                self.terms[node] = self._node(node)
        return self.terms[expr]

    def same_where(self, where: Expr, x: Expr, y: Expr) -> Term:
        """The claim that two expressions are equal wherever a condition holds."""
        return self.where(where, self.smt.apply("==", self(x), self(y)))

    def where(self, where: Expr, claim: Term) -> Term:
        """A claim that is made only where a condition holds."""
        return claim if where is TRUE else self.smt.apply("or", self.smt.apply("not", self(where)), claim)

    def _node(self, node: Expr) -> Term:
        smt, known = self.smt, self.terms
        parts = [known[child] for child in node.children]
        match node:
            case Const(value=value):
                return smt.constant(value)
            case Var(name=name, type=type_):
                is_array = isinstance(type_, ArrayType)
                return smt.variable(name, str(type_.cell if isinstance(type_, ArrayType) else type_), is_array)
            case Select(array=array) if isinstance(array.type, ArrayType):
                return smt.select(parts[0], parts[1], array.type.size, default(array.type))
            case Store(type=ArrayType(size=size)):
                return smt.store(parts[0], parts[1], parts[2], size)
            case Not():
                return smt.apply("not", *parts)
            case Neg():
                return smt.apply("neg", *parts)
            case Ite():
                return smt.apply("ite", *parts)
            case Binary(op=op) | Junction(op=op):
                return smt.apply(op, *parts)
            case Datum(value=value, type=type_):
                return smt.datum(value, str(type_))
            case Apply(function=function, type=type_):
                return smt.function(self.theory.get(function, function), parts, str(type_))
        raise AssertionError(f"not an expression: {node!r}")
