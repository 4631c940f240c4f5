"""The states of a packed program and their successors, which are looked up in tables instead of computed.

What a process does depends on a few bits of the state only: its point, what its edges read, and what they write.
So its steps are computed once for each value of those bits, and stored as differences: a successor is a sum.
Processes whose bits take few values are looked up together, as one group; a state then costs a few masks and
lookups.

Between states nobody holds the turn: an atomic sequence is one step. In SPIN, too, formulas do not see the states
inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from porcini.core.errors import InternalError, LimitHit
from porcini.core.events import FailureKind
from porcini.ir.operations import Receive, Send, Spawn
from porcini.ir.packed.code import EdgeCode
from porcini.ir.packed.layout import FAILED, HOLDER, POPULATION, POPULATION_AT
from porcini.ir.packed.processes import Process, ProcessSet
from porcini.ir.packed.system import PackedStep, PackedSystem, always_meets, rendezvous
from porcini.ir.packed.touch import EVERYTHING
from porcini.ir.program import MOST_PROCESSES

_SAMPLE = 512
"""How many states with the same processes are visited before these are put into groups."""
_MOST_VIEWS = 4_096
"""The approximate limit on the entries in the table of a group."""
_MOST_KEPT = 1 << 20
LONGEST_ATOMIC = 1_000_000


class MacroMove(NamedTuple):
    """A step of one process, with the rest of an atomic sequence after it, and by how much it changes the
    state."""

    code: EdgeCode
    partner: Process | None
    partner_code: EdgeCode | None
    change: int


class Moves:
    """The moves of one unit. All states in which they are the same share one object, so that what is computed
    about it can be cached."""

    __slots__ = ("all",)

    def __init__(self, moves: Iterable[MacroMove]) -> None:
        self.all = tuple(moves)


class Unit:
    """The unit of a lookup: the moves of one process; or, with `other`, the rendezvous in which it sends to that
    process. For the points of these, a table holds the bits that their moves depend on, and the moves for each
    value of these bits."""

    __slots__ = ("interned", "other", "points", "process", "tables")

    def __init__(self, process: Process, other: Process | None = None) -> None:
        self.interned: dict[tuple[MacroMove, ...], Moves] = {}
        self.process, self.other = process, other
        self.points = process.toucher.point | (process.selecting_bits if other is None else other.toucher.point)
        self.tables: dict[int, tuple[int, dict[int, Moves]]] = {}


class _Group:
    """Units that are looked up together."""

    __slots__ = ("points", "tables", "units")

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units = tuple(units)
        self.points = 0
        for unit in units:
            self.points |= unit.points
        self.tables: dict[int, tuple[int, dict[int, tuple[int, ...]]]] = {}


class _Tables:
    """The tables for one set of processes."""

    __slots__ = ("groups", "of_process", "states", "units")

    def __init__(self, present: ProcessSet) -> None:
        self.of_process = {process: _units(present, process) for process in present.members}
        self.units = tuple(unit for units in self.of_process.values() for unit in units)
        self.groups = [_Group([unit]) for unit in self.units]
        self.states = 0


def _units(present: ProcessSet, process: Process) -> list[Unit]:
    """One unit for a process, and one for each that it may meet, where a rendezvous depends on these two alone."""
    units = [Unit(process)]
    if not _separable(present, process):
        return units
    sent = [code for code in _talking(process, Send) if rendezvous(code)]
    for other in present.members:
        if other is not process and any(may_meet(a, b) for a in sent for b in _talking(other, Receive)):
            units.append(Unit(process, other))
    return units


def _separable(present: ProcessSet, process: Process) -> bool:
    """Does nothing else depend on whether a rendezvous is possible: no `else`, and nobody who keeps the turn?"""
    if process.toucher.layout.program.priorities is not None:
        return False
    for point in process.template.points:
        if any(edge.atomic for edge in point.edges):
            return False
        sends = any(isinstance(edge.talk, Send) for edge in point.edges)
        if any(edge.rank for edge in point.edges):
            return False
        if sends and any(edge.otherwise or edge.d_step for edge in point.edges):
            return False
    sent = [code for code in _talking(process, Send) if rendezvous(code)]
    if not sent or not all(map(always_meets, sent)):
        return False
    return not any(
        (code.edge.atomic or code.edge.d_step) and any(may_meet(a, code) for a in sent)
        for other in present.members
        for code in _talking(other, Receive)
    )


def _talking(process: Process, kind: type) -> Iterator[EdgeCode]:
    for number, point in enumerate(process.template.points):
        if any(isinstance(edge.talk, kind) for edge in point.edges):
            yield from (code for code in process.point(number).edges if isinstance(code.edge.talk, kind))


class Space:
    """The graph of states: `initial`, `successors`, and for reductions `moves` of one process."""

    def __init__(self, system: PackedSystem) -> None:
        self.system = system
        self.failures: dict[FailureKind, tuple[int, int]] = {}
        """For each kind, the first failing move that was found: the state before it and the one after."""
        self._tables: dict[ProcessSet, _Tables] = {}
        # If no process is started at run time, their number determines the set: the youngest process ends first.
        self._by_population: list[ProcessSet | None] | None = (
            None if system.starts else [None] * (MOST_PROCESSES + 1)
        )

    def initial(self) -> int:
        return self.system.initial()

    def successors(self, s: int) -> list[int]:
        """The successors of a state, one for each move."""
        present = self.present(s)
        seen = self._tables_of(present)
        after: list[int] = []
        for group in seen.groups:
            points = s & group.points
            table = group.tables.get(points)
            if table is None:
                table = group.tables[points] = self._mask(present, group.units, s), {}
            mask, known = table
            view = s & mask
            changes = known.get(view)
            if changes is None:
                changes = known[view] = tuple(
                    move.change for unit in group.units for move in self.lookup_moves(s, present, unit).all
                )
            for change in changes:
                after.append(s + change)
        seen.states += 1
        if seen.states == _SAMPLE:
            self._regroup(seen)
        if not after and self.system.uses_timeout:
            return [
                s + move.change for process in present.members for move in self.quiet_moves(s, present, process)
            ]
        return after

    def present(self, s: int) -> ProcessSet:
        if self._by_population is None:
            return self.system.present(s)
        population = (s & POPULATION) >> POPULATION_AT
        present = self._by_population[population]
        if present is None:
            present = self._by_population[population] = self.system.present(s)
        return present

    def _tables_of(self, present: ProcessSet) -> _Tables:
        seen = self._tables.get(present)
        if seen is None:
            seen = self._tables[present] = _Tables(present)
        return seen

    def units(self, present: ProcessSet) -> tuple[Unit, ...]:
        """The units of all processes, in order."""
        return self._tables_of(present).units

    def moves(self, s: int, present: ProcessSet, process: Process) -> list[MacroMove]:
        """What one process can do in a state."""
        units = self._tables_of(present).of_process[process]
        return [move for unit in units for move in self.lookup_moves(s, present, unit).all]

    def lookup_all_moves(self, s: int, present: ProcessSet) -> tuple[Moves, ...]:
        """The moves of all units in a state."""
        found: list[Moves] = []
        for unit in self._tables_of(present).units:
            table = unit.tables.get(s & unit.points)
            moves = None if table is None else table[1].get(s & table[0])
            found.append(self.lookup_moves(s, present, unit) if moves is None else moves)
        return tuple(found)

    def lookup_moves(self, s: int, present: ProcessSet, unit: Unit) -> Moves:
        """The moves of a unit in a state, computed once for each value of the bits that they depend on."""
        mask, known = self._table_of(s, present, unit)
        moves = known.get(s & mask)
        if moves is None:
            if len(known) >= _MOST_KEPT:
                known.clear()
            found = tuple(self._moves(s, self._steps_of(s, present, unit, mask)))
            moves = known[s & mask] = unit.interned.setdefault(found, Moves(found))
        return moves

    def _table_of(self, s: int, present: ProcessSet, unit: Unit) -> tuple[int, dict[int, Moves]]:
        """The bits that the moves of a unit depend on where it stands, and the moves for their values."""
        table = unit.tables.get(s & unit.points)
        if table is None:
            table = unit.tables[s & unit.points] = self._unit_mask(s, present, unit), {}
        return table

    @staticmethod
    def mask_of(s: int, unit: Unit) -> int:
        """The bits that the moves of a unit depend on, in a state for which they have been looked up."""
        return unit.tables[s & unit.points][0]

    def _steps_of(self, s: int, present: ProcessSet, unit: Unit, mask: int) -> list[PackedStep]:
        if unit.other is None:
            alone = len(self._tables_of(present).of_process[unit.process]) == 1
            return self.system.steps_of(s, present, unit.process, meetings=alone)
        if not mask:
            return []  # no rendezvous is possible at the points of these two
        return self.system.meetings_of(s, present, unit.process, unit.other)

    def _unit_mask(self, s: int, present: ProcessSet, unit: Unit) -> int:
        process, other = unit.process, unit.other
        if other is None:
            alone = len(self._tables_of(present).of_process[process]) == 1
            return self._relevant_bits(present, process, s, meetings=alone)
        here, there = process.at(s), other.at(s)
        sends = [c for c in here.edges if isinstance(c.edge.talk, Send) and rendezvous(c)]
        takes = [c for c in there.edges if isinstance(c.edge.talk, Receive) and rendezvous(c)]
        if not any(may_meet(a, b) for a in sends for b in takes):
            return 0
        return FAILED | here.touch.bits | there.touch.bits

    def quiet_moves(self, s: int, present: ProcessSet, process: Process) -> list[MacroMove]:
        """The moves of a process when nothing can be done without `timeout`."""
        return self._moves(s, self.system.steps_of(s, present, process, quiet=True))

    def _moves(self, s: int, steps: Iterable[PackedStep]) -> list[MacroMove]:
        found: list[MacroMove] = []
        for step in steps:
            if step.failure is not None:
                self.failures.setdefault(step.failure.kind, (s, step.after))
            ends = self._ends(s, step.after) if step.after & HOLDER else [step.after]
            found += [MacroMove(step.code, step.partner, step.partner_code, after - s) for after in ends]
        return found

    def _ends(self, start: int, s: int) -> list[int]:
        """The states in which the turn is given up, reached from a state in which it is held; `start` is the state
        before the whole sequence."""
        seen, left, ends = {s}, [s], []
        while left:
            for step in self.system.steps(left.pop()):
                after = step.after
                if step.failure is not None:
                    self.failures.setdefault(step.failure.kind, (start, after))
                if not after & HOLDER:
                    ends.append(after)
                elif after not in seen:
                    seen.add(after)
                    left.append(after)
                    if len(seen) > LONGEST_ATOMIC:
                        raise LimitHit(f"the limit of {LONGEST_ATOMIC:,} states inside one atomic sequence")
        if not ends:
            raise LimitHit("an atomic sequence that never ends")
        return list(dict.fromkeys(ends))

    def steps_between(self, s: int, after: int) -> list[PackedStep]:
        """The steps from a state to one of its successors."""
        for step in self.system.steps(s):
            if step.after == after:
                return [step]
        paths = [(step.after, [step]) for step in self.system.steps(s) if step.after & HOLDER]
        seen = {state for state, _ in paths}
        while paths:
            state, path = paths.pop()
            for step in self.system.steps(state):
                if step.after == after:
                    return [*path, step]
                if step.after & HOLDER and step.after not in seen:
                    seen.add(step.after)
                    paths.append((step.after, [*path, step]))
        raise InternalError("no step leads from a state to its successor")

    # What moves depend on

    def _mask(self, present: ProcessSet, units: Sequence[Unit], s: int) -> int:
        mask = 0
        for unit in units:
            mask |= self._table_of(s, present, unit)[0]
        return mask

    def _relevant_bits(self, present: ProcessSet, process: Process, s: int, meetings: bool = True) -> int:
        """The bits on which the moves of a process from where it stands depend, with all that follows while the
        turn is held."""
        start = process.here(s)
        bits = FAILED | process.bits_at(s)  # a change of the failure bits depends on their old value
        left = [(process, start)]
        seen: set[tuple[Process, int]] = set(left)
        starts = meets = False
        while left:
            mover, number = left.pop()
            here = mover.point(number)
            if mover is not process or number != start:
                bits |= here.touch.bits
            for code in here.edges:
                followed = [(mover, code.edge.target)] if code.edge.atomic or code.edge.d_step else []
                starts = starts or any(isinstance(op, Spawn) for op in code.edge.block)
                if meetings and rendezvous(code) and not isinstance(code.edge.talk, Receive):
                    meets = True
                    for other in present.members:
                        if other is not mover:
                            bits |= other.toucher.point
                            bits |= self._answers(other, code, followed)
                for pair in followed:
                    if pair not in seen:
                        seen.add(pair)
                        left.append(pair)
        # A process that is started meanwhile may answer, and nothing is known about it yet.
        return EVERYTHING if starts and meets else bits

    def _answers(self, other: Process, sent: EdgeCode, followed: list[tuple[Process, int]]) -> int:
        """The bits read by the edges by which another process may receive in a rendezvous."""
        bits = 0
        for point in range(len(other.template.points)):
            edges = other.template.points[point].edges
            if not any(isinstance(edge.talk, Receive) for edge in edges):
                continue
            for code, touch in zip(other.point(point).edges, other.point(point).touches, strict=True):
                if isinstance(code.edge.talk, Receive) and may_meet(sent, code):
                    bits |= touch.bits
                    if code.edge.atomic or code.edge.d_step:
                        followed.append((other, code.edge.target))
        return bits

    def _regroup(self, seen: _Tables) -> None:
        """Join groups with few entries, as long as the expected number of entries stays small."""
        groups: list[_Group] = []
        units: list[Unit] = []
        expected = 1
        sizes = [(group, sum(len(known) for _, known in group.tables.values())) for group in seen.groups]
        for group, size in sizes:
            if units and expected * size > _MOST_VIEWS:
                groups.append(_Group(units))
                units, expected = [], 1
            units += group.units
            expected *= max(size, 1)
        if units:
            groups.append(_Group(units))
        seen.groups = groups


def may_meet(sent: EdgeCode, received: EdgeCode) -> bool:
    """May these two be the halves of one rendezvous?"""
    if not rendezvous(received):
        return False
    if sent.among is None or received.among is None:
        return True
    return not {channel.id for channel in sent.among}.isdisjoint(channel.id for channel in received.among)
