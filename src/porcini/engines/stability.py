"""Which actor to run first: P4, section 4.

An actor is temporarily stable if nobody else will post to it before it runs (Def. 2). Theorem 1 gives conditions
that can be checked: a task of another actor breaks the stability of `a` by a chain of calls to a's class if a
reference to `a` is held by the task, by its actor, or by an actor whose class is in the middle of the chain. Where
no actor is stable, the one with the smallest stability level goes first (Def. 3; erratum 1): the sum, over tasks
and chains, of k_a if the reference is held where the chain begins and the chain is direct, k_b if it is not, and
k_c if it is held in the middle only, or inside a list.

Theorem 1 misses references that arrive in messages (erratum 3). So here it only chooses an order; `is_isolated` is
the condition that proves something: nobody else who could call the class can get hold of `a`.

`refined` does what sections 4.3 and 6 sketch: a chain counts less the deeper its calls are nested in conditions,
and not at all if the conditions of its first call do not hold for the task in its current state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from porcini.core.pids import Pid
from porcini.ir.flat.frames import Process
from porcini.ir.objects import collect_references
from porcini.ir.tasks.actors import Actors
from porcini.ir.tasks.chains import Chain, Chains

DIRECT, INDIRECT, ELSEWHERE = 9.0, 3.0, 1.0
"""k_a > k_b > k_c. Table 1 needs k_a > 4 k_c (Pi)."""


@dataclass(slots=True)
class References:
    """The references in a frame: those that are values themselves, and those inside of other values."""

    direct: set[Pid] = field(default_factory=set)
    inside: set[Pid] = field(default_factory=set)

    def add(self, values: Sequence[Any]) -> None:
        for value in values:
            if type(value) is Pid:
                self.direct.add(value)
            else:
                collect_references(value, self.inside)


class Stability:
    """What is known about a program; `view` applies it to one of its states."""

    def __init__(self, actors: Actors, *, refined: bool = False) -> None:
        self.actors = actors
        self.chains = Chains(actors.numbering)
        self.refined = refined

    def view(self, slots: Sequence[Any], tasks: Sequence[Process]) -> StateView:
        """The view of a state with these unfinished tasks."""
        return StateView(self, slots, tasks)


class StateView:
    """Which actors are stable in one state."""

    def __init__(self, stability: Stability, slots: Sequence[Any], tasks: Sequence[Process]) -> None:
        self.stability = stability
        self.slots = slots
        self.tasks = tasks
        self._held: dict[Pid, References] = {}
        self._by_class: dict[int, set[Pid]] | None = None

    def is_stable(self, actor: Pid) -> bool:
        """Theorem 1."""
        return next(self._breaking_weights(actor), None) is None

    def level(self, actor: Pid) -> float:
        """Def. 3."""
        return sum(self._breaking_weights(actor))

    def _breaking_weights(self, actor: Pid) -> Iterator[float]:
        """The weight of each chain that breaks the stability of an actor."""
        actors, chains, slots = self.stability.actors, self.stability.chains, self.slots
        members = actors.members(slots, actor)
        for task in self.tasks:
            owner = slots[task.base + 2]
            if actors.group_of(slots, owner) == actor:
                continue
            for target in members:
                for chain in chains.between(slots[task.base], actors.class_of(slots, target)):
                    weight = self._weight(chain, target, task, owner)
                    if weight:
                        yield weight

    def _weight(self, chain: Chain, target: Pid, task: Process, owner: Pid) -> float:
        if self.stability.refined and not self._feasible(chain, task):
            return 0.0
        scale = 0.5**chain.depth if self.stability.refined else 1.0
        own, fields = self._references_of_task(task), self._references_of_object(owner)
        if target in own.direct or target in fields.direct:
            return scale * (DIRECT if chain.length == 2 else INDIRECT)
        if target in own.inside or target in fields.inside:
            return scale * ELSEWHERE
        held = self._references_by_class()
        return scale * ELSEWHERE if any(target in held.get(class_, ()) for class_ in chain.middle) else 0.0

    def _feasible(self, chain: Chain, task: Process) -> bool:
        return any(self.stability.actors.may_call(self.slots, task, site) for site in chain.first)

    def _references_of_object(self, ref: Pid) -> References:
        held = self._held.get(ref)
        if held is None:
            held = self._held[ref] = References()
            held.add(self.stability.actors.fields_of(self.slots, ref))
        return held

    def _references_by_class(self) -> dict[int, set[Pid]]:
        """For each class, all references in the fields of its objects."""
        if self._by_class is None:
            self._by_class = {}
            for ref, class_, _ in self.stability.actors.system.objects(self.slots):
                held = self._references_of_object(ref)
                self._by_class.setdefault(class_, set()).update(held.direct, held.inside)
        return self._by_class

    def _references_of_task(self, task: Process) -> References:
        held = self._held.get(task.pid)
        if held is None:
            held = self._held[task.pid] = References()
            held.add(self.stability.actors.variables_of(self.slots, task))
        return held

    def is_isolated(self, actor: Pid, ready: Sequence[Process], stuck: Set[Pid]) -> bool:
        """Can nobody else post to an actor, resolve what its tasks wait for, or read the futures of those that are
        ready, before it runs? A positive answer is proved. `stuck` are tasks that wait for one of these futures.

        Other tasks can get hold of what they and their actors refer to, and what that refers to in turn. If no
        member of the actor is among these, or none of these tasks can lead to a call of its class, they never
        post to it. Tasks of the actor that wait for a future do not matter if all that they may still do is
        independent of those that are ready, and they do not post to the actor either.
        """
        actors, slots = self.stability.actors, self.slots
        others: list[Process] = []
        waiting: list[Process] = []
        for task in self.tasks:
            if actors.group_of(slots, slots[task.base + 2]) != actor:
                others.append(task)
            elif actors.waits_for_future(slots, task):
                waiting.append(task)
        members = set(actors.members(slots, actor))
        classes = {actors.class_of(slots, ref) for ref in members}
        reaches = self.stability.chains.reaches
        for task in waiting:
            if not classes.isdisjoint(reaches(slots[task.base])):
                return False
            if not all(actors.are_independent(slots[task.base], slots[other.base]) for other in ready):
                return False
        if actors.program.uses_futures:
            going = [task for task in others if task.pid not in stuck]
            if not self._reachable_from(going).isdisjoint({task.pid for task in ready}):
                return False
        if all(classes.isdisjoint(reaches(slots[task.base])) for task in others):
            return True
        return self._reachable_from(others).isdisjoint(members)

    def _reachable_from(self, tasks: Sequence[Process]) -> set[Pid]:
        """The objects and futures that some tasks can get hold of."""
        actors, slots = self.stability.actors, self.slots
        seen: set[Pid] = set()
        left: list[Pid] = []
        for task in tasks:
            held = self._references_of_task(task)
            left += [*held.direct, *held.inside, slots[task.base + 2]]
        while left:
            ref = left.pop()
            if ref not in seen:
                seen.add(ref)
                held = (
                    self._references_of_object(ref)
                    if actors.is_object(slots, ref)
                    else self._references_of_future(ref)
                )
                left += [*held.direct, *held.inside]
        return seen

    def _references_of_future(self, task: Pid) -> References:
        held = References()
        held.add((self.stability.actors.result_of(self.slots, task),))
        return held
