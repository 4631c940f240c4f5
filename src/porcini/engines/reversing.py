"""From reversals, which are positions, to wakeup sequences, which are events that can be run."""

from __future__ import annotations

from collections.abc import Iterator

from porcini.core.events import Action, Event
from porcini.engines.races import Reversal, guard_reversals, plain_reversals
from porcini.engines.search import Search


def wakeup_sequences(search: Search, first_new: int) -> Iterator[tuple[int, list[Event]]]:
    """At which earlier state to explore what, to reverse the races of the current execution."""
    execution = search.execution
    events = execution.events
    for reversal in plain_reversals(execution, first_new):
        assert reversal.event is not None
        yield reversal.at, [*(events[k] for k in reversal.between), reversal.event]
    for reversal in guard_reversals(execution, first_new, search.nodes[-1].actions):
        for action in _possible_steps(search, reversal):
            yield reversal.at, [*(events[k] for k in reversal.between), search.planned(action)]


def _possible_steps(search: Search, reversal: Reversal) -> list[Action]:
    """The steps of the reversal's process that are enabled there and depend on the event that it precedes."""
    event = search.execution.events[reversal.at]
    return [
        action
        for action in search.try_out(reversal.at, reversal.between, reversal.pid)
        if action.enabled and search.dependence.conflict(event, action)
    ]
