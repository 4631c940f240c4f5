"""Transitions as reductions see them: the required points, what is touched, which guards must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    """`stands` are its processes with the points at which they must stand. On its way it may move others, which it
    meets while the turn is held."""

    number: int
    stands: tuple[tuple[Process, int], ...]
    codes: tuple[EdgeCode, ...]
    touch: Touch
    guards: tuple[Guard, ...]
    ends: dict[int, int] = field(default_factory=dict)
    """By slot, for each process that it may move: the set of points to which it does."""
    stores: dict[int, set[int] | None] = field(default_factory=dict)
    """By resource: the values that may be stored there; None if they are not known."""
    starts: frozenset[int] = frozenset()
    """The templates of which it may start processes."""
    meets: frozenset[int] = frozenset()
    """The templates of which it may move processes that do not exist yet."""
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


class Course:
    """An edge with what may follow it: what it touches, where it may end, what it may store and start."""

    def __init__(self, touch: Touch) -> None:
        self.touch = touch
        self.ends: dict[Process, int] = {}
        self.met: dict[Process, int] = {}
        """The points at which processes stand that are met on the way."""
        self.meets: set[int] = set()
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

    def take_answer(self, process: Process, point: int, code: EdgeCode) -> None:
        """A process that stands at a point is met, and takes an edge."""
        self.met[process] = self.met.get(process, 0) | 1 << point
        self.take(process, code)

    def meet(self, later: Later) -> None:
        """Add anything that a process that does not exist yet might do."""
        self.meets |= {later.number, *later.meets}
        self._move(later.ends, later.met)
        self.touch |= later.touch
        self.starts |= later.starts
        self.exits = True
        for cell in bits(later.touch.writes):
            self.stores[1 << cell] = None

    def _move(self, ends: Mapping[Process, int], met: Mapping[Process, int]) -> None:
        for process, points in ends.items():
            self.ends[process] = self.ends.get(process, 0) | points
        for process, points in met.items():
            self.met[process] = self.met.get(process, 0) | points

    def join(self, other: Course) -> Course:
        both = Course(self.touch | other.touch)
        both.starts = self.starts | other.starts
        both.meets = self.meets | other.meets
        both.exits = self.exits or other.exits
        for run in (self, other):
            both._move(run.ends, run.met)
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
    if any(other.answers.get(mover.slot, 0) >> point & 1 for mover, point in one.stands):
        return True
    if any(other.answers.get(slot, 0) & ends for slot, ends in one.ends.items()):
        return True
    return not other.later_answers.isdisjoint({one.template} | one.starts | one.meets)


def may_meet_started(one: Transition, other: Transition) -> bool:
    """May one transition start a process that the other meets on its way? What that one does depends on whether
    there is somebody to meet."""
    return not one.starts.isdisjoint(other.meets)
