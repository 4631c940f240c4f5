"""A bitstate search in C (`bits.h`), as Python calls it."""

from __future__ import annotations

from collections.abc import Sequence

from porcini.native.library import ALL_BITS, NativeSearch


class BitstateSearch(NativeSearch):
    """A search that keeps three bits of each state, in a table of so many bytes. It knows the way to the state at
    hand, and of no other state."""

    def __init__(
        self, bits: int, size: int, hash_mask: int = ALL_BITS, *, reduces: int = 0, most_bytes: int = 0
    ) -> None:
        super().__init__(bits, hash_mask, reduces=reduces, most_bytes=most_bytes)
        self._check(self._library.use_bits(self._search, size))

    def answer_end(self, states: Sequence[int]) -> None:
        self._check(self._library.answer_end_by_bits(self._search, self._array(states), len(states)))

    @property
    def depth(self) -> int:
        return int(self._library.depth(self._search))

    @property
    def missed(self) -> float:
        """How many states are expected to have been taken for others."""
        return float(self._library.missed(self._search))

    def at_hand(self) -> int:
        return self._at_depth(self.depth - 1)

    def way_to_state_at_hand(self) -> list[int]:
        return [self._at_depth(depth) for depth in range(self.depth)]

    def _at_depth(self, depth: int) -> int:
        words = self._library.state_at_depth(self._search, depth)
        return sum(words[i] << 64 * i for i in range(self.words))
