"""The search in depth for a run that a claim accepts (`depth.h`), as Python calls it.

States are those of native code without the state of the claim, which is in their lowest bits. Marks are bits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from enum import IntEnum

from porcini.native.library import ALL_BITS, Ask, NativeSearch, numbers_of

MOST_MARKS = 64 * 64


class Path(IntEnum):
    """What a path is looked for (`product.h`)."""

    TO_COMPONENT = 0
    BY_MARKS = 1
    TO_NODE = 2


class NativeClaimSearch(NativeSearch):
    """It is told what the claim looks at in `lists` lists: one, or one for each of its states. `processes` is how
    many there may be, if runs must be fair to them; 0 if they need not be."""

    def __init__(
        self,
        bits: int,
        *,
        claim_bits: int,
        lists: int,
        marks: int,
        processes: int,
        stutters: bool,
        asks_ends: bool,
        reduces: bool,
        hash_mask: int = ALL_BITS,
        most_bytes: int = 0,
    ) -> None:
        super().__init__(bits, hash_mask, reduces=int(reduces), numbered=True, most_bytes=most_bytes)
        fair = processes > 0
        self._check(
            self._library.add_claim(self._search, claim_bits, lists, marks, processes, fair, stutters, asks_ends)
        )
        self._marks = int(self._library.words_of_marks(self._search))

    def _rows(self, rows: Iterable[int]) -> bytes:
        return b"".join(row.to_bytes(8 * self._marks, "little") for row in rows)

    # What the claim does

    def add_part(self, list_number: int, letter: int, mask: int) -> None:
        """One more part of what the claim reads: it depends on these bits, and stands for these of the letter."""
        self._check(self._library.add_part(self._search, list_number, letter, self._array([mask])))

    def key_part_again(self, number: int, mask: int) -> None:
        self._check(self._library.key_part_again(self._search, number, self._array([mask])))

    def answer_part(self, number: int, state: int, holds: bool) -> None:
        self._check(self._library.answer_part(self._search, number, self._array([state]), holds))

    def answer_claim(self, here: int, letter: int, moves: Sequence[tuple[int, int]]) -> None:
        """Where the claim goes, and the marks that it gets."""
        there = numbers_of([there for there, _ in moves])
        marks = self._rows(marks for _, marks in moves)
        self._check(self._library.answer_claim(self._search, here, letter, there, marks, len(moves)))

    # Who moves

    def add_crew(self, owner: int, movers: int) -> None:
        """The marks of the process whose step it is, and of all that move in it. Crews are numbered in the order
        in which they come."""
        self._check(self._library.add_crew(self._search, self._rows([owner, movers])))

    def answer_end_of_node(self, states: Sequence[int], crews: Sequence[int]) -> None:
        array = self._array(states)
        self._check(self._library.answer_end_of_node(self._search, array, numbers_of(crews), len(states)))

    # What was found

    @property
    def everyone(self) -> int:
        """The marks of all processes that could move somewhere."""
        return self._row(self._library.everyone(self._search))

    def _row(self, words: ctypes.Array[ctypes.c_uint64]) -> int:
        return sum(words[i] << 64 * i for i in range(self._marks))

    def is_in_component(self, node: int) -> bool:
        return bool(self._library.in_component(self._search, node))

    def find_path(self, start: int, kind: Path, most: int, *, to: int = 0, wanted: int = 0) -> Ask:
        """Looks for the shortest way from a node; goes on, if it has been interrupted. `LASSO` says that there is
        one: see `path`."""
        return Ask(self._library.find_path(self._search, start, int(kind), to, self._rows([wanted]), most))

    def path(self, start: int) -> tuple[list[int], int]:
        """The nodes after the first one, and the marks of the last step."""
        nodes = [int(self._library.path_end(self._search))]
        node = int(self._library.path_last(self._search))
        while node != start:
            nodes.append(node)
            node = int(self._library.parent(self._search, node))
        return nodes[::-1], self._row(self._library.path_marks(self._search))

    def state_of(self, node: int) -> int:
        return self._state(node)
