"""From reversals, which are positions, to wakeup sequences, which are events that can be run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from porcini.core.events import Action, Event
from porcini.core.execution import Execution
from porcini.core.footprints import Footprint, Location
from porcini.engines.races import Race, Reversal, guard_reversals, not_after, plain_races
from porcini.engines.search import Search


def wakeup_sequences(
    search: Search,
    first_new: int,
    closed: Sequence[bool] | None = None,
    moved: Callable[[Race, Sequence[int]], Event] | None = None,
) -> Iterator[tuple[int, list[Event]]]:
    """At which earlier state to explore what, to reverse the races of the current execution.

    Sequences that begin with a step asleep there are left out: they lead to classes already seen. So are those for
    states that are `closed`, where all that can be explored will be.
    """
    execution, nodes = search.execution, search.nodes
    events = execution.events
    races = plain_races(execution, first_new)
    if search.discovers:
        races = chain(races, _races_again(execution, first_new))
    for race in races:
        if closed is not None and closed[race.at]:
            continue
        step, asleep = events[race.step], events[race.first].move in nodes[race.at].sleep
        if asleep and race.first != race.step:
            continue
        if search.discovers and _may_change(events[race.at], step):
            between = not_after(execution, race.at)
            last = moved(race, between) if moved else search.unknown(step)
            yield race.at, [*[events[k] for k in between], last]
        elif not asleep:
            yield race.at, [*[events[k] for k in not_after(execution, race.at)], step]
    if search.chooses:
        yield from _alternatives(search, closed)
    contested, pending = _changed(search, first_new), nodes[-1].actions
    if closed is not None:
        deciding = _written(execution, closed)
        contested = (j for j in contested if not deciding.isdisjoint(events[j].decides))
        pending = [action for action in pending if not deciding.isdisjoint(action.decides)]
    for reversal in guard_reversals(execution, contested, pending, closed):
        for action in _possible_steps(search, reversal):
            if not _seen_before(search, reversal, action, first_new):
                sequence = [*(events[k] for k in reversal.between(execution)), search.planned(action)]
                if sequence[0].move not in nodes[reversal.at].sleep:
                    yield reversal.at, sequence


def _races_again(execution: Execution, first_new: int) -> Iterator[Race]:
    """Races of earlier events that may lead elsewhere now, since there are new events that could stand between."""
    after_all = -1  # the events that all new ones happen after
    for k in range(first_new, len(execution)):
        after_all &= execution.past[k]
    for race in plain_races(execution, 0, first_new):
        if not after_all >> race.at & 1 and _may_change(execution.events[race.at], execution.events[race.step]):
            yield race


def _may_change(e: Event, step: Event) -> bool:
    """May a step touch other things where e has not happened? Then what it touched after e says nothing about it:
    neither that it is the step asleep there, nor what it is independent of (decision 15)."""
    written, foot = e.footprint.writes, step.footprint
    if e.footprint.opaque or not written:
        return e.footprint.opaque
    return foot.opaque or not (written.isdisjoint(foot.reads) and written.isdisjoint(foot.writes))


def _alternatives(search: Search, closed: Sequence[bool] | None) -> Iterator[tuple[int, list[Event]]]:
    """What a process could have done instead of a step of its own: go by another of its choices.

    Choices of one process exclude each other, as if each were a process that the others disable. Whatever does not
    happen after the step may stand before the other choice; who writes what decides about it happens after, since
    a step reads what decides about all choices. As with blocked steps, old ones are looked at again each time.
    """
    execution, nodes = search.execution, search.nodes
    events = execution.events
    for j, event in enumerate(events):
        if (closed is not None and closed[j]) or sum(a.pid == event.pid for a in nodes[j].actions) < 2:
            continue
        between = not_after(execution, j)
        for action in search.try_out(j, between, event.pid):
            if action.choice == event.choice or not action.enabled:
                continue
            sequence = [*(events[k] for k in between), search.planned(action)]
            if sequence[0].move not in nodes[j].sleep:
                yield j, sequence


def _written(execution: Execution, closed: Sequence[bool]) -> set[Location]:
    """All that is written by the events at states that are not closed."""
    return {
        location
        for event, done in zip(execution.events, closed, strict=False)
        if not done
        for location in event.footprint.writes
    }


def _changed(search: Search, first_new: int) -> Iterator[int]:
    """The contested events whose reversals are not all seen before: `_seen_before`, for all of them at once.

    Where nothing new touches what decides about an event, or what its possible steps touch, there is no new place
    for it and nothing new that matters in the old ones.
    """
    execution = search.execution
    for j in execution.contested:
        reach = search.nodes[j + 1].reach
        if j >= first_new or reach is None or execution.touched_since(first_new, reach):
            yield j


def _possible_steps(search: Search, reversal: Reversal) -> Sequence[Action]:
    """The steps of the reversal's process that are enabled there and depend on the event that it precedes."""
    event = search.execution.events[reversal.at]
    steps = [
        action
        for action in search.try_out(reversal.at, _to_run(search, reversal), reversal.pid)
        if action.enabled and search.dependence.conflict(event, action)
    ]
    if reversal.step is not None:
        _extend_reach(search, reversal.step, steps)
    return steps


def _to_run(search: Search, reversal: Reversal) -> list[int]:
    """The later events after which the step of a reversal is known."""
    needed = reversal.needed
    if needed is None:
        return list(reversal.between(search.execution))
    return [k for k in range(reversal.at + 1, needed.bit_length()) if needed >> k & 1]


def _extend_reach(search: Search, step: int, actions: Sequence[Action]) -> None:
    """Note at an event what its process could touch in its place."""
    node, event = search.nodes[step + 1], search.execution.events[step]
    reach = node.reach or Footprint(event.decides)
    for action in actions:
        reach |= action.footprint
    node.reach = reach


def _seen_before(search: Search, reversal: Reversal, action: Action, first_new: int) -> bool:
    """Was this reversal dealt with at the end of an earlier run, with the same to stand between that matters?

    What is new since then and can stand between matters only if it conflicts with the step. For a step as it was
    executed nothing does: that would be ordered with it. But a step that is another without e may conflict with
    what did not matter before.
    """
    step = reversal.step
    if step is None or step >= first_new or any(k >= first_new for k in reversal.deciding):
        return False
    depends = search.dependence.of(search.planned(action))
    events = search.execution.events
    return not any(depends[events[k]] for k in reversal.between(search.execution, first_new))
