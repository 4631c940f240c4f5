"""A search in breadth on a GPU, with the same questions as the search in C (`library.NativeSearch`).

    Cuda        a card, by CuPy, whose NVRTC compiles the kernels (`gpu.h`)
    Emulation   threads of the processor in place of the grid, and a C compiler: for machines without a card
    GpuSearch   level by level; where the tables have no answer, the state is asked about and expanded again

Nothing is kept but the states, in the order in which they were found. Where one is in the way of a trail, the one
before it is looked for among the states of the level before.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from porcini.native.compiling import NoCompiler, compile_library
from porcini.native.gpu_tables import GpuTables, GpuUnit, KeyedTable
from porcini.native.library import ALL_BITS, Ask, Keyed

_KERNELS = Path(__file__).parent / "gpu.h"
_NAMES = ("expand", "fill", "find_before")
_MOST_LISTED = 1 << 20
_MOST_ASKED = 256
"""How many states are asked about before all that were put aside are tried again."""
_FIRST_ROOM = 1 << 16
_GROWTH = 4
_FOUND, _TRANSITIONS, _MISSED, _ENDED, _FULL = range(5)
_NEVER = (1 << 64) - 1


class NoCard(Exception):
    """There is no GPU to be had; the message says why, in one sentence."""


class Device(Protocol):
    """What takes the steps. `arrays` is NumPy, or CuPy, which has the same functions."""

    arrays: Any

    def free_bytes(self) -> int: ...

    def launch(self, words: int, kernel: str, size: int, arguments: Sequence[Any]) -> None:
        """Run a kernel to its end, for so many items. Arguments are arrays, whole numbers, or None."""


class Cuda:
    """A card."""

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError:
            raise NoCard("CuPy is not installed: pip install 'porcini[gpu]'") from None
        try:
            if not cupy.cuda.runtime.getDeviceCount():
                raise NoCard("there is no GPU on this machine")
            cupy.zeros(1)
        except cupy.cuda.runtime.CUDARuntimeError as problem:
            raise NoCard(f"the GPU cannot be used: {problem}") from None
        self.arrays = cupy
        self._multiprocessors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        self._modules: dict[int, Any] = {}

    def free_bytes(self) -> int:
        self.arrays.get_default_memory_pool().free_all_blocks()
        free, _ = self.arrays.cuda.runtime.memGetInfo()
        return int(free)

    def launch(self, words: int, kernel: str, size: int, arguments: Sequence[Any]) -> None:
        cupy = self.arrays
        if words not in self._modules:
            options = (f"-DWORDS={words}", "-std=c++17")
            self._modules[words] = cupy.RawModule(code=_KERNELS.read_text(), options=options)
        blocks = max(1, min(-(-size // 128), self._multiprocessors * 16))
        given = tuple(
            cupy.uint64(each) if isinstance(each, int) else cupy.uint64(0) if each is None else each
            for each in arguments
        )
        self._modules[words].get_function(kernel)((blocks,), (128,), given)
        cupy.cuda.get_current_stream().synchronize()


class Emulation:
    """Threads of the processor."""

    def __init__(self, threads: int = 4) -> None:
        try:
            import numpy
        except ImportError:
            raise NoCard("the emulation of a GPU needs NumPy") from None
        self.arrays = numpy
        self.threads = threads

    def free_bytes(self) -> int:
        return 1 << 30

    def launch(self, words: int, kernel: str, size: int, arguments: Sequence[Any]) -> None:
        given = (ctypes.c_uint64 * len(arguments))(
            *(each if isinstance(each, int) else 0 if each is None else each.ctypes.data for each in arguments)
        )
        if not _emulated(words).porcini_emulate(_NAMES.index(kernel), given, self.threads):
            raise MemoryError


@cache
def _emulated(words: int) -> ctypes.CDLL:
    flags = ("-DEMULATED", f"-DWORDS={words}", "-x", "c")
    try:
        return ctypes.CDLL(str(compile_library("gpu", _KERNELS, (_KERNELS,), flags)))
    except (OSError, NoCompiler) as problem:
        raise NoCard(f"the emulation of a GPU cannot be had: {problem}") from None


def _words(bits: int) -> int:
    """Two bits of the last word are for the table."""
    return max(1, -(-(bits + 2) // 64))


class GpuSearch:
    """States of so many bits, from the one of which all bits are 0 (as `library.NativeSearch`)."""

    workers = 1

    def __init__(self, device: Device, bits: int, hash_mask: int = ALL_BITS, *, most_bytes: int = 0) -> None:
        self.device, self.hash_mask = device, hash_mask
        self.seconds = 0.0
        """The time that kernels took."""
        self.words = _words(bits)
        self.tables = GpuTables()
        self.most_bytes = most_bytes or device.free_bytes() * 9 // 10
        xp = device.arrays
        self._rules: list[Any] | None = None
        self._levels = [0, 1]
        """Where levels begin in the queue, and where the last one ends."""
        self._states, self.transitions = 1, 0
        self._room, self._queue = _FIRST_ROOM, xp.zeros((_FIRST_ROOM, self.words), dtype="u8")
        self._count = xp.zeros(8, dtype="u8")
        self._missed, self._ended = (xp.zeros(_MOST_LISTED, dtype="u4") for _ in range(2))
        self._make_slots()
        self._redo: Any = None
        """Numbers of states of this level that are to be expanded again; None if all of them are."""
        self._asked: list[int] = []
        self._ends: list[int] = []
        self._after_end: list[int] = []
        self._parents: dict[int, int] = {}
        """Of states that come after one that had nothing in the tables."""
        self._at_hand = 0
        self._unit = 0

    def close(self) -> None:
        pass

    # What can be done, as somebody says

    def widen(self, bits: int) -> None:
        words = _words(bits)
        if words != self.words:
            wider = self.device.arrays.zeros((self._room, words), dtype="u8")
            wider[: self._states, : self.words] = self._queue[: self._states]
            self.words, self._queue = words, wider
            self._make_slots()
        self._rules = None

    def set_presence(self, mask: int, *, keep: bool) -> None:
        self._rules = None
        self.tables.presence.key_again(mask, keep)

    def key_again(self, what: Keyed, number: int, mask: int, *, set_number: int = 0, keep: bool = True) -> None:
        self._rules = None
        tables = self.tables
        (tables.units[number].points if what == Keyed.UNIT else tables.tables[number]).key_again(mask, keep)

    def look_at(self, unit: int, mask: int) -> None:
        """Nothing to do: what is looked up together is put together when tables are laid out."""

    def add_unit(self, mask: int) -> None:
        self.tables.units.append(GpuUnit(KeyedTable(mask)))

    def add_set(self, state: int, units: Sequence[int]) -> None:
        self.tables.sets.append(list(units))
        self.is_of_set(state, len(self.tables.sets) - 1)

    def is_of_set(self, state: int, number: int) -> None:
        self._rules = None
        self.tables.presence.put(state, number)

    def add_table(self, unit: int, state: int, mask: int) -> None:
        number = len(self.tables.tables)
        self.tables.tables.append(KeyedTable(mask))
        self.tables.units[unit].tables.append(number)
        self.tables.units[unit].points.put(state, number)

    def add_entry(
        self, unit: int, state: int, changes: Sequence[int], transitions: Sequence[int], mover: int
    ) -> None:
        self._rules = None
        table = self.tables.units[unit].points.get(state)
        assert table is not None
        self.tables.tables[table].put(state, len(self.tables.entries))
        self.tables.entries.append(tuple(changes))

    def ask_about(self, states: Sequence[int]) -> None:
        """Ask about these states first, so that little is missing later."""
        self._asked += states

    def answer_end(self, states: Sequence[int]) -> None:
        self._after_end += states
        for state in states:
            self._parents.setdefault(state, self._at_hand)
        self.transitions += len(states)
        self._ends.pop()

    # The search

    @property
    def states(self) -> int:
        return self._states

    def at_hand(self) -> int:
        return self._at_hand

    def question(self) -> tuple[int, int, int]:
        return self._unit, 0, 0

    def run(self, most: int) -> Ask:
        """Goes on for one level, or until something must be asked about the state at hand."""
        while self._asked:
            missing = self.tables.missing(self._asked[-1])
            if missing is not None:
                self._at_hand, self._unit = self._asked[-1], missing
                return Ask.SET if missing < 0 else Ask.UNIT
            self._asked.pop()
        if self._redo is not None:
            return self._expand_level()
        if self._ends:
            self._at_hand = self._ends[-1]
            return Ask.END
        if self._after_end:
            self._add_states()
        if self._levels[-1] == self._levels[-2]:
            return Ask.NOTHING
        return self._expand_level()

    def _expand_level(self) -> Ask:
        """Expand the last level, or what is left of it."""
        xp, first, last = self.device.arrays, self._levels[-2], self._levels[-1]
        chosen, before = self._redo, self.transitions
        size = last - first if chosen is None else len(chosen)
        self._count[:] = xp.asarray([self._states, 0, 0, 0, 0, 0, 0, 0], dtype="u8")
        self._launch(
            "expand",
            size,
            [
                *self._arrays(),
                self._queue,
                self._room,
                self._slots,
                self._slot_count,
                self.hash_mask,
                first,
                first + size,
                chosen,
                self._count,
                self._missed,
                self._ended,
                _MOST_LISTED,
            ],
        )
        found, transitions, missed, ended, full = (int(each) for each in self._count[:5])
        if full:
            self._states = min(found, self._room)
            self._grow()
            return Ask.TIME  # the same again, in a larger table
        self._states = found
        self.transitions = before + transitions
        if ended:
            self._ends += self._numbers(self._ended, ended, first)
        if not missed:
            self._redo = None
            self._levels.append(found)
            return Ask.TIME
        if missed > _MOST_LISTED:  # not all of them are known: the whole level again
            self.transitions, self._redo, self._ends = before, chosen, []
            self._asked = self._numbers(self._missed, _MOST_ASKED, first)
            if chosen is None:
                self._redo = xp.arange(last - first, dtype="u4")
        else:
            self._redo = self._missed[:missed].copy()
            self._asked = self._numbers(self._missed, min(missed, _MOST_ASKED), first)
        return Ask.TIME

    def _numbers(self, listed: Any, count: int, first: int) -> list[int]:
        """States of this level, by their numbers on a list."""
        if count > _MOST_LISTED:
            raise MemoryError
        states = self._queue[listed[:count].astype("i8") + first]
        return [_joined(row) for row in _on_host(states).tolist()]

    def _arrays(self) -> list[Any]:
        if self._rules is None:
            xp, made = self.device.arrays, self.tables.lay_out(self.words)
            narrow = (made.table, made.pick, made.value, made.set, made.member, made.unit, made.entry)
            self._rules = [xp.asarray(each or [0], dtype="u4") for each in narrow]
            self._rules += [xp.asarray(each or [0], dtype="u8") for each in (made.key, made.change)]
        return self._rules

    def _launch(self, kernel: str, size: int, arguments: Sequence[Any]) -> None:
        started = perf_counter()
        self.device.launch(self.words, kernel, size, arguments)
        self.seconds += perf_counter() - started

    def _add_states(self) -> None:
        """What comes after states that had nothing in the tables. It belongs to the level that was found last."""
        xp = self.device.arrays
        new = [state for state in dict.fromkeys(self._after_end) if self._find(state) is None]
        self._after_end = []
        while self._states + len(new) > self._room:
            self._grow()
        for state in new:
            row = [state >> 64 * word & _NEVER for word in range(self.words)]
            self._queue[self._states] = xp.asarray(row, dtype="u8")
            self._states += 1
        self._make_slots(self._slot_count)
        self._levels[-1] = self._states

    # Memory

    def _make_slots(self, slots: int = 0) -> None:
        """A table with all states of the queue."""
        xp = self.device.arrays
        self._slot_count = slots or self._room * 2
        self._slots = None  # its memory is needed for the new one
        self._slots = xp.zeros((self._slot_count, self.words), dtype="u8")
        self._count[:] = 0
        arguments = [self._queue, self._states, self._slots, self._slot_count, self.hash_mask, self._count]
        self._launch("fill", self._states, arguments)
        if int(self._count[_FULL]):
            raise MemoryError

    def _grow(self) -> None:
        """A larger queue, and a larger table. The states that were found so far stay."""
        xp, room = self.device.arrays, self._room * _GROWTH
        each = self.words * 8
        while room > self._room and room * each + room * 2 * each + self._room * each > self.most_bytes:
            room -= self._room // 2
        if room <= self._room:
            raise MemoryError
        self._slots = None
        queue = xp.zeros((room, self.words), dtype="u8")
        queue[: self._states] = self._queue[: self._states]
        self._queue, self._room = queue, room
        self._make_slots()

    # What has been found

    def all_states(self) -> list[int]:
        return [_joined(row) for row in _on_host(self._queue[: self._states]).tolist()]

    def _find(self, state: int) -> int | None:
        """The number of a state; None if it is not there."""
        same = self.device.arrays.ones(self._states, dtype=bool)
        for word in range(self.words):
            same &= self._queue[: self._states, word] == (state >> 64 * word & _NEVER)
        found = self.device.arrays.flatnonzero(same)
        return int(found[0]) if len(found) else None

    def way_to(self, state: int) -> list[int]:
        """A shortest way: for each state, one of the level before that leads to it."""
        xp = self.device.arrays
        number = self._find(state)
        assert number is not None
        way = [state]
        level = next(n for n in range(len(self._levels)) if self._levels[n] > number) - 1
        for before in range(level - 1, -1, -1):
            if way[-1] in self._parents:
                way.append(self._parents[way[-1]])
                continue
            wanted = xp.asarray([way[-1] >> 64 * word & _NEVER for word in range(self.words)], dtype="u8")
            found = xp.asarray([_NEVER], dtype="u8")
            first, last = self._levels[before], self._levels[before + 1]
            self._launch("find_before", last - first, [*self._arrays(), self._queue, first, last, wanted, found])
            assert int(found[0]) != _NEVER, "nothing leads to a state that was found"
            way.append(_joined(_on_host(self._queue[int(found[0])]).tolist()))
        return way[::-1]


def _on_host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array


def _joined(row: Sequence[int]) -> int:
    return sum(word << 64 * number for number, word in enumerate(row))
