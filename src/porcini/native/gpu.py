"""A search in breadth on a GPU, with the same questions as the search in C (`library.NativeSearch`).

    Cuda        a card, by CuPy, whose NVRTC compiles the kernels (`gpu.h`)
    Emulation   threads of the processor in place of the grid, and a C compiler: for machines without a card
    GpuSearch   level by level; where the tables have no answer, the state is asked about and expanded again

Nothing is kept but the states (`gpu_store`). Where one is in the way of a trail, the one before it is looked for
among the states of the level before.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from porcini.native.compiling import NoCompiler, compile_library
from porcini.native.gpu_store import MOST_LISTED, Device, GpuStore
from porcini.native.gpu_tables import GpuTables, GpuUnit, KeyedTable
from porcini.native.library import ALL_BITS, Ask, Keyed

_KERNELS = Path(__file__).parent / "gpu.h"
_NAMES = ("expand", "fill", "find", "find_before")
_MOST_ASKED = 256
"""How many states are asked about before all that were put aside are tried again."""


class NoCard(Exception):
    """There is no GPU to be had; the message says why, in one sentence."""


class Forgotten(Exception):
    """The tables do not know any more what some states lead to; they must be asked about again."""

    def __init__(self, states: Sequence[int]) -> None:
        super().__init__("tables that were made anew")
        self.states = states


class Cuda:
    """A card."""

    first_share = 8  # to begin again with more memory takes longer than to clear it

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

    first_share = 1 << 14

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


class GpuSearch:
    """States of so many bits, from the one of which all bits are 0 (as `library.NativeSearch`)."""

    workers = 1

    def __init__(self, device: Device, bits: int, hash_mask: int = ALL_BITS, *, most_bytes: int = 0) -> None:
        self.device = device
        self.seconds = 0.0
        """The time that kernels took."""
        self.tables = GpuTables()
        self.store = GpuStore(device, bits, hash_mask, most_bytes or device.free_bytes() * 15 // 16)
        self.transitions = 0
        xp = device.arrays
        self._rules: list[Any] | None = None
        self._missed, self._ended = (xp.zeros(MOST_LISTED, dtype="u4") for _ in range(2))
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
        self.store.widen(bits)
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
        return self.store.states

    @property
    def words(self) -> int:
        return self.store.words

    def at_hand(self) -> int:
        return self._at_hand

    def question(self) -> tuple[int, int, int]:
        return self._unit, 0, 0

    def run(self, most: int) -> Ask:
        """Goes on for one level, or until something must be asked about the state at hand."""
        while self._asked:
            missing = self.missing(self._asked[-1])
            if missing is not None:
                return missing
            self._asked.pop()
        if self._redo is not None:
            return self._expand_level()
        if self._ends:
            self._at_hand = self._ends[-1]
            return Ask.END
        if self._after_end:
            self.store.add(self._after_end)
            self._after_end = []
        if self.store.levels[-1] == self.store.levels[-2]:
            return Ask.NOTHING
        return self._expand_level()

    def _expand_level(self) -> Ask:
        """Expand the last level, or what is left of it."""
        xp, store, chosen, before = self.device.arrays, self.store, self._redo, self.transitions
        first, last = store.levels[-2:]
        size = last - first if chosen is None else len(chosen)
        store.count[:] = xp.asarray([store.states, 0, 0, 0, 0, 0, 0, 0], dtype="u8")
        limit = store.limit()
        where = [*store.place, *store.table, store.tag(len(store.levels) - 1), limit, first, first + size, chosen]
        self._expand(size, [*self._arrays(), *where, store.count, self._missed, self._ended, MOST_LISTED])
        del where  # which holds arrays whose memory may be needed now
        found, transitions, missed, ended, full = (int(each) for each in store.count[:5])
        if full:
            store.states = min(found, limit)
            store.grow()
            return Ask.TIME  # the same again, in a larger table
        store.states = found
        self.transitions = before + transitions
        if ended:
            self._ends += store.listed(self._ended, ended)
        if not missed:
            self._redo = None
            store.levels.append(found)
            return Ask.TIME
        if missed > MOST_LISTED:  # not all of them are known: the whole level again
            self.transitions, self._redo, self._ends = before, chosen, []
            self._asked = store.listed(self._missed, _MOST_ASKED)
            if chosen is None:
                self._redo = xp.arange(last - first, dtype="u4")
        else:
            self._redo = self._missed[:missed].copy()
            self._asked = store.listed(self._missed, min(missed, _MOST_ASKED))
        return Ask.TIME

    def _expand(self, size: int, arguments: Sequence[Any]) -> None:
        started = perf_counter()
        self.device.launch(self.store.words, "expand", size, arguments)
        self.seconds += perf_counter() - started

    def _arrays(self) -> list[Any]:
        if self._rules is None:
            xp, made = self.device.arrays, self.tables.lay_out(self.store.words)
            narrow = (made.table, made.pick, made.value, made.set, made.member, made.unit, made.entry)
            self._rules = [xp.asarray(each or [0], dtype="u4") for each in narrow]
            self._rules += [xp.asarray(each or [0], dtype="u8") for each in (made.key, made.change)]
        return self._rules

    # What has been found

    def all_states(self) -> list[int]:
        return self.store.all_states()

    def missing(self, state: int) -> Ask | None:
        """What is not in the tables about a state: it is at hand then."""
        unit = self.tables.missing(state)
        if unit is None:
            return None
        self._at_hand, self._unit = state, unit
        return Ask.SET if unit < 0 else Ask.UNIT

    def way_to(self, state: int) -> list[int]:
        """A shortest way: for each state, one of the level before that leads to it."""
        level = self.store.level_of(state)
        assert level is not None
        way = [state]
        for before in range(level - 1, -1, -1):
            if way[-1] in self._parents:
                way.append(self._parents[way[-1]])
                continue
            found = self.store.before(way[-1], before, self._arrays())
            if isinstance(found, list):
                raise Forgotten(found)
            way.append(found)
        return way[::-1]
