"""A bitstate search by native code: three bits of each state are kept instead of the state (`native/bits.h`).

It goes in depth, and knows the way to the state at hand, and of no other state. So what goes wrong is reported at
once, while its state is at hand. That way is long, as ways in depth are: it is made shorter by looking for the
shortest one through the same states. A search that comes to its end without an error proves nothing, since a state
may have been taken for another one; the report says how many are expected to have been.
"""

from __future__ import annotations

from collections import deque

from porcini.core.errors import InputError, InternalError
from porcini.core.reports import BITSTATE, BitstateCoverage
from porcini.engines.native_graph import NativeGraph
from porcini.engines.options import Order
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import StubbornSets
from porcini.ir.packed.graph import PackedGraph
from porcini.native import library
from porcini.native.bitstate import BitstateSearch


class NativeBitstate(NativeGraph):
    """A search in depth. `size` is that of the table, in bytes."""

    native: BitstateSearch
    started = False

    def __init__(
        self,
        graph: PackedGraph,
        stats: SearchStats,
        reduction: StubbornSets | None = None,
        *,
        size: int,
        avoid_ignoring: bool = True,
        most_bytes: int = 0,
        hash_mask: int = library.ALL_BITS,
    ) -> None:
        super().__init__(
            graph, stats, reduction, avoid_ignoring=avoid_ignoring, most_bytes=most_bytes, hash_mask=hash_mask
        )
        self.size = size

    def explore(self, order: Order) -> None:
        try:
            super().explore(order)
            self.stats.leave_out(BITSTATE)
        finally:
            if self.started:
                self._note_coverage()

    def _start(self) -> BitstateSearch:
        bits, reduces, most = len(self.bits), self.reduces, self.most_bytes
        try:
            search = BitstateSearch(bits, self.size, self.hash_mask, reduces=reduces, most_bytes=most)
        except MemoryError:
            raise InputError("--bitstate: there is no memory for a table of that size") from None
        self.started = True
        return search

    def _after_answer(self) -> None:
        if len(self.graph.failures) > len(self._noted):
            self._note_failures()

    def _note_coverage(self) -> None:
        seen = BitstateCoverage(self.size, self.native.states, self.native.missed)
        self.stats.bitstate = seen
        self.stats.notes += (
            f"three bits of each state were kept; the table has {seen.hash_factor:,.0f} bits for each state "
            "(the hash factor: from 100 on, few states are missed)",
            f"estimated coverage {seen.estimate:.2%}: about {seen.missed:,.0f} states were taken for others; "
            "what only they lead to was not seen",
        )

    def _first_path(self, state: int) -> list[int]:
        if state in self.found:
            return super()._first_path(state)
        way = [self.bits.unpack(each) for each in self.native.way_to_state_at_hand()]
        if way[-1] != state:
            raise InternalError("a bitstate search reports a state that is not at hand")
        return self._shorten(way)

    def _shorten(self, way: list[int]) -> list[int]:
        """The shortest way through the same states."""
        there, before = set(way), {way[0]: way[0]}
        queue = deque([way[0]])
        while way[-1] not in before:
            here = queue.popleft()
            for new in self.space.successors(here):
                if new in there and new not in before:
                    before[new] = here
                    queue.append(new)
        shortest = [way[-1]]
        while shortest[-1] != way[0]:
            shortest.append(before[shortest[-1]])
        return shortest[::-1]
