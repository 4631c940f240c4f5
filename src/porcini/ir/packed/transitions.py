"""Transitions as reductions see them: the required points, what is touched, which guards must hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from porcini.core.bits import bits
from porcini.ir.operations import Assign, Spawn, Target, variable_of
from porcini.ir.packed.code import EdgeCode
from porcini.ir.packed.later import Later
from porcini.ir.packed.processes import Process
from porcini.ir.packed.touch import Touch
from porcini.ir.program import targets_of

ANYTHING = -1
"""A set of resources: any write may matter."""
NOBODY = 0
"""A set of resources: no write matters."""


@dataclass(eq=False, slots=True)
class Guard:
    """A condition of a transition. If `holds` is None, it counts as false whenever the transition is disabled."""

    wakes: int
    holds: Callable[[int], bool] | None
    bits: int
    """The bits of the state that `holds` depends on."""
    cell: int = 0
    """The only resource that it reads, if there is just one and `test` decides it by the value alone."""
    test: Callable[[int], bool] | None = None
    template: int | None = None
    """If it waits for a new process to be started: the template of that process."""
    enablers: int | None = None


@dataclass(eq=False, slots=True)
class Transition:
    """`stands` are its processes with the points at which they must stand."""

    number: int
    stands: tuple[tuple[Process, int], ...]
    codes: tuple[EdgeCode, ...]
    touch: Touch
    guards: tuple[Guard, ...]
    ends: tuple[int, ...] = ()
    """For each of its processes, the set of points at which it may stand afterwards."""
    stores: dict[int, set[int] | None] = field(default_factory=dict)
    """By resource: the values that may be stored there; None if they are not known."""
    starts: frozenset[int] = frozenset()
    template: int | None = None
    """For the steps of processes that do not exist yet: their template."""
    answers: dict[int, int] = field(default_factory=dict)
    """For an `else` beside a rendezvous, by slot: the points at which other processes would answer. The `else` is
    disabled while one of them stands there."""
    later_answers: frozenset[int] = frozenset()
    """The same for processes that do not exist yet, by template."""
    forward: bool = False
    """Do all processes that it moves come to points with larger numbers? Then a cycle has other transitions,
    too."""
    conflicts: int | None = field(default=None)


class Run:
    """An edge with what may follow it: what it touches, where it may end, what it may store and start."""

    def __init__(self, touch: Touch) -> None:
        self.touch = touch
        self.ends: dict[Process, int] = {}
        self.stores: dict[int, set[int] | None] = {}
        self.starts: set[int] = set()
        self.exits = False
        """May one of its processes end?"""

    def take(self, process: Process, code: EdgeCode) -> None:
        self.ends[process] = self.ends.get(process, 0) | 1 << code.edge.target
        self.starts |= {op.template for op in code.edge.block if isinstance(op, Spawn)}
        self.exits = self.exits or code.edge.exits
        known: set[Target] = set()
        for op in code.edge.block:
            if isinstance(op, Assign):
                value = process.constants.of(op.value)
                bounds = process.toucher.layout.declared[variable_of(op.target)].bounded
                if value is not None and bounds.holds(value):
                    self._store(process, op.target, value)
                    known.add(op.target)
        targets = list(targets_of(code.edge))
        assigned = [variable_of(target) for target in targets]
        for target in targets:
            if target not in known or assigned.count(variable_of(target)) > 1:
                self._store(process, target, None)

    def _store(self, process: Process, target: Target, value: int | None) -> None:
        for cell in bits(process.toucher.cells(target)):
            values = self.stores.setdefault(1 << cell, set())
            if value is None or values is None:
                self.stores[1 << cell] = None
            else:
                values.add(value)

    def meet(self, later: Later) -> None:
        """Add anything that a process that does not exist yet might do."""
        self.touch |= later.touch
        self.starts |= later.starts
        self.exits = True
        for cell in bits(later.touch.writes):
            self.stores[1 << cell] = None

    def join(self, other: Run) -> Run:
        both = Run(self.touch | other.touch)
        both.starts = self.starts | other.starts
        both.exits = self.exits or other.exits
        for run in (self, other):
            for process, ends in run.ends.items():
                both.ends[process] = both.ends.get(process, 0) | ends
            for cell, values in run.stores.items():
                if values is None or both.stores.get(cell, set()) is None:
                    both.stores[cell] = None
                else:
                    both.stores[cell] = (both.stores.get(cell) or set()) | values
        return both


def disturbs(one: Transition, other: Transition) -> bool:
    """May one transition move a process to or from a point where it disables the other one, which is an `else`?"""
    if not other.answers and not other.later_answers:
        return False
    for (mover, point), ends in zip(one.stands, one.ends, strict=False):
        if other.answers.get(mover.slot, 0) & (1 << point | ends):
            return True
    return one.template in other.later_answers or not other.later_answers.isdisjoint(one.starts)
