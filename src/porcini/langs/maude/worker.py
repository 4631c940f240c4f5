"""Maude's own LTL checker, unmodified, in a process of its own: `python -m porcini.langs.maude.worker`.

The checker recurses: at some 10^5 states it overflows a stack of the usual size and takes its process with it.
So it runs in a child whose stack is as large as the system allows, and whose memory is bounded; whatever happens
to it, the parent lives to say so. A question comes as JSON on standard input, the answer goes out the same way.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from porcini.core.errors import InternalError
from porcini.core.events import Action
from porcini.langs.maude import bindings
from porcini.langs.maude.model import load
from porcini.langs.maude.system import MaudeSystem, State


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Check one formula on one theory."""
    model = load(question["file"], question["por"])
    heuristic = question["heuristic"]
    if heuristic is None:
        module = model.engine_module()
        start = model.initial_in(module)
    else:
        module = model.reduced_module(heuristic, tuple(question["watched"]))
        start = bindings.parse(module, model.theory.names["Start"], "the initial state")
        start.reduce()
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
        keys = [_key(system, term, marked=heuristic is not None) for term in states]
        moves = _moves(system, keys)
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


_SORTED = re.compile(r"\(([^()\s]+)\)\.[A-Z]\w*")


def _key(system: MaudeSystem, term: Any, *, marked: bool = False) -> tuple[str, ...]:
    """The parts of a state as text, whichever module it belongs to. Of a state of the transformed theory,
    `{ ready(S) | I }`, marks and what is remembered are left out."""
    if marked:
        term = _first(_first(term))
    found = []
    for part in system.parts(term):
        if marked and str(part.symbol()) == system.model.theory.names["enabled"]:
            part = _first(part)
        found.append(_SORTED.sub(r"\1", str(part)))
    return tuple(sorted(found))


def _first(term: Any) -> Any:
    return next(iter(term.arguments()))


def _moves(system: MaudeSystem, keys: list[tuple[str, ...]]) -> list[tuple[str, int] | None]:
    """The steps that lead through some states; None for a state that stays as it is because nothing can move."""
    state = system.initial()
    found: list[tuple[str, int] | None] = []
    for key in keys[1:]:
        action = _leading(system, state, key)
        if action is None:
            found.append(None)
            continue
        found.append((str(action.pid), action.choice))
        state, _ = system.fire(state, action)
    return found


def _leading(system: MaudeSystem, state: State, key: tuple[str, ...]) -> Action | None:
    able = [action for action in system.actions(state) if action.enabled]
    for action in able:
        after, _ = system.fire(state, action)
        if _key(system, after.term) == key:
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
