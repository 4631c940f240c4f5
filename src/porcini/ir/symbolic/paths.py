"""Path conditions of symbolic traces: P0's Def. 6 backwards, and the same thing forwards.

`path` is the weakest precondition of all guards of a trace, over the state before it. `forward` computes the same
condition by symbolic execution from the other end, with the final state as well. A property test checks that the
two agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from porcini.core.systems import Value
from porcini.ir.expr import TRUE, Expr, Select, Var, conj, const, free, store, substitute
from porcini.ir.operations import Assign
from porcini.ir.simplify import simplify
from porcini.ir.symbolic.labels import Label, before, condition


@lru_cache(maxsize=1 << 16)
def before_label(label: Label, post: Expr) -> Expr:
    """The weakest precondition of one step, simplified. It is cached, since many traces share steps."""
    return simplify(conj(condition(label), before(label.effects, post)))


def path(labels: Sequence[Label], post: Expr = TRUE) -> Expr:
    """path(θ): the condition under which every step of the trace happens as it did (P0, Def. 6)."""
    for label in reversed(labels):
        post = before_label(label, post)
    return post


def forward(labels: Iterable[Label]) -> tuple[Expr, dict[Var, Expr]]:
    """The same condition by symbolic execution, and the final value of each variable written."""
    path_condition: Expr = TRUE
    state: dict[Var, Expr] = {}
    for label in labels:
        path_condition = simplify(conj(path_condition, substitute(condition(label), state)))
        for effect in label.effects:
            carry_out(effect, state)
    return path_condition, state


def carry_out(effect: Assign, values: dict[Var, Expr]) -> None:
    """Apply an assignment to the symbolic values of variables."""
    value = simplify(substitute(effect.value, values))
    if isinstance(effect.target, Select):
        array = effect.target.array
        assert isinstance(array, Var)
        index = simplify(substitute(effect.target.index, values))
        values[array] = simplify(store(values.get(array, array), index, value))
    else:
        values[effect.target] = value


def where(expr: Expr, known: Mapping[str, Value]) -> Expr:
    """A condition with the known values of some scalar variables substituted."""
    values: dict[Var, Expr] = {}
    for v in free(expr):
        value = known.get(v.name)
        if value is not None and not isinstance(value, tuple):
            values[v] = const(value)
    return simplify(substitute(expr, values))
