"""P3, Theorem 4.3: reduced and direct steps, symbolic and concrete."""

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
    agree_everywhere,
    concrete_start,
    names_of,
    reached,
    symbolic_start,
)

# Theorem 4.3 (POR bisimulation). For equivalent initial traces τ0 ~ τ0':
# - If (s, τ0) →POR (s', τ) then there exists (s, τ0') → (s', τ') such that τ ~ τ', and
# - If (s, τ0) → (s', τ) then there exists (s, τ0') →POR (s', τ') such that τ ~ τ'.
# For equivalent initial traces τ0 ≈ τ0' and initial valuation V:
# - If (s, τ0) ⇒POR,V (s', τ) then there exists (s, τ0') ⇒V (s', τ') such that τ ≈ τ', and
# - If (s, τ0) ⇒V (s', τ) then there exists (s, τ0') ⇒POR,V (s', τ') such that τ ≈ τ'.


def bisimulate(start, relation: str, names: list[str], most: int = 30) -> None:
    """Equivalent by the relation that reduces, and by running both traces."""
    reduced = Reduced(relation)

    def same(one: tuple, two: tuple) -> bool:
        return TRACE_EQUIVALENCES[relation](one, two) and agree_everywhere(one, two, names)

    for one in reached(start, most):
        two = reduced.representative(one)  # τ0 ~ τ0'
        by_por = [(labels_of(after), after.s) for _, after in reduced.steps(one)]
        directly = [(labels_of(after), after.s) for _, after in one.steps()]
        from_two = [(labels_of(after), after.s) for _, after in two.steps()]
        for steps, answers in ((by_por, directly), (directly, by_por), (by_por, from_two), (from_two, by_por)):
            for trace, s in steps:
                assert any(s == other_s and same(trace, other) for other, other_s in answers)


def labels_of(configuration) -> tuple:
    return getattr(configuration, "labels", None) or configuration.trace


@pytest.mark.parametrize("relation", TRACE_EQUIVALENCES)
@FEW
@given(program=PROGRAM)
def test_symbolically(relation: str, program: Program) -> None:
    bisimulate(symbolic_start(program), relation, names_of(program))


@pytest.mark.parametrize("relation", TRACE_EQUIVALENCES)
@FEW
@given(program=PROGRAM, numbers=NUMBERS)
def test_concretely(relation: str, program: Program, numbers: tuple[int, ...]) -> None:
    start = concrete_start(program, program.valuation(*numbers))
    bisimulate(start, relation, names_of(program))


@pytest.mark.parametrize("relation", TRACE_EQUIVALENCES)
def test_it_is_a_reduction(relation: str) -> None:
    """Three independent events: each set of them is one configuration, whatever the order."""
    start = symbolic_start(Program("x := 1 || y := 1 || z := 1"))
    assert len(reached(start)) == 1 + 3 + 6 + 6
    assert len(Reduced(relation).reached(start)) == 2**3
