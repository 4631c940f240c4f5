"""P3, Theorem 5.4, Corollaries 5.5 and 5.6: the diagonal of Fig. 4, concrete semantics and symbolic POR."""

from __future__ import annotations

import pytest
from hypothesis import given

from papers.p3.strategies_p3 import (
    FEW,
    NUMBERS,
    PROGRAM,
    TRACE_EQUIVALENCES,
    Program,
    Reduced,
    concrete_runs,
    concrete_start,
    final_of,
    labels_of,
    reached,
    symbolic_paths,
    symbolic_start,
    taken_by,
)
from porcini.engines.equivalences import EQUIVALENCES
from porcini.ir.symbolic.abstraction import (
    abstracts,
    assignments,
    compose,
    final_substitution,
    models,
    path_condition,
)

# Theorem 5.4 (Total Bisimulation). For initial traces τs, τc such that τs V-abstracts τc:
# - If (s, τc) ⇒V (s', τc'), then there exists (s, τs) →POR (s', τs') such that τs' V-abstracts τc'.
# - If (s, τs) →POR (s', τs') and V ⊨ pc(τs'), then there exists (s, τc) ⇒V (s', τc') and τc'⇓V = V ∘ (τs'⇓).


@pytest.mark.parametrize("relation", TRACE_EQUIVALENCES)
@FEW
@given(program=PROGRAM, numbers=NUMBERS)
def test_step_by_step(relation: str, program: Program, numbers: tuple[int, ...]) -> None:
    """Symbolic configurations are those that reduced steps reach: one of each class."""
    valuation = program.valuation(*numbers)
    por = Reduced(relation)
    classes = por.reached(symbolic_start(program), 60)
    met = 0
    for concrete in reached(concrete_start(program, valuation), 20):
        partners = [
            one for one in classes if one.s == concrete.s and abstracts(one.trace, concrete.trace, valuation)
        ]
        met += bool(partners)
        for one in partners:
            concrete_steps = [after for _, after in concrete.steps()]
            symbolic_steps = [after for _, after in por.steps(one)]
            for after in concrete_steps:
                answers = [other for other in symbolic_steps if other.s == after.s]
                assert any(abstracts(other.trace, after.trace, valuation) for other in answers)
            for other in symbolic_steps:
                if models(valuation, path_condition(other.trace)):
                    final = compose(valuation, final_substitution(other.trace))
                    assert final in [after.values for after in concrete_steps if after.s == other.s]
    assert met == 20 or len(classes) == 60 or met == len(reached(concrete_start(program, valuation), 20))


# Corollary 5.5 (Total Correctness). If (s, τ0) →*POR (s', τ), τ0 V-abstracts τ0' and V ⊨ pc(τ), then there exists
# τ' such that (s, τ0') ⇒*V (s', τ') and τ V-abstracts τ'.
# Corollary 5.6 (Total Completeness). If (s, τ0) ⇒*V (s', τ) and τ0' V-abstracts τ0, there exist τ' such that
# (s, τ0') →*POR (s', τ') and τ' V-abstracts τ. (The paper prints τ0 twice; a concrete trace abstracts nothing.)


@pytest.mark.parametrize("equivalence", EQUIVALENCES)
@FEW
@given(program=PROGRAM, numbers=NUMBERS)
def test_the_engines(equivalence: str, program: Program, numbers: tuple[int, ...]) -> None:
    valuation = program.valuation(*numbers)
    runs = concrete_runs(program, valuation, "exhaustive")
    paths = symbolic_paths(program, reduced=True, equivalence=equivalence)
    if runs is None or paths is None:
        return
    by_schedule = {trace.schedule: trace for trace, _ in runs}
    taken = taken_by(paths, valuation)
    for path in taken:  # 5.5: the very schedule can be run
        assert abstracts(path.labels, assignments(labels_of(by_schedule[path.schedule])), valuation)
    for trace, final in runs:  # 5.6
        concrete = assignments(labels_of(trace))
        answers = [path for path in taken if final_of(path, program, valuation) == final]
        assert any(abstracts(path.labels, concrete, valuation) for path in answers)
