"""Optimal DPOR with wakeup trees: exactly one run per class, and no run is given up, whatever guards do.

Abdulla, Aronis, Jonsson and Sagonas, JACM 2017, Algorithm 2, with the reversals that `races` describes.

     1  Explore(E, Sleep, WuT):
     2    if nothing is enabled after E:
     3      for each race e, e' of E that can be reversed:
     4        let E' = pre(E, e) and v = notdep(e, E).e'
     5        if no step of sleep(E') is a weak initial of v after E':
     6          insert v into wut(E')
     7    else:
     8      wut(E) := WuT, or some enabled step that does not sleep if WuT is empty
     9      sleep(E) := Sleep
    10      while wut(E) has a branch, the first of which is p:
    11        Sleep' := those of sleep(E) that are independent of p
    12        Explore(E.p, Sleep', the subtree of wut(E) below p)
    13        add p to sleep(E), and remove its branch from wut(E)

    reverse_races   at the end of a run: lines 3 to 6, with the reversals that `races` describes
    open_node       at a new state: lines 8 and 9
    next_move       the branch to take: line 10
    descend         removes the branch, and passes on the tree below it: lines 12 and 13. `search` keeps the sleep
                    sets of lines 11 and 13, for all reductions that have them

*Nothing is lost.* Theorem: when the search is done with a state E', it has explored every class of complete runs
E'.w, but for those of which a step that was asleep when E' was opened is an initial of w.

Lemma 2. At a leaf of a wakeup tree nobody is asleep. Neither a step that was asleep when v was inserted nor a
branch before the one that v follows is a weak initial of v, or of v with more steps; branches that come later are
explored later. So each of them depends on something on the way to the leaf.

Suppose that the theorem fails, first for E' (in the order in which the search is done with states), and for w. Of
the steps explored at E' or asleep there, none is an initial of w: for one explored, the first of them p leads to
E'.p, where the theorem holds for the rest of w. For each such step p let w'(p) be the longest beginning of w that
p is independent of, and q(p) the step after it; p is dependent on q, since w is complete. Take those with the
longest w'. If one of them writes nothing that decides about q, and is not of q's process, take such a one (first
case); else take the one that was explored first (second case). Let E'' be the state at which p was explored: E' is
E''.z, where p is independent of z, and z is empty unless p was asleep.

The search has explored a run E that begins with E''.p and is equivalent to E''.p.z.w'.u, where u begins with q in
the first case: for the theorem holds for E''.p, unless a step s asleep there is an initial of z.w'.u. Then s was
asleep or explored at E'' before p, so it is asleep along z (nobody takes a step that is asleep); it is not in w',
so it is independent of w'. In the first case it is not q either, so it is independent of q: w'(s) is longer. In
the second, w'(s) is as long, and s was explored before p. Neither can be.

So Lemma 1 gives a reversal v = D.q at E'', with D = z.w'.X. If it was not inserted, a step asleep at E'' is a weak
initial of it; as above it is asleep along z and at E'. If it was, follow the branch that it took and the way z.
Where they part, the branch was there before z's or else v would have followed z, so it was explored before and
is asleep from there to E'. If the branch ends first, it ends in a leaf on the way to E', at which p is asleep:
against Lemma 2. Or z ends first, and the branch goes on with a step that is explored at E'. In all cases, a step
p' that is explored or asleep at E' is a weak initial of w'.X.q. If it is a step of w', or q, then it is an
initial of w. Else it is independent of w'; and of q as well, so that w'(p') is longer; but for (2) of Lemma 1,
where it may be one of X that q depends on: it writes nothing that decides about q and is not of its process, and
p was not to be taken. So there is no such w.

*Nothing is run twice, or in vain.* That is the published proof: branches of one tree exclude each other, and where
a tree has no branch nobody is asleep, or all of it was explored. If a run ends with somebody asleep all the same,
it is a bug in Porcini and says so.

*Discovered footprints.* For programs that discover what a step touches, `foreseeing` finds out what it touches
where it is moved to; the proof for them is in decision 15.
"""

from __future__ import annotations

from porcini.core.errors import InternalError
from porcini.core.events import Action, Event
from porcini.engines.foreseeing import Foresight
from porcini.engines.search import Node, Search
from porcini.engines.wakeup import INDEPENDENT, Branch, Tree, insert, weak_initial
from porcini.engines.wakeup_sequences import Foresee, Reversal, reversals


class Optimal:
    """The reduction; a node's plan is its wakeup tree."""

    sleeps = True

    def __init__(self) -> None:
        self._foresight: Foresight | None = None

    def class_of(self, node: Node) -> None:
        return None

    def open_node(self, search: Search, node: Node, enabled: list[Action], plan: Tree | None) -> None:
        node.plan = plan or []
        if node.plan or not enabled:
            return
        awake = [action for action in enabled if action.move not in node.sleep] if node.sleep else enabled
        if not awake:
            raise InternalError(
                "a run under `optimal` was blocked by its sleep set, after "
                f"{' '.join(str(m.pid) for m in search.execution.trace().schedule)}"
            )
        last = search.execution.events[-1].pid if search.execution.events else None
        chosen = awake[0]
        if last is not None and len(awake) > 1:
            for action in awake:
                if action.pid is last or action.pid == last:
                    chosen = action
                    break
        node.plan.append(Branch(search.planned_event(chosen)))

    def next_move(self, search: Search, node: Node) -> Action | None:
        if not node.plan:
            return None
        action = node.action(node.plan[0].event.move)
        if not action.enabled:
            raise InternalError(f"a wakeup sequence wants {action.pid}, which is blocked")
        return action

    def descend(self, node: Node, event: Event) -> Tree:
        branch: Branch = node.plan.pop(0)
        return branch.below

    def count_pending(self, node: Node) -> int:
        return len(node.plan)

    def reverse_races(self, search: Search) -> None:
        foresee: Foresee | None = None
        if search.discovers_footprints:
            if self._foresight is None:
                self._foresight = Foresight(search.execution, search.run_moves_after)
            self._foresight.remember_run(search.first_new)
            foresee = self._foresight.foresee
        for reversal in reversals(search, foresee):
            self._add(search, reversal)

    def _add(self, search: Search, reversal: Reversal) -> None:
        """Insert the sequences of a reversal, except those of which a sleeping step is a weak initial."""
        node, dependence, between = search.nodes[reversal.at], search.dependence, reversal.between
        independent: list[Event] = []  # sleeping steps that are independent of all events in between
        for asleep in node.sleep.values():
            found = weak_initial(asleep, between, dependence)
            if found == INDEPENDENT:
                independent.append(asleep)
            elif found is not None:
                return
        for step in reversal.steps:
            if all(weak_initial(asleep, (step,), dependence) is None for asleep in independent):
                insert(node.plan, [*between, step], dependence)
