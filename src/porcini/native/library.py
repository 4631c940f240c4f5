"""The search in C, as Python calls it. States, masks and sets of transitions are whole numbers here."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from ctypes import POINTER, c_double, c_int, c_uint32, c_uint64, c_void_p
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Final

from porcini.native.compiling import NoCompiler, compiled_runtime


class Ask(IntEnum):
    """What `run` answers: what is missing (`moves.h`)."""

    NOTHING = 0
    TIME = 1
    MEMORY = 2
    SET = 3
    UNIT = 4
    END = 5
    RELATIONS = 6
    HERE = 7
    CONFLICTS = 8
    LOCAL = 9
    HOLDS = 10
    ENABLERS = 11
    LEADING = 12
    CLAIM = 13
    STARTERS = 14
    LETTER = 15
    LASSO = 16


class Keyed(IntEnum):
    """What has a table (`runtime.c`)."""

    UNIT = 0
    TABLE = 1
    GUARD = 2
    PROCESS = 3


MOST_BITS = 64 * 64
MOST_WORKERS = 256
ALL_BITS: Final = (1 << 64) - 1
NO_TRANSITION: Final = (1 << 32) - 1
WHEREVER: Final = (1 << 24) - 1
"""In place of a point: wherever a process comes from."""


class _Question(ctypes.Structure):
    _fields_ = (("kind", c_uint32), ("a", c_uint32), ("b", c_uint32), ("c", c_uint32))


_SIGNATURES: dict[str, tuple[list[type], type | None]] = {
    "new": ([c_uint32, c_uint32, c_uint32, c_uint32, c_uint32, c_uint64, c_uint64], c_void_p),
    "free": ([c_void_p], None),
    "widen": ([c_void_p, c_uint32, c_uint32], c_int),
    "set_presence": ([c_void_p, c_void_p, c_uint32], c_int),
    "key_again": ([c_void_p, c_uint32, c_uint32, c_uint32, c_void_p, c_uint32], c_int),
    "look_at": ([c_void_p, c_uint32, c_void_p], None),
    "is_of_set": ([c_void_p, c_void_p, c_uint32], c_int),
    "add_unit": ([c_void_p, c_void_p], c_int),
    "add_set": ([c_void_p, c_void_p, c_void_p, c_uint32], c_int),
    "add_table": ([c_void_p, c_uint32, c_void_p, c_void_p], c_int),
    "add_entry": ([c_void_p, c_uint32, c_void_p, c_void_p, c_void_p, c_uint32, c_uint32], c_int),
    "answer_end": ([c_void_p, c_void_p, c_uint32], c_int),
    "run": ([c_void_p, c_uint64], c_uint32),
    "states": ([c_void_p], c_uint64),
    "states_of": ([c_void_p, c_uint32], c_uint64),
    "workers": ([c_void_p], c_uint32),
    "transitions": ([c_void_p], c_uint64),
    "at_hand": ([c_void_p], c_uint64),
    "question": ([c_void_p], POINTER(_Question)),
    "start": ([c_void_p], c_uint64),
    "parent": ([c_void_p, c_uint64], c_uint64),
    "find": ([c_void_p, c_void_p], c_uint64),
    "state": ([c_void_p, c_uint64], POINTER(c_uint64)),
    "add_relations": (
        [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_uint32],
        c_int,
    ),
    "add_transitions": ([c_void_p, c_uint32, c_void_p], c_uint32),
    "add_process": ([c_void_p, c_uint32, c_uint32, c_void_p, c_uint32, c_void_p, c_uint32], c_int),
    "add_guard": ([c_void_p, c_uint32, c_uint32, c_void_p], c_int),
    "answer": ([c_void_p, c_uint32, c_uint32, c_void_p, c_void_p, c_uint32], c_int),
    "add_claim": ([c_void_p, *[c_uint32] * 7], c_int),
    "add_part": ([c_void_p, c_uint32, c_uint64, c_void_p], c_int),
    "key_part_again": ([c_void_p, c_uint32, c_void_p], c_int),
    "answer_part": ([c_void_p, c_uint32, c_void_p, c_uint32], c_int),
    "answer_claim": ([c_void_p, c_uint32, c_uint64, c_void_p, c_void_p, c_uint32], c_int),
    "add_crew": ([c_void_p, c_void_p], c_int),
    "answer_end_of_node": ([c_void_p, c_void_p, c_void_p, c_uint32], c_int),
    "words_of_marks": ([c_void_p], c_uint32),
    "find_path": ([c_void_p, c_uint32, c_uint32, c_uint32, c_void_p, c_uint64], c_uint32),
    "path_last": ([c_void_p], c_uint32),
    "path_end": ([c_void_p], c_uint32),
    "path_marks": ([c_void_p], POINTER(c_uint64)),
    "everyone": ([c_void_p], POINTER(c_uint64)),
    "in_component": ([c_void_p, c_uint32], c_int),
    "use_bits": ([c_void_p, c_uint64], c_int),
    "depth": ([c_void_p], c_uint64),
    "state_at_depth": ([c_void_p, c_uint64], POINTER(c_uint64)),
    "missed": ([c_void_p], c_double),
    "answer_end_by_bits": ([c_void_p, c_void_p, c_uint32], c_int),
}


@cache
def load_library() -> ctypes.CDLL:
    """The compiled search; `NoCompiler` says why it cannot be had."""
    return load_from(compiled_runtime())


def load_from(path: Path) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(path))
        for name, (parameters, result) in _SIGNATURES.items():
            function = library[f"porcini_{name}"]
            function.argtypes, function.restype = parameters, result
            setattr(library, name, function)
    except (OSError, AttributeError) as problem:
        raise NoCompiler(f"the compiled search cannot be loaded: {problem}") from None
    return library


class NativeSearch:
    """States of so many bits, from the one of which all bits are 0.

    `reduces` is 0 for all successors, 1 for stubborn sets, and 2 if these may not ignore a process for ever.
    `numbered` is for searches that go by the numbers of states.
    """

    _search: int | None = None

    def __init__(
        self,
        bits: int,
        hash_mask: int = ALL_BITS,
        *,
        workers: int = 1,
        reduces: int = 0,
        numbered: bool = False,
        most_bytes: int = 0,
    ) -> None:
        self._library = load_library()
        self.words = _words(bits)
        workers = max(1, min(workers, MOST_WORKERS))
        self._search = self._library.new(self.words, bits, workers, reduces, numbered, hash_mask, most_bytes)
        if not self._search:
            raise MemoryError
        self.workers = int(self._library.workers(self._search))

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

    # What can be done

    def widen(self, bits: int) -> None:
        """States get more bits, which are 0 in all that there are. Tables do not look at them yet."""
        words = _words(bits)
        self._check(self._library.widen(self._search, words, bits))
        self.words = words

    def set_presence(self, mask: int, *, keep: bool) -> None:
        """The bits that tell sets of processes apart; `keep` what is known if the others were 0 so far."""
        self._check(self._library.set_presence(self._search, self._array([mask]), keep))

    def key_again(self, what: Keyed, number: int, mask: int, *, set_number: int = 0, keep: bool = True) -> None:
        """Something looks at other bits from now on."""
        self._check(
            self._library.key_again(self._search, int(what), set_number, number, self._array([mask]), keep)
        )

    def look_at(self, unit: int, mask: int) -> None:
        """The moves of a unit depend on these bits, too."""
        self._library.look_at(self._search, unit, self._array([mask]))

    def is_of_set(self, state: int, number: int) -> None:
        self._check(self._library.is_of_set(self._search, self._array([state]), number))

    def add_unit(self, mask: int) -> None:
        self._check(self._library.add_unit(self._search, self._array([mask])))

    def add_set(self, state: int, units: Sequence[int]) -> None:
        self._check(self._library.add_set(self._search, self._array([state]), numbers_of(units), len(units)))

    def add_table(self, unit: int, state: int, mask: int) -> None:
        self._check(self._library.add_table(self._search, unit, self._array([state]), self._array([mask])))

    def add_entry(
        self, unit: int, state: int, changes: Sequence[int], transitions: Sequence[int], mover: int
    ) -> None:
        """`transitions` are the numbers of the changes; `mover` is the number of the process."""
        told = self._array(changes)
        self._check(
            self._library.add_entry(
                self._search, unit, self._array([state]), told, numbers_of(transitions), mover, len(changes)
            )
        )

    def answer_end(self, states: Sequence[int]) -> None:
        self._check(self._library.answer_end(self._search, self._array(states), len(states)))

    # Relations of transitions

    def add_relations(
        self,
        number: int,
        stands: Sequence[Sequence[tuple[int, int]]],
        needs: Sequence[Sequence[int]],
        guards: int,
        processes: int,
    ) -> None:
        """For each transition of a set of processes where they stand, and its guards."""
        self._check(
            self._library.add_relations(
                self._search,
                number,
                len(stands),
                numbers_of(list(map(len, stands))),
                numbers_of([each for some in stands for pair in some for each in pair]),
                numbers_of(list(map(len, needs))),
                numbers_of([each for some in needs for each in some]),
                guards,
                processes,
            )
        )

    def add_transitions(self, number: int, transitions: int, words: int) -> int:
        """One more set of transitions, whose number is returned."""
        made = int(self._library.add_transitions(self._search, number, transitions.to_bytes(8 * words, "little")))
        self._check(made)
        return made - 1

    def add_process(self, number: int, process: int, mask: int, own: int, at: Sequence[int]) -> None:
        self._check(
            self._library.add_process(
                self._search, number, process, self._array([mask]), own, numbers_of(at), len(at)
            )
        )

    def add_guard(self, number: int, guard: int, mask: int) -> None:
        self._check(self._library.add_guard(self._search, number, guard, self._array([mask])))

    def answer(self, number: int, kind: Ask, about: Sequence[int], state: int, value: int) -> None:
        told = self._array([state])
        self._check(self._library.answer(self._search, number, int(kind), numbers_of(about), told, value))

    # The search

    def run(self, most: int) -> Ask:
        """Goes on for some states, or for some nanoseconds where there are several workers, or until something
        must be asked about the state at hand."""
        return Ask(self._library.run(self._search, most))

    def question(self) -> tuple[int, int, int]:
        asked = self._library.question(self._search).contents
        return asked.a, asked.b, asked.c

    @property
    def states(self) -> int:
        return int(self._library.states(self._search))

    @property
    def transitions(self) -> int:
        return int(self._library.transitions(self._search))

    def at_hand(self) -> int:
        """The state that `run` asks about."""
        return self._state(int(self._library.at_hand(self._search)))

    def all_states(self) -> list[int]:
        workers = range(self.workers)
        return [
            self._state(number * self.workers + worker)
            for worker in workers
            for number in range(int(self._library.states_of(self._search, worker)))
        ]

    def _state(self, number: int) -> int:
        words = self._library.state(self._search, number)
        return sum(words[i] << 64 * i for i in range(self.words))

    def way_to(self, state: int) -> list[int]:
        """The states by which one was found, from the first one on."""
        start = int(self._library.start(self._search))
        numbers = [int(self._library.find(self._search, self._array([state])))]
        while numbers[-1] != start:
            numbers.append(int(self._library.parent(self._search, numbers[-1])))
        return [self._state(each) for each in reversed(numbers)]


def _words(bits: int) -> int:
    return max(1, -(-bits // 64))


def numbers_of(values: Sequence[int]) -> object:
    return (c_uint32 * max(1, len(values)))(*values)
