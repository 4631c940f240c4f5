"""P3, Theorem 3.8: swapping events that do not interfere is a trace equivalence."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from papers.p3.strategies_p3 import (
    FEW,
    PROGRAM,
    SOME,
    Program,
    agree_everywhere,
    by_definition,
    by_swapping,
    interference_free,
    names_of,
    reached,
    swapped,
    symbolic_start,
    where_taken,
)
from porcini.engines.equivalences import Commuting, InterferenceFree
from porcini.ir.symbolic.abstraction import assignments, final_valuation

# Theorem 3.8 (Interference free reordering is a trace equivalence). Let ~IF be the smallest equivalence relation
# on symbolic traces such that τ · [ev1, ev2] · τ' ~IF τ · [ev2, ev1] · τ' for all τ, τ' and ev1 ◇ ev2. The
# equivalence relation ~IF is contained in ~. The analogous result holds for concrete traces and ≈.


def events_of(program: Program) -> list:
    found = reached(symbolic_start(program))
    return list(dict.fromkeys(event for configuration in found for event in configuration.trace))


@SOME
@given(PROGRAM, st.data())
def test_swaps_change_nothing(program: Program, data: st.DataObject) -> None:
    """Any events in any order; Def. 3.7 does not ask whose they are."""
    events, names = events_of(program), names_of(program)
    trace = tuple(data.draw(st.lists(st.sampled_from(events), max_size=5))) if events else ()
    for other in swapped(trace, 10):
        assert agree_everywhere(trace, other, names)
        assert by_swapping(trace, other)
        assert by_definition(trace, other) and where_taken(trace, other)
        for valuation in program.valuations(-1, 0, 2)[:9]:
            one, two = assignments(trace), assignments(other)
            assert final_valuation(one, valuation) == final_valuation(two, valuation)


@FEW
@given(PROGRAM)
def test_the_engines_relations_are_contained(program: Program) -> None:
    """The engine's interference freedom is Def. 3.7 for steps of different processes; what it proves to commute
    may be swapped as well."""
    events, names = events_of(program)[:8], names_of(program)
    syntactic, semantic = InterferenceFree(), Commuting()
    for i, one in enumerate(events):
        for two in events[:i]:
            if one.pid != two.pid and not (one.pid in two.spawned or two.pid in one.spawned):
                assert syntactic.independent(one, two) == interference_free(one, two)
            if semantic.independent(one, two):
                assert agree_everywhere((one, two), (two, one), names)
                assert where_taken((one, two), (two, one))
            else:
                assert not syntactic.independent(one, two)
