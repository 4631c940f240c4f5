"""P3, Lemma 3.4: equivalent traces go on alike."""

from __future__ import annotations

import pytest
from hypothesis import given

from papers.p3.strategies_p3 import (
    FEW,
    NUMBERS,
    PROGRAM,
    TRACE_EQUIVALENCES,
    Program,
    agree_everywhere,
    concrete_start,
    equivalents,
    names_of,
    reached,
    symbolic_start,
)
from porcini.ir.symbolic.abstraction import final_valuation

# Lemma 3.4. For equivalent traces τ ~ τ', if (s, τ) → (s', τ1) then there exists τ2 such that (s, τ') → (s', τ2)
# and τ1 ~ τ2. This lemma also holds for concrete traces with concrete equivalence and reduction system.


@pytest.mark.parametrize("relation", TRACE_EQUIVALENCES)
@FEW
@given(program=PROGRAM)
def test_symbolically(relation: str, program: Program) -> None:
    """The premise is decided by a solver or by swapping, the conclusion by that and by running both traces."""
    names = names_of(program)
    for configuration in reached(symbolic_start(program), 18):
        for trace in equivalents(configuration.trace, relation, 6):
            other = configuration.after(trace)  # the program need not have a run that does this
            answers = {(step.label, after.s): after for step, after in other.steps()}
            for step, one in configuration.steps():
                two = answers[step.label, one.s]
                assert TRACE_EQUIVALENCES[relation](one.trace, two.trace)
                assert agree_everywhere(one.trace, two.trace, names)


@pytest.mark.parametrize("relation", TRACE_EQUIVALENCES)
@FEW
@given(program=PROGRAM, numbers=NUMBERS)
def test_concretely(relation: str, program: Program, numbers: tuple[int, ...]) -> None:
    valuation = program.valuation(*numbers)
    found = reached(concrete_start(program, valuation), 30)
    for one in found:
        for two in found:
            if one is two or one.s != two.s or not TRACE_EQUIVALENCES[relation](one.labels, two.labels):
                continue
            assert one.values == two.values
            steps = {(action.pid, after.s): after for action, after in two.steps()}
            for action, after in one.steps():
                answer = steps[action.pid, after.s]
                assert TRACE_EQUIVALENCES[relation](after.labels, answer.labels)
                for other in program.valuations(-1, 0, 2):
                    assert final_valuation(after.trace, other) == final_valuation(answer.trace, other)
