"""The relations between the transitions of one set of processes (`ir.packed.relations`), for native code.

Native code grows the same stubborn sets as `engines.stubborn`. What it needs of a transition (with which others it
does not accord, what may enable it) it asks for when it first needs it. Whether a guard holds depends on a few
bits of the state, and is asked once for each value of these; so is where a process stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from porcini.core.errors import InternalError
from porcini.engines.machines import NotForNativeCode
from porcini.ir.packed.relations import Relations
from porcini.ir.packed.touch import EVERYTHING
from porcini.ir.packed.transitions import Guard
from porcini.native.library import WHEREVER, Ask, Keyed, NativeSearch


class NativeRelations:
    """What native code is told about one set of processes; `pack` turns bits of states into those of its own."""

    def __init__(
        self, native: NativeSearch, number: int, relations: Relations, pack: Callable[[int], int]
    ) -> None:
        self.native, self.number, self.relations, self.pack = native, number, relations, pack
        self.processes: Final = relations.present.members
        self.guards: list[Guard] = []
        self._words = len(relations.all) // 64 + 1
        self._sets: dict[int, int] = {}

    def tell(self) -> None:
        """What is known without a state."""
        relations, native = self.relations, self.native
        places = {process: number for number, process in enumerate(self.processes)}
        needs: list[list[int]] = []
        for transition in relations.all:
            first = len(self.guards)
            self.guards += transition.guards
            needs.append(list(range(first, len(self.guards))))
        stands = [[(places[process], point) for process, point in t.stands] for t in relations.all]
        native.add_relations(self.number, stands, needs, len(self.guards), len(self.processes))
        back = sum(1 << t.number for t in relations.all if not t.forward)
        for number, known in enumerate((0, relations.visible, back)):
            native.add_transitions(self.number, known, self._words)
            self._sets.setdefault(known, number)
        for number, guard in enumerate(self.guards):
            if guard.holds is not None:
                if guard.bits == EVERYTHING:
                    raise NotForNativeCode
                native.add_guard(self.number, number, self.pack(guard.bits))
        for number, process in enumerate(self.processes):
            points = range(process.point_mask + 1)
            at = [self._set(relations.at.get((process.slot, point), 0)) for point in points]
            mask = self.pack(process.toucher.point)
            native.add_process(self.number, number, mask, self._set(relations.own(process)), at)
        for transition in relations.all:
            if transition.template is not None:
                starters = self._set(relations.starters(transition.template))
                native.answer(self.number, Ask.STARTERS, [transition.number], 0, starters)

    def look_again(self, new: int) -> None:
        """Some bits of states, which have not changed so far, may change from now on."""
        for number, guard in enumerate(self.guards):
            if guard.holds is not None and guard.bits & new:
                self._key_again(Keyed.GUARD, number, guard.bits)
        for number, process in enumerate(self.processes):
            if process.toucher.point & new:
                self._key_again(Keyed.PROCESS, number, process.toucher.point)

    def _key_again(self, what: Keyed, number: int, bits: int) -> None:
        self.native.key_again(what, number, self.pack(bits), set_number=self.number)

    def _set(self, transitions: int) -> int:
        """The number that a set of transitions has in native code."""
        found = self._sets.get(transitions)
        if found is None:
            found = self.native.add_transitions(self.number, transitions, self._words)
            self._sets[transitions] = found
        return found

    def answer(self, asked: Ask, about: tuple[int, int, int], state: int, native: int) -> None:
        self.native.answer(self.number, asked, about, native, self._value(asked, about, state))

    def _value(self, asked: Ask, about: tuple[int, int, int], state: int) -> int:
        relations, (first, here, there) = self.relations, about
        match asked:
            case Ask.HERE:
                return self.processes[first].here(state)
            case Ask.HOLDS:
                holds = self.guards[first].holds
                assert holds is not None
                return int(holds(state))
            case Ask.CONFLICTS:
                return self._set(relations.conflicts(first))
            case Ask.LOCAL:
                return self._set(relations.local_transitions(*relations.all[first].stands[0]))
            case Ask.ENABLERS:
                return self._set(relations.enablers(self.guards[first]))
            case Ask.LEADING if here == WHEREVER:
                return self._set(relations.entering(self.processes[first], there))
            case Ask.LEADING:
                return self._set(relations.leading(self.processes[first], here, there))
        raise InternalError(f"native code asks for {asked!r} of a set of processes")
