"""Stubborn sets of whole processes that once lost something, each with what was lost."""

from __future__ import annotations

from typing import Any

import pytest

import porcini
from porcini.core.events import Action, Event
from porcini.core.footprints import Footprint, footprint
from porcini.core.pids import Pid
from porcini.core.systems import Final, System
from porcini.engines.limits import Limits
from porcini.engines.options import Options
from porcini.engines.reductions import search_states
from porcini.engines.stats import SearchStats

STEPS = (("down s", "x=1"), ("x=2",), ("up s",))


class Semaphores(System):
    """Of somebody else's language: `down` takes one away from a semaphore, and waits until there is one. What it
    waits for is in its `guard_locations`, as docs/add-a-language.md asks, or only in what it writes.
    """

    def __init__(self, said: bool) -> None:
        self.said = said

    def initial(self) -> Any:
        return (0, 0, 0), 0, 0

    def actions(self, state: Any) -> list[Action]:
        at, semaphore, _ = state
        found = []
        for number, steps in enumerate(STEPS):
            if at[number] < len(steps):
                step = steps[at[number]]
                waits = frozenset(footprint(["s"]).reads) if self.said and step == "down s" else frozenset()
                able = step != "down s" or semaphore > 0
                found.append(Action(Pid((number,)), 0, step, _touched(step), able, waits))
        return found

    def fire(self, state: Any, action: Action) -> tuple[Any, Event]:
        at, semaphore, x = state
        moved = tuple(place + (action.pid == (number,)) for number, place in enumerate(at))
        step = str(action.label)
        semaphore += {"up s": 1, "down s": -1}.get(step, 0)
        x = int(step[2:]) if step.startswith("x=") else x
        return (moved, semaphore, x), Event(action.pid, 0, action.label, action.footprint)

    def final(self, state: Any) -> Final:
        return Final("terminated", {"x": state[2]})

    @property
    def lookahead(self) -> Semaphores:
        return self

    def may_still_do(self, state: Any, pid: Pid) -> Footprint:
        found = Footprint()
        for step in STEPS[pid[0]][state[0][pid[0]] :]:
            found |= _touched(step)
        return found


def _touched(step: str) -> Footprint:
    return footprint(writes=["s" if step.endswith(" s") else "x"])


@pytest.mark.parametrize("said", [True, False])
@pytest.mark.parametrize("reduction", ["stubborn", "ample", "none"])
def test_what_a_process_waits_for_may_be_something_that_it_writes(reduction: Any, said: bool) -> None:
    """Of a blocked choice only what its footprint reads was looked at, unless a language says better: nobody was
    thought to be able to free a semaphore that `down` writes, and x = 2 was not among the outcomes."""
    stats = SearchStats(Limits(), None)
    search_states(Semaphores(said), stats, Options(reduction=reduction))
    assert stats.reduction == reduction
    assert {outcome.state["x"] for outcome in stats.outcomes} == {1, 2}


UNDER_A_GUARD = """
module M;
def Bool endless(Int n) = endless(n + 1);
interface A { Unit waits(); Unit steps(); }
class C() implements A {
  Int x = 0; Int y = 0;
  Unit waits() { await x > 5 && endless(1); y = 1; }
  Unit steps() { suspend; y = 2; }
}
{ A a = new C(); a!waits(); a!steps(); a!steps(); }
"""


@pytest.mark.parametrize("reduction", ["stubborn", "ample", "none"])
def test_a_part_of_a_guard_that_nobody_evaluates_may_call_itself_for_ever(reduction: Any) -> None:
    """Each part of a guard was evaluated by itself, to see which do not hold: an internal error, where the parts
    before it keep it from being evaluated."""
    report = porcini.check(porcini.loads(UNDER_A_GUARD, "abs"), options=Options(reduction=reduction))
    assert [outcome.kind for outcome in report.outcomes] == ["deadlock"]
