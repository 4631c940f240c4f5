"""Formulas about objects, against the judge of actors (`tests/conformance`): it shares no code with `src`."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import porcini
from conformance.actors import programs
from porcini.core.errors import InputError

MOST_STATES = 2_000
ACCOUNT = "examples/abs/account.abs"


def graph_of(machine: Any) -> dict[Any, list[Any]] | None:
    """The states after main has taken its first step, each with those that come after it; the first one first."""
    (first,) = machine.steps(machine.initial())
    found: dict[Any, list[Any]] = {first.after: []}
    left = [first.after]
    while left:
        state = left.pop()
        found[state] = [step.after for step in machine.steps(state)]
        for after in found[state]:
            if after not in found:
                found[after] = []
                left.append(after)
        if len(found) > MOST_STATES:
            return None
    return found


def never_comes(graph: dict[Any, list[Any]], good: set[Any]) -> bool:
    """Is there a run without a good state? One that ends, or goes round for ever."""
    start = next(iter(graph))
    todo, way, done = [(start, False)], set(), set()
    while todo:
        state, left = todo.pop()
        if left:
            way.discard(state)
            done.add(state)
        elif state in way:
            return True
        elif state not in good and state not in done:
            if not graph[state]:
                return True
            way.add(state)
            todo.append((state, True))
            todo += [(after, False) for after in graph[state]]
    return False


@pytest.mark.parametrize("seed", range(15))
def test_what_holds_of_fields(seed: int) -> None:
    random = Random(seed)
    program = programs.generate(random)
    machine = program.machine()
    graph = graph_of(machine)
    if graph is None:
        return
    fields = {state: dict(machine.outcome(state)[1]) for state in graph}
    seen = sorted({(name, v) for each in fields.values() for name, v in each.items() if type(v) is int})
    model = porcini.loads(program.text(), "abs")
    for name, value in random.sample(seen, min(4, len(seen))):
        good = {state for state, each in fields.items() if each.get(name) == value}
        assert porcini.check(model, ltl=f"[] !({name} == {value})").verdict == "violated"
        wanted = "violated" if never_comes(graph, good) else "holds"
        report = porcini.check(model, ltl=f"<> ({name} == {value})")
        assert (report.verdict, report.reduction) == (wanted, "stubborn")
        assert porcini.check(model, ltl=f"[] !({name} == {value + 10**9})").verdict == "holds"
        assert porcini.check(model, ltl=f"<> ({name} == {value + 10**9})").verdict == "violated"


def test_what_main_makes_is_there_from_the_start() -> None:
    for formula, verdict in (
        ("[] (0.0.money >= 0)", "holds"),
        ("0.0.money == 100", "holds"),
        ("<> (0.0.money < 100)", "holds"),
        ("[] (0.0.money == 100)", "violated"),
        ("<> (0.7.money == 100)", "violated"),  # there is no such object
    ):
        assert porcini.check(ACCOUNT, ltl=formula).verdict == verdict


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("[] money > 0", "unknown name `money`"),
        ("[] (0.0.mony > 0)", "no class has a field `mony`"),
        ("[] (0.0.money)", "expected a boolean"),
    ],
)
def test_bad_propositions_say_where(formula: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as problem:
        porcini.check(ACCOUNT, ltl=formula)
    assert problem.value.file == "--ltl" and problem.value.place is not None
