"""The graph of a packed program, searched by native code (`porcini.native`) with tables that the reference fills.

What a process can do depends on a few bits of the state, and the reference works it out once for each value of
these (`ir.packed.space`). Here the C search keeps such tables, and asks for what is not in them. So every step is
the reference's own, whatever the language has; the C code only looks up, changes bits, and compares states.

    is_small   the first states, by the reference: which bits change at all, and are there more states than these?
    explore    the search: it answers what the C code asks, until all states are expanded
    _answer    what a unit can do in a state, as changes

*States* are differences to the initial one, in the bits that have been seen to change, in the order in which they
were (`_Bits`). A bit that changes for the first time is added at the end: it is 0 in all states so far, because it
is what it was at the start. Masks of tables may then have to contain it, so all tables are filled again.

*Why* a change may be kept as an exclusive or, where the reference adds: it is keyed by all bits that the moves
depend on, and by all bits that it flips. In two states that agree in these, adding the same number flips the same
bits: a carry is settled by the number and by bits that are flipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from porcini.core.bits import bits
from porcini.core.errors import LimitHit
from porcini.engines.graph import Graph
from porcini.engines.options import Order
from porcini.engines.stats import SearchStats
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.layout import POPULATION
from porcini.ir.packed.space import Unit
from porcini.native import library
from porcini.native.library import MOST_BITS, NativeSearch

FEW_STATES = 20_000
"""Graphs that are no larger than this are left to the reference: it has seen them by then."""
_BETWEEN_LOOKS = 1 << 15


class _Bits:
    """The bits of states that change, and where they are in native states."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.mask = 0
        self._order: list[int] = []
        self._place: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._order)

    def add(self, changed: int) -> bool:
        """Some bits change; are they new?"""
        new = changed & ~self.mask
        self.mask |= new
        for bit in bits(new):
            self._place[bit] = len(self._order)
            self._order.append(bit)
        if len(self._order) > MOST_BITS:
            raise LimitHit(f"the limit of {MOST_BITS:,} bits that change, for native code")
        return bool(new)

    def pack(self, mask: int) -> int:
        """Bits of a state, or of a difference, as those of a native state; what never changes is left out."""
        place = self._place
        return sum(1 << place[bit] for bit in bits(mask & self.mask))

    def unpack(self, native: int) -> int:
        order = self._order
        return self.start ^ sum(1 << order[bit] for bit in bits(native))


