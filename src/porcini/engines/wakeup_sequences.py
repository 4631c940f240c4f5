"""From a complete run to wakeup sequences: what to run from which earlier state, to reverse what happened.

    reversals          all reversals of a run: of its races, of the choices of its processes, of steps with guards
                       (`races`)
    _reverse_races     grouped by the state that they begin in: all races with one event have the same events
                       between
    _reverse_choices   what a process could have done instead of its own step
    _reverse_guards    for a process, the cuts with what it can do there; repeated with more locations, until no
                       location that it reads is missing

What a process can do at a cut is discovered by running the program to there. The answer depends on that part of
the run alone, so it is cached at a node for as long as the search is below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from porcini.core.bits import bits
from porcini.core.events import Action, Event
from porcini.core.footprints import Location
from porcini.core.pids import Pid
from porcini.engines.races import Cut, Race, cuts, not_after, plain_races
from porcini.engines.search import Search

Foresee = Callable[[Race, Sequence[int]], Event]
"""The step of a race as it is before the event that it raced with, and after some later events."""


@dataclass(frozen=True, slots=True)
class Reversal:
    """After the first `at` events: what is `between`, then one of `steps`; a wakeup sequence for each of them."""

    at: int
    between: list[Event]
    steps: list[Event]


def reversals(
    search: Search, foresee: Foresee | None = None, closed: Sequence[bool] | None = None
) -> Iterator[Reversal]:
    """What to explore at which earlier state.

    States that are `closed`, where everything possible will be explored anyway, are left out. So are races whose
    reversed order begins with a step that is asleep there: it has been explored.
    """
    yield from _reverse_races(search, foresee, closed)
    if search.has_choices:
        yield from _reverse_choices(search, closed)
    execution = search.execution
    for j in execution.contested:
        event = execution.events[j]
        yield from _reverse_guards(search, event.pid, j, event.guard_locations, closed)
    blocked: dict[Pid, frozenset[Location]] = {}
    for action in search.nodes[-1].actions:
        if not action.enabled:
            blocked[action.pid] = blocked.get(action.pid, action.guard_locations) | action.guard_locations
    for pid, guard_locations in blocked.items():
        yield from _reverse_guards(search, pid, None, guard_locations, closed)


def _reverse_races(search: Search, foresee: Foresee | None, closed: Sequence[bool] | None) -> Iterator[Reversal]:
    execution, nodes, events = search.execution, search.nodes, search.execution.events
    at_state: dict[int, list[Race]] = {}
    for race in plain_races(execution):
        if closed is not None and closed[race.at]:
            continue
        asleep = events[race.first].move in nodes[race.at].sleep
        # Where footprints are discovered, a step of the same process that is asleep there may not be this one.
        if not asleep or (race.first == race.step and search.discovers_footprints):
            at_state.setdefault(race.at, []).append(race)
    for at, races in at_state.items():
        between = not_after(execution, at, 1 << at)
        if not search.discovers_footprints:
            steps = [events[race.step] for race in races]
        elif foresee is not None:
            steps = [foresee(race, between) for race in races]
        else:
            steps = [search.opaque_event(events[race.step]) for race in races]
        yield Reversal(at, [events[k] for k in between], steps)


def _reverse_choices(search: Search, closed: Sequence[bool] | None) -> Iterator[Reversal]:
    """Other choices of a process than the one that it took: they exclude each other, as if each were a process
    that disables the others."""
    execution, nodes = search.execution, search.nodes
    for j, event in enumerate(execution.events):
        if closed is not None and closed[j]:
            continue
        own = [action for action in nodes[j].actions if action.pid == event.pid]
        if len(own) < 2:
            continue
        between = not_after(execution, j, 1 << j)
        if not search.dependence.direct:  # what commutes with the step may still decide about the other choices
            own = list(search.try_out(j, between, event.pid))
        steps = [search.planned_event(a) for a in own if a.enabled and a.choice != event.choice]
        if steps:
            yield Reversal(j, [execution.events[k] for k in between], steps)


def _reverse_guards(
    search: Search, pid: Pid, step: int | None, guard_locations: frozenset[Location], closed: Sequence[bool] | None
) -> Iterator[Reversal]:
    """The places where a process could have taken another step than it did. The set of locations that
    distinguishes these places grows until it contains the guard locations of the process at each of them."""
    execution, locations = search.execution, guard_locations
    while True:
        found = [(cut, _actions_at_cut(search, cut, pid, step)) for cut in cuts(execution, pid, step, locations)]
        wider = locations.union(*(action.guard_locations for _, actions in found for action in actions))
        if wider == locations:
            break
        locations = wider
    conflict = search.dependence.conflict
    for cut, actions in found:
        if closed is not None and closed[cut.at]:
            continue
        event = execution.events[cut.at]
        steps = [search.planned_event(action) for action in actions if action.enabled and conflict(event, action)]
        if steps:
            between = [execution.events[k] for k in not_after(execution, cut.at, cut.barred)]
            yield Reversal(cut.at, between, steps)


def _actions_at_cut(search: Search, cut: Cut, pid: Pid, step: int | None) -> Sequence[Action]:
    """The actions of a process at a cut, enabled or not."""
    execution, at = search.execution, cut.at
    positions = tuple(bits(cut.needed & -(2 << at)))
    # The prefix before the cut and the last step of the process do not change for as long as this node exists.
    home = max(at, 1 + (execution.last_of(pid) if step is None else execution.previous(step)))
    later = tuple([execution.events[k].move for k in positions if k >= home])
    key = pid, at, cut.needed & (1 << home) - 1, later
    node = search.nodes[home]
    known = node.tried
    if known is None:
        known = node.tried = {}
    actions = known.get(key)
    if actions is None:
        actions = known[key] = search.try_out(at, positions, pid)
    return actions
