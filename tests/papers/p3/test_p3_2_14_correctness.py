"""P3, Corollary 2.14: what is found symbolically can be run."""

from __future__ import annotations

from hypothesis import given

from papers.p3.strategies_p3 import (
    NUMBERS,
    PROGRAM,
    SOME,
    Program,
    Symbolically,
    concrete_runs,
    concrete_start,
    final_of,
    labels_of,
    reached,
    symbolic_paths,
    symbolic_start,
    taken_by,
)
from porcini.ir.symbolic.abstraction import (
    abstracts,
    assignments,
    compose,
    final_substitution,
    final_valuation,
    models,
    path_condition,
)

# Corollary 2.14 (Trace Correctness). If (s, τs) →* (s', τs'), τs V-abstracts τc, and V ⊨ pc(τs'), then there
# exists a concrete trace τc' such that (s, τc) ⇒V* (s', τc') and τc'⇓V = V ∘ (τs'⇓).
# The paper prints τc⇓V ∘ (τs'⇓) at the end, which is the same for τc = [] only: see `test_the_slip`.


@SOME
@given(PROGRAM, NUMBERS)
def test_complete_paths(program: Program, numbers: tuple[int, ...]) -> None:
    """Every path of the symbolic engine without reduction, against every interleaving."""
    valuation = program.valuation(*numbers)
    paths, runs = symbolic_paths(program, reduced=False), concrete_runs(program, valuation, "exhaustive")
    if paths is None or runs is None:
        return
    by_schedule = {trace.schedule: (trace, final) for trace, final in runs}
    for path in taken_by(paths, valuation):
        trace, final = by_schedule[path.schedule]
        assert final == final_of(path, program, valuation)
        assert abstracts(path.labels, assignments(labels_of(trace)), valuation)


@SOME
@given(PROGRAM, NUMBERS)
def test_from_any_traces(program: Program, numbers: tuple[int, ...]) -> None:
    """From configurations in the middle: the rest of a symbolic path is followed concretely."""
    valuation = program.valuation(*numbers)
    middles = reached(symbolic_start(program), 20)
    for concrete in reached(concrete_start(program, valuation), 12):
        for symbolic in middles:
            if symbolic.s != concrete.s or not abstracts(symbolic.trace, concrete.trace, valuation):
                continue
            for end in reached(symbolic, 12):
                if models(valuation, path_condition(end.trace)):
                    follow_concretely(concrete, symbolic, end)


def follow_concretely(concrete, symbolic: Symbolically, end: Symbolically) -> None:
    now = concrete
    for label in end.trace[len(symbolic.trace) :]:
        (now,) = [after for action, after in now.steps() if action.pid == label.pid]
    assert now.s == end.s
    expected = compose(concrete.valuation, final_substitution(end.trace))
    assert final_valuation(now.trace, concrete.valuation) == expected == now.values


def test_the_slip() -> None:
    program = Program("x := x + 1; x := x + 1")
    valuation = program.valuation(5)
    first = concrete_start(program, valuation)
    ((_, middle),) = first.steps()
    ((_, last),) = middle.steps()
    *_, symbolic = reached(symbolic_start(program))
    final = final_substitution(symbolic.trace)
    assert last.values == compose(valuation, final) == {"x": 7}
    assert compose(final_valuation(middle.trace, valuation), final) == {"x": 8}
