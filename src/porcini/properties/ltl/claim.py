"""Claims over the states of programs: the automaton of a formula, with its atoms evaluated."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from porcini.core.systems import LetterPart
from porcini.properties.ltl.automaton import Automaton

S = TypeVar("S", bound=Hashable)


class FormulaClaim(Generic[S]):
    """The automaton of a formula (`engines.product.LetterClaim`). `letter` gives the atoms of a state, as bits;
    `parts` are what it consists of, if that is known."""

    def __init__(
        self,
        automaton: Automaton,
        atoms: Sequence[str],
        letter: Callable[[S], int],
        parts: Sequence[LetterPart[S]] | None = None,
    ) -> None:
        self.initial, self.acceptance, self.states = automaton.initial, automaton.acceptance, automaton.states
        self.lists = None if parts is None else [parts]
        numbers = {atom: 1 << number for number, atom in enumerate(atoms)}
        self._letter = letter
        self._transitions = [
            [
                (
                    sum(numbers[atom] for atom in transition.must),
                    sum(numbers[atom] for atom in transition.must_not),
                    (transition.target, transition.marks),
                )
                for transition in transitions
            ]
            for transitions in automaton.transitions
        ]
        self._known: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def moves(self, here: int, state: S) -> Sequence[tuple[int, int]]:
        return self.moves_on(here, self._letter(state))

    def moves_on(self, here: int, letter: int) -> Sequence[tuple[int, int]]:
        found = self._known.get((here, letter))
        if found is None:
            found = self._known[here, letter] = [
                move
                for must, must_not, move in self._transitions[here]
                if not must & ~letter and not must_not & letter
            ]
        return found
