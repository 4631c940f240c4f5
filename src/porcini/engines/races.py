"""Where a run could have gone another way: races between neighbours, and places for steps with guards. This module
is pure: it computes, and changes nothing.

From one complete run E, the engines want the sequences that lead to classes not seen yet. For an event e of E,
with the prefix E' before it, and a step q that depends on e, that is v = D.q: some later events D that do not
happen after e, then q, so that E'.D.q has q before e. There are three kinds of q; each says which D will do.

*What is relied on.* (A) Two adjacent independent steps of a run can be swapped. (B) What a process can do
next is settled by the values of its `guard_locations`, which it looks at one after the other: two states that
agree on the `guard_locations` that it has in one of them give it the same `guard_locations`, and the same
actions with the same footprints. (C) In each of its steps, a process with several choices reads the
`guard_locations` of all of them.

*Neighbours.* Where e writes nothing that decides about q, q is the same step with and without e. It is an event
of E that depends on e with nothing between. D is notdep(e, E), all later events that do not happen after e. What
of D comes after q is independent of q, or else it would happen after e (Abdulla, Aronis, Jonsson and Sagonas,
JACM 2017).

*Choices.* Where e is a step of q's own process by another choice, D is notdep(e, E) again. By (C) it does not
write what decides about the choices.

*Guards.* Where e writes something that decides about q, q may be enabled without e and blocked with it, or go
another way; and between two feasible orders all orders may be infeasible. So q is looked for by trying. For
each process Q, at its step in E or where it is blocked at the end, let L contain its `guard_locations`. The
writers of L that need not come before Q's step are cut in all ways that are closed under happens-before: a
cut keeps some of them before Q and leaves out e and the others, and D is all that does not happen after what
is left out. The engine looks what Q can do there. What decides about that is added to L, until L does not
grow.

Lemma 1. Let p be independent of all of w', let E'.p.w' be feasible, and let q be a step of a process Q after
E'.w' that p is not independent of. If E is a complete run that begins with E'.p and is equivalent to E'.p.w'.u,
for some u (which begins with q if p writes nothing that decides about q and is not of Q), then the reversals of
E at E' contain D.q, where D is w'.X up to order, and

    (1) q and p are neighbours, and X is independent of q; or
    (2) X writes nothing that decides about q, and has no step of Q.

For neighbours and choices that has been said. For guards, let F be the events of E'.p.w'. They are closed under
happens-before in E, and Q's step is not among them.

    L contains what decides about Q after F. If no writer of L outside of F comes before Q's step in E, then Q saw
    there what it sees after F: those of F that come later do not write what it looked at. Else let e1 be the
    first of these writers. The cut at e1 that keeps the writers of L in F leads to a state that agrees with the
    one after F on L. There Q's `guard_locations` are in L, and so (B) they are those after F.

    p is a writer of L: it writes something that Q looks at after E'.w'. Up to the first such location Q looks at
    the same ones after F.

    The cut at p that keeps the writers of L in w' has D = w'.X, where X writes nothing of L. There Q's
    `guard_locations` are in L, so by (B) Q can do what it can do after E'.w': q is found, and X writes
    nothing that decides it.

What engines conclude from this lemma is in their headers. They look at all reversals of every complete run,
whether the events are new or not, since D depends on the whole run. To look at new events only, or to leave out
reversals that look like earlier ones, loses classes (decision 17).

Cost: the number of cuts of the writers of one L: linear for one location, a product of chain lengths for several.
For arbitrary guards no cheap way is known. Where every cut leads to a class of its own, as with k switches that
are toggled and a guard over all of them (2^k classes), the time per run stays flat from k = 1 to 5.
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
    """A place for a step with a guard: after the first `at` events, and all later ones that are not `barred` and
    do not happen after a barred event. `needed` are the events that determine the step; the other events before it
    write nothing that it reads. Both are sets of positions.
    """

    at: int
    barred: int
    needed: int


def plain_races(execution: Execution) -> Iterator[Race]:
    """The races of all events with neighbours that write none of their guard locations."""
    events, past = execution.events, execution.past
    for j, neighbours in enumerate(execution.races):
        for e in neighbours:
            guard_locations = events[j].guard_locations
            if not guard_locations or events[e].footprint.writes.isdisjoint(guard_locations):
                later = past[j] >> e + 1  # none of these happens after e, or e would be no neighbour
                yield Race(e, j, e + (later & -later).bit_length() if later else j)


def not_after(execution: Execution, at: int, barred: int) -> list[int]:
    """The events after position `at` that are not barred and do not happen after a barred event. If only `at` is
    barred, this is notdep(at, E)."""
    past = execution.past
    return [k for k in range(at + 1, len(past)) if not (past[k] | 1 << k) & barred]


def cuts(execution: Execution, pid: Pid, step: int | None, locations: frozenset[Location]) -> Iterator[Cut]:
    """All places where a process could have gone on, as far as some locations distinguish them: before each writer
    of these locations that need not come before its step. `step` is the position of that step; None if the process
    is blocked at the end.
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
    """All sets of writers to leave out such that the writers that are kept are closed under happens-before."""
    choices = [0]
    for k in writers:  # in order, so that what happens before k has been decided
        kept = [out for out in choices if not past[k] & out]
        choices = [out | 1 << k for out in choices] + kept
    return iter(choices)
