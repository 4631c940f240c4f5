"""One search loop for all stateless engines; what to explore at a state is a reduction's business.

    explore     depth first: a fresh state is opened by the reduction, then its moves are taken one by one;
                at the end of a run the reduction may add moves to earlier states
    Reduction   `opened`, `next_move`, `taken`, `completed`: see the engines
    Node        a state on the way: a run that stands there, its actions, its sleep set

Runs that can be forked continue from the state saved in a node; others are replayed from the start.
Sleep sets are kept for every engine: a step that was explored from here, and does not depend on what came
since, need not be explored again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from porcini.core.events import Action, Event, Move
from porcini.core.systems import Forkable, Program, Run
from porcini.engines.execution import Dependence, Execution
from porcini.engines.replaying import replayed
from porcini.engines.tally import Tally


@dataclass(slots=True)
class Node:
    """A state of the search; `plan` is whatever the reduction keeps here."""

    run: Run | None
    sleep: dict[Move, Event]
    actions: dict[Move, Action] = field(default_factory=dict)
    enabled: list[Action] = field(default_factory=list)
    plan: Any = None


class Reduction(Protocol):
    """Decides what is explored. `taken` gives the plan with which the state after a move is opened."""

    def opened(self, search: Search, node: Node, plan: Any) -> None: ...

    def next_move(self, search: Search, node: Node) -> Move | None: ...

    def taken(self, node: Node, event: Event) -> Any: ...

    def completed(self, search: Search, first_new: int) -> None: ...


class Search:
    """The state of a search: the nodes from the initial state to here, and the execution that leads here."""

    def __init__(self, program: Program, reduction: Reduction, tally: Tally, dependence: Dependence) -> None:
        self.program = program
        self.reduction = reduction
        self.tally = tally
        self.dependence = dependence
        self.execution = Execution(dependence)
        self.nodes: list[Node] = []

    def explore(self) -> None:
        """Run to the end. `first_new` is where the current execution leaves those already completed."""
        nodes, execution, tally, reduction = self.nodes, self.execution, self.tally, self.reduction
        self._open(self.program.start(), {}, None)
        tally.counts.states += 1
        depth = tally.limits.depth
        first_new = 0
        while nodes:
            node = nodes[-1]
            move = None
            if not node.enabled:
                reduction.completed(self, first_new)
                tally.complete(execution.trace(), self._run_at(len(nodes) - 1).final(), None)
                first_new = len(execution)
            elif len(execution) >= depth:
                tally.cut()
                first_new = len(execution)
            else:
                move = reduction.next_move(self, node)
            if move is None:
                nodes.pop()
                if nodes:
                    event = execution.pop()
                    nodes[-1].sleep[event.move] = event
                    first_new = min(first_new, len(execution))
                continue
            run = self._branch(len(nodes) - 1)
            event = run.step(node.actions[move])
            execution.push(event)
            tally.step()
            dependent = self.dependence.dependent
            sleep = {m: s for m, s in node.sleep.items() if not dependent(s, event)} if node.sleep else {}
            self._open(run, sleep, reduction.taken(node, event))

    def _open(self, run: Run, sleep: dict[Move, Event], plan: Any) -> None:
        node = Node(run, sleep)
        for action in run.actions():
            node.actions[action.move] = action
            if action.enabled:
                node.enabled.append(action)
        self.nodes.append(node)
        self.reduction.opened(self, node, plan)

    def _branch(self, depth: int) -> Run:
        """A run that stands at a node and may be used up."""
        node = self.nodes[depth]
        if isinstance(node.run, Forkable):
            return node.run.fork()
        run, node.run = node.run, None
        return run or replayed(self.program, self.execution.trace().schedule[:depth])

    def _run_at(self, depth: int) -> Run:
        node = self.nodes[depth]
        return node.run or replayed(self.program, self.execution.trace().schedule[:depth])

    def try_out(self, at: int, between: tuple[int, ...]) -> list[Action] | None:
        """The actions after the first `at` events and some later ones; None if one of those cannot go."""
        run = self._branch(at) if isinstance(self.nodes[at].run, Forkable) else self._fresh(at)
        for position in between:
            move = self.execution.events[position].move
            action = next((a for a in run.actions() if a.move == move and a.enabled), None)
            if action is None:
                return None
            run.step(action)
        return list(run.actions())

    def _fresh(self, depth: int) -> Run:
        return replayed(self.program, self.execution.trace().schedule[:depth])
