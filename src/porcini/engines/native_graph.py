"""The graph of a packed program, searched by native code (`porcini.native`) with tables that the reference fills.

is_small   the first states, by the reference: which bits change at all, and are there more states than these?
explore    the search: what the C code asks is answered, until all states are expanded
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from porcini.core.errors import InternalError, LimitHit
from porcini.engines.graph import Graph
from porcini.engines.native_tables import STATES_BETWEEN_LOOKS, NativeTables, no_memory
from porcini.engines.options import Order
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import StubbornSets
from porcini.ir.packed.graph import PackedGraph
from porcini.native import library
from porcini.native.gpu import Forgotten, GpuSearch
from porcini.native.gpu_store import Device
from porcini.native.library import Ask, NativeSearch

FEW_STATES = 20_000
"""Graphs that are no larger than this are left to the reference: it has seen them by then."""
SLOWER_IF_FAIR = 8
"""The reference takes so much longer where it must know who moves."""
_NANOSECONDS_BETWEEN_LOOKS = 250_000_000


class NativeGraph(Graph[int]):
    """A search in breadth; with a reduction, by the same stubborn sets as the reference's."""

    def __init__(
        self,
        graph: PackedGraph,
        stats: SearchStats,
        reduction: StubbornSets | None = None,
        *,
        avoid_ignoring: bool = True,
        workers: int = 1,
        most_bytes: int = 0,
        hash_mask: int = library.ALL_BITS,
        device: Device | None = None,
    ) -> None:
        super().__init__(graph, None, stats)
        self.device = device
        self.space = graph.space
        self.hash_mask, self.workers, self.most_bytes = hash_mask, workers, most_bytes
        self.reduces = 0 if reduction is None else 1 + avoid_ignoring
        self.stubborn = reduction
        self.tables = NativeTables(graph.space, reduction)
        self.bits = self.tables.bits

    def is_small(self) -> bool:
        """Has the reference seen all states within the first few?"""
        return len(list(islice(self._learn(), FEW_STATES + 1))) <= FEW_STATES

    def _learn(self) -> Iterator[int]:
        """States by the reference, breadth first: the bits that change in them are added. They stay in `found`,
        with the ways to them: a failure that is seen here may be reported before native code has come to it. With
        a reduction these are some of the states that it leaves, since nothing prevents that it ignores others."""
        found = self.found
        found[self.bits.start] = None
        todo = [self.bits.start]
        for state in todo:
            yield state
            choice = self.stubborn.choose(state) if self.stubborn is not None else None
            for after in self.space.successors(state) if choice is None else choice.after:
                if after not in found:
                    found[after] = state
                    todo.append(after)
                    self.bits.add(state ^ after)

    def explore(self, order: Order) -> None:
        self.native = self._start()
        self.tables.serve(self.native)
        most = STATES_BETWEEN_LOOKS if self.native.workers == 1 else _NANOSECONDS_BETWEEN_LOOKS
        try:
            while (asked := self.native.run(most)) != Ask.NOTHING:
                self._give(asked)
                self._after_answer()
                self._count()
                self.stats.check_limits()
                most_states = self.stats.limits.max_states
                if most_states is not None and self.native.states > most_states:
                    raise LimitHit(f"the limit of {most_states:,} states")
                if len(self.graph.failures) > len(self._noted) and self.stats.violated:
                    self._note_failures()
        except MemoryError:
            raise no_memory(self.most_bytes) from None
        finally:
            self._count()
        self._note_failures()

    def _after_answer(self) -> None:
        """Something about the state at hand has been told."""

    def _start(self) -> NativeSearch | GpuSearch:
        if self.device is not None:
            search = GpuSearch(self.device, len(self.bits), self.hash_mask, most_bytes=self.most_bytes)
            search.ask_about([self.tables.pack(state) for state in self.found])
            return search
        return NativeSearch(
            len(self.bits),
            self.hash_mask,
            workers=self.workers,
            reduces=self.reduces,
            most_bytes=self.most_bytes,
        )

    def _give(self, asked: Ask) -> None:
        """Give native code what it asks for."""
        if asked == Ask.TIME:
            return
        if asked == Ask.MEMORY:
            raise MemoryError
        native = self.native.at_hand()
        state = self.bits.unpack(native)
        if asked == Ask.END:
            self._answer_end(state)
        else:
            self.tables.answer(asked, state, native)

    def _answer_end(self, state: int) -> None:
        """Nothing can be done without `timeout`."""
        after = [state + move.change for _, moves in self.tables.quiet_moves(state) for move in moves]
        if not after:
            self._report_end(state)
        self.native.answer_end(list(map(self.tables.pack, after)))

    # What has been found

    def _count(self) -> None:
        self.stats.counts.states, self.stats.counts.events = self.native.states, self.native.transitions

    def _first_path(self, state: int) -> list[int]:
        if state in self.found:
            return super()._first_path(state)
        return [self.bits.unpack(each) for each in self._native_way(state)]

    def _native_way(self, state: int) -> list[int]:
        """Native states from the first one to a state."""
        known = True
        while known:
            try:
                return self.native.way_to(self.tables.pack(state))
            except Forgotten as those:
                assert isinstance(self.native, GpuSearch)
                known = False
                for native in those.states:
                    while (asked := self.native.missing(native)) is not None:
                        known = True
                        self._give(asked)
        raise InternalError("nothing leads to a state that was found on the GPU")

    def _shortest_path(self, state: int) -> list[int]:
        return self._first_path(state)

    def states(self) -> Sequence[int]:
        """All states that were found."""
        return [self.bits.unpack(each) for each in self.native.all_states()]
