"""A recording against its own formulas: the recorded order is followed through them.

Each guard must hold, and values must be those that the formulas give. A location that a step is said to touch and
that is not in its formulas counts as touched, too: leaving it out could lose a conflict. If it is a cell of an
array, all that the step is said to touch of this array counts, whatever cell its formulas access in another order.
"""

from __future__ import annotations

from typing import Any, NoReturn

from porcini.core.errors import InputError, Place
from porcini.core.footprints import EMPTY, Footprint, Location
from porcini.core.formulas import Formula
from porcini.core.observations import Observation
from porcini.core.recordings import RecordedStep, Recording
from porcini.engines.fagiani import CompiledTrace, Store


class Check:
    """Follows the recorded order through the formulas."""

    def __init__(self, recording: Recording, file: str, compiled: CompiledTrace, observed: Observation) -> None:
        self.recording, self.file, self.compiled, self.observed = recording, file, compiled, observed
        self._slots: dict[Location, tuple[int, str]] = {}
        for name, (first, size) in compiled.slots.items():
            for i in range(size or 1):
                place = Location(name if size is None else f"{name}[{i}]")
                self._slots[place] = first + i, name

    def extra(self) -> dict[int, Footprint]:
        """What steps touch in addition to their formulas, by their lines."""
        compiled, store = self.compiled, self.compiled.store
        at = dict.fromkeys(compiled.pids, 0)
        extra: dict[int, Footprint] = {}
        for recorded in self.recording.steps:
            pid = recorded.event.pid
            step = compiled.steps[compiled.pids.index(pid)][at[pid]]
            at[pid] += 1
            self._compare("reads", recorded.reads, store, recorded.line)
            after = step.fire(store)
            if after is None:
                self._cannot_happen(recorded, store)
            besides = self._besides(recorded, compiled.footprint(step.touched(store)))
            if besides != EMPTY:
                extra[recorded.line] = besides
            store = after
            self._compare("writes", recorded.writes, store, recorded.line)
        for wait in (*self.recording.waiting, *self.recording.idle):
            blocked = compiled.waiting[compiled.pids.index(wait.waiting.pid)]
            if blocked is not None and blocked.able(store):
                self._refuse(f"process {wait.waiting.pid} need not wait: it can move at the end", wait.line)
        return extra

    def _refuse(self, message: str, line: int, hint: str | None = None) -> NoReturn:
        raise InputError(message, file=self.file, place=Place(line, 1), hint=hint)

    def _cannot_happen(self, recorded: RecordedStep, store: Store) -> NoReturn:
        formula = recorded.formula
        assert formula is not None
        seen = [
            f"{name} = {self.compiled.value(store, name)}"
            for name in sorted(self.compiled.slots)
            if _occurs(name, formula)
        ]
        shown = ", ".join(seen)
        hint = f"where {shown}" if seen and len(shown) < 200 else None
        self._refuse(f"this step cannot happen here: its guard is `{formula.guard[:60]}`", recorded.line, hint)

    def _compare(self, what: str, values: Any, store: Store, line: int) -> None:
        for place, value in values.items():
            slot, name = self._slots.get(place, (-1, ""))
            if slot < 0 or value is None or name in self.recording.bookkeeping:
                continue
            if _differs(value, self.observed.show(name, store[slot])):
                self._refuse(f"`{what}` says that {place} is {value!r:.40}, but by the formulas it is not", line)

    def _besides(self, recorded: RecordedStep, foot: Footprint) -> Footprint:
        reads, writes = (self._cells(names) for names in (recorded.reads, recorded.writes))
        more_reads, more_writes = reads - foot.reads, writes - foot.writes
        return Footprint(self._whole(more_reads, reads), self._whole(more_writes, writes))

    def _whole(self, more: frozenset[Location], said: frozenset[Location]) -> frozenset[Location]:
        """All that is said to be touched of the arrays of which more is touched than formulas say."""
        arrays = {self._slots[place][1] for place in more if place in self._slots}
        return more | {place for place in said if place in self._slots and self._slots[place][1] in arrays}

    def _cells(self, names: Any) -> frozenset[Location]:
        """Locations; an array is replaced by all of its cells."""
        found: set[Location] = set()
        for name in names:
            _, size = self.compiled.slots.get(name, (0, None))
            found |= {name} if size is None else {Location(f"{name}[{i}]") for i in range(size)}
        return frozenset(found)


def _differs(a: object, b: object) -> bool:
    return isinstance(a, bool) != isinstance(b, bool) or a != b


def _occurs(name: str, formula: Formula) -> bool:
    return any(name in text for text in (*formula.guards, *formula.do))
