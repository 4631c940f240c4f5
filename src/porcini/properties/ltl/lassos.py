"""Words that repeat a loop for ever after a stem: whether a formula holds, and whether an automaton accepts.

`holds` follows the definition of the operators, by fixpoints over the positions. It shares nothing with the
translation, so that tests can check the translation and its counterexamples against it. A letter is the set of the
texts of the atoms that hold in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from porcini.core.components import strongly_connected_components
from porcini.properties.ltl.automaton import Automaton
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
    subformulas,
)

Letter = AbstractSet[str]


def holds(formula: Formula, stem: Sequence[Letter], loop: Sequence[Letter]) -> bool:
    """Does the formula hold of the word `stem loop loop ...`?"""
    letters, after = _positions(stem, loop)
    everywhere = range(len(letters))
    value: dict[Formula, list[bool]] = {}
    for f in subformulas(formula):
        match f:
            case Constant(truth):
                value[f] = [truth] * len(letters)
            case Atom(text):
                value[f] = [text in letter for letter in letters]
            case Not(p):
                value[f] = [not truth for truth in value[p]]
            case And(p, q):
                value[f] = [value[p][k] and value[q][k] for k in everywhere]
            case Or(p, q):
                value[f] = [value[p][k] or value[q][k] for k in everywhere]
            case Next(p):
                value[f] = [value[p][after[k]] for k in everywhere]
            case Until(p, q):  # the least solution: from false
                now = value[f] = [False] * len(letters)
                for k in 2 * list(reversed(everywhere)):
                    now[k] = value[q][k] or (value[p][k] and now[after[k]])
            case Release(p, q):  # the greatest: from true
                now = value[f] = [True] * len(letters)
                for k in 2 * list(reversed(everywhere)):
                    now[k] = value[q][k] and (value[p][k] or now[after[k]])
    return value[formula][0]


def accepts(automaton: Automaton, stem: Sequence[Letter], loop: Sequence[Letter]) -> bool:
    """Does the automaton accept the word `stem loop loop ...`?"""
    letters, after = _positions(stem, loop)
    pairs = [(automaton.initial, 0)]
    number = {pairs[0]: 0}
    edges: list[list[tuple[int, int]]] = []  # of each pair of a state and a position: (target, marks)
    for state, position in pairs:  # grows on the way
        found = []
        for step in automaton.transitions[state]:
            if step.must <= letters[position] and not step.must_not & letters[position]:
                pair = step.target, after[position]
                if pair not in number:
                    number[pair] = len(pairs)
                    pairs.append(pair)
                found.append((number[pair], step.marks))
        edges.append(found)
    component = strongly_connected_components([[target for target, _ in found] for found in edges])
    marked: dict[int, int] = {}
    for source, found in enumerate(edges):
        for target, marks in found:
            if component[source] == component[target]:
                marked[component[source]] = marked.get(component[source], 0) | marks
    return (1 << automaton.acceptance) - 1 in marked.values()


def _positions(stem: Sequence[Letter], loop: Sequence[Letter]) -> tuple[list[Letter], list[int]]:
    """The letters, and for each position the one after it."""
    if not loop:
        raise ValueError("the loop of a lasso is empty")
    letters = [*stem, *loop]
    return letters, [*range(1, len(letters)), len(stem)]
