"""Where a run could have gone another way: races between neighbours, and places for steps with guards. Pure.

From one complete run E, the engines want the sequences that lead to classes not seen yet. For an event e of E with
the prefix E' before it, and a step q that depends on e, that is v = D.q: some later events D that do not happen after
e, then q, so that E'.D.q has q before e. There are three kinds of q, and for each it must be said which D will do.

*What is relied on.* (A) Two adjacent independent steps of a run can be swapped. (B) Whether and how a process goes on
is settled by the values of its `decides`: a step that writes none of these leaves its actions as they were, with
their footprints. (C) A process with several choices reads the `decides` of all of them in each of its steps.
(B) follows from reading in a fixed order: `decides` is found by looking at one location after the other, so two
states that agree on the `decides` of one of them have the same, and the same actions.

*Races between neighbours.* e writes nothing that decides about q. Then q is the same step with and without e, and it
was run: q is an event of E that depends on e with nothing between. D is notdep(e, E), all later events that do not
happen after e. What of D comes after q is independent of it, or it would happen after e (Abdulla, Aronis, Jonsson and
Sagonas, JACM 2017).

*Guards.* e writes something that decides about q. Then q may be enabled without e and blocked with it, or go another
way, and between two feasible orders all orders may be infeasible. So q is looked for by trying: for each process Q, at
its step in E or where it is blocked at the end, let L be a set of locations that contains its `decides`. The writers
of L that need not come before Q's step are cut in all ways that are closed under happens-before; a cut keeps some
of them before Q goes (K) and leaves out e and the rest, and D is all that happens after nothing left out. The
engine looks what Q can do there. What decides about that is added to L, until L does not grow: then every
place has been tried at which Q sees something else.

*Choices.* e is a step of Q itself, by another of its choices. D is notdep(e, E); by (C) it leaves Q's choices as they
were.

Lemma 1. Let E'.p be explored and E'.p.w' be feasible where p is independent of w', let Q stand in E'.w' before a
step q, and let E be a complete run that is equivalent to E'.p.w'.u for some u. If p is not independent of q, then
the reversals of E at E' contain D.q with w' a part of D (up to order), and such that

    neighbours   q was run after p in E, and D without w' is independent of q; or
    otherwise    no step of D without w' writes what decides about q, nor is it one of Q.

For neighbours and choices this is said above; a step of D without w' that writes what decides about a choice would
depend on p. For guards, let F be the events of E'.p.w': a set that is closed under happens-before in E, and without
Q's step. L contains what decides about Q after F: if no writer of L outside of F comes before Q's step in E, then
Q saw in E what it sees after F, as writers in F that come later do not write what decided about it. Otherwise let e1
be the first such writer: the cut at e1 that keeps the writers in F gives a state that agrees with F on L, so Q sees
the same there, and L contains what decides about that. Now p writes something that decides about q, so it writes
something that decides about Q after F (up to the first such location, Q reads the same), so it is a writer of L
and is cut. The cut at p that keeps the writers of L in w' has D = w'.X, where X writes nothing of L: Q sees the same
after w'.X as after w', so q is found there, and X writes nothing that decides about it.

What the engines make of this lemma is in their headers. All reversals of a run are looked at, whether their events
are new or not: D depends on all of E, and so does what a sequence leads to. Looking only at the races of new
events is what the first version did; it lost classes (decision 17).

Cost: the number of cuts of the writers of one L: linear for one location, a product of chain lengths over several.
For arbitrary guards no cheap way is known. Where every cut leads to a class of its own, as with k switches that are
toggled and a guard over all of them (2^k classes), the time per run stays flat from k = 1 to 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porcini.core.execution import Execution
from porcini.core.footprints import Location
from porcini.core.pids import Pid


@dataclass(frozen=True, slots=True)
class Race:
    """Event `at` and event `step` are neighbours that could go the other way round.

    `first` is the first of the later events that must come before `step`, or `step` itself: what the reversed
    order can begin with.
    """

    at: int
    step: int
    first: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A place for a step with a guard: after the first `at` events, and all later ones that do not happen after
    something `barred`. Both are sets of positions: `needed` are those that must have happened for the step to be
    known there; what else comes before it writes nothing that it looks at.
    """

    at: int
    barred: int
    needed: int


def plain_races(execution: Execution) -> Iterator[Race]:
    """The races of all events with neighbours that do not decide about them."""
    events, past = execution.events, execution.past
    for j, neighbours in enumerate(execution.races):
        for e in neighbours:
            decides = events[j].decides
            if not decides or events[e].footprint.writes.isdisjoint(decides):
                later = past[j] >> e + 1  # none of these happens after e, or e would be no neighbour
                yield Race(e, j, e + (later & -later).bit_length() if later else j)


def not_after(execution: Execution, at: int, barred: int) -> list[int]:
    """The events after position `at` that are not barred and do not happen after something barred; if only `at` is
    barred, notdep(at, E)."""
    past = execution.past
    return [k for k in range(at + 1, len(execution)) if not (past[k] | 1 << k) & barred]


def cuts(execution: Execution, pid: Pid, step: int | None, locations: frozenset[Location]) -> Iterator[Cut]:
    """All places where a process could have gone on, as far as some locations tell them apart: before each of their
    writers that need not come before its step. `step` is its position, None if it is still blocked at the end.
    """
    before = execution.past_of_next(pid) if step is None else execution.past_of_position(step)
    writers = [k for k in execution.writers(locations) if not before >> k & 1]
    past = execution.past
    for e in writers:
        if step is not None and e >= step:
            break
        # Nothing that happens after e, or after the step itself, can come before the step.
        barred = 1 << e if step is None else 1 << e | 1 << step
        others = [k for k in writers if k > e and k != step and not past[k] & barred]
        for left_out in _upsets(past, others):
            needed = before
            for k in others:
                if not left_out >> k & 1:
                    needed |= past[k] | 1 << k
            yield Cut(e, barred | left_out, needed)


def _upsets(past: list[int], writers: list[int]) -> Iterator[int]:
    """All choices of writers to leave out, such that what is kept is closed under happens-before."""
    choices = [0]
    for k in writers:  # in order, so that what happens before k has been decided
        kept = [out for out in choices if not past[k] & out]
        choices = [out | 1 << k for out in choices] + kept
    return iter(choices)
