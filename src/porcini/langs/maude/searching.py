"""Reachability as users of Maude's `search` know it: all states that match a pattern, each with the way to it.

    Finder.search       breadth first over Maude's own graph of states, as `search` does it
    Finder.found        the solutions, with the steps of the shortest way to each of the first ones

A solution is a state together with what the variables of the pattern stand for: `search` counts one for each way
to match, and so do we. Any pattern can look at all of a state, so its states are those of the theory as it is. A
*proposition* has equations that say what it looks at, and is searched for in the transformed theory
(`reduction`). That theory keeps each sequence of its values, up to repetition: hence some state in which it holds
if there is one, but not all of them, and their number is a lower bound. With `=>!`, states in which nothing can
move are looked for. A reduction keeps all of these, whatever a formula looks at, so that their number is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from porcini.core.children import time_limit
from porcini.core.errors import LimitHit
from porcini.core.languages import Finding, FindingOptions
from porcini.langs.maude import bindings
from porcini.langs.maude.keys import Keys
from porcini.langs.maude.model import Model
from porcini.langs.maude.patterns import cut, read_binding, read_pattern, read_proposition
from porcini.langs.maude.reduction import Heuristic
from porcini.langs.maude.system import MaudeSystem
from porcini.langs.maude.transformed import Letters, start_of, state_in
from porcini.langs.maude.worker import moves_along

_MOST_SHOWN = 20
"""So many solutions are given with the ways to them."""


class Finder:
    """One search: `core.languages.Finder`."""

    def __init__(self, system: MaudeSystem, text: str, ample: str | None) -> None:
        self._model: Model = system.model
        self._system = system
        self._asked = cut(text)
        self._proposition = read_proposition(self._model, self._asked)
        self.why_not_reduced = self._why_not()
        self.reduced = ample is not None and self.why_not_reduced is None
        if self._proposition is not None:
            module = self._module_for(self._proposition, cast(Heuristic, ample))
            self._letters = Letters(module, (self._proposition,))
            self._pattern = None
        else:
            self._pattern = read_pattern(self._model, self._asked)
            module = self._pattern.module
        start = start_of(self._model, module) if self.reduced else self._model.initial_in(module)
        self._graph = bindings.maude().RewriteGraph(start)
        self._keys = Keys(self._model.theory.names["enabled"])
        self._states: set[str | int] = set()
        """The states with solutions."""
        self._solutions = 0
        self._shown: list[tuple[int, dict[str, str]]] = []
        self._complete = False
        self._back: int | None = None
        """A state from which a step leads back to the initial one."""

    def _why_not(self) -> str | None:
        if self._proposition is None:
            return "a pattern may look at all of a state; a declared proposition says what it looks at"
        if self._asked.arrow in ("=>1", "=>+"):
            return f"`{self._asked.arrow}` counts steps"
        if self._asked.arrow == "=>!":
            return None
        term = bindings.parse(self._system.module, self._proposition, "the proposition")
        return self._system.watching([term]).why

    def _module_for(self, proposition: str, ample: Heuristic) -> bindings.Module:
        if not self.reduced:
            return self._system.module
        self._system.audit()
        return self._model.reduced_module(ample, () if self._asked.arrow == "=>!" else (proposition,))

    # The search

    def search(self, asked: FindingOptions) -> None:
        """To its end, or to the first solution; a limit is a `LimitHit`, and what was found until then is kept."""
        depths, number, arrow = [0], 0, self._asked.arrow
        while number < self._graph.getNrStates():
            if depths[number] > (1 if arrow == "=>1" else asked.max_depth):
                if arrow == "=>1":
                    break
                raise LimitHit(f"the depth limit of {asked.max_depth:,} steps")
            if number >= asked.max_states:
                raise LimitHit(f"the limit of {asked.max_states:,} states")
            asked.look(number + 1)
            after = self._after(number) if arrow != "=>1" or number == 0 else []
            depths += [depths[number] + 1] * (self._graph.getNrStates() - len(depths))
            if 0 in after and self._back is None:
                self._back = number
                if arrow in ("=>1", "=>+"):
                    self._note(0)
            if (number > 0 or arrow in ("=>*", "=>!")) and (arrow != "=>!" or not after):
                self._note(number)
            if asked.first and self._solutions:
                return
            number += 1
        self._complete = True

    def _after(self, number: int) -> list[int]:
        found: list[int] = []
        with time_limit():
            while (new := self._graph.getNextState(number, len(found))) != -1:
                found.append(new)
        return found

    def _note(self, number: int) -> None:
        """Count the solutions in a state."""
        key = self._key(number) if self.reduced else number
        if key in self._states:  # the transformed theory may have several states for one
            return
        with time_limit():
            for solution in self._solutions_in(self._graph.getStateTerm(number)):
                self._states.add(key)
                self._solutions += 1
                if len(self._shown) < _MOST_SHOWN:
                    self._shown.append((number, read_binding(solution)))

    def _solutions_in(self, term: Any) -> Iterator[Any]:
        """There may be very many: they are counted one by one."""
        if self._pattern is not None:
            yield from self._pattern.matches(term)
        elif all(self._letters.of(term)):
            yield ()

    def _key(self, number: int) -> str:
        term = self._graph.getStateTerm(number)
        return self._keys.of(state_in(term) if self.reduced else term)

    # What came of it

    def found(self) -> Finding:
        runs = tuple((moves_along(self._system, self._way(number)), binding) for number, binding in self._shown)
        exact = self._complete and (not self.reduced or self._asked.arrow == "=>!")
        return Finding(self._solutions, len(self._states), exact, runs)

    def _way(self, number: int) -> Sequence[str]:
        """The states on the shortest way to one, by their keys."""
        back = number == 0 and self._back is not None and self._asked.arrow in ("=>1", "=>+")
        numbers = [number]
        if back:
            assert self._back is not None
            numbers.append(self._back)
        while numbers[-1] != 0:
            numbers.append(self._graph.getStateParent(numbers[-1]))
        return [self._key(each) for each in reversed(numbers)]