class NativeGraph(Graph[int]):
    """A search without a reduction, breadth first."""

    def __init__(self, graph: PackedGraph, stats: SearchStats, *, hash_mask: int = library.ALL_BITS) -> None:
        super().__init__(graph, None, stats)
        self.space = graph.space
        self.system = graph.space.system
        self.hash_mask = hash_mask
        self.bits = _Bits(self.space.initial())
        self._flipped: dict[tuple[Unit, int], int] = {}
        """Bits that are changed and not looked at: of units, by where they stand."""
        self._forget()

    def _forget(self) -> None:
        """The tables of the C search are empty."""
        self._units: dict[Unit, int] = {}
        self._tables: set[tuple[Unit, int]] = set()
        self._presence: int | None = None

    def is_small(self) -> bool:
        """Has the reference seen all states within the first few?"""
        return len(list(islice(self._learn(), FEW_STATES + 1))) <= FEW_STATES

    def _learn(self) -> Iterator[int]:
        """States by the reference, breadth first: the bits that change in them are added. They stay in `found`,
        with the ways to them: a failure that is seen here may be reported before native code has come to it."""
        found = self.found
        found[self.bits.start] = None
        todo = [self.bits.start]
        for state in todo:
            yield state
            for after in self.space.successors(state):
                if after not in found:
                    found[after] = state
                    todo.append(after)
                    self.bits.add(state ^ after)

    def explore(self, order: Order) -> None:
        self.native = NativeSearch(len(self.bits), self.hash_mask)
        try:
            while self._go_on():
                self._count()
                self.stats.check_limits()
                if self.native.states > self.stats.limits.states:
                    raise LimitHit(f"the limit of {self.stats.limits.states:,} states")
                if len(self.graph.failures) > len(self._noted) and self.stats.violated:
                    self._note_failures()
        except MemoryError:
            raise LimitHit("the memory that can be had") from None
        finally:
            self._count()
        self._note_failures()

    def _go_on(self) -> bool:
        """Is there more to do?"""
        asked = self.native.run(_BETWEEN_LOOKS)
        if asked == library.DONE:
            return False
        if asked == library.MEMORY:
            raise MemoryError
        if asked == library.TOO_MANY:
            raise LimitHit("the limit of 65,536 successors of one state, for native code")
        if asked != library.TIME:
            native = self.native.at_hand()
            state = self.bits.unpack(native)
            if asked == library.END:
                self._answer_end(state)
            elif asked == library.SET:
                self._answer_set(state, native)
            else:
                self._answer(library.UNIT - asked, state, native)
        return True

    def _grow(self) -> None:
        """More bits change than was known."""
        self.native.widen(len(self.bits))
        self._forget()

    def _answer_end(self, state: int) -> None:
        """Nothing can be done without `timeout`."""
        present = self.space.present(state)
        after: list[int] = []
        if self.system.uses_timeout:
            moves = [m for process in present.members for m in self.space.quiet_moves(state, present, process)]
            after = [state + move.change for move in moves]
        if self.bits.add(_union(state ^ each for each in after)):
            self._grow()
            return
        if not after:
            self._report_end(state)
        self.native.answer_end([self.bits.pack(each ^ self.bits.start) for each in after])

    def _answer_set(self, state: int, native: int) -> None:
        """Which processes there are is told by how many there are, of which kinds, and by their constants."""
        telling = POPULATION | self.system.presence_bits(state)
        if self._presence is None:
            self._presence = telling
            self.native.set_presence(self.bits.pack(telling))
        elif telling & ~self._presence:
            telling |= self._presence
            self.native.widen(len(self.bits))
            self._forget()
            self._presence = telling
            self.native.set_presence(self.bits.pack(telling))
        units = self.space.units(self.space.present(state))
        for unit in units:
            if unit not in self._units:
                self._units[unit] = len(self._units)
                self.native.add_unit(self.bits.pack(unit.points))
        self.native.add_set(native, [self._units[unit] for unit in units])

    def _answer(self, number: int, state: int, native: int) -> None:
        """What one unit can do."""
        present = self.space.present(state)
        unit = next(unit for unit in self.space.units(present) if self._units[unit] == number)
        moves = self.space.lookup_moves(state, present, unit)
        changes = [state ^ (state + move.change) for move in moves.all]
        if self.bits.add(_union(changes)):
            self._grow()
            return
        where = unit, state & unit.points
        mask = self.space.mask_of(state, unit)
        flipped = _union(changes) & ~mask
        if flipped & ~self._flipped.get(where, 0):
            self._flipped[where] = self._flipped.get(where, 0) | flipped
            if where in self._tables:  # it was made without them
                self._grow()
                return
        if where not in self._tables:
            self._tables.add(where)
            self.native.add_table(number, native, self.bits.pack(mask | self._flipped.get(where, 0)))
        self.native.add_entry(number, native, [self.bits.pack(change) for change in changes])

    # What has been found

    def _count(self) -> None:
        self.stats.counts.states, self.stats.counts.events = self.native.states, self.native.transitions

    def _first_path(self, state: int) -> list[int]:
        if state in self.found:
            return super()._first_path(state)
        return [self.bits.unpack(each) for each in self.native.way_to(self.bits.pack(state ^ self.bits.start))]

    def _shortest_path(self, state: int) -> list[int]:
        return self._first_path(state)

    def states(self) -> Sequence[int]:
        """All states that were found."""
        return [self.bits.unpack(self.native.state(number)) for number in range(self.native.states)]


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
