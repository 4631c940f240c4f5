"""The product of a packed program with a claim, searched by native code: the same search as `engines.product`, in
the same order, with the same lasso at its end.

The state of the claim is in the lowest bits of native states. What it reads is asked for part by part, once for
each value of the bits that a part depends on; and where it goes, once for each letter.
"""

from __future__ import annotations

from collections.abc import Sequence

from porcini.core.errors import InternalError, LimitHit
from porcini.core.systems import LetterPart
from porcini.engines.machines import NotForNativeCode
from porcini.engines.native_tables import STATES_BETWEEN_LOOKS, NativeTables, no_memory
from porcini.engines.product import Lasso, LetterClaim, close_loop
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import StubbornSets
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.processes import Process, ProcessSet
from porcini.ir.packed.space import MacroMove, Unit
from porcini.ir.program import MOST_PROCESSES
from porcini.native.claims import MOST_MARKS, NativeClaimSearch, Path
from porcini.native.library import ALL_BITS, Ask

_MOST_LETTERS = 64
_MOST_CLAIM_BITS = 32


class NativeProduct:
    """A search for a run that a claim accepts. `visited` are states in which bits change."""

    def __init__(
        self,
        graph: PackedGraph,
        claim: LetterClaim[int],
        stats: SearchStats,
        reduction: StubbornSets | None = None,
        *,
        fair: bool = False,
        stutter: bool = True,
        visited: Sequence[int] = (),
        most_bytes: int = 0,
        hash_mask: int = ALL_BITS,
    ) -> None:
        self.graph, self.claim, self.stats = graph, claim, stats
        self.fair, self.stutter, self.most_bytes, self.hash_mask = fair, stutter, most_bytes, hash_mask
        self.reduction = None if fair else reduction
        self.claim_bits = (claim.states - 1).bit_length()
        lists = claim.lists
        if lists is None or claim.acceptance + MOST_PROCESSES > MOST_MARKS or self.claim_bits > _MOST_CLAIM_BITS:
            raise NotForNativeCode
        if any(part.letter >> _MOST_LETTERS for parts in lists for part in parts):
            raise NotForNativeCode
        self._lists = lists
        number_moves = self._number_crews if fair else None
        self.tables = NativeTables(
            graph.space,
            self.reduction,
            reserved=self.claim_bits,
            number_moves=number_moves,
            grown=self._look_again,
        )
        self._parts: list[LetterPart[int]] = []
        self._crews: dict[tuple[int, int], int] = {}
        for state in visited:
            self.tables.bits.add(state ^ self.tables.bits.start)

    def search(self) -> Lasso[int] | None:
        try:
            self._start()
            return self._build_lasso() if self._find_component() else None
        except MemoryError:
            raise no_memory(self.most_bytes) from None

    def _start(self) -> None:
        space, claim = self.graph.space, self.claim
        most_processes = MOST_PROCESSES if space.system.starts else len(space.system.program.initial)
        self.native = NativeClaimSearch(
            len(self.tables.bits),
            claim_bits=self.claim_bits,
            lists=1 if len(self._lists) == 1 else 1 << self.claim_bits,
            marks=claim.acceptance,
            processes=max(1, most_processes) if self.fair else 0,
            stutters=self.stutter,
            asks_ends=space.system.uses_timeout,
            reduces=self.reduction is not None,
            hash_mask=self.hash_mask,
            most_bytes=self.most_bytes,
        )
        self.tables.serve(self.native)
        for here, parts in enumerate(self._lists):
            for part in parts:
                self._parts.append(part)
                number = 0 if len(self._lists) == 1 else self._renumbered(here)
                self.native.add_part(number, part.letter, self.tables.bits.pack(part.bits))

    def _renumbered(self, here: int) -> int:
        """A state of the claim in native code, where the first one is 0; or back."""
        return here ^ self.claim.initial

    def _find_component(self) -> bool:
        limits = self.stats.limits
        try:
            while True:
                most = STATES_BETWEEN_LOOKS
                if limits.max_states is not None:
                    most = min(most, limits.max_states + 1 - self.native.states)
                asked = self.native.run(most)
                if asked in (Ask.NOTHING, Ask.LASSO):
                    return asked == Ask.LASSO
                self._answer(asked)
                self._count()
                self.stats.check_limits()
                over = limits.max_states is not None and self.native.states > limits.max_states
                if over and asked == Ask.TIME:  # the last one has been expanded
                    raise LimitHit(f"the limit of {limits.max_states:,} states")
        finally:
            self._count()

    def _count(self) -> None:
        self.stats.counts.states, self.stats.counts.events = self.native.states, self.native.transitions

    # What native code asks

    def _answer(self, asked: Ask) -> None:
        if asked == Ask.TIME:
            return
        if asked == Ask.MEMORY:
            raise MemoryError
        native = self.native.at_hand()
        state = self.tables.bits.unpack(native)
        if asked == Ask.LETTER:
            number, _, _ = self.native.question()
            self.native.answer_part(number, native, bool(self._parts[number].holds(state)))
        elif asked == Ask.CLAIM:
            here, low, high = self.native.question()
            letter = low | high << 32
            moves = self.claim.moves_on(self._renumbered(here), letter)
            self.native.answer_claim(here, letter, [(self._renumbered(there), marks) for there, marks in moves])
        elif asked == Ask.END:
            self._answer_end(state)
        else:
            self.tables.answer(asked, state, native)

    def _look_again(self, new: int) -> None:
        """Some bits may change from now on."""
        for number, part in enumerate(self._parts):
            if part.bits & new:
                self.native.key_part_again(number, self.tables.bits.pack(part.bits))

    def _answer_end(self, state: int) -> None:
        after: list[int] = []
        crews: list[int] = []
        for process, moves in self.tables.quiet_moves(state):
            after += [state + move.change for move in moves]
            crews += [self._crew(state, process, move) if self.fair else 0 for move in moves]
        self.native.answer_end_of_node(list(map(self.tables.pack, after)), crews)

    def _number_crews(self, state: int, present: ProcessSet, unit: Unit, moves: Sequence[MacroMove]) -> list[int]:
        """Under fairness there is no reduction; who moves is kept instead of which transition it is."""
        return [self._crew(state, unit.process, move) for move in moves]

    def _crew(self, state: int, process: Process, move: MacroMove) -> int:
        crew = 1 << process.slot, self.graph.movers(state, process, move)
        number = self._crews.get(crew)
        if number is None:
            number = self._crews[crew] = len(self._crews)
            owner, movers = crew
            self.native.add_crew(owner << self.claim.acceptance, movers << self.claim.acceptance)
        return number

    # A lasso

    def _build_lasso(self) -> Lasso[int]:
        start = 0
        stem = [] if self.native.is_in_component(start) else self._find_path(start, Path.TO_COMPONENT)[0]
        first = stem[-1] if stem else start
        marks = (1 << self.claim.acceptance) - 1 | self.native.everyone
        loop = close_loop(
            first,
            marks,
            lambda here, wanted: self._find_path(here, Path.BY_MARKS, wanted=wanted),
            lambda here: self._find_path(here, Path.TO_NODE, to=first)[0],
        )
        return Lasso(self._states([start, *stem]), self._states(loop))

    def _find_path(self, start: int, kind: Path, *, to: int = 0, wanted: int = 0) -> tuple[list[int], int]:
        while (
            asked := self.native.find_path(start, kind, STATES_BETWEEN_LOOKS, to=to, wanted=wanted)
        ) != Ask.LASSO:
            if asked == Ask.NOTHING:
                raise InternalError("a component that is not connected")
            self._answer(asked)
        return self.native.path(start)

    def _states(self, nodes: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.tables.bits.unpack(self.native.state_of(node)) for node in nodes)
