"""Making two runs that differ as similar as possible: fewest context switches first, then the longest common
prefix.

A run may be replaced by any order of its class, which ends the same way. The first run is put into an order with
long turns; the second follows the first for as long as its own class allows, and then takes long turns too.
The result depends on the runs alone, so that the same program gives the same counterexample.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from porcini.core.events import Event
from porcini.core.execution import Dependence, Execution
from porcini.core.pids import Pid
from porcini.core.reports import Counterexample, Outcome
from porcini.core.traces import Trace, common_prefix, count_context_switches

_LONGEST = 5_000
"""Longer runs are not reordered: nobody reads them, and sets of positions take quadratic space."""


def shrink(example: Counterexample) -> Counterexample:
    """The same counterexample in the closest orders of its two runs; one run alone just gets long turns."""
    if any(len(run.trace) > _LONGEST for run in example.runs):
        return example
    if len(example.runs) == 1:
        return replace(example, runs=(_reorder(example.runs[0], ()),))
    one, two = example.runs
    candidates = []
    for first, second in ((one, two), (two, one)):
        leader = _reorder(first, ())
        follower = _reorder(second, leader.trace)
        alone = _reorder(second, ())
        candidates += [(leader, follower), (leader, alone)]
    best = min(candidates, key=_distance)
    return replace(example, runs=best if _same_end(best[0], one) else (best[1], best[0]))


def reorder_in_long_turns(outcome: Outcome) -> Outcome:
    """The same outcome, with its run in an order in which each process goes on for as long as it can."""
    return outcome if len(outcome.trace) > _LONGEST else _reorder(outcome, ())


def _same_end(a: Outcome, b: Outcome) -> bool:
    return a.kind == b.kind and a.state == b.state


def _distance(pair: tuple[Outcome, Outcome]) -> tuple[int, int]:
    a, b = pair
    return count_context_switches(a.schedule) + count_context_switches(b.schedule), -common_prefix(
        a.schedule, b.schedule
    )


def _reorder(outcome: Outcome, leader: Sequence[Event]) -> Outcome:
    trace = Trace(_linearise(outcome.trace, leader))
    return replace(outcome, trace=trace, schedule=trace.schedule)


def _linearise(trace: Trace, leader: Sequence[Event]) -> list[Event]:
    """The events of a trace in an order of its class: like the leader while that is possible, then in long
    turns."""
    execution = Execution(Dependence())
    queues: dict[Pid, deque[int]] = {}
    for position, event in enumerate(trace):
        execution.push(event)
        queues.setdefault(event.pid, deque()).append(position)
    past, done = execution.past, 0
    order: list[Event] = []

    def ready(pid: Pid) -> bool:
        return bool(queues.get(pid)) and not past[queues[pid][0]] & ~done

    def take(pid: Pid) -> None:
        nonlocal done
        position = queues[pid].popleft()
        done |= 1 << position
        order.append(trace[position])

    for event in leader:
        if not ready(event.pid) or trace[queues[event.pid][0]].label is not event.label:
            break
        take(event.pid)
    current = order[-1].pid if order else None
    while len(order) < len(trace):
        if current is None or not ready(current):
            able = [pid for pid in sorted(queues) if ready(pid)]
            current = max(able, key=lambda pid: _turn_length(queues[pid], past, done))
        take(current)
    return order


def _turn_length(queue: Iterable[int], past: list[int], done: int) -> int:
    """How many steps a process can take from here before another one must move."""
    count = 0
    for position in queue:
        if past[position] & ~done:
            break
        done |= 1 << position
        count += 1
    return count
