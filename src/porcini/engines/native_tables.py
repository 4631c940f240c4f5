"""What native code is told when it asks: the reference's answers, whatever is searched for.

What a process can do depends on a few bits of the state, and the reference works it out once for each value of
these (`ir.packed.space`). Here the C search keeps such tables, and asks for what is not in them. So every step is
the reference's own, whatever the language has; the C code only looks up, changes bits, and compares states. The
same holds for stubborn sets: the relations between transitions are the reference's (`engines.native_relations`).

    Bits            where the bits of a state that change are in native states
    NativeTables    answers what native code asks about a state

*States* are differences to the initial one, in the bits that have been seen to change, in the order in which they
were. A bit that changes for the first time is added at the end: it is 0 in all states so far, because it is what
it was at the start. Tables that depend on it look at it from then on; what they have was for a 0.

*Why* a change may be kept as an exclusive or, where the reference adds: it is keyed by all bits that the moves
depend on, and by all bits that it flips. In two states that agree in these, adding the same number flips the same
bits: a carry is settled by the number and by bits that are flipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from porcini.core.bits import bits
from porcini.core.errors import LimitHit
from porcini.engines.native_relations import NativeRelations
from porcini.engines.stubborn import StubbornSets
from porcini.ir.packed.layout import POPULATION
from porcini.ir.packed.processes import Process, ProcessSet
from porcini.ir.packed.space import MacroMove, Space, Unit
from porcini.native.gpu import GpuSearch
from porcini.native.library import MOST_BITS, NO_TRANSITION, Ask, Keyed, NativeSearch

NumberMoves = Callable[[int, ProcessSet, Unit, Sequence[MacroMove]], list[int]]
"""Native code keeps a number with each move of a unit in a state: this one."""

STATES_BETWEEN_LOOKS = 1 << 16
"""How many states native code visits between two checks of the clock."""


def no_memory(most_bytes: int) -> LimitHit:
    """What a search says that needs more memory than it may have; 0 is all that there is."""
    return LimitHit(
        f"the limit of {most_bytes / 2**30:,.1f} GB of memory" if most_bytes else "the limit of memory"
    )


class Bits:
    """The bits of states that change, and where they are in native states: after some `reserved` ones, which mean
    something else."""

    def __init__(self, start: int, reserved: int = 0) -> None:
        self.start = start
        self.reserved = reserved
        self.mask = 0
        self._order: list[int] = [-1] * reserved
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
        return self.start ^ _translate(native >> self.reserved << self.reserved, self._order, self._unpacked)


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


class NativeTables:
    """The answers to what native code asks about a state: which units there are, what they can do, and how their
    transitions are related."""

    def __init__(
        self,
        space: Space,
        stubborn: StubbornSets | None,
        *,
        reserved: int = 0,
        number_moves: NumberMoves | None = None,
        grown: Callable[[int], None] = lambda new: None,
    ) -> None:
        self.space, self.system, self.stubborn = space, space.system, stubborn
        self.bits = Bits(space.initial(), reserved)
        self._number_moves, self._grown = number_moves or self._transitions, grown
        self._units: dict[Unit, int] = {}
        self._sets: dict[ProcessSet, int] = {}
        self._relations: dict[ProcessSet, NativeRelations] = {}
        self._tables: dict[tuple[Unit, int], tuple[int, int]] = {}
        """For a unit, where it stands: the number of the table, and the bits that it looks at."""
        self._presence = 0

    def serve(self, native: NativeSearch | GpuSearch) -> None:
        """From now on this search asks."""
        self.native = native

    def pack(self, state: int) -> int:
        """A state as native code has it, without what is reserved."""
        return self.bits.pack(state ^ self.bits.start)

    def answer(self, asked: Ask, state: int, native: int) -> None:
        """Something about a state, which native code has as a number of its own."""
        present = self.space.present(state)
        if asked == Ask.SET:
            self._answer_set(state, native, present)
        elif asked == Ask.UNIT:
            number, _, _ = self.native.question()
            self._answer_unit(number, state, present)
        elif asked == Ask.RELATIONS:
            self._relations_of(present).tell()
        else:
            self._relations_of(present).answer(asked, self.native.question(), state, native)

    def quiet_moves(self, state: int) -> list[tuple[Process, list[MacroMove]]]:
        """What can be done if nothing can be done without `timeout`; each process with its moves."""
        if not self.system.uses_timeout:
            return []
        present = self.space.present(state)
        found = [(process, self.space.quiet_moves(state, present, process)) for process in present.members]
        self.grow(union(state ^ (state + move.change) for _, moves in found for move in moves))
        return found

    def grow(self, changed: int) -> None:
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
        self._grown(new)

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

    def _answer_unit(self, number: int, state: int, present: ProcessSet) -> None:
        """What one unit can do."""
        unit = next(unit for unit in self.space.units(present) if self._units[unit] == number)
        moves = self.space.lookup_moves(state, present, unit)
        changes = [state ^ (state + move.change) for move in moves.all]
        flipped = union(changes)
        self.grow(flipped)
        native = self.pack(state)
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
        numbers = self._number_moves(state, present, unit, moves.all)
        mover = present.members.index(unit.process)
        self.native.add_entry(number, native, packed, numbers, mover)

    def _transitions(self, state: int, present: ProcessSet, unit: Unit, moves: Sequence[MacroMove]) -> list[int]:
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
            assert isinstance(self.native, NativeSearch), "a GPU takes all steps"
            relations = self.stubborn.relations(present)
            found = NativeRelations(self.native, self._sets[present], relations, self.bits.pack)
            self._relations[present] = found
        return found


def union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
