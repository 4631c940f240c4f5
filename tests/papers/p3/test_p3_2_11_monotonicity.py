"""P3, Lemma 2.11."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from papers.p3.strategies_p3 import NUMBERS, PROGRAM, SOME, Program, reached, run_of, symbolic_start
from porcini.ir.symbolic.abstraction import models, path_condition
from porcini.ir.symbolic.paths import path

# Lemma 2.11 (Path Condition Monotonicity). If V ⊨ pc(τ :: ev), then V ⊨ pc(τ).


@SOME
@given(PROGRAM, NUMBERS)
def test_on_runs(program: Program, numbers: tuple[int, ...]) -> None:
    valuation = program.valuation(*numbers)
    for configuration in reached(symbolic_start(program)):
        for _, longer in configuration.steps():
            if models(valuation, path_condition(longer.trace)):
                assert models(valuation, path_condition(configuration.trace))


@SOME
@given(PROGRAM, NUMBERS, st.data())
def test_on_any_events(program: Program, numbers: tuple[int, ...], data: st.DataObject) -> None:
    """Events in an order in which no program has them. The condition holds exactly where no guard stops a run,
    by substitution forward and by weakest preconditions backward."""
    valuation = program.valuation(*numbers)
    events = list(dict.fromkeys(event for c in reached(symbolic_start(program)) for event in c.trace))
    trace = data.draw(st.lists(st.sampled_from(events), max_size=6)) if events else []
    held = True
    for end in range(len(trace) + 1):
        holds = models(valuation, path_condition(trace[:end]))
        assert held or not holds
        held = holds
        assert holds == models(valuation, path(trace[:end]))
        assert holds == (run_of(trace[:end], valuation) is not None)
