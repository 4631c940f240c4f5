"""From reversals, which are positions, to wakeup sequences, which are events that can be run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porcini.core.events import Action, Event
from porcini.engines.races import Reversal, guard_reversals, plain_reversals
from porcini.engines.search import Search


def wakeup_sequences(search: Search, first_new: int) -> Iterator[tuple[int, list[Event]]]:
    """At which earlier state to explore what, to reverse the races of the current execution.

    Sequences that begin with a step asleep there are left out: they lead to classes already seen.
    """
    events, nodes = search.execution.events, search.nodes
    for reversal in plain_reversals(search.execution, first_new):
        assert reversal.step is not None
        if not _begins_asleep(search, reversal):
            yield reversal.at, [*[events[k] for k in reversal.between], events[reversal.step]]
    for reversal in guard_reversals(search.execution, nodes[-1].actions):
        between = reversal.between
        if between and events[between[0]].move in nodes[reversal.at].sleep:
            continue
        for action in _possible_steps(search, reversal):
            if not _seen_before(search, reversal, action, first_new):
                yield reversal.at, [*[events[k] for k in between], search.planned(action)]


def _begins_asleep(search: Search, reversal: Reversal) -> bool:
    """Is a step that can begin the sequence asleep? One that leads to the reversed step can."""
    sleep = search.nodes[reversal.at].sleep
    if not sleep:
        return False
    execution, step = search.execution, reversal.step
    assert step is not None
    past = execution.past[step]
    first = next((k for k in reversal.between if past >> k & 1), step)
    return execution.events[first].move in sleep


def _possible_steps(search: Search, reversal: Reversal) -> Sequence[Action]:
    """The steps of the reversal's process that are enabled there and depend on the event that it precedes.

    That is settled by the events that decide about it, so it is worked out once for each choice of them, and
    kept for as long as those events stay.
    """
    last = search.execution.last_of(reversal.pid) if reversal.step is None else reversal.step
    keeper = search.nodes[max(last, reversal.at, *reversal.deciding, 0) + 1]
    key = (reversal.at, reversal.pid, reversal.step, reversal.deciding)
    known = keeper.memo.get(key)
    if known is None:
        event = search.execution.events[reversal.at]
        known = keeper.memo[key] = [
            action
            for action in search.try_out(reversal.at, reversal.between, reversal.pid)
            if action.enabled and search.dependence.conflict(event, action)
        ]
    return known


def _seen_before(search: Search, reversal: Reversal, action: Action, first_new: int) -> bool:
    """Was this reversal dealt with at the end of an earlier run, with the same step in the same place?

    If the step is as it was executed, what conflicts with it is ordered with it, and nothing that came since can
    stand between and matter. A step that is another without e may conflict with what did not matter before.
    """
    step = reversal.step
    return (
        step is not None
        and step < first_new
        and all(k < first_new for k in reversal.deciding)
        and action.footprint == search.execution.events[step].footprint
    )
