"""Three older reductions on the same search loop: sleep sets alone, classic DPOR, source-DPOR.

    Sleep     takes every enabled step that is not asleep (Godefroid 1996): each class once, many runs given up
    Source    Abdulla, Aronis, Jonsson and Sagonas, JACM 2017, Algorithm 1: for a reversal v at an earlier state,
              one initial of v is added there unless one is chosen already or asleep; reversals as in `races`
    Classic   Flanagan and Godefroid, POPL 2005: the same, but only with steps that lead to the one that raced:
              those of its own process, or of one that must go before it

    Explore(E, Sleep), by source sets (Algorithm 1 of the same paper):

    1   if some step p is enabled after E and does not sleep:
    2     backtrack(E) := {p}
    3     while some p in backtrack(E) does not sleep:
    4       for each race e, e' of E.p that can be reversed, where e' is the step p:
    5         let E' = pre(E, e) and v = notdep(e, E).e'
    6         if no initial of v after E' is in backtrack(E'): add one of them
    7       Explore(E.p, those of Sleep that are independent of p)
    8       add p to Sleep

    open_node       lines 1 and 2 (`initial_moves`)
    next_move       line 3
    reverse_races   lines 4 to 6, for all races of a run at its end (`backtrack_candidates`: the initials of line
                    6)

In classic DPOR, line 6 adds the process of e', or what has to run before it; for sleep sets alone, line 2 takes
all enabled steps, and there are no lines 4 to 6.

Classic DPOR as published looks at the last race only and, where the process was not enabled, adds all enabled
ones. With guards that become true and false again, that is neither enough nor, with sleep sets, sound. Here
blocked processes and guards are handled by `races`, as in the other engines; only the choice of backtrack points
is classic.

A run whose enabled steps are all asleep is given up and counted as blocked. Its races are reversed all the same.

*Nothing is lost.* Theorem: when the search is done with a state E', then for every feasible w (complete or not) it
has run E'.u where w is a beginning of u, up to order; unless a step asleep when E' was opened is an initial of w.

For `Sleep` this is Godefroid's theorem. For the others, suppose that it fails for E' first and for w. No step that
was explored at E' is an initial of w. At least one was explored, or the first step of w would be asleep. For those
explored let w'(p) and q be as in `optimal`; take one with the longest w' that writes nothing that decides about q
and is not of its process, or else any with the longest w'. The theorem holds for E'.p, and in the first case for
w'.q, else for w': a step asleep there that is an initial of it is asleep or explored at E' and an initial of w. So
there is a run E as in Lemma 1 of `races`, complete or given up. (If Q could go at the end of a run given up, its
step is asleep there. Then the search has taken it earlier, at a state below E'.p, and from there the theorem gives
a run with all of w' in which Q has gone.) Lemma 1 gives v = w'.X.q, and some initial p' of v is explored or asleep
at E'. If it is one of w' or q, it is an initial of w. Else it is one of X: it was run below E', with nothing
before it that it depends on, so it was not asleep at E'. So it was explored; and w'(p') is longer, or, in
case (2), p was not to be taken. `Classic` asks for less: an initial of what q needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from porcini.core.events import Action, Event, Move
from porcini.engines.search import Node, Search
from porcini.engines.wakeup import initials
from porcini.engines.wakeup_sequences import reversals


@dataclass(slots=True)
class BacktrackSet:
    """The moves to take from a state, in order, and how many of them have been considered."""

    moves: list[Move] = field(default_factory=list)
    done: int = 0

    def add(self, move: Move) -> None:
        if move not in self.moves:
            self.moves.append(move)


class Sleep:
    """Sleep sets alone; a node's plan is the moves chosen for it."""

    sleeps = True

    def class_of(self, node: Node) -> None:
        return None

    def open_node(self, search: Search, node: Node, enabled: list[Action], plan: Any) -> None:
        awake = [action for action in enabled if action.move not in node.sleep]
        node.plan = BacktrackSet(self.initial_moves(search, awake))
        if enabled and not awake:
            search.stats.counts.blocked += 1

    def initial_moves(self, search: Search, awake: list[Action]) -> list[Move]:
        return [action.move for action in awake]

    def next_move(self, search: Search, node: Node) -> Action | None:
        chosen: BacktrackSet = node.plan
        while chosen.done < len(chosen.moves):
            move = chosen.moves[chosen.done]
            chosen.done += 1
            if move not in node.sleep and self.allows(search, node, move):
                return node.action(move)
        return None

    def allows(self, search: Search, node: Node, move: Move) -> bool:
        return True

    def descend(self, node: Node, event: Event) -> None:
        return None

    def count_pending(self, node: Node) -> int:
        chosen: BacktrackSet = node.plan
        return len(chosen.moves) - chosen.done

    def reverse_races(self, search: Search) -> None:
        return None


class Source(Sleep):
    """Source sets. With a bound on preemptions, runs beyond it are left out and the search proves nothing."""

    def __init__(self, preemptions: int | None = None) -> None:
        self.preemptions = preemptions

    def open_node(self, search: Search, node: Node, enabled: list[Action], plan: Any) -> None:
        super().open_node(search, node, enabled, plan)
        if enabled and not node.plan.moves:  # a run that is given up has races all the same
            self.reverse_races(search)

    def initial_moves(self, search: Search, awake: list[Action]) -> list[Move]:
        events = search.execution.events
        last = events[-1].pid if events else None
        return [action.move for action in sorted(awake, key=lambda action: action.pid != last)[:1]]

    def allows(self, search: Search, node: Node, move: Move) -> bool:
        if self.preemptions is None or preemptions(search, node, move) <= self.preemptions:
            return True
        search.stats.leave_out(f"the bound of {self.preemptions} preemptions")
        return False

    def reverse_races(self, search: Search) -> None:
        for reversal in reversals(search):
            node = search.nodes[reversal.at]
            for step in reversal.steps:
                starts = self.backtrack_candidates([*reversal.between, step], search)
                if not any(move in node.plan.moves or move in node.sleep for move in starts):
                    node.plan.add(starts[0])

    def backtrack_candidates(self, sequence: list[Event], search: Search) -> list[Move]:
        """The moves at the earlier state one of which must be taken."""
        return [event.move for event in initials(sequence, search.dependence)]


class Classic(Source):
    """Flanagan and Godefroid's backtrack sets, which consider only what leads to the step that raced."""

    def backtrack_candidates(self, sequence: list[Event], search: Search) -> list[Move]:
        needed = [sequence[-1]]
        for event in reversed(sequence[:-1]):
            if any(search.dependence.dependent(event, later) for later in needed):
                needed.insert(0, event)
        return [event.move for event in initials(needed, search.dependence)]


def preemptions(search: Search, node: Node, move: Move) -> int:
    """The number of preemptions if this move is taken now: switches away from a process that could have gone
    on."""
    nodes, events = search.nodes, search.execution.events
    pids = [event.pid for event in events] + [move.pid]
    return sum(
        before != after and any(action.pid == before for action in nodes[k + 1].enabled)
        for k, (before, after) in enumerate(pairwise(pids))
    )
