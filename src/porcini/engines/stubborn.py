"""Guard-based stubborn sets (Laarman, Pater, van de Pol, Weber: Guard-based partial-order reduction, STTT 2016).

A set of transitions T is stubborn in a state if

    D1  of each transition in T that can be taken, all that do not accord with it are in T;
    D2  of each that cannot, one of its guards is false, and all by which that guard may become true are in T;

and something in T can be taken. Then whatever the others do, they neither take away nor change what T can do, so
that T's transitions may be taken first: taking only these loses no state in which nothing can move.

    1  T := {t} for some t that can be taken
    2  while something in T has not been looked at, t say:
    3    if t can be taken: add all that do not accord with t         D1
    4    else: choose a guard of t that is false, add its enablers    D2
    5  what is in T and can be taken is explored

    chosen     for each process that can move: the smallest T that begins with what it can do; the best of these
    grown      T from one transition; where a guard must be chosen, the one that costs least
    ample      the same for whole processes, without looking at guards: P1's heuristics on the same relations

A transition that is not at hand because its process stands elsewhere has a guard like any other: it can only
become possible by what that process does at the point where it stands now.

With a formula (`visible`), a set may only be used if nothing of it that can be taken is visible (C2 of P1). That
nothing is left out for ever (C3) is up to the search.
"""

from __future__ import annotations

from collections.abc import Sequence

from porcini.core.bits import bits
from porcini.engines.graph import Choice
from porcini.engines.options import Ample
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.processes import Process, ProcessSet
from porcini.ir.packed.relations import Relations
from porcini.ir.packed.transitions import Transition

_DEAR = 1_000
"""What a transition costs that can be taken, against one that cannot."""


