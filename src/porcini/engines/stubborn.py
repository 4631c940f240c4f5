"""Guard-based stubborn sets (Laarman, Pater, van de Pol, Weber: Guard-based partial-order reduction, STTT 2016).

A set of transitions T is stubborn in a state if

    D1  for each enabled transition in T, all transitions that do not accord with it are in T;
    D2  for each disabled transition in T, one of its guards is false, and all transitions that may make that guard
        true are in T: a necessary enabling set;

and some transition in T is enabled. Then whatever the others do, they neither disable nor change what T can do, so
that T's transitions may be taken first: taking only these loses no state in which nothing can move.

    1  T := {t} for some enabled t
    2  while some t in T has not been considered:
    3    if t is enabled: add all that do not accord with t           D1
    4    else: choose a guard of t that is false, add its enablers    D2
    5  the enabled transitions in T are explored

    choose                    the best of the sets that begin with a transition of each process that can move
    grow_stubborn_set         T from one transition; where a guard must be chosen, the one that costs least
    _necessary_enabling_set   line 4
    PackedAmple               the same for whole processes, without looking at guards: P1's heuristics on the same
                              relations

The point of a process is a guard like any other: a transition from another point can only become possible by what
that process does at the point where it stands now.

With a formula (`visible`), a set may be used only if none of its enabled transitions is visible (C2 of P1). The
search ensures that nothing is left out for ever (C3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porcini.core.bits import bits
from porcini.engines.graph import Chosen
from porcini.engines.options import Ample
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.processes import Process, ProcessSet
from porcini.ir.packed.relations import Relations
from porcini.ir.packed.space import Moves
from porcini.ir.packed.transitions import Transition

_DEAR = 1_000
"""What an enabled transition costs, compared with 1 for a disabled one."""
_MOST_RECALLED = 8
"""How many answers are cached for the same points of all processes and the same enabled transitions."""
_MOST_PLANS = 1 << 17
"""How many plans are cached before the cache is cleared."""

GuardAnswer = tuple[Callable[[int], bool], bool]
"""A guard that was evaluated, and whether it held."""


class _UnitMoves:
    """The moves of one unit as transitions: the number of each, and how it changes the state."""

    __slots__ = ("alone", "changes", "enabled", "fails")

    def __init__(self, moves: Moves, relations: Relations) -> None:
        numbers = [relations.number(move) for move in moves.all]
        self.fails = None in numbers
        """Is one of them not a transition, but an error on the way to one?"""
        self.changes = [(n, move.change) for n, move in zip(numbers, moves.all, strict=True) if n is not None]
        self.enabled = 0
        for number, _ in self.changes:
            self.enabled |= 1 << number
        self.alone = 0 if self.fails else relations.local_transitions(*relations.all[self.changes[0][0]].stands[0])
        """All transitions of the process at its point, if they are independent of all other processes: the best
        possible set, and it needs no search."""


class _Plan:
    """What is computed once for all states that have the same moves."""

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

    def __init__(self, offers: Sequence[_UnitMoves], seeds: Sequence[int], relations: Relations) -> None:
        self.offers, self.seeds, self.relations = offers, seeds, relations
        self.several = len(seeds) > 1
        self.fails = any(offer.fails for offer in offers)
        self.enabled = 0
        for offer in offers:
            self.enabled |= offer.enabled
        self.able = relations.movers(self.enabled)
        self.alone = next((offer.alone for offer in offers if offer.alone), 0)
        self.taken: dict[int, tuple[tuple[int, ...], frozenset[int]]] = {}
        """For each chosen set, 0 for all transitions: how its moves change the state, and which processes move."""
        self.recalled: dict[int, list[tuple[tuple[GuardAnswer, ...], int | None]]] = {}
        """By the points of all processes: the sets that were chosen before, with the answers of guards that led to
        them."""

    def moves_of(self, chosen: int) -> tuple[tuple[int, ...], frozenset[int]]:
        changes = [change for offer in self.offers for number, change in offer.changes if chosen >> number & 1]
        return tuple(changes), self.relations.movers(chosen & self.enabled)


class StubbornSets:
    """Stubborn sets for packed programs (`engines.graph.StateReduction`)."""

    def __init__(self, graph: PackedGraph, visible: int = 0) -> None:
        self.graph = graph
        self.space = graph.space
        self.visible = visible
        self._relations: dict[ProcessSet, Relations] = {}
        self._offers: dict[Moves, _UnitMoves] = {}
        self._plans: dict[ProcessSet, dict[tuple[Moves, ...], _Plan]] = {}
        self._guard_answers: list[GuardAnswer] = []
        """The guards that were evaluated for the current choice."""

    def relations(self, present: ProcessSet) -> Relations:
        found = self._relations.get(present)
        if found is None:
            found = self._relations[present] = Relations(self.space.system, present, self.visible)
        return found

    def choose(self, state: int) -> Chosen[int] | None:
        """The successors by a stubborn set; all successors, if no smaller set is found."""
        space = self.space
        present = space.present(state)
        key = space.lookup_all_moves(state, present)
        plans = self._plans.get(present)
        if plans is None:
            plans = self._plans[present] = {}
        plan = plans.get(key)
        if plan is None:
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            plan = plans[key] = self._make_plan(key, present)
        if plan.fails or not plan.enabled:
            return None
        chosen = 0
        if plan.several:
            chosen = plan.alone or self._recall_best(state, plan) or 0
        found = plan.taken.get(chosen)
        if found is None:
            found = plan.taken[chosen] = plan.moves_of(chosen or plan.enabled)
        changes, movers = found
        return Chosen([state + change for change in changes], movers, plan.able, not chosen)

    def _make_plan(self, moves: Sequence[Moves], present: ProcessSet) -> _Plan:
        relations = self.relations(present)
        offers: list[_UnitMoves] = []
        seeds: dict[Process, int] = {}  # one enabled transition of each process that can move
        for unit, each in zip(self.space.units(present), moves, strict=True):
            if each.all:
                offer = self._offers.get(each)
                if offer is None:
                    offer = self._offers[each] = _UnitMoves(each, relations)
                offers.append(offer)
                if offer.changes:
                    seeds.setdefault(unit.process, offer.changes[0][0])
        return _Plan(offers, list(seeds.values()), relations)

    def _recall_best(self, state: int, plan: _Plan) -> int | None:
        """The same as `_smallest_stubborn_set`, from an earlier state if that had the same answers.

        `_smallest_stubborn_set` asks a state where each process stands, what can be taken, and whether some guards
        hold. Which guard is asked next depends on the answers so far. So in two states with the same points and
        the same transitions that can be taken, in which the guards that were asked in one hold as they did there,
        it is the same in both.
        """
        known = plan.recalled.setdefault(state & plan.relations.points, [])
        for asked, best in known:
            for holds, answer in asked:
                if holds(state) is not answer:
                    break
            else:
                return best
        self._guard_answers = []
        best = self._smallest_stubborn_set(state, plan.relations, plan.seeds, plan.enabled)
        if len(known) < _MOST_RECALLED:
            known.append((tuple(self._guard_answers), best))
        return best

    def _smallest_stubborn_set(
        self, state: int, relations: Relations, seeds: Sequence[int], enabled: int
    ) -> int | None:
        """The stubborn set with the fewest enabled transitions; None if it would contain all of them."""
        best, least, hopeless = None, enabled.bit_count(), 0
        for seed in seeds:
            found = self.grow_stubborn_set(state, relations, seed, enabled, least, hopeless)
            if found is None:
                hopeless |= 1 << seed
            else:
                taken = found & enabled
                if taken.bit_count() < least and not taken & relations.visible:
                    best, least = found, taken.bit_count()
                    if least == 1:
                        break
        return best

    def grow_stubborn_set(
        self, state: int, relations: Relations, seed: int, enabled: int, most: int, hopeless: int = 0
    ) -> int | None:
        """The stubborn set from one transition, or None unless it has fewer than `most` enabled transitions.

        Sets from a `hopeless` transition had more: one that comes to contain it is given up as well.

        Sets of transitions are bit masks. If the set contains all transitions of a process at its current point,
        the transitions of that process at other points are settled: they can only become possible by what is in
        the set already. Enabled transitions are considered first, since they can end the search early.
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
                needed = self._necessary_enabling_set(state, relations, relations.all[number], found, enabled)
                if needed is None:
                    return None
                new = needed & ~found
            if new:
                found |= new
                if found & hopeless or (found & enabled).bit_count() >= most:
                    return None
                for now, own in unsettled:
                    if now and not now & ~found:
                        settled |= own & ~now
                todo = (todo | new) & ~settled
        return found

    def _necessary_enabling_set(
        self, state: int, relations: Relations, transition: Transition, found: int, enabled: int
    ) -> int | None:
        """D2: of the necessary enabling sets of a disabled transition, the one that adds least to a set."""
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
                    continue  # the guard is known to be false only where the process stands at its point
            else:
                holds = guard.holds(state)
                self._guard_answers.append((guard.holds, holds))
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
    """Ample sets as in P1: sets of whole processes, independent of all that the others may still do."""

    def __init__(self, graph: PackedGraph, heuristic: Ample, visible: int = 0) -> None:
        super().__init__(graph, visible)
        self.heuristic = heuristic

    def others(self, state: int, relations: Relations) -> Sequence[Process]:
        """The processes whose future counts: all of them, including those that cannot move now (P1's erratum
        1)."""
        return relations.present.members

    def grow_stubborn_set(
        self, state: int, relations: Relations, seed: int, enabled: int, most: int, hopeless: int = 0
    ) -> int | None:
        """All that a set of whole processes can do now; the set begins with the processes of one transition."""
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
                    clash |= (
                        self._necessary_enabling_set(state, relations, relations.all[number], found, enabled) or -1
                    )
            for other in list(others):
                if clash & relations.future(other, other.here(state)):
                    if self.heuristic == "single":
                        return None
                    others.remove(other)
                    left.append(other)
        return found
