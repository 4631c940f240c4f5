"""The tables of a search on a GPU: kept here as dictionaries, laid out for the kernels as arrays (`gpu.h`).

A key is the part of a state that a table looks at. What a unit can do is found in one table, if that has few bits
(`_FUSED_BITS`); else where the unit stands says in which one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from porcini.core.bits import bits

_FUSED_BITS = 10
_DIRECT_BITS = 16
_MIX, _MIX_AGAIN, _WORD = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, (1 << 64) - 1


@dataclass(slots=True)
class KeyedTable:
    """From the bits of a state in a mask to a number."""

    mask: int = 0
    values: dict[int, int] = field(default_factory=dict)
    changes: int = 0
    """How often it was changed."""

    def get(self, state: int) -> int | None:
        return self.values.get(state & self.mask)

    def put(self, state: int, value: int) -> None:
        self.changes += 1
        self.values[state & self.mask] = value

    def key_again(self, mask: int, keep: bool) -> None:
        self.changes += 1
        self.mask = mask
        if not keep:
            self.values.clear()


@dataclass(slots=True)
class GpuUnit:
    points: KeyedTable
    tables: list[int] = field(default_factory=list)
    fused: tuple[int, KeyedTable | None] = (-1, None)
    """How often the tables were changed from which one table was made, and that table."""


@dataclass(slots=True)
class Arrays:
    """What the kernels read, as lists of numbers: those of 32 bits, then those of 64."""

    table: list[int] = field(default_factory=list)
    pick: list[int] = field(default_factory=list)
    value: list[int] = field(default_factory=list)
    set: list[int] = field(default_factory=list)
    member: list[int] = field(default_factory=list)
    unit: list[int] = field(default_factory=list)
    entry: list[int] = field(default_factory=list)
    key: list[int] = field(default_factory=list)
    change: list[int] = field(default_factory=list)


class GpuTables:
    """All that is known about what can be done."""

    def __init__(self) -> None:
        self.presence = KeyedTable()
        self.sets: list[list[int]] = []
        self.units: list[GpuUnit] = []
        self.tables: list[KeyedTable] = []
        self.entries: list[tuple[int, ...]] = []

    def missing(self, state: int) -> int | None:
        """What is not known about a state: -1 for its set of processes, else the number of a unit."""
        number = self.presence.get(state)
        if number is None:
            return -1
        return next((unit for unit in self.sets[number] if self._entry(self.units[unit], state) is None), None)

    def _entry(self, unit: GpuUnit, state: int) -> int | None:
        table = unit.points.get(state)
        return None if table is None else self.tables[table].get(state)

    def lay_out(self, words: int) -> Arrays:
        """Everything as arrays; numbers in tables are one more than they are here, because 0 is nothing."""
        made = Arrays()
        _add_table(made, self.presence, words)
        for table in self.tables:
            _add_table(made, table, words)
        for unit in self.units:
            fused = self._fused(unit)
            if fused is not None:
                made.unit += [len(made.table) // _TABLE_SIZE, 0]
                _add_table(made, fused, words)
            else:
                made.unit += [len(made.table) // _TABLE_SIZE, 1]
                after_presence = {key: number + 1 for key, number in unit.points.values.items()}
                _add_table(made, KeyedTable(unit.points.mask, after_presence), words)
        for members in self.sets:
            made.set += [len(made.member), len(members)]
            made.member += members
        for changes in self.entries:
            made.entry += [len(made.change) // words, len(changes)]
            for change in changes:
                made.change += _split(change, words)
        return made

    def _fused(self, unit: GpuUnit) -> KeyedTable | None:
        """One table for all that a unit can do, wherever it stands."""
        mask, changes = unit.points.mask, unit.points.changes
        for table in unit.tables:
            mask |= self.tables[table].mask
            changes += self.tables[table].changes
        if mask.bit_count() > _FUSED_BITS:
            return None
        if unit.fused[0] != changes:
            found = ((state, self._entry(unit, state)) for state in _submasks(mask))
            table_of_all = KeyedTable(mask, {state: entry for state, entry in found if entry is not None})
            unit.fused = changes, table_of_all
        return unit.fused[1]


_TABLE_SIZE = 7


def _add_table(made: Arrays, table: KeyedTable, words: int) -> None:
    width = table.mask.bit_count()
    first_pick, picks = len(made.pick) // 5, 0
    for pick in _picks(table.mask):
        made.pick += pick
        picks += 1
    where = [first_pick, picks, width, len(made.value)]
    gathered = [(_gather(state, table.mask), value + 1) for state, value in table.values.items()]
    if width <= _DIRECT_BITS:
        values = [0] * (1 << width)
        for key, value in gathered:
            values[key] = value
        made.table += [*where, 0, 0, 1]
    else:
        key_words = -(-width // 64)
        slots = 4
        while slots < 2 * len(gathered) + 1:
            slots *= 2
        values, keys = [0] * slots, [0] * (slots * key_words)
        for key, value in gathered:
            parts, h = _split(key, key_words), 0
            for part in parts:
                h = _mix(h ^ part)
            at = (h >> 32) & (slots - 1)
            while values[at]:
                at = (at + 1) & (slots - 1)
            values[at] = value
            keys[at * key_words : (at + 1) * key_words] = parts
        made.table += [*where, slots, len(made.key), key_words]
        made.key += keys
    made.value += values


def _picks(mask: int) -> Iterator[Sequence[int]]:
    """Runs of neighbouring bits: of one word of the state, and of one word of the key."""
    to = 0
    for word, part in enumerate(_split(mask, -(-mask.bit_length() // 64))):
        at = 0
        while part >> at:
            if not part >> at & 1:
                at += 1
                continue
            length = 1
            while part >> at + length & 1 and (to + length) % 64:
                length += 1
            run = (1 << length) - 1
            yield word, at, to, run & 0xFFFFFFFF, run >> 32
            at += length
            to += length


def _gather(state: int, mask: int) -> int:
    return sum((state >> bit & 1) << place for place, bit in enumerate(bits(mask)))


def _submasks(mask: int) -> Iterable[int]:
    part = mask
    while True:
        yield part
        if not part:
            return
        part = part - 1 & mask


def _split(value: int, words: int) -> list[int]:
    return [value >> 64 * word & _WORD for word in range(words)]


def _mix(h: int) -> int:
    h = (h ^ h >> 32) * _MIX & _WORD
    return (h ^ h >> 29) * _MIX_AGAIN & _WORD
