"""Where a search on a GPU keeps its states: a queue, in the order in which they were found, and a hash table.

As long as there is room, the queue has all states: a level is a part of it, and a state of the level before is
looked for there. When there is none, the store becomes *compact*: the queue goes round, with room for two levels,
and the hash table gets what is left. A state of one word then takes about 11 bytes instead of 24.

*Levels stay known*, for ways to states: in the table, each state has its level as a tag, in bits of the last word
that no state uses. A state is inserted once, while the level before its own is expanded, so its tag is the length
of a shortest way to it. Tags are not compared: two words are the same state if they agree in the bits that are a
state's own. Where too few bits are free, or there are more levels than tags, there is no compact store, and memory
is full.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

MOST_LISTED = 1 << 20
_MOST_FORGOTTEN = 256
FOUND, TRANSITIONS, MISSED, ENDED, FULL = range(5)
NEVER = (1 << 64) - 1
TAG_BITS = 12
_TAG_SHIFT = 62 - TAG_BITS
_THERE = 1 << 63
_TAGS = (1 << 62) - (1 << _TAG_SHIFT)
_MARKS = 3 << 62
_GROWTH = 4
_ARRAYS = 3
"""The queue, and a table that is twice as large."""
_RING_SHARE = 6
"""One part of so many of a compact store is the queue."""
_LINE = 4
"""Slots are counted in lines: `PER_LINE` divides it."""


class Device(Protocol):
    """What takes the steps. `arrays` is NumPy, or CuPy, which has the same functions."""

    arrays: Any
    first_share: int
    """At first, one part of so many of the memory is used."""

    def free_bytes(self) -> int: ...

    def launch(self, words: int, kernel: str, size: int, arguments: Sequence[Any]) -> None:
        """Run a kernel to its end, for so many items. Arguments are arrays, whole numbers, or None."""


def words_of(bits: int) -> int:
    """Two bits of the last word are for the table."""
    return max(1, -(-(bits + 2) // 64))


class GpuStore:
    """The states of a search; the first one has no bits set."""

    def __init__(self, device: Device, bits: int, hash_mask: int, most_bytes: int) -> None:
        self.device, self.bits, self.hash_mask, self.most_bytes = device, bits, hash_mask, most_bytes
        self.words = words_of(bits)
        xp = device.arrays
        self.levels = [0, 1]
        """Where levels begin, by the numbers of states, and where the last one that is complete ends."""
        self.states = 1
        self.compact = False
        self.count = xp.zeros(8, dtype="u8")
        self._room = max(1024, most_bytes // device.first_share // (_ARRAYS * self._row_bytes))
        self._base = 0
        self._queue: Any = xp.zeros((self._room, self.words), dtype="u8")
        self._slots: Any = None
        self._make_table(self._room * 2)

    @property
    def _row_bytes(self) -> int:
        return self.words * 8

    def widen(self, bits: int) -> None:
        """States have more bits from now on, which are 0 in all of them so far."""
        words = words_of(bits)
        self.bits = bits
        if self.compact:
            if words != self.words or not self._has_tags():
                raise MemoryError
        elif words != self.words:
            wider = self.device.arrays.zeros((self._room, words), dtype="u8")
            wider[: self.states, : self.words] = self._queue[: self.states]
            self.words, self._queue = words, wider
            self._make_table(self._room * 2)

    # For kernels

    @property
    def own(self) -> int:
        """The bits of the last word that may be a state's own."""
        return NEVER ^ _MARKS ^ _TAGS if self.compact else NEVER ^ _MARKS

    def tag(self, level: int) -> int:
        if not self.compact:
            return 0
        if level >> TAG_BITS:
            raise MemoryError
        return level << _TAG_SHIFT

    @property
    def place(self) -> list[Any]:
        """The queue, its size, and what number is first in it."""
        return [self._queue, self._room, self._base]

    @property
    def table(self) -> list[Any]:
        return [self._slots, self._slot_count, self.hash_mask, self.own]

    def limit(self) -> int:
        """The queue has room for numbers below this one; those of the last level stay."""
        if not self.compact:
            return self._room
        first = self.levels[-2]
        self._base += (first - self._base) // self._room * self._room
        return first + self._room

    # Memory

    def grow(self) -> None:
        """Make room. The states that were found so far stay."""
        if self.compact:
            raise MemoryError
        room = self._room * _GROWTH
        if not self._has_room(room):
            if self._make_compact():
                return
            while room > self._room and not self._has_room(room):
                room -= self._room // 2
            if room <= self._room:
                raise MemoryError
        self._widen_queue(room)
        self._make_table(room * 2)

    def _widen_queue(self, room: int) -> None:
        self._slots = None
        queue = self.device.arrays.zeros((room, self.words), dtype="u8")
        queue[: self.states] = self._queue[: self.states]
        self._queue, self._room = queue, room

    def _has_room(self, room: int) -> bool:
        """For a queue of so many states beside the one that there is, and for a table?"""
        return (room * _ARRAYS + self._room) * self._row_bytes <= self.most_bytes

    def _has_tags(self) -> bool:
        return self.bits + 2 + TAG_BITS <= 64 * self.words

    def _make_compact(self) -> bool:
        """Give the table all memory that the queue does not have; False if nothing is won."""
        rows = self.most_bytes // self._row_bytes
        room = max(self._room, rows // _RING_SHARE)
        if not self._has_tags() or rows - room <= self._slot_count:
            return False
        self.compact = True
        if room > self._room:
            self._widen_queue(room)
        self._make_table(rows - room)
        return True

    def _make_table(self, slots: int) -> None:
        """A table with all states of the queue."""
        self._slots, self._slot_count = None, slots // _LINE * _LINE  # the memory is needed for the new one
        self._slots = self.device.arrays.zeros((self._slot_count, self.words), dtype="u8")
        ends = [*self.levels[1:], self.states]
        for level, (first, last) in enumerate(zip(self.levels, ends, strict=True)):
            self._fill(self._queue[first:last], level)

    def _fill(self, rows: Any, level: int) -> int:
        """Put states into the table: how many of them are new?"""
        self.count[:] = 0
        if len(rows):
            arguments = [rows, len(rows), *self.table, self.tag(level), self.count]
            self.device.launch(self.words, "fill", len(rows), arguments)
        if int(self.count[FULL]):
            raise MemoryError
        return int(self.count[FOUND])

    def add(self, states: Sequence[int]) -> None:
        """States that belong to the last level, if they are new."""
        xp = self.device.arrays
        for state in states:
            row = xp.asarray([self._split(state)], dtype="u8")
            if self.states >= self.limit():
                self.grow()
            if self._fill(row, len(self.levels) - 2):
                self._queue[self._position(self.states)] = row[0]
                self.states += 1
                self.levels[-1] = self.states

    # Looking at states

    def _split(self, state: int) -> list[int]:
        return [state >> 64 * word & NEVER for word in range(self.words)]

    def _position(self, number: Any) -> Any:
        return (number - self._base) % self._room

    def rows(self, numbers: Any) -> list[int]:
        """States by their numbers, which are of the last two levels, or in the queue anyhow."""
        return [_joined(row) for row in _on_host(self._queue[self._position(numbers)]).tolist()]

    def listed(self, numbers: Any, count: int) -> list[int]:
        """States of the last level, by a list of their numbers in it."""
        if count > MOST_LISTED:
            raise MemoryError
        return self.rows(numbers[:count].astype("i8") + self.levels[-2])

    def all_states(self) -> list[int]:
        if not self.compact:
            return [_joined(row) for row in _on_host(self._queue[: self.states]).tolist()]
        there = [row for row in _on_host(self._slots).tolist() if row[-1]]
        return [_joined([*row[:-1], row[-1] & self.own]) for row in there]

    def level_of(self, state: int) -> int | None:
        """The level in which a state was found; None if it was not."""
        found = self._launch_for(state, "find", [], self._everywhere())
        if found is None:
            return None
        if self.compact:
            return (int(self._slots[found, -1]) & _TAGS) >> _TAG_SHIFT
        return next(level for level in range(len(self.levels)) if [*self.levels, NEVER][level + 1] > found)

    def before(self, state: int, level: int, rules: Sequence[Any]) -> int | list[int]:
        """A state of a level that leads to a given one. If there is none: some of the level of which not all is
        known."""
        xp = self.device.arrays
        missed = xp.zeros(MOST_LISTED, dtype="u8")
        self.count[:] = 0
        lists = [self.count, missed, MOST_LISTED]
        found = self._launch_for(state, "find_before", rules, self._of_level(level), lists)
        rows = self._slots if self.compact else self._queue
        if found is None:
            some = missed[: min(int(self.count[MISSED]), _MOST_FORGOTTEN)].astype("i8")
            return [self._plain(row) for row in _on_host(rows[some]).tolist()]
        return self._plain(_on_host(rows[found]).tolist())

    def _plain(self, row: Sequence[int]) -> int:
        return _joined([*row[:-1], row[-1] & self.own])

    def _everywhere(self) -> list[Any]:
        """Rows among which all states are: which of them, and what tells that they are states."""
        if self.compact:
            return [self._slots, 0, self._slot_count, self.own, _THERE, _THERE]
        return [self._queue, 0, self.states, self.own, 0, 0]

    def _of_level(self, level: int) -> list[Any]:
        if self.compact:
            return [self._slots, 0, self._slot_count, self.own, _THERE | _TAGS, _THERE | self.tag(level)]
        return [self._queue, self.levels[level], self.levels[level + 1], self.own, 0, 0]

    def _launch_for(
        self, state: int, kernel: str, rules: Sequence[Any], rows: Sequence[Any], more: Sequence[Any] = ()
    ) -> int | None:
        xp = self.device.arrays
        wanted, found = xp.asarray(self._split(state), dtype="u8"), xp.asarray([NEVER], dtype="u8")
        size = rows[2] - rows[1]
        self.device.launch(self.words, kernel, size, [*rules, *rows, wanted, found, *more])
        return None if int(found[0]) == NEVER else int(found[0])


def _on_host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array


def _joined(row: Sequence[int]) -> int:
    return sum(word << 64 * number for number, word in enumerate(row))
