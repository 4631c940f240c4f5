"""The graph of a packed program, searched by native code (`porcini.native`) with tables that the reference fills.

What a process can do depends on a few bits of the state, and the reference works it out once for each value of
these (`ir.packed.space`). Here the C search keeps such tables, and asks for what is not in them. So every step is
the reference's own, whatever the language has; the C code only looks up, changes bits, and compares states. The
same holds for stubborn sets: the relations between transitions are the reference's (`engines.native_relations`).

    is_small   the first states, by the reference: which bits change at all, and are there more states than these?
    explore    the search: it answers what the C code asks, until all states are expanded
    _answer    what a unit can do in a state, as changes

*States* are differences to the initial one, in the bits that have been seen to change, in the order in which they
were (`_Bits`). A bit that changes for the first time is added at the end: it is 0 in all states so far, because it
is what it was at the start. Tables that depend on it look at it from then on; what they have was for a 0.

*Why* a change may be kept as an exclusive or, where the reference adds: it is keyed by all bits that the moves
depend on, and by all bits that it flips. In two states that agree in these, adding the same number flips the same
bits: a carry is settled by the number and by bits that are flipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from porcini.core.bits import bits
from porcini.core.errors import LimitHit
from porcini.engines.graph import Graph
from porcini.engines.native_relations import NativeRelations
from porcini.engines.options import Order
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import StubbornSets
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.layout import POPULATION
from porcini.ir.packed.processes import ProcessSet
from porcini.ir.packed.space import Move, Unit
from porcini.native import library
from porcini.native.library import MOST_BITS, NO_TRANSITION, Ask, Keyed, NativeSearch

FEW_STATES = 20_000
"""Graphs that are no larger than this are left to the reference: it has seen them by then."""
_STATES_BETWEEN_LOOKS = 1 << 16
_NANOSECONDS_BETWEEN_LOOKS = 250_000_000


class _Bits:
    """The bits of states that change, and where they are in native states."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.mask = 0
        self._order: list[int] = []
        self._place: dict[int, int] = {}
        self._packed: dict[int, int] = {}
        self._unpacked: dict[int, int] = {}
        """Of bytes: 256 times the number of a byte, plus its value."""

    def __len__(self) -> int:
        return len(self._order)

    def add(self, changed: int) -> int:
        """Some bits change: those of them that are new."""
        new = changed & ~self.mask
        if new:
            self.mask |= new
            for bit in bits(new):
                self._place[bit] = len(self._order)
                self._order.append(bit)
            self._packed.clear()
            self._unpacked.clear()
            if len(self._order) > MOST_BITS:
                raise LimitHit(f"the limit of {MOST_BITS:,} bits that change, for native code")
        return new

    def pack(self, mask: int) -> int:
        """Bits of a state, or of a difference, as those of a native state; what never changes is left out."""
        return _translate(mask & self.mask, self._place, self._packed)

    def unpack(self, native: int) -> int:
        return self.start ^ _translate(native, self._order, self._unpacked)


