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

from collections.abc import Callable, Sequence

from porcini.core.bits import bits
from porcini.engines.graph import Choice
from porcini.engines.options import Ample
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.processes import Process, ProcessSet
from porcini.ir.packed.relations import Relations
from porcini.ir.packed.space import Moves
from porcini.ir.packed.transitions import Transition

_DEAR = 1_000
"""What a transition costs that can be taken, against one that cannot."""
_MOST_RECALLED = 8
"""Choices that are kept for one place of each process and what can be taken there."""
_MOST_PLANS = 1 << 17
"""Plans that are kept; then they are forgotten."""

Asked = tuple[Callable[[int], bool], bool]
"""A guard that was looked at, and whether it held."""


class _Offer:
    """The moves of one unit as transitions: by number, and how each changes the state."""

    __slots__ = ("alone", "changes", "enabled", "fails")

    def __init__(self, moves: Moves, relations: Relations) -> None:
        numbers = [relations.number(move) for move in moves.all]
        self.fails = None in numbers
        """One of them is no transition, but an error on the way to one."""
        self.changes = [(n, move.change) for n, move in zip(numbers, moves.all, strict=True) if n is not None]
        self.enabled = 0
        for number, _ in self.changes:
            self.enabled |= 1 << number
        self.alone = 0 if self.fails else relations.alone(*relations.all[self.changes[0][0]].stands[0])
        """All that the process may do where it stands, if nobody else has anything to do with that: the best set
        there is, and it costs no search."""


class _Plan:
    """What is worked out once for all states in which the same moves are looked up."""

    __slots__ = (
        "able",
        "alone",
        "enabled",
        "fails",
        "offers",
        "recalled",
        "relations",
        "seeds",
        "several",
        "taken",
    )

    def __init__(self, offers: Sequence[_Offer], seeds: Sequence[int], relations: Relations) -> None:
        self.offers, self.seeds, self.relations = offers, seeds, relations
        self.several = len(seeds) > 1
        self.fails = any(offer.fails for offer in offers)
        self.enabled = 0
        for offer in offers:
            self.enabled |= offer.enabled
        self.able = relations.movers(self.enabled)
        self.alone = next((offer.alone for offer in offers if offer.alone), 0)
        self.taken: dict[int, tuple[tuple[int, ...], frozenset[int]]] = {}
        """By the set that was chosen, 0 for all: how its moves change the state, and who takes part in them."""
        self.recalled: dict[int, list[tuple[tuple[Asked, ...], int | None]]] = {}
        """What was chosen before, and by which answers of guards: by where all processes stand."""

    def moves_in(self, chosen: int) -> tuple[tuple[int, ...], frozenset[int]]:
        changes = [change for offer in self.offers for number, change in offer.changes if chosen >> number & 1]
        return tuple(changes), self.relations.movers(chosen & self.enabled)


class StubbornSets:
    """Chooses among the successors of a state of a packed program (`engines.graph.Chooser`)."""

    def __init__(self, graph: PackedGraph, visible: int = 0) -> None:
        self.graph = graph
        self.space = graph.space
        self.visible = visible
        self._relations: dict[ProcessSet, Relations] = {}
        self._offers: dict[Moves, _Offer] = {}
        self._plans: dict[ProcessSet, dict[tuple[Moves, ...], _Plan]] = {}
        self._asked: list[Asked] = []
        """By the choice at hand."""

    def relations(self, present: ProcessSet) -> Relations:
        found = self._relations.get(present)
        if found is None:
            found = self._relations[present] = Relations(self.space.system, present, self.visible)
        return found

    def chosen(self, state: int) -> Choice[int] | None:
        """The successors that are enough; all of them, if no smaller set is found."""
        space = self.space
        present = space.present(state)
        key = space.looked_up_all(state, present)
        plans = self._plans.get(present)
        if plans is None:
            plans = self._plans[present] = {}
        plan = plans.get(key)
        if plan is None:
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            plan = plans[key] = self._planned(key, present)
        if plan.fails or not plan.enabled:
            return None
        chosen = 0
        if plan.several:
            chosen = plan.alone or self._recalled(state, plan) or 0
        found = plan.taken.get(chosen)
        if found is None:
            found = plan.taken[chosen] = plan.moves_in(chosen or plan.enabled)
        changes, movers = found
        return Choice([state + change for change in changes], movers, plan.able, not chosen)

    def _planned(self, moves: Sequence[Moves], present: ProcessSet) -> _Plan:
        relations = self.relations(present)
        offers: list[_Offer] = []
        seeds: dict[Process, int] = {}  # of each process that can move
        for unit, each in zip(self.space.units(present), moves, strict=True):
            if each.all:
                offer = self._offers.get(each)
                if offer is None:
                    offer = self._offers[each] = _Offer(each, relations)
                offers.append(offer)
                if offer.changes:
                    seeds.setdefault(unit.process, offer.changes[0][0])
        return _Plan(offers, list(seeds.values()), relations)

    def _recalled(self, state: int, plan: _Plan) -> int | None:
        """The same as `_best`, from an earlier state if that had the same answers.

        `_best` asks a state where each process stands, what can be taken, and whether some guards hold. Which
        guard is asked next depends on the answers so far. So in two states with the same points and the same
        transitions that can be taken, in which the guards that were asked in one hold as they did there, it is the
        same in both.
        """
        known = plan.recalled.setdefault(state & plan.relations.points, [])
        for asked, best in known:
            for holds, answer in asked:
                if holds(state) is not answer:
                    break
            else:
                return best
        self._asked = []
        best = self._best(state, plan.relations, plan.seeds, plan.enabled)
        if len(known) < _MOST_RECALLED:
            known.append((tuple(self._asked), best))
        return best

    def _best(self, state: int, relations: Relations, seeds: Sequence[int], enabled: int) -> int | None:
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
            else:
                holds = guard.holds(state)
                self._asked.append((guard.holds, holds))
                if holds:
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