class StubbornSets:
    """Chooses among the successors of a state of a packed program (`engines.graph.Chooser`)."""

    def __init__(self, graph: PackedGraph, visible: int = 0) -> None:
        self.graph = graph
        self.space = graph.space
        self.visible = visible
        self._relations: dict[ProcessSet, Relations] = {}

    def relations(self, present: ProcessSet) -> Relations:
        found = self._relations.get(present)
        if found is None:
            found = self._relations[present] = Relations(self.space.system, present, self.visible)
        return found

    def chosen(self, state: int) -> Choice[int] | None:
        present = self.space.present(state)
        found = [moves for process in present.members if (moves := self.space.moves(state, present, process))]
        if len(found) < 2:
            return None
        relations = self.relations(present)
        able: dict[int, list[int]] = {}
        seeds: list[int] = []
        for moves in found:
            for position, move in enumerate(moves):
                number = relations.number(move)
                if number is None:
                    return None
                if position == 0:
                    seeds.append(number)
                able.setdefault(number, []).append(state + move.change)
        enabled = 0
        for number in able:
            enabled |= 1 << number
        best = self._alone(state, relations, seeds) or self._best(state, relations, seeds, enabled)
        if not best:
            return None
        after: list[int] = []
        movers: set[int] = set()
        for number, states in able.items():
            if best >> number & 1:
                after += states
                movers.update(process.slot for process, _ in relations.all[number].stands)
        slots = {process.slot for number in able for process, _ in relations.all[number].stands}
        return Choice(after, frozenset(movers), frozenset(slots))

    def _alone(self, state: int, relations: Relations, seeds: list[int]) -> int:
        """What a process can do by which nobody else is touched: the best set there is, and it costs no search."""
        for seed in seeds:
            process, point = relations.all[seed].stands[0]
            found = relations.alone(process, point)
            if found:
                return found
        return 0

    def _best(self, state: int, relations: Relations, seeds: list[int], enabled: int) -> int | None:
        """The stubborn set with the fewest transitions that can be taken; None if it would be all of them."""
        best, least = None, enabled.bit_count()
        for seed in seeds:
            found = self.grown(state, relations, seed, enabled, least)
            if found is not None:
                taken = found & enabled
                if taken.bit_count() < least and not taken & relations.visible:
                    best, least = found, taken.bit_count()
                    if least == 1:
                        break
        return best

    def grown(self, state: int, relations: Relations, seed: int, enabled: int, most: int) -> int | None:
        """The stubborn set from one transition, or None if it is not smaller than `most`.

        Of a process of which all is in the set that it can do where it stands, nothing else need be asked:
        whatever it does elsewhere can only become possible by what is in the set already.
        """
        found = todo = 1 << seed
        unsettled = [
            (relations.at.get((process.slot, process.here(state)), 0), relations.own(process))
            for process in relations.present.members
        ]
        settled = 0
        while todo:
            number = (todo & -todo).bit_length() - 1
            able = todo & enabled
            if able:
                number = (able & -able).bit_length() - 1
            todo &= ~(1 << number)
            if enabled >> number & 1:
                new = relations.conflicts(number) & ~found
            else:
                needed = self._cheapest(state, relations, relations.all[number], found, enabled)
                if needed is None:
                    return None
                new = needed & ~found
            if new:
                found |= new
                if (found & enabled).bit_count() >= most:
                    return None
                for now, own in unsettled:
                    if now and not now & ~found:
                        settled |= own & ~now
                todo = (todo | new) & ~settled
        return found

    def _cheapest(
        self, state: int, relations: Relations, transition: Transition, found: int, enabled: int
    ) -> int | None:
        """Of the ways to say why a transition cannot be taken, the one that adds least to a set."""
        if transition.template is not None:
            return relations.starters(transition.template)
        best, least = None, -1
        for process, point in transition.stands:
            here = process.here(state)
            if here != point:
                for needed in (relations.leading(process, here, point), relations.entering(process, point)):
                    cost = _cost(needed & ~found, enabled)
                    if cost == 0:
                        return needed
                    if best is None or cost < least:
                        best, least = needed, cost
        elsewhere = best is not None
        for guard in transition.guards:
            if guard.holds is None:
                if elsewhere:
                    continue  # what it says holds only where the process stands
            elif guard.holds(state):
                continue
            needed = relations.enablers(guard)
            cost = _cost(needed & ~found, enabled)
            if cost == 0:
                return needed
            if best is None or cost < least:
                best, least = needed, cost
        return best


def _cost(needed: int, enabled: int) -> int:
    return needed.bit_count() + _DEAR * (needed & enabled).bit_count()


class PackedAmple(StubbornSets):
    """Ample sets as P1 has them: whole processes, and all that the others may still do."""

    def __init__(self, graph: PackedGraph, heuristic: Ample, visible: int = 0) -> None:
        super().__init__(graph, visible)
        self.heuristic = heuristic

    def others(self, state: int, relations: Relations) -> Sequence[Process]:
        """Whose future counts: everyone's, also of who cannot move now (P1's erratum 1)."""
        return relations.present.members

    def grown(self, state: int, relations: Relations, seed: int, enabled: int, most: int) -> int | None:
        """All that whole processes can do now, from those of one transition on."""
        chosen = {process for process, _ in relations.all[seed].stands}
        if len(chosen) > 1 and self.heuristic == "single":
            return None
        found, left = 0, list(chosen)
        others = [process for process in self.others(state, relations) if process not in chosen]
        while left:
            process = left.pop()
            here = process.here(state)
            now = relations.at.get((process.slot, here), 0)
            found |= now
            if (found & enabled).bit_count() >= most:
                return None
            clash = 0
            for number in bits(now):
                if enabled >> number & 1:
                    clash |= relations.conflicts(number)
                else:
                    clash |= self._cheapest(state, relations, relations.all[number], found, enabled) or -1
            for other in list(others):
                if clash & relations.future(other, other.here(state)):
                    if self.heuristic == "single":
                        return None
                    others.remove(other)
                    left.append(other)
        return found
