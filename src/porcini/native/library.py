"""The search in C, as Python calls it. States and masks are whole numbers here."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from ctypes import POINTER, c_int, c_int64, c_uint32, c_uint64, c_void_p
from functools import cache
from typing import Final

from porcini.native.compiling import NoCompiler, compiled_runtime

DONE, TIME, END, MEMORY = 0, 1, 2, 3
TOO_MANY, SET, UNIT = -1, -2, -3
"""What `run` answers (`runtime.c`): -3 - n is a question about unit n."""
MOST_BITS = 64 * 64
ALL_BITS: Final = (1 << 64) - 1

_SIGNATURES: dict[str, tuple[list[type], type | None]] = {
    "new": ([c_uint32, c_uint32, c_uint64], c_void_p),
    "free": ([c_void_p], None),
    "widen": ([c_void_p, c_uint32, c_uint32], c_int),
    "set_presence": ([c_void_p, c_void_p], c_int),
    "add_unit": ([c_void_p, c_void_p], c_int),
    "add_set": ([c_void_p, c_void_p, c_void_p, c_uint32], c_int),
    "add_table": ([c_void_p, c_uint32, c_void_p, c_void_p], c_int),
    "add_entry": ([c_void_p, c_uint32, c_void_p, c_void_p, c_uint32], c_int),
    "answer_end": ([c_void_p, c_void_p, c_uint32], c_int),
    "run": ([c_void_p, c_uint64], c_int64),
    "states": ([c_void_p], c_uint64),
    "expanded": ([c_void_p], c_uint64),
    "transitions": ([c_void_p], c_uint64),
    "parent": ([c_void_p, c_uint64], c_uint64),
    "find": ([c_void_p, c_void_p], c_uint64),
    "state": ([c_void_p, c_uint64], POINTER(c_uint64)),
}


@cache
def load_library() -> ctypes.CDLL:
    """The compiled search; `NoCompiler` says why it cannot be had."""
    try:
        library = ctypes.CDLL(str(compiled_runtime()))
        for name, (parameters, result) in _SIGNATURES.items():
            function = library[f"porcini_{name}"]
            function.argtypes, function.restype = parameters, result
            setattr(library, name, function)
    except (OSError, AttributeError) as problem:
        raise NoCompiler(f"the compiled search cannot be loaded: {problem}") from None
    return library


class NativeSearch:
    """States of so many bits, from the one of which all bits are 0."""

    _search: int | None = None

    def __init__(self, bits: int, hash_mask: int = ALL_BITS) -> None:
        self._library = load_library()
        self.words = _words(bits)
        self._search = self._library.new(self.words, bits, hash_mask)
        if not self._search:
            raise MemoryError

    def close(self) -> None:
        if self._search:
            self._library.free(self._search)
            self._search = None

    def __del__(self) -> None:
        self.close()

    def _array(self, values: Iterable[int]) -> bytes:
        return b"".join(value.to_bytes(8 * self.words, "little") for value in values)

    @staticmethod
    def _check(done: int) -> None:
        if not done:
            raise MemoryError

    def widen(self, bits: int) -> None:
        """States get more bits, which are 0 in all that there are; all tables are forgotten."""
        words = _words(bits)
        self._check(self._library.widen(self._search, words, bits))
        self.words = words

    def set_presence(self, mask: int) -> None:
        self._check(self._library.set_presence(self._search, self._array([mask])))

    def add_unit(self, mask: int) -> None:
        self._check(self._library.add_unit(self._search, self._array([mask])))

    def add_set(self, state: int, units: Sequence[int]) -> None:
        numbers = (c_uint32 * len(units))(*units)
        self._check(self._library.add_set(self._search, self._array([state]), numbers, len(units)))

    def add_table(self, unit: int, state: int, mask: int) -> None:
        self._check(self._library.add_table(self._search, unit, self._array([state]), self._array([mask])))

    def add_entry(self, unit: int, state: int, changes: Sequence[int]) -> None:
        told = self._array(changes)
        self._check(self._library.add_entry(self._search, unit, self._array([state]), told, len(changes)))

    def answer_end(self, states: Sequence[int]) -> None:
        self._check(self._library.answer_end(self._search, self._array(states), len(states)))

    def run(self, most: int) -> int:
        """Goes on for some states, or until something must be asked about the one at hand."""
        return int(self._library.run(self._search, most))

    @property
    def states(self) -> int:
        return int(self._library.states(self._search))

    @property
    def transitions(self) -> int:
        return int(self._library.transitions(self._search))

    def at_hand(self) -> int:
        """The state that `run` asks about."""
        return self.state(int(self._library.expanded(self._search)))

    def state(self, number: int) -> int:
        words = self._library.state(self._search, number)
        return sum(words[i] << 64 * i for i in range(self.words))

    def way_to(self, state: int) -> list[int]:
        """The states by which one was found, from the first one on."""
        number = int(self._library.find(self._search, self._array([state])))
        numbers = [number]
        while numbers[-1]:
            numbers.append(int(self._library.parent(self._search, numbers[-1])))
        return [self.state(each) for each in reversed(numbers)]


def _words(bits: int) -> int:
    return max(1, -(-bits // 64))
