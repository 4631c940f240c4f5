"""One search loop for all stateless engines; what to explore at a state is a reduction's business.

    explore     depth first: a fresh state is opened by the reduction, then its moves are taken one by one;
                at the end of a run the reduction may add moves to earlier states
    Reduction   `opened`, `next_move`, `taken`, `completed`: see the engines
    Node        a state on the way: a run that stands there, its actions, its sleep set

Runs that can be forked continue from the state saved in a node; others are replayed from the start.
A step that was explored from here, and does not depend on what came since, is asleep and need not be explored
again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from porcini.core.events import Action, Event, Move
from porcini.core.execution import Dependence, Execution
from porcini.core.footprints import OPAQUE
from porcini.core.pids import Pid
from porcini.core.systems import Forkable, Incremental, Program, Run
from porcini.engines.replaying import replayed
from porcini.engines.stats import SearchStats

_MOST_PLANNED = 20_000
_abilities: dict[type, tuple[bool, bool]] = {}


@dataclass(slots=True)
class Node:
    """A state of the search; `plan` is whatever the reduction keeps here."""

    run: Run | None
    actions: Sequence[Action]
    sleep: dict[Move, Event]
    plan: Any = None
    taken: Action | None = None
    done: int = 0
    tried: dict[Hashable, Sequence[Action]] | None = None
    """What processes can do at places that were tried, for as long as the search is below this state."""

    @property
    def enabled(self) -> list[Action]:
        return [action for action in self.actions if action.enabled]

    def action(self, move: Move) -> Action:
        for action in self.actions:
            if action.move is move or action.move == move:
                return action
        raise KeyError(move)


class Reduction(Protocol):
    """Decides what is explored. `taken` gives the plan with which the state after a move is opened."""

    def opened(self, search: Search, node: Node, enabled: list[Action], plan: Any) -> None: ...

    def next_move(self, search: Search, node: Node) -> Action | None: ...

    def taken(self, node: Node, event: Event) -> Any: ...

    def completed(self, search: Search) -> None: ...

    def pending(self, node: Node) -> int: ...

    sleeps: bool
    """Are steps asleep once they were explored? Else a reduction prunes by means of its own."""

    def name(self, node: Node) -> Hashable:
        """The class of a run that ends here; None if no class is seen twice."""


class Search:
    """The state of a search: the nodes from the initial state to here, and the execution that leads here."""

    def __init__(self, program: Program, reduction: Reduction, stats: SearchStats, dependence: Dependence) -> None:
        self.program = program
        self.reduction = reduction
        self.stats = stats
        self.dependence = dependence
        self.execution = Execution(dependence)
        self.nodes: list[Node] = []
        self.first_new = 0
        self.has_choices = program.has_choices
        self.discovers_footprints = program.discovers_footprints
        self._planned: dict[Action, Event] = {}
        self._unknown: dict[Event, Event] = {}

    def explore(self) -> None:
        """Run to the end. From `first_new` on, the current execution leaves those already completed."""
        nodes, execution, stats, reduction = self.nodes, self.execution, self.stats, self.reduction
        start = self.program.start()
        if type(start) not in _abilities:  # protocols are slow to ask
            _abilities[type(start)] = isinstance(start, Forkable), isinstance(start, Incremental)
        self.forkable, incremental = _abilities[type(start)]
        self.incremental = incremental
        depth = stats.limits.depth
        stats.counts.states += 1
        stats.progress = self.fraction
        if self._open(start, start.actions(), {}, None):
            stats.complete(execution.events, start.final(), None)
        while nodes:
            node = nodes[-1]
            action = reduction.next_move(self, node)
            if action is not None and len(nodes) > depth:
                stats.cut()
                action = None
            if action is None:
                nodes.pop()
                if nodes:
                    event = execution.pop()
                    node = nodes[-1]
                    if reduction.sleeps:
                        node.sleep[event.move] = event
                    node.done += 1
                    if self.first_new >= len(nodes):
                        self.first_new = len(nodes) - 1
                continue
            node.taken = action
            run = self._branch(len(nodes) - 1)
            event = run.step(action)
            execution.push(event)
            stats.step()
            actions = run.actions_after(node.actions, event) if incremental else run.actions()  # type: ignore[attr-defined]
            sleep = node.sleep
            if sleep:
                depends = self.dependence.of(event)
                sleep = {m: s for m, s in sleep.items() if not depends[s]}
            else:
                sleep = {}
            if self._open(run, actions, sleep, reduction.taken(node, event)):
                final = run.final()  # before other runs are made, to find out more
                reduction.completed(self)
                self.first_new = len(execution)
                stats.complete(execution.events, final, reduction.name(nodes[-1]))

    def _open(self, run: Run, actions: Sequence[Action], sleep: dict[Move, Event], plan: Any) -> bool:
        """Add a node; say whether it is the end of a run."""
        node = Node(run, actions, sleep)
        self.nodes.append(node)
        enabled = [action for action in actions if action.enabled]
        self.reduction.opened(self, node, enabled, plan)
        return not enabled

    def fraction(self) -> float:
        """How much of the tree is done, if the branches of a node are taken to be equally large (after Knuth)."""
        done, share = 0.0, 1.0
        for node in self.nodes:
            branches = node.done + self.reduction.pending(node) + 1
            done += share * node.done / branches
            share /= branches
        return done

    def _branch(self, depth: int) -> Run:
        """A run that stands at a node and may be used up."""
        node = self.nodes[depth]
        if self.forkable:
            return node.run.fork()  # type: ignore[union-attr, no-any-return]
        run, node.run = node.run, None
        return run or self._replayed(depth)

    def _replayed(self, depth: int) -> Run:
        run = self.program.start_after(self.execution.events[:depth])
        return run if run is not None else replayed(self.program, self.execution.trace().schedule[:depth])

    def planned(self, action: Action) -> Event:
        """What an action will do, as far as it can be known before."""
        event = self._planned.get(action)
        if event is None:
            if len(self._planned) > _MOST_PLANNED:
                self._planned.clear()
            event = self._planned[action] = Event(
                action.pid,
                action.choice,
                action.label,
                action.footprint,
                guard_locations=action.guard_locations,
            )
        return event

    def unknown(self, event: Event) -> Event:
        """An event's step, at a place where it may touch anything."""
        found = self._unknown.get(event)
        if found is None:
            if len(self._unknown) > _MOST_PLANNED:
                self._unknown.clear()
            found = self._unknown[event] = Event(event.pid, event.choice, event.label, OPAQUE)
        return found

    def step_after(self, at: int, moves: Sequence[Move]) -> Event:
        """The last of some moves after the first `at` events."""
        run = self._branch(at) if self.forkable else self._replayed(at)
        for move in moves:
            event = run.step(next(action for action in run.actions() if action.move == move))
        return event

    def try_out(self, at: int, between: Sequence[int], pid: Pid) -> Sequence[Action]:
        """The actions of a process after the first `at` events and some later ones without the rest."""
        if self.forkable and self.incremental:
            run: Any = self._branch(at)
            for position in between:
                run.step(self.nodes[position].taken)
            return run.actions_of(pid)  # type: ignore[no-any-return]
        run = self._branch(at) if self.forkable else self._replayed(at)
        for position in between:
            run.step(next(a for a in run.actions() if a.move == self.execution.events[position].move))
        return [action for action in run.actions() if action.pid == pid]
