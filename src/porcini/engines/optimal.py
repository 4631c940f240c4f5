"""Optimal DPOR with wakeup trees: one run per class and none in vain, whatever guards do.

Abdulla, Aronis, Jonsson and Sagonas, JACM 2017, the optimal algorithm, with races against
guards as `races` describes them.

    opened      a state is explored as its wakeup tree says; where that is empty, any process may go
    next_move   the first branch of the tree
    taken       the branch is done; the tree below it goes along
    completed   at the end of a run, for every reversal v at an earlier state: unless a sleeping step is a weak
                initial of v, insert v into that state's tree

A step asleep at the end of a wakeup sequence, with nothing else to do, cannot happen under `optimal`; if it does,
it is a bug in Porcini and says so. Programs that `discover` what a step touches are asked what it touches where it
is moved to (`foreseeing`).
"""

from __future__ import annotations

from porcini.core.events import Action, Event
from porcini.engines.foreseeing import Foresight
from porcini.engines.search import Node, Search
from porcini.engines.wakeup import INDEPENDENT, Branch, Tree, insert, weak_initial
from porcini.engines.wakeup_sequences import Foresee, Reversal, reversals


class InternalError(Exception):
    """A theorem does not hold at run time: a bug in Porcini."""


class Optimal:
    """The reduction; a node's plan is its wakeup tree."""

    sleeps = True

    def __init__(self) -> None:
        self._foresight: Foresight | None = None

    def name(self, node: Node) -> None:
        return None

    def opened(self, search: Search, node: Node, enabled: list[Action], plan: Tree | None) -> None:
        node.plan = plan or []
        if node.plan or not enabled:
            return
        awake = [action for action in enabled if action.move not in node.sleep] if node.sleep else enabled
        if not awake:
            raise InternalError(
                "Porcini bug: a run under `optimal` was blocked by its sleep set; please report the program "
                f"with this schedule: {' '.join(str(m.pid) for m in search.execution.trace().schedule)}"
            )
        last = search.execution.events[-1].pid if search.execution.events else None
        chosen = awake[0]
        if last is not None and len(awake) > 1:
            for action in awake:
                if action.pid is last or action.pid == last:
                    chosen = action
                    break
        node.plan.append(Branch(search.planned(chosen)))

    def next_move(self, search: Search, node: Node) -> Action | None:
        if not node.plan:
            return None
        action = node.action(node.plan[0].event.move)
        if not action.enabled:
            raise InternalError(f"Porcini bug: a wakeup sequence wants {action.pid}, which is blocked")
        return action

    def taken(self, node: Node, event: Event) -> Tree:
        branch: Branch = node.plan.pop(0)
        return branch.below

    def pending(self, node: Node) -> int:
        return len(node.plan)

    def completed(self, search: Search) -> None:
        foresee: Foresee | None = None
        if search.discovers:
            if self._foresight is None:
                self._foresight = Foresight(search.execution, search.step_after)
            self._foresight.note(search.first_new)
            foresee = self._foresight.moved
        for reversal in reversals(search, foresee):
            self._add(search, reversal)

    def _add(self, search: Search, reversal: Reversal) -> None:
        """Insert the sequences of a reversal, but for those of which a sleeping step is a weak initial."""
        node, dependence, between = search.nodes[reversal.at], search.dependence, reversal.between
        independent: list[Event] = []  # sleeping steps that what stands between does not touch
        for asleep in node.sleep.values():
            found = weak_initial(asleep, between, dependence)
            if found == INDEPENDENT:
                independent.append(asleep)
            elif found is not None:
                return
        for step in reversal.steps:
            if all(weak_initial(asleep, (step,), dependence) is None for asleep in independent):
                insert(node.plan, [*between, step], dependence)
