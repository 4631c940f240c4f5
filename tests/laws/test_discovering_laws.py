"""Engines on programs whose steps touch other things at other places, against `exhaustive`."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from discovering import Discovering, Look, Set, Value, discovering_programs
from helpers import engines_agree
from porcini.core.errors import InternalError
from porcini.core.events import Event
from porcini.core.footprints import OPAQUE
from porcini.engines import wakeup_sequences
from porcini.engines.foreseeing import Foresight
from strategies import PROGRAMS

MANY = settings(max_examples=max(PROGRAMS // 8, 1), deadline=None, suppress_health_check=list(HealthCheck))
REDUCED = ("sleep", "dpor", "source", "optimal")


def plus(name: str | None, value: int = 0) -> Value:
    return Value(name, value)


OLD_RACE = Discovering(
    (
        ((Set("a", plus("a", 1)),),),
        ((Set("a", plus(None)),),),
        ((Look("a", Set("b", plus("b", 1)), None),), (Look("c", None, Set("c", plus("b"))),)),
        ((Set("b", plus(None)),),),
    )
)
"""A race is reversed in vain at first; what new events let come between makes it another one."""

SLEEPING_LEAF = Discovering(
    (
        ((Look("b", Set("b", plus("a", 1)), Set("b", plus("c", 1))),),),
        ((Look("c", None, Set("b", plus(None, 1))),),),
        ((Set("c", plus(None, 2)),),),
        ((Set("c", plus(None, 1)),),),
        ((Look("a", Set("a", plus("a", 1)), Set("a", plus("b"))),),),
    )
)
"""Lost by sequences whose last step counted as touching anything: some end where a step is still asleep, and the
search from there does not see all that was left to it."""


@pytest.mark.parametrize("program", [OLD_RACE, SLEEPING_LEAF])
def test_programs_that_were_wrong_once(program: Discovering) -> None:
    engines_agree(program, REDUCED, 1000)


@MANY
@given(discovering_programs())
def test_engines_agree_where_footprints_are_discovered(program: Discovering) -> None:
    engines_agree(program, REDUCED, 150)


# Mutants ------------------------------------------------------------------------------------------------------


def caught() -> None:
    @settings(MANY, max_examples=300, derandomize=True, database=None, phases=[Phase.generate])
    @given(discovering_programs())
    def law(program: Discovering) -> None:
        engines_agree(program, ["optimal"], 150)

    with pytest.raises((AssertionError, InternalError)):
        for program in (OLD_RACE, SLEEPING_LEAF):
            engines_agree(program, ["optimal"], 1000)
        law()


def test_forgetting_races_of_earlier_events(monkeypatch) -> None:
    new = 0
    every, of_races = wakeup_sequences.plain_races, wakeup_sequences._reverse_races

    def of_new_ones(search, *rest):
        nonlocal new
        new = search.first_new
        return of_races(search, *rest)

    monkeypatch.setattr(wakeup_sequences, "_reverse_races", of_new_ones)
    monkeypatch.setattr(wakeup_sequences, "plain_races", lambda run: (r for r in every(run) if r.step >= new))
    caught()


def test_taking_a_moved_step_for_one_that_touches_anything(monkeypatch) -> None:
    def opaque(self, race, between):
        step = self._execution.events[race.step]
        return Event(step.pid, step.choice, step.label, OPAQUE)

    monkeypatch.setattr(Foresight, "foresee", opaque)
    caught()


def test_taking_a_moved_step_for_what_it_was(monkeypatch) -> None:
    monkeypatch.setattr(Foresight, "foresee", lambda self, race, between: self._execution.events[race.step])
    caught()


def test_recalling_whatever_the_process_did(monkeypatch) -> None:
    def recall(self, race, between):
        return next(iter(self._recorded.get(self._process_key(race.step), ())), None)

    monkeypatch.setattr(Foresight, "_recall", recall)
    caught()
