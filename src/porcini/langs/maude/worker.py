"""Maude's own LTL checker, unmodified, in a process of its own: `python -m porcini.langs.maude.worker`.

The checker recurses: at some 10^5 states it overflows a stack of the usual size and takes its process with it.
So it runs in a child whose stack is as large as the system allows, and whose memory is bounded; whatever happens
to it, the parent lives to say so. A question comes as JSON on standard input, the answer goes out the same way.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from porcini.core.errors import InternalError
from porcini.core.events import Action
from porcini.langs.maude import bindings
from porcini.langs.maude.keys import Keys
from porcini.langs.maude.model import load
from porcini.langs.maude.system import MaudeSystem, State
from porcini.langs.maude.transformed import start_of, state_in


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Check one formula on one theory."""
    model = load(question["file"], question["por"])
    heuristic = question["heuristic"]
    if heuristic is None:
        module = model.engine_module()
        start = model.initial_in(module)
    else:
        module = model.reduced_module(heuristic, tuple(question["watched"]))
        start = start_of(model, module)
    formula = bindings.parse(module, question["formula"], "the formula")
    graph = bindings.maude().RewriteGraph(start)
    most = question["most"]
    if most is not None and not _explored(graph, most):
        return {"limit": f"the limit of {most:,} states", "states": most}
    result = graph.modelCheck(formula)
    found: dict[str, Any] = {"holds": result.holds, "states": graph.getNrStates()}
    if not result.holds:
        system = MaudeSystem(model)
        states = [graph.getStateTerm(number) for number in (*result.leadIn, *result.cycle, result.cycle[0])]
        keys = Keys(model.theory.names["enabled"])
        moves = _moves(system, [keys.of(term if heuristic is None else state_in(term)) for term in states])
        split = len(result.leadIn)
        found["stem"] = [move for move in moves[:split] if move]
        found["loop"] = [move for move in moves[split:] if move]
    return found


def _explored(graph: Any, most: int) -> bool:
    """Visit all states, if they are not too many."""
    state = 0
    while state < graph.getNrStates():
        if graph.getNrStates() > most:
            return False
        follower = 0
        while graph.getNextState(state, follower) != -1:
            follower += 1
        state += 1
    return True


def _moves(system: MaudeSystem, keys: Sequence[str]) -> list[tuple[str, int] | None]:
    """The steps that lead through some states; None for a state that stays as it is because nothing can move."""
    state, own = system.initial(), Keys(system.model.theory.names["enabled"])
    found: list[tuple[str, int] | None] = []
    for key in keys[1:]:
        action = _leading(system, own, state, key)
        if action is None:
            found.append(None)
            continue
        found.append((str(action.pid), action.choice))
        state, _ = system.fire(state, action)
    return found


def _leading(system: MaudeSystem, keys: Keys, state: State, key: str) -> Action | None:
    able = [action for action in system.actions(state) if action.enabled]
    for action in able:
        after, _ = system.fire(state, action)
        if keys.of(after.term) == key:
            return action
    if able:
        raise InternalError("Maude's counterexample takes a step that there is not")
    return None


def main() -> None:
    sys.setrecursionlimit(100_000)
    question = json.load(sys.stdin)
    json.dump(answer(question), sys.stdout)


if __name__ == "__main__":
    main()
