"""How large a generated program may be, so that it can be judged in some tens of milliseconds.

A class of a program without loops or guards is an orientation of its pairs of dependent steps, so n pairs make at
most 2**n classes: a generator asks a `Budget` before it adds a step. Steps that depend on nothing make no classes
but states, about as many as the product of `step_counts`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from random import Random

Names = frozenset[str]
MOST_STATES = 300


def step_counts(random: Random, processes: int) -> list[int]:
    """How many steps each process may take: 1 to 3, fewer where there are many processes."""
    assert 2**processes <= MOST_STATES
    most = random.choice((1, 2, 3, 3))
    counts = [random.randint(1, most) for _ in range(processes)]
    while prod(count + 1 for count in counts) > MOST_STATES:
        counts[random.randrange(processes)] = 1
    return counts


@dataclass(slots=True)
class Budget:
    pairs: int
    accesses: list[tuple[int, Names, Names, int]] = field(default_factory=list)

    def admits(self, process: int, touched: Names, written: Names, steps: int) -> bool:
        """May a process take so many steps that touch these names? If it may, they are counted."""
        cost = 0
        for other, others_touched, others_written, others_steps in self.accesses:
            if other != process and (_overlap(touched, others_written) or _overlap(written, others_touched)):
                cost += steps * others_steps
        if cost > self.pairs:
            return False
        self.pairs -= cost
        self.accesses.append((process, touched, written, steps))
        return True


def _overlap(some: Names, others: Names) -> bool:
    """Have they a name in common? An array has its cells in common with them."""
    if not some.isdisjoint(others):
        return True
    arrays, other_arrays = _arrays(some), _arrays(others)
    return not arrays.isdisjoint(others) or not other_arrays.isdisjoint(some)


def _arrays(names: Names) -> Names:
    return frozenset(name.partition("[")[0] for name in names if "[" in name)
