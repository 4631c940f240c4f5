"""Wakeup trees: what is still to be explored from a state, as sequences that share their beginnings.

Abdulla, Aronis, Jonsson and Sagonas, "Source Sets", JACM 2017, section 6. A tree is a list of branches, in the
order in which they will be explored; a branch is an event and the tree below it; a branch with nothing below it is
a leaf, from which the search goes on freely.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from porcini.core.events import Event
from porcini.core.execution import Dependence


@dataclass(slots=True)
class Branch:
    event: Event
    below: list[Branch] = field(default_factory=list)


Tree = list[Branch]


INDEPENDENT = -1


def weak_initial(event: Event, sequence: Iterable[Event], dependence: Dependence) -> int | None:
    """The position of an event in a sequence that it can begin; INDEPENDENT if it is independent of the whole
    sequence; None if it is not a weak initial of the sequence.
    """
    depends = dependence.of(event)
    for k, other in enumerate(sequence):
        if depends[other]:
            return k if other.move == event.move else None
    return INDEPENDENT


def initials(sequence: Sequence[Event], dependence: Dependence) -> list[Event]:
    """The events of a sequence that can be moved to its front."""
    return [
        event
        for k, event in enumerate(sequence)
        if not any(dependence.dependent(earlier, event) for earlier in sequence[:k])
    ]


def insert(tree: Tree, sequence: Sequence[Event], dependence: Dependence) -> bool:
    """Add a sequence to a tree, unless exploring the tree as it is will cover it.

    Follow branches that are weak initials of the rest of the sequence. If a leaf is reached, or nothing is left,
    the sequence is covered; where no branch fits, the rest becomes a new branch, to be explored last.
    """
    rest = list(sequence)
    rest.reverse()  # so that the first event can be popped off the end
    while rest:
        for branch in tree:
            if branch.event is rest[-1]:
                rest.pop()
                break
            k = weak_initial(branch.event, reversed(rest), dependence)
            if k is not None:
                if k != INDEPENDENT:
                    del rest[-1 - k]
                break
        else:
            for event in reversed(rest):
                tree.append(Branch(event))
                tree = tree[-1].below
            return True
        if not branch.below:
            return False
        tree = branch.below
    return False
