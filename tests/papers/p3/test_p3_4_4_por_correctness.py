"""P3, Corollary 4.4: the engines with reduction against those without."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from papers.p3.strategies_p3 import (
    FEW,
    NUMBERS,
    PROGRAM,
    TRACE_EQUIVALENCES,
    Program,
    Reduced,
    agree_everywhere,
    concrete_runs,
    labels_of,
    names_of,
    reached,
    symbolic_paths,
    symbolic_start,
    where_taken,
)
from porcini.engines.equivalences import EQUIVALENCES
from porcini.ir.symbolic.abstraction import assignments, final_valuation

# Corollary 4.4 (Correctness and Completeness). For two equivalent symbolic traces τ0 ~ τ0':
# - Correctness: If (s, τ0) →*POR (s', τ) then there exists (s, τ0') →* (s', τ') with τ ~ τ'
# - Completeness: If (s, τ0) →* (s', τ) then there exists (s, τ0') →*POR (s', τ') with τ ~ τ'
# For two equivalent concrete traces τ0 ≈ τ0' and initial valuation V:
# - Correctness: If (s, τ0) ⇒*POR,V (s', τ) then there exists (s, τ0') ⇒*V (s', τ') with τ ≈ τ'
# - Completeness: If (s, τ0) ⇒*V (s', τ) then there exists (s, τ0') ⇒*POR,V (s', τ') with τ ≈ τ'
# (The paper prints the two words the other way round, against its own text.)


@pytest.mark.parametrize("equivalence", EQUIVALENCES)
@FEW
@given(program=PROGRAM)
def test_symbolic_engine(equivalence: str, program: Program) -> None:
    """Both ways, by running the traces; and no class is listed twice."""
    whole = symbolic_paths(program, reduced=False)
    reduced = symbolic_paths(program, reduced=True, equivalence=equivalence)
    if whole is None or reduced is None:
        return
    names = names_of(program)
    for few, many in ((reduced, whole), (whole, reduced)):
        for path in few:
            answers = [other for other in many if agree_everywhere(path.labels, other.labels, names)]
            assert any(where_taken(path.labels, other.labels) for other in answers)
    assert len(reduced) <= len(whole)
    if equivalence == "traces":
        for i, path in enumerate(reduced):
            assert not any(where_taken(path.labels, other.labels) for other in reduced[:i])


@pytest.mark.parametrize("engine", ["optimal", "source", "dpor", "sleep"])
@FEW
@given(program=PROGRAM, numbers=NUMBERS)
def test_concrete_engines(engine: str, program: Program, numbers: tuple[int, ...]) -> None:
    valuation = program.valuation(*numbers)
    whole, reduced = (concrete_runs(program, valuation, name) for name in ("exhaustive", engine))
    if whole is None or reduced is None:
        return
    for few, many in ((reduced, whole), (whole, reduced)):
        for trace, final in few:
            assert any(final == end and concretely_equivalent(program, trace, other) for other, end in many)


def concretely_equivalent(program: Program, one, two) -> bool:
    """Def. 3.2: the same assignments, and equal final valuations from many initial ones."""
    a, b = assignments(labels_of(one)), assignments(labels_of(two))
    return Counter(a) == Counter(b) and all(
        final_valuation(a, valuation) == final_valuation(b, valuation)
        for valuation in program.valuations(-1, 0, 2)[:27]
    )


@pytest.mark.parametrize("relation", TRACE_EQUIVALENCES)
@FEW
@given(program=PROGRAM)
def test_by_the_reduced_steps_alone(relation: str, program: Program) -> None:
    """All classes of configurations are reached by steps from representatives, and no others."""
    start, reduced = symbolic_start(program), Reduced(relation)
    few, many = reduced.reached(start, 500, depth=3), reached(start, 500, depth=3)
    assert {id(one) for one in few} == {id(reduced.representative(one)) for one in many}
