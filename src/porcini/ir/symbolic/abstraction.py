"""What traces do to states, concretely and symbolically (P3, section 2), as functions of labels.

    final_substitution   τ ⇓σ: each variable as an expression over the start (Def. 2.6)
    final_valuation      τ ⇓V: each variable as a value, by running the assignments (Def. 2.7)
    path_condition       pc(τ): the condition under which every guard holds where it is evaluated (Def. 2.10)
    assignments          a trace as a concrete one, which has no guards (Def. 2.5)
    abstracts            does a symbolic trace V-abstract a concrete one? (Def. 2.12)

A label may have both a guard and assignments, and assignments that are only book-keeping; so a concrete trace is
the sequence of all assignments, whatever they belong to. Assignments are compared by value, labels by identity: so
concrete traces of two systems can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from porcini.core.systems import Value
from porcini.ir.evaluation import evaluate
from porcini.ir.expr import Expr, Select, Var, store, substitute
from porcini.ir.operations import Assign
from porcini.ir.simplify import simplify
from porcini.ir.symbolic.labels import Label
from porcini.ir.symbolic.paths import forward

Symbolic = Sequence[Label]
"""A symbolic trace (Def. 2.4): assignments and guards."""
Concrete = Sequence[Assign]
"""A concrete trace (Def. 2.5): assignments only."""
Substitution = Mapping[Var, Expr]
"""A symbolic store (Def. 2.2); a variable that it does not name stands for itself."""
Valuation = Mapping[str, Value]
"""A concrete store (Def. 2.3), with all variables that are needed."""


def final_substitution(trace: Iterable[Label], initial: Substitution | None = None) -> dict[Var, Expr]:
    """τ ⇓σ (Def. 2.6); σ is the identity if it is not given."""
    _, written = forward(trace)
    if not initial:
        return written
    return {**initial, **{v: simplify(substitute(value, initial)) for v, value in written.items()}}


def path_condition(trace: Iterable[Label]) -> Expr:
    """pc(τ), over the variables as they are before the trace (Def. 2.10)."""
    condition, _ = forward(trace)
    return condition


def assignments(trace: Iterable[Label]) -> tuple[Assign, ...]:
    """The concrete trace of the same run: its guards are dropped."""
    return tuple(effect for label in trace for effect in label.effects)


def final_valuation(trace: Iterable[Assign], initial: Valuation) -> dict[str, Value]:
    """τ ⇓V (Def. 2.7)."""
    values = dict(initial)
    for assign in trace:
        match assign.target:
            case Select(array=Var() as array, index=index):
                values[array.name] = evaluate(store(array, index, assign.value), values)
            case Var(name=name):
                values[name] = evaluate(assign.value, values)
    return values


def models(valuation: Valuation, condition: Expr) -> bool:
    """V ⊨ b."""
    return bool(evaluate(condition, valuation))


def compose(valuation: Valuation, substitution: Substitution) -> dict[str, Value]:
    """V ∘ σ: a symbolic state under given values."""
    return {**valuation, **{v.name: evaluate(value, valuation) for v, value in substitution.items()}}


def abstracts(symbolic: Symbolic, concrete: Concrete, valuation: Valuation) -> bool:
    """Does a symbolic trace V-abstract a concrete one: V ⊨ pc(τs), and τc ⇓V = V ∘ τs⇓ (Def. 2.12)?"""
    condition, final = forward(symbolic)
    return models(valuation, condition) and final_valuation(concrete, valuation) == compose(valuation, final)
