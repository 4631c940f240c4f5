"""P3, Theorem 3.5: equivalence keeps abstraction."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given

from papers.p3.strategies_p3 import (
    FEW,
    NUMBERS,
    PROGRAM,
    TRACE_EQUIVALENCES,
    Program,
    concrete_start,
    equivalents,
    reached,
    run_of,
    symbolic_start,
)
from porcini.ir.symbolic.abstraction import abstracts, assignments

# Theorem 3.5 (Abstraction Congruence). For equivalent symbolic traces τs ~ τs' and concrete traces τc ≈ τc', if τs
# V-abstracts τc then τs' V-abstracts τc'.


@pytest.mark.parametrize("relation", TRACE_EQUIVALENCES)
@FEW
@given(program=PROGRAM, numbers=NUMBERS)
def test_congruence(relation: str, program: Program, numbers: tuple[int, ...]) -> None:
    """Guards are dropped from concrete traces after they have been permuted, for guards are no concrete events."""
    valuation = program.valuation(*numbers)
    symbolic = reached(symbolic_start(program), 25)
    for concrete in reached(concrete_start(program, valuation), 15):
        for one in symbolic:
            if one.s != concrete.s or not abstracts(one.trace, concrete.trace, valuation):
                continue
            symbolic_ones = list(equivalents(one.trace, relation, 6))
            concrete_ones = [assignments(labels) for labels in equivalents(concrete.labels, relation, 6)]
            for two, other in product(symbolic_ones, concrete_ones):
                assert abstracts(two, other, valuation)
                assert run_of(two, valuation) == concrete.values


def test_what_is_not_equivalent_need_not_be_abstracted() -> None:
    program = Program("x := 1 || x := 2")
    valuation = program.valuation()
    one, two = [c for c in reached(symbolic_start(program)) if len(c.trace) == 2]
    assert abstracts(one.trace, assignments(one.trace), valuation)
    assert not abstracts(two.trace, assignments(one.trace), valuation)
    assert all(two.trace not in list(equivalents(one.trace, relation)) for relation in TRACE_EQUIVALENCES)
