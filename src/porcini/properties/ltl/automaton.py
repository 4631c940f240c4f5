"""From a formula to a Büchi automaton: transition-based, with several acceptance conditions.

A tableau, after Couvreur ("On-the-fly verification of linear temporal logic", FM 1999) and Gerth, Peled, Vardi
and Wolper ("Simple on-the-fly automatic verification of linear temporal logic", PSTV 1995). A state is a set of
formulas that must hold from now on. Each is split into alternatives: what must hold of this letter, what must hold
from the next one on, and what is promised:

    p U q   =   q,  or  p and X(p U q) and the promise of q
    p V q   =   p and q,  or  q and X(p V q)

A transition is one alternative for the whole set. There is one acceptance condition for each q that is promised; a
transition is marked with it unless it makes the promise. A run that is marked infinitely often has kept the
promise: if q is postponed, it must still be fulfilled from the next state on.

Sets are bit masks over the subformulas, in the order in which these are written: no result depends on hashes.
`reduction` makes the result smaller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from porcini.core.bits import bits
from porcini.core.errors import LimitHit
from porcini.properties.ltl.formula import (
    And,
    Atom,
    Constant,
    Formula,
    Next,
    Not,
    Or,
    Release,
    Until,
    operands,
    simplify,
    subformulas,
)
from porcini.properties.ltl.reduction import Graph, reduce_automaton


@dataclass(frozen=True, slots=True)
class Transition:
    """It can be taken on letters in which all of `must` hold and none of `must_not`; these are texts of atoms.
    `marks` is the set, as bits, of the acceptance conditions that it satisfies.
    """

    target: int
    must: frozenset[str]
    must_not: frozenset[str]
    marks: int


@dataclass(frozen=True, slots=True)
class Automaton:
    """Accepts a word if some run on it has each of the marks 0 to acceptance - 1 infinitely often; if `acceptance`
    is 0, every infinite run will do. A state without transitions accepts nothing; it can only be the initial one.
    """

    transitions: tuple[tuple[Transition, ...], ...]
    initial: int
    acceptance: int

    @property
    def states(self) -> int:
        return len(self.transitions)


_Alternative = tuple[int, int, int, int]
"""Bit masks: atoms that must hold, atoms that must not, formulas for the next letter, promises made."""

_NOW: list[_Alternative] = [(0, 0, 0, 0)]

_LARGEST = 5000


def translate(formula: Formula) -> Automaton:
    """An automaton that accepts the words of a formula; LimitHit if there are thousands of states, or of
    transitions from one state, on the way.
    """
    tableau = _Tableau(simplify(formula))
    graph, acceptance = reduce_automaton(tableau.graph(), len(tableau.promised))
    names = tableau.atoms
    return Automaton(
        tuple(
            tuple(
                Transition(target, frozenset(_names_in(names, must)), frozenset(_names_in(names, must_not)), marks)
                for must, must_not, target, marks in edges
            )
            for edges in graph
        ),
        0,
        acceptance,
    )


def _names_in(names: Sequence[str], mask: int) -> list[str]:
    return [names[bit] for bit in bits(mask)]


def _weakest(alternatives: Iterable[_Alternative]) -> list[_Alternative]:
    """The alternatives that do not require everything that another one requires."""
    found: set[_Alternative] = set()
    for each in alternatives:
        found.add(each)
        if len(found) > _LARGEST:
            raise LimitHit(f"the automaton of the formula has a state with more than {_LARGEST} transitions")
    kept: list[_Alternative] = []
    for each in sorted(found, key=lambda masks: (sum(mask.bit_count() for mask in masks), masks)):
        a, b, c, d = each
        if not any(not (w & ~a or x & ~b or y & ~c or z & ~d) for w, x, y, z in kept):
            kept.append(each)
    return kept


def _both(first: list[_Alternative], second: list[_Alternative]) -> list[_Alternative]:
    if first == _NOW or second == _NOW:
        return second if first == _NOW else first
    return _weakest(
        (a | e, b | f, c | g, d | h) for a, b, c, d in first for e, f, g, h in second if not ((a | e) & (b | f))
    )


class _Tableau:
    def __init__(self, formula: Formula) -> None:
        self._formulas = subformulas(formula)
        self._number = {f: number for number, f in enumerate(self._formulas)}
        self.atoms = [f.text for f in self._formulas if isinstance(f, Atom)]
        self._atom = {text: number for number, text in enumerate(self.atoms)}
        rights = dict.fromkeys(f.right for f in self._formulas if isinstance(f, Until))
        self.promised = {right: number for number, right in enumerate(rights)}
        self._conjuncts = [self._split(f) for f in self._formulas]
        self._alternatives: list[list[_Alternative]] = []
        for f in self._formulas:  # operands come first
            self._alternatives.append(self._of(f))

    def _split(self, formula: Formula) -> int:
        mask = 0
        for f in operands(formula, And):
            if f != Constant(True):
                mask |= 1 << self._number[f]
        return mask

    def _of(self, formula: Formula) -> list[_Alternative]:
        def of(f: Formula) -> list[_Alternative]:
            return self._alternatives[self._number[f]]

        match formula:
            case Constant(value):
                return _NOW if value else []
            case Atom(text):
                return [(1 << self._atom[text], 0, 0, 0)]
            case Not(Atom(text)):
                return [(0, 1 << self._atom[text], 0, 0)]
            case Not():
                raise AssertionError("not in negation normal form")
            case And(p, q):
                return _both(of(p), of(q))
            case Or(p, q):
                return _weakest([*of(p), *of(q)])
            case Next(p):
                return [(0, 0, self._conjuncts[self._number[p]], 0)]
            case Until(p, q):
                later = (0, 0, 1 << self._number[formula], 1 << self.promised[q])
                return _weakest([*of(q), *_both(of(p), [later])])
            case Release(p, q):
                for_ever = (0, 0, 1 << self._number[formula], 0)
                return _both(of(q), _weakest([*of(p), for_ever]))

    def _state(self, mask: int) -> int:
        """The state without what another member implies: p V q implies q."""
        said = 0
        for number in bits(mask):
            f = self._formulas[number]
            if isinstance(f, Release):
                said |= self._conjuncts[self._number[f.right]]
        return mask & ~said

    def graph(self) -> Graph:
        """All states that can be reached, the initial one first; each with its edges."""
        first = self._state(self._conjuncts[-1])
        number = {first: 0}
        waiting, made = [first], Graph()
        every = (1 << len(self.promised)) - 1
        for state in waiting:  # grows on the way
            alternatives = _NOW
            for member in bits(state):
                alternatives = _both(alternatives, self._alternatives[member])
            edges = []
            for must, must_not, rest, promises in alternatives:
                target = self._state(rest)
                if target not in number:
                    number[target] = len(number)
                    waiting.append(target)
                edges.append((must, must_not, number[target], every & ~promises))
            made.append(edges)
            if len(number) > _LARGEST:
                raise LimitHit(f"the automaton of the formula has more than {_LARGEST} states")
        return made
