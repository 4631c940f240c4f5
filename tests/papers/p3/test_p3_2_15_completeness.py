"""P3, Corollary 2.15: what can be run is found symbolically."""

from __future__ import annotations

from hypothesis import given

from papers.p3.strategies_p3 import (
    NUMBERS,
    PROGRAM,
    SOME,
    Program,
    concrete_runs,
    concrete_start,
    final_of,
    labels_of,
    reached,
    symbolic_paths,
    symbolic_start,
)
from porcini.ir.symbolic.abstraction import abstracts, assignments, models

# Corollary 2.15 (Trace Completeness). If (s, τc) ⇒V* (s', τc') and τs V-abstracts τc, there exists τs' such that
# (s, τs) →* (s', τs') and τs' V-abstracts τc'.


@SOME
@given(PROGRAM, NUMBERS)
def test_complete_runs(program: Program, numbers: tuple[int, ...]) -> None:
    """Every interleaving has a path of the symbolic engine without reduction; exactly one, that of its order."""
    valuation = program.valuation(*numbers)
    paths, runs = symbolic_paths(program, reduced=False), concrete_runs(program, valuation, "exhaustive")
    if paths is None or runs is None:
        return
    for trace, final in runs:
        (path,) = [p for p in paths if p.schedule == trace.schedule and models(valuation, p.condition)]
        assert abstracts(path.labels, assignments(labels_of(trace)), valuation)
        assert final_of(path, program, valuation) == final and path.kind == "terminated"


@SOME
@given(PROGRAM, NUMBERS)
def test_from_any_traces(program: Program, numbers: tuple[int, ...]) -> None:
    """From configurations in the middle: the rest of a concrete run is followed symbolically."""
    valuation = program.valuation(*numbers)
    middles = reached(symbolic_start(program), 20)
    for concrete in reached(concrete_start(program, valuation), 12):
        for symbolic in middles:
            if symbolic.s != concrete.s or not abstracts(symbolic.trace, concrete.trace, valuation):
                continue
            for end in reached(concrete, 10):
                follow_symbolically(concrete, symbolic, end)


def follow_symbolically(concrete, symbolic, end) -> None:
    """Of what the moving process may do, one thing at most agrees with the valuation."""
    now = symbolic
    for move in end.moves[len(concrete.moves) :]:
        when = {
            step: now.program.symbolic.when(now.state, step) for step, _ in now.steps() if step.pid == move.pid
        }
        (now,) = [after for step, after in now.steps() if step in when and models(end.valuation, when[step])]
    assert now.s == end.s
    assert abstracts(now.trace, end.trace, end.valuation)
