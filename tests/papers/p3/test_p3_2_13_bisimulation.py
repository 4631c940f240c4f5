"""P3, Theorem 2.13: the concrete and the symbolic system, side by side."""

from __future__ import annotations

from hypothesis import given

from papers.p3.strategies_p3 import (
    NUMBERS,
    PROGRAM,
    SOME,
    Concretely,
    Program,
    Symbolically,
    concrete_start,
    reached,
    symbolic_start,
)
from porcini.ir.evaluation import evaluate
from porcini.ir.symbolic.abstraction import (
    abstracts,
    compose,
    final_substitution,
    final_valuation,
    models,
    path_condition,
)

# Theorem 2.13 (Bisimulation). For any initial valuation V and initial traces τ0, τ0' such that τ0' V-abstracts τ0
# (the paper has the two the other way round, and steps τ0 concretely and τ0' symbolically):
# - if there is a concrete step (s, τ0) ⇒V (s', τ), then there exists a symbolic step (s, τ0') → (s', τ') such that
#   τ' V-abstracts τ, and
# - if there is a symbolic step (s, τ0') → (s', τ') and V ⊨ pc(τ'), then there exists a concrete step
#   (s, τ0) ⇒V (s', τ) such that τ⇓V = V ∘ τ'⇓.


def matched(concrete: Concretely, symbolic: Symbolically) -> None:
    valuation = concrete.valuation
    symbolic_steps = list(symbolic.steps())
    concrete_steps = list(concrete.steps())
    for action, after in concrete_steps:
        answers = [
            (step, other)
            for step, other in symbolic_steps
            if step.pid == action.pid and other.s == after.s and abstracts(other.trace, after.trace, valuation)
        ]
        assert answers, f"{action.label} is not matched"
        for step, other in answers:
            assert evaluate(symbolic.program.symbolic.when(symbolic.state, step), valuation) is True
            values = {v.name: evaluate(value, valuation) for v, value in other.state.values.items()}
            assert {**valuation, **values} == after.values
    for step, other in symbolic_steps:
        if models(valuation, path_condition(other.trace)):
            (after,) = [after for action, after in concrete_steps if (action.pid, after.s) == (step.pid, other.s)]
            final = compose(valuation, final_substitution(other.trace))
            assert final_valuation(after.trace, valuation) == final == after.values


@SOME
@given(PROGRAM, NUMBERS)
def test_step_by_step(program: Program, numbers: tuple[int, ...]) -> None:
    """All configurations that belong together, whether or not they were reached in the same order."""
    valuation = program.valuation(*numbers)
    symbolic = reached(symbolic_start(program))
    pairs = 0
    for concrete in reached(concrete_start(program, valuation)):
        for other in symbolic:
            if pairs < 60 and other.s == concrete.s and abstracts(other.trace, concrete.trace, valuation):
                pairs += 1
                matched(concrete, other)
    assert pairs
