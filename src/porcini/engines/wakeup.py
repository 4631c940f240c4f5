"""Wakeup trees: what is still to be explored from a state, as sequences that share their beginnings.

Abdulla, Aronis, Jonsson and Sagonas, "Source Sets", JACM 2017, section 6. A tree is a list of branches, in the
order in which they will be explored; a branch is an event and the tree below it; a branch with nothing below is
a leaf, from which the search goes on freely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from porcini.core.events import Event
from porcini.engines.execution import Dependence


@dataclass(slots=True)
class Branch:
    event: Event
    below: list[Branch] = field(default_factory=list)


Tree = list[Branch]


def without(event: Event, sequence: Sequence[Event], dependence: Dependence) -> Sequence[Event] | None:
    """The sequence after an event, if that is a weak initial of it; None if it is not.

    A weak initial can be moved to the front (it is dropped from the rest), or is independent of everything.
    """
    for k, other in enumerate(sequence):
        if other.pid == event.pid:
            return (*sequence[:k], *sequence[k + 1 :]) if other.choice == event.choice else None
        if dependence.dependent(event, other):
            return None
    return sequence


def initials(sequence: Sequence[Event], dependence: Dependence) -> list[Event]:
    """The events of a sequence that can be moved to its front."""
    return [
        event
        for k, event in enumerate(sequence)
        if not any(dependence.dependent(earlier, event) for earlier in sequence[:k])
    ]


def insert(tree: Tree, sequence: Sequence[Event], dependence: Dependence) -> bool:
    """Add a sequence to a tree, unless exploring the tree as it is will cover it (Definition 6.2).

    Follow branches that are weak initials of what is left. A leaf reached, or nothing left, means covered;
    where no branch fits, the rest becomes a new one, to be explored last.
    """
    while True:
        for branch in tree:
            rest = without(branch.event, sequence, dependence)
            if rest is not None:
                break
        else:
            for event in sequence:
                tree.append(Branch(event))
                tree = tree[-1].below
            return True
        if not branch.below or not rest:
            return False
        tree, sequence = branch.below, rest
