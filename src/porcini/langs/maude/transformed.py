"""The states of the transformed theory, step by step beside those of the theory as it is.

Maude's own checker sees nothing but the transformed theory. So its graph is built here as Maude builds it, and
each of its steps must be one of the theory as it is; what each state says of the propositions of a formula must be
what the state says that it stands for. What it leaves out is for others to judge (`engines.equivalence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from porcini.core.children import time_limit
from porcini.core.errors import LimitHit
from porcini.core.systems import OwnReduction
from porcini.langs.maude import bindings
from porcini.langs.maude.keys import Keys
from porcini.langs.maude.model import Model
from porcini.langs.maude.reduction import Heuristic
from porcini.langs.maude.system import MaudeSystem, State
from porcini.langs.maude.visibility import SATISFIES


def start_of(model: Model, module: bindings.Module) -> bindings.Term:
    """The initial state of a transformed theory."""
    return bindings.normal_form(bindings.parse(module, model.theory.names["Start"], "the initial state"))


def state_in(term: Any) -> Any:
    """The state that `{ ready(S) | I }` stands for, with its marks."""
    return next(iter(next(iter(term.arguments())).arguments()))


class Transformed:
    """A transformed theory that is followed beside its system."""

    def __init__(self, system: MaudeSystem, heuristic: Heuristic, watched: Sequence[str]) -> None:
        self.system = system
        model = system.model
        module = model.reduced_module(heuristic, tuple(watched))
        self.graph = bindings.maude().RewriteGraph(start_of(model, module))
        mark = model.theory.names["enabled"]
        self._plain_keys, self._marked_keys = Keys(mark), Keys(mark)
        self._plain_letters, self._letters = (Letters(each, watched) for each in (system.module, module))

    def followed(self, most: int) -> OwnReduction[State]:
        """The whole graph, with the state of the system that each of its states stands for."""
        states, after = [self.system.initial()], list[list[int]]()
        if self._key(0) != self._plain_keys.of(states[0].term):
            return _made(states, [[]], "it begins with another state")
        while len(after) < len(states):
            number = len(after)
            if number >= most:
                raise LimitHit(f"the limit of {most:,} states for a comparison")
            if self._letters.of(self.graph.getStateTerm(number)) != self._plain_letters.of(states[number].term):
                return _made(states, after, f"other propositions hold in it: {self._shown(number)}")
            after.append(self._after(number))
            steps = self._steps(states[number]) if after[-1] else {}
            for new in after[-1]:
                found = steps.get(self._key(new))
                if found is None:
                    return _made(states, after, f"it goes to a state that no step leads to: {self._shown(new)}")
                if new == len(states):
                    states.append(found)
        return _made(states, after, None)

    def _key(self, number: int) -> str:
        return self._marked_keys.of(state_in(self.graph.getStateTerm(number)))

    def _shown(self, number: int) -> str:
        return " ".join(str(state_in(self.graph.getStateTerm(number))).split())

    def _after(self, number: int) -> list[int]:
        """Maude gives new states numbers in the order in which they are found."""
        found: list[int] = []
        with time_limit():
            while (new := self.graph.getNextState(number, len(found))) != -1:
                found.append(new)
        return sorted(set(found))

    def _steps(self, state: State) -> dict[str, State]:
        """The states after each step that the theory as it is can take, by their keys."""
        found = {}
        for action in self.system.actions(state):
            if action.enabled:
                after, _ = self.system.fire(state, action)
                found[self._plain_keys.of(after.term)] = after
        return found


def _made(states: list[State], after: list[list[int]], problem: str | None) -> OwnReduction[State]:
    return OwnReduction(states, after, lambda state: state.term, problem)


class Letters:
    """Which of some propositions hold in a state, as a module has it."""

    def __init__(self, module: bindings.Module, watched: Sequence[str]) -> None:
        self._module = module
        self._propositions = [bindings.parse(module, text, "the proposition") for text in watched]
        self._satisfies: Any = None

    def of(self, term: Any) -> tuple[bool, ...]:
        return tuple(self._holds(term, each) for each in self._propositions)

    def _holds(self, term: Any, proposition: Any) -> bool:
        if self._satisfies is None:
            kinds = [each.symbol().getRangeSort().kind() for each in (term, proposition)]
            self._satisfies = next(
                each
                for each in self._module.getSymbols()
                if str(each) == SATISFIES and each.arity() == 2 and [each.domainKind(k) for k in (0, 1)] == kinds
            )
        return str(bindings.normal_form(self._satisfies.makeTerm([term, proposition]))) == "true"