def _translate(mask: int, places: Mapping[int, int] | Sequence[int], known: dict[int, int]) -> int:
    """Each bit at its other place, a byte at a time."""
    found = 0
    for number, byte in enumerate(mask.to_bytes((mask.bit_length() + 7) // 8, "little")):
        if byte:
            key = number << 8 | byte
            part = known.get(key)
            if part is None:
                part = known[key] = sum(1 << places[8 * number + bit] for bit in bits(byte))
            found |= part
    return found


class NativeGraph(Graph[int]):
    """A search in breadth; with a reduction, by the same stubborn sets as the reference's."""

    def __init__(
        self,
        graph: PackedGraph,
        stats: SearchStats,
        reduction: StubbornSets | None = None,
        *,
        avoid_ignoring: bool = True,
        workers: int = 1,
        most_bytes: int = 0,
        hash_mask: int = library.ALL_BITS,
    ) -> None:
        super().__init__(graph, None, stats)
        self.space = graph.space
        self.system = graph.space.system
        self.hash_mask, self.workers, self.most_bytes = hash_mask, workers, most_bytes
        self.reduces = 0 if reduction is None else 1 + avoid_ignoring
        self.stubborn = reduction
        self.bits = _Bits(self.space.initial())
        self._units: dict[Unit, int] = {}
        self._sets: dict[ProcessSet, int] = {}
        self._relations: dict[ProcessSet, NativeRelations] = {}
        self._tables: dict[tuple[Unit, int], tuple[int, int]] = {}
        """For a unit, where it stands: the number of the table, and the bits that it looks at."""
        self._presence = 0

    def is_small(self) -> bool:
        """Has the reference seen all states within the first few?"""
        return len(list(islice(self._learn(), FEW_STATES + 1))) <= FEW_STATES

    def _learn(self) -> Iterator[int]:
        """States by the reference, breadth first: the bits that change in them are added. They stay in `found`,
        with the ways to them: a failure that is seen here may be reported before native code has come to it. With
        a reduction these are some of the states that it leaves, since nothing prevents that it ignores others."""
        found = self.found
        found[self.bits.start] = None
        todo = [self.bits.start]
        for state in todo:
            yield state
            choice = self.stubborn.choose(state) if self.stubborn is not None else None
            for after in self.space.successors(state) if choice is None else choice.after:
                if after not in found:
                    found[after] = state
                    todo.append(after)
                    self.bits.add(state ^ after)

    def explore(self, order: Order) -> None:
        self.native = NativeSearch(
            len(self.bits),
            self.hash_mask,
            workers=self.workers,
            reduces=self.reduces,
            most_bytes=self.most_bytes,
        )
        most = _STATES_BETWEEN_LOOKS if self.native.workers == 1 else _NANOSECONDS_BETWEEN_LOOKS
        try:
            while (asked := self.native.run(most)) != Ask.NOTHING:
                self._give(asked)
                self._count()
                self.stats.check_limits()
                most_states = self.stats.limits.max_states
                if most_states is not None and self.native.states > most_states:
                    raise LimitHit(f"the limit of {most_states:,} states")
                if len(self.graph.failures) > len(self._noted) and self.stats.violated:
                    self._note_failures()
        except MemoryError:
            most_bytes = f"{self.most_bytes / 2**30:,.1f} GB of memory" if self.most_bytes else "memory"
            raise LimitHit(f"the limit of {most_bytes}") from None
        finally:
            self._count()
        self._note_failures()

    def _give(self, asked: Ask) -> None:
        """Give native code what it asks for."""
        if asked == Ask.TIME:
            return
        if asked == Ask.MEMORY:
            raise MemoryError
        native = self.native.at_hand()
        state = self.bits.unpack(native)
        present = self.space.present(state)
        if asked == Ask.END:
            self._answer_end(state)
        elif asked == Ask.SET:
            self._answer_set(state, native, present)
        elif asked == Ask.UNIT:
            number, _, _ = self.native.question()
            self._answer(number, state, native, present)
        elif asked == Ask.RELATIONS:
            self._relations_of(present).tell()
        else:
            self._relations_of(present).answer(asked, self.native.question(), state, native)

    def _grow(self, changed: int) -> None:
        """Some bits change, maybe for the first time: then tables that depend on them look at them from now on."""
        new = self.bits.add(changed)
        if not new:
            return
        native, pack = self.native, self.bits.pack
        native.widen(len(self.bits))
        if self._presence & new:
            native.set_presence(pack(self._presence), keep=True)
        for unit, number in self._units.items():
            if unit.points & new:
                native.key_again(Keyed.UNIT, number, pack(unit.points))
                native.look_at(number, pack(unit.points))
        for (unit, _), (number, mask) in self._tables.items():
            if mask & new:
                native.key_again(Keyed.TABLE, number, pack(mask))
                native.look_at(self._units[unit], pack(mask))
        for relations in self._relations.values():
            relations.look_again(new)

    def _answer_end(self, state: int) -> None:
        """Nothing can be done without `timeout`."""
        present = self.space.present(state)
        after: list[int] = []
        if self.system.uses_timeout:
            moves = [m for process in present.members for m in self.space.quiet_moves(state, present, process)]
            after = [state + move.change for move in moves]
        self._grow(_union(state ^ each for each in after))
        if not after:
            self._report_end(state)
        self.native.answer_end([self.bits.pack(each ^ self.bits.start) for each in after])

    def _answer_set(self, state: int, native: int, present: ProcessSet) -> None:
        """Which processes there are is told by how many there are, of which kinds, and by their constants."""
        telling = POPULATION | self.system.presence_bits(state)
        if telling & ~self._presence or not self._sets:
            self._presence |= telling
            self.native.set_presence(self.bits.pack(self._presence), keep=False)
        number = self._sets.get(present)
        if number is not None:
            self.native.is_of_set(native, number)
            return
        units = self.space.units(present)
        for unit in units:
            self._units[unit] = len(self._units)
            self.native.add_unit(self.bits.pack(unit.points))
        self._sets[present] = len(self._sets)
        self.native.add_set(native, [self._units[unit] for unit in units])

    def _answer(self, number: int, state: int, native: int, present: ProcessSet) -> None:
        """What one unit can do."""
        unit = next(unit for unit in self.space.units(present) if self._units[unit] == number)
        moves = self.space.lookup_moves(state, present, unit)
        changes = [state ^ (state + move.change) for move in moves.all]
        flipped = _union(changes)
        self._grow(flipped)
        native = self.bits.pack(state ^ self.bits.start)
        where = unit, state & unit.points
        if where not in self._tables:
            mask = self.space.mask_of(state, unit) | flipped
            self._tables[where] = len(self._tables), mask
            self.native.add_table(number, native, self.bits.pack(mask))
        elif flipped & ~self._tables[where][1]:  # what it has was found without looking at them
            table, mask = self._tables[where]
            self._tables[where] = table, mask | flipped
            self.native.key_again(Keyed.TABLE, table, self.bits.pack(mask | flipped), keep=False)
            self.native.look_at(number, self.bits.pack(mask | flipped))
        packed = [self.bits.pack(change) for change in changes]
        mover = present.members.index(unit.process)
        self.native.add_entry(number, native, packed, self._transitions(present, moves.all), mover)

    def _transitions(self, present: ProcessSet, moves: Sequence[Move]) -> list[int]:
        """The numbers of the transitions that moves take."""
        if self.stubborn is None:
            return [0] * len(moves)
        relations = self.stubborn.relations(present)
        found = map(relations.number, moves)
        return [NO_TRANSITION if number is None else number for number in found]

    def _relations_of(self, present: ProcessSet) -> NativeRelations:
        found = self._relations.get(present)
        if found is None:
            assert self.stubborn is not None
            relations = self.stubborn.relations(present)
            found = NativeRelations(self.native, self._sets[present], relations, self.bits.pack)
            self._relations[present] = found
        return found

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
        return [self.bits.unpack(each) for each in self.native.all_states()]


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
