"""Reversals: from one complete execution, the wakeup sequences that lead to classes not yet seen. Pure.

For an event e of the execution E with prefix E' before it, and a step q that depends on e, the sequence is
v = D.q: some later events D that do not happen after e, then q, so that E'.D.q has q before e.

*Plain races.* If e writes nothing that decides about q, then q is the same step with and without e, and the
races between neighbours are enough; D is notdep(e, E), all that does not happen after e (Abdulla, Aronis,
Jonsson and Sagonas, JACM 2017).

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
location, a product of chain lengths over several. For arbitrary guards no cheap way is known. Where every cut
leads to a class of its own, as with k switches that are toggled and a guard over all of them (2^k classes), the
time per run stays flat from k = 1 to 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from porcini.core.events import Action, Event
from porcini.core.execution import Execution
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
class Reversal:
    """After the first `at` events, do some of the later ones, then let a process go.

    `step` is the position of its step in the execution, None if it is still blocked at the end. What may stand
    between is all that is not barred and does not happen after something barred; `deciding` are those of it that
    decide about the step, and `needed` (a set of positions) is what must have happened to know that step: None if
    that may be anything.
    """

    at: int
    step: int | None
    pid: Pid
    deciding: tuple[int, ...]
    barred: int
    needed: int | None

    def between(self, execution: Execution, start: int = 0) -> Iterator[int]:
        """The positions that stand between, from a given one on."""
        past, barred = execution.past, self.barred
        for k in range(max(self.at + 1, start), len(execution)):
            if not (past[k] | 1 << k) & barred:
                yield k


def plain_races(execution: Execution, start: int, end: int | None = None) -> Iterator[Race]:
    """Races of some events, from a position on, with neighbours that do not decide about them."""
    events, past = execution.events, execution.past
    for j in range(start, len(execution) if end is None else end):
        event = events[j]
        for e in execution.races[j]:
            if not event.decides or events[e].footprint.writes.isdisjoint(event.decides):
                later = past[j] >> e + 1  # none of these happens after e, or e would be no neighbour
                yield Race(e, j, e + (later & -later).bit_length() if later else j)


def not_after(execution: Execution, e: int) -> list[int]:
    """notdep(e, E): the later events that do not happen after e."""
    past = execution.past
    return [k for k in range(e + 1, len(execution)) if not past[k] >> e & 1]


def guard_reversals(
    execution: Execution,
    contested: Iterable[int],
    pending: Sequence[Action],
    closed: Sequence[bool] | None = None,
) -> Iterator[Reversal]:
    """Places where a step with a guard could have gone: those of some events, new or not, and every blocked step.

    Places after a number of events that is `closed` are left out.

    Unlike plain races these depend on all that comes later: what may stand between changes with it.
    """
    for j in contested:
        event = execution.events[j]
        yield from _cuts(execution, event, j, execution.writers(event.decides), closed)
    for action in pending:
        if not action.enabled:
            yield from _cuts(execution, action, None, execution.writers(action.decides), closed)


def _cuts(
    execution: Execution,
    step: Event | Action,
    at: int | None,
    writers: list[int],
    closed: Sequence[bool] | None,
) -> Iterator[Reversal]:
    """For each writer e that decides about a step and need not come before it, all that could stand between."""
    before = execution.past_of_next(step.pid) if at is None else execution.past_of_position(at)
    writers = [k for k in writers if not before >> k & 1]
    past = execution.past
    for e in writers:
        if at is not None and e >= at:
            break
        if closed is not None and closed[e]:
            continue
        # Nothing that happens after e, or after the step itself, can come before the step in E'.D.
        barred = 1 << e if at is None else 1 << e | 1 << at
        deciding = [k for k in writers if k > e and k != at and not past[k] & barred]
        for left_out in _downsets(past, deciding):
            kept = [k for k in deciding if not left_out >> k & 1]
            needed: int | None = None
            if not step.shifting:
                needed = before
                for k in kept:
                    needed |= past[k] | 1 << k
            yield Reversal(e, at, step.pid, tuple(kept), barred | left_out, needed)


def _downsets(past: list[int], writers: list[int]) -> Iterator[int]:
    """All choices of writers to leave out, such that what is kept is closed under happens-before."""
    choices = [0]
    for k in writers:  # in order, so that what happens before k has been decided
        kept = [out for out in choices if not past[k] & out]
        choices = [out | 1 << k for out in choices] + kept
    return iter(choices)
