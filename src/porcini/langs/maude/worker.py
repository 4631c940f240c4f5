"""Maude's own LTL checker, unmodified: what `checker` has done in a child.

The checker recurses: at some 10^5 states it overflows a stack of the usual size and takes its process with it. So
it runs in a child with a large stack and bounded memory; whatever happens to it, the parent lives to say so.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from porcini.core.children import time_limit
from porcini.core.errors import InternalError
from porcini.core.events import Action, Schedule
from porcini.langs.maude import bindings
from porcini.langs.maude.keys import Keys
from porcini.langs.maude.model import Model
from porcini.langs.maude.reduction import Heuristic
from porcini.langs.maude.system import MaudeSystem, State
from porcini.langs.maude.transformed import start_of, state_in

_DEEPEST_CALLS = 100_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A formula in Maude's words; `heuristic` is None where nothing is to be reduced."""

    formula: str
    watched: tuple[str, ...] = ()
    heuristic: Heuristic | None = None
    most: int | None = None
    """States."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What Maude says; and if the formula does not hold, the steps of a run that shows it."""

    holds: bool
    states: int
    stem: Schedule = ()
    loop: Schedule = ()
    limit: str | None = None
    """What was hit before there was an answer."""


def answer(model: Model, asked: Asked) -> Verdict:
    """Check one formula on one theory."""
    sys.setrecursionlimit(_DEEPEST_CALLS)
    if asked.heuristic is None:
        module = model.engine_module()
        start = model.initial_in(module)
    else:
        module = model.reduced_module(asked.heuristic, asked.watched)
        start = start_of(model, module)
    formula = bindings.parse(module, asked.formula, "the formula")
    graph = bindings.maude().RewriteGraph(start)
    if asked.most is not None and not _explored(graph, asked.most):
        return Verdict(holds=False, states=asked.most, limit=f"the limit of {asked.most:,} states")
    result = graph.modelCheck(formula)
    if result.holds:
        return Verdict(holds=True, states=graph.getNrStates())
    states = [graph.getStateTerm(number) for number in (*result.leadIn, *result.cycle, result.cycle[0])]
    keys = Keys(model.theory.names["enabled"])
    texts = [keys.of(term if asked.heuristic is None else state_in(term)) for term in states]
    moves = _moves(MaudeSystem(model), texts)
    split = len(result.leadIn)
    stem, loop = (tuple(each.move for each in part if each) for part in (moves[:split], moves[split:]))
    return Verdict(holds=False, states=graph.getNrStates(), stem=stem, loop=loop)


def _explored(graph: Any, most: int) -> bool:
    """Visit all states, if they are not too many."""
    state = 0
    while state < graph.getNrStates():
        if graph.getNrStates() > most:
            return False
        follower = 0
        with time_limit():
            while graph.getNextState(state, follower) != -1:
                follower += 1
        state += 1
    return True


def _moves(system: MaudeSystem, keys: Sequence[str]) -> list[Action | None]:
    """The steps that lead through some states; None for a state that stays as it is because nothing can move."""
    state, own = system.initial(), Keys(system.model.theory.names["enabled"])
    found: list[Action | None] = []
    for key in keys[1:]:
        action = _leading(system, own, state, key)
        found.append(action)
        if action is not None:
            state, _ = system.fire(state, action)
    return found


def moves_along(system: MaudeSystem, keys: Sequence[str]) -> Schedule:
    """The steps that lead through some states, which are told by their keys, the initial one first."""
    return tuple(each.move for each in _moves(system, keys) if each)


def _leading(system: MaudeSystem, keys: Keys, state: State, key: str) -> Action | None:
    able = [action for action in system.actions(state) if action.enabled]
    for action in able:
        after, _ = system.fire(state, action)
        if keys.of(after.term) == key:
            return action
    if able:
        raise InternalError("Maude's counterexample takes a step that there is not")
    return None
