"""One search loop for all stateless engines; a reduction decides what to explore at each state.

    explore     searches depth first: the reduction opens a fresh state, then its moves are taken one by one;
                at the end of a run the reduction may add moves to earlier states
    Reduction   `open_node`, `next_move`, `descend`, `reverse_races`: see the engines
    Node        a state on the search stack: a run in that state, its actions, its sleep set

Runs that can be forked continue from the state that is saved in a node; others are replayed from the start.
A step that was explored from an earlier state, and is independent of all steps since, is asleep: it need not be
explored again.
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
from porcini.engines.replaying import run_after
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
    """The actions of processes at cuts that were tried, valid as long as the search is below this state."""

    @property
    def enabled(self) -> list[Action]:
        return [action for action in self.actions if action.enabled]

    def action(self, move: Move) -> Action:
        for action in self.actions:
            if action.move is move or action.move == move:
                return action
        raise KeyError(move)


class Reduction(Protocol):
    """Decides what is explored. `descend` returns the plan with which the state after a move is opened;
    `reverse_races` is called at the end of each run, and may add moves to earlier nodes."""

    def open_node(self, search: Search, node: Node, enabled: list[Action], plan: Any) -> None: ...

    def next_move(self, search: Search, node: Node) -> Action | None: ...

    def descend(self, node: Node, event: Event) -> Any: ...

    def reverse_races(self, search: Search) -> None: ...

    def count_pending(self, node: Node) -> int: ...

    sleeps: bool
    """Do steps fall asleep once they have been explored? Otherwise the reduction prunes by other means."""

    def class_of(self, node: Node) -> Hashable:
        """The class of a run that ends here; None if no class is explored twice."""


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
        """Search to the end. From position `first_new` on, the current execution differs from those already
        completed."""
        nodes, execution, stats, reduction = self.nodes, self.execution, self.stats, self.reduction
        start = self.program.start()
        if type(start) not in _abilities:  # protocols are slow to ask
            _abilities[type(start)] = isinstance(start, Forkable), isinstance(start, Incremental)
        self.forkable, incremental = _abilities[type(start)]
        self.incremental = incremental
        depth = stats.limits.depth
        stats.counts.states += 1
        stats.progress = self.fraction_done
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
            if sleep:  # a step stays asleep after an event that it is independent of
                depends = self.dependence.of(event)
                sleep = {m: s for m, s in sleep.items() if not depends[s]}
            else:
                sleep = {}
            if self._open(run, actions, sleep, reduction.descend(node, event)):
                final = run.final()  # before the reduction starts other runs
                reduction.reverse_races(self)
                self.first_new = len(execution)
                stats.complete(execution.events, final, reduction.class_of(nodes[-1]))

    def _open(self, run: Run, actions: Sequence[Action], sleep: dict[Move, Event], plan: Any) -> bool:
        """Add a node; return whether it is the end of a run."""
        node = Node(run, actions, sleep)
        self.nodes.append(node)
        enabled = [action for action in actions if action.enabled]
        self.reduction.open_node(self, node, enabled, plan)
        return not enabled

    def fraction_done(self) -> float:
        """The fraction of the tree that is done, assuming that the branches of a node are equally large (after
        Knuth)."""
        done, share = 0.0, 1.0
        for node in self.nodes:
            branches = node.done + self.reduction.count_pending(node) + 1
            done += share * node.done / branches
            share /= branches
        return done

    def _branch(self, depth: int) -> Run:
        """A run in the state of a node, which the caller may advance."""
        node = self.nodes[depth]
        if self.forkable:
            return node.run.fork()  # type: ignore[union-attr, no-any-return]
        run, node.run = node.run, None
        return run or self._replay_prefix(depth)

    def _replay_prefix(self, depth: int) -> Run:
        run = self.program.start_after(self.execution.events[:depth])
        return run if run is not None else run_after(self.program, self.execution.trace().schedule[:depth])

    def planned_event(self, action: Action) -> Event:
        """The event that an action announces, as far as it is known before the action is taken."""
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

    def opaque_event(self, event: Event) -> Event:
        """The step of an event at another place, where it may touch anything."""
        found = self._unknown.get(event)
        if found is None:
            if len(self._unknown) > _MOST_PLANNED:
                self._unknown.clear()
            found = self._unknown[event] = Event(event.pid, event.choice, event.label, OPAQUE)
        return found

    def run_moves_after(self, at: int, moves: Sequence[Move]) -> Event:
        """Take some moves after the first `at` events; the event of the last one."""
        run = self._branch(at) if self.forkable else self._replay_prefix(at)
        for move in moves:
            event = run.step(next(action for action in run.actions() if action.move == move))
        return event

    def try_out(self, at: int, between: Sequence[int], pid: Pid) -> Sequence[Action]:
        """The actions of a process after the first `at` events and the later ones in `between`, without the
        rest."""
        if self.forkable and self.incremental:
            run: Any = self._branch(at)
            for position in between:
                run.step(self.nodes[position].taken)
            return run.actions_of(pid)  # type: ignore[no-any-return]
        run = self._branch(at) if self.forkable else self._replay_prefix(at)
        for position in between:
            run.step(next(a for a in run.actions() if a.move == self.execution.events[position].move))
        return [action for action in run.actions() if action.pid == pid]
