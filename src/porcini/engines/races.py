"""Reversals: from one complete execution, the wakeup sequences that lead to classes not yet seen. Pure.

For an event e of the execution E with prefix E' before it, and a step q that depends on e, the sequence is
v = D.q: some later events D that do not happen after e, then q, so that E'.D.q has q before e.

*Plain races.* If e writes nothing that decides about q, then q is the same step with and without e, and the
races between neighbours are enough; D is notdep(e, E), all that does not happen after e (Abdulla, Aronis,
Jonsson and Sagonas, JACM 2017, Optimal-DPOR lines 5 to 8).

*Guards.* If e does, then q may be enabled without e and blocked with it, or go another way, and between two
feasible orders all orders may be infeasible. Then neighbours are not enough. The writers of what decides
about q are looked at instead: D ranges over all down-closed choices of them (in a chain of writes, its
prefixes; over several locations, products of prefixes), each with everything that does not happen after e
or after a writer left out. The search runs E'.D and looks whether q is enabled there and depends on e. This
is done for every step that has a guard, executed or still blocked at the end, and for every writer e that
does not have to come before it.

Why that is complete: let E'.w be a maximal execution that no branch p explored at E' covers, w = w'.q.w''
with p independent of w' and dependent on q. By induction some execution E'.p.w'... was explored. If p changes
nothing that decides about q, q raced with p there (plain). Otherwise the cut w' was among the choices for
(e = p, q), and its sequence starts a branch that covers w'.q, or one independent of it, and then w' grows.

Cost: the number of down-closed sets of writers of one guard's locations: linear for a guard over one
location, a product of chain lengths over several. For arbitrary guards no cheap way is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porcini.core.events import Action, Event
from porcini.core.pids import Pid
from porcini.engines.execution import Execution


@dataclass(frozen=True, slots=True)
class Reversal:
    """After the first `at` events, do `between`, then let a process go: `event` if that is known for certain."""

    at: int
    between: tuple[int, ...]
    pid: Pid
    event: Event | None


def plain_reversals(execution: Execution, first_new: int) -> Iterator[Reversal]:
    """Races of the events from `first_new` on with neighbours that do not decide about them."""
    events, size = execution.events, len(execution)
    for j in range(first_new, size):
        event = events[j]
        for e in execution.races[j]:
            if events[e].footprint.writes.isdisjoint(event.decides):
                between = tuple(execution.not_after(e, range(e + 1, size)))
                yield Reversal(e, between, event.pid, event)


def guard_reversals(execution: Execution, first_new: int, pending: Sequence[Action]) -> Iterator[Reversal]:
    """Places where a step with a guard could have gone: of events from `first_new` on, and of blocked steps."""
    events = execution.events
    for j in _undecided(execution, first_new):
        event = events[j]
        before = execution.past_of_position(j)
        yield from _cuts(execution, event, before, limit=j)
    for action in pending:
        if not action.enabled:
            yield from _cuts(execution, action, execution.past_of_next(action.pid), limit=None)


def _undecided(execution: Execution, first_new: int) -> list[int]:
    """Events with a guard that are new, or that a new event could have decided otherwise."""
    events, size = execution.events, len(execution)
    found = [j for j in range(first_new, size) if events[j].decides]
    written = frozenset().union(*(events[k].footprint.writes for k in range(first_new, size)))
    if written:
        for j in range(first_new):
            event = events[j]
            # What the taken step read is ordered with it; only what it did not read can still vary.
            if event.decides and not written.isdisjoint(event.decides - event.footprint.reads):
                found.append(j)
    return found


def _cuts(execution: Execution, step: Event | Action, before: int, limit: int | None) -> Iterator[Reversal]:
    past, size = execution.past, len(execution)
    writers = [k for k in execution.writers(step.decides) if not before >> k & 1]
    for e in writers:
        if limit is not None and e >= limit:
            continue
        # Nothing that happens after e or after the step itself can come before the step, in E'.D.
        barred = 1 << e if limit is None else 1 << e | 1 << limit
        free = [k for k in range(e + 1, size) if k != limit and not past[k] & barred]
        deciding = [k for k in writers if k in free]
        for left_out in _downsets(past, deciding):
            between = tuple(k for k in free if not (past[k] | 1 << k) & left_out) if left_out else tuple(free)
            yield Reversal(e, between, step.pid, None)


def _downsets(past: list[int], writers: list[int]) -> Iterator[int]:
    """All choices of writers to leave out, such that what is kept is closed under happens-before."""
    choices = [0]
    for k in writers:  # in order, so that what happens before k has been decided
        kept = [out for out in choices if not past[k] & out]
        choices = [out | 1 << k for out in choices] + kept
    return iter(choices)
