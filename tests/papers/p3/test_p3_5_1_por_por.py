"""P3, Theorem 5.1, Corollaries 5.2 and 5.3: the right side of Fig. 4, concrete and symbolic POR."""

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
from porcini.core.execution import Dependence
from porcini.engines.equivalences import EQUIVALENCES
from porcini.engines.semantic import SemanticDependence
from porcini.ir.symbolic.abstraction import (
    abstracts,
    assignments,
    compose,
    final_substitution,
    final_valuation,
    models,
    path_condition,
)

# Theorem 5.1 (POR-POR Bisimulation). For initial traces τs, τc such that τs V-abstracts τc:
# - If (s, τc) ⇒POR,V (s', τc'), then there exists (s, τs) →POR (s', τs') such that τs' V-abstracts τc'.
# - If (s, τs) →POR (s', τs') and V ⊨ pc(τs'), then there exists (s, τc) ⇒POR,V (s', τc') and τc'⇓V = V ∘ (τs'⇓).


@pytest.mark.parametrize("relation", TRACE_EQUIVALENCES)
@FEW
@given(program=PROGRAM, numbers=NUMBERS)
def test_step_by_step(relation: str, program: Program, numbers: tuple[int, ...]) -> None:
    valuation = program.valuation(*numbers)
    symbolic_por, concrete_por = Reduced(relation), Reduced(relation)
    symbolic = reached(symbolic_start(program), 40)
    for concrete in reached(concrete_start(program, valuation), 15):
        for one in symbolic:
            if one.s != concrete.s or not abstracts(one.trace, concrete.trace, valuation):
                continue
            concrete_steps = [after for _, after in concrete_por.steps(concrete)]
            symbolic_steps = [after for _, after in symbolic_por.steps(one)]
            for after in concrete_steps:
                answers = [other for other in symbolic_steps if other.s == after.s]
                assert any(abstracts(other.trace, after.trace, valuation) for other in answers)
            for other in symbolic_steps:
                if models(valuation, path_condition(other.trace)):
                    final = compose(valuation, final_substitution(other.trace))
                    ends = [after for after in concrete_steps if after.s == other.s]
                    assert any(final_valuation(end.trace, valuation) == final == end.values for end in ends)


# Corollary 5.2 (Trace POR Correctness). If (s, τs) →*POR (s', τs'), τs V-abstracts τc, and V ⊨ pc(τs'), then there
# exists a concrete trace τc' such that (s, τc) ⇒*POR,V (s', τc') and τc'⇓V = V ∘ (τs'⇓).
# (The paper prints τc⇓V ∘ (τs'⇓), which is the same for τc = [] only, as in Corollary 2.14.)
# Corollary 5.3 (Trace POR Completeness). If (s, τc) ⇒*POR,V (s', τc') and τs V-abstracts τc, there exist τs' such
# that (s, τs) →*POR (s', τs') and τs' V-abstracts τc'.


@pytest.mark.parametrize("independence", ["syntactic", "semantic"])
@pytest.mark.parametrize("equivalence", EQUIVALENCES)
@FEW
@given(program=PROGRAM, numbers=NUMBERS)
def test_the_engines(equivalence: str, independence: str, program: Program, numbers: tuple[int, ...]) -> None:
    valuation = program.valuation(*numbers)
    dependence = SemanticDependence() if independence == "semantic" else Dependence()
    runs = concrete_runs(program, valuation, "optimal", dependence=dependence)
    paths = symbolic_paths(program, reduced=True, equivalence=equivalence)
    if runs is None or paths is None:
        return
    taken = taken_by(paths, valuation)
    for path in taken:  # 5.2
        assert final_of(path, program, valuation) in [final for _, final in runs]
    for trace, final in runs:  # 5.3
        concrete = assignments(labels_of(trace))
        answers = [path for path in taken if final_of(path, program, valuation) == final]
        assert any(abstracts(path.labels, concrete, valuation) for path in answers)
    if equivalence == independence == "syntactic":
        assert len(taken) == len(runs)  # one class each
