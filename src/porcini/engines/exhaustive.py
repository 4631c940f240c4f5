"""Every interleaving, with no reduction: the oracle that all other engines must equal.

Depth first. At each state every enabled action is taken, each in a run of its own: forked where the
program can be forked, replayed from the start where it cannot. Independence is never consulted; the
normal forms are only counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porcini.core.events import Action, Event
from porcini.core.systems import Forkable, Program, Run
from porcini.core.traces import Foata, Trace
from porcini.engines.replaying import enabled_actions, run_after
from porcini.engines.stats import SearchStats


@dataclass(slots=True, eq=False)
class Node:
    """A state on the search stack: a run in that state, and the actions still to be taken from it."""

    run: Run
    form: Foata
    left: Iterator[Action]


def exhaustive(program: Program, stats: SearchStats) -> None:
    """Run every interleaving of a program."""
    nodes: list[Node] = []
    events: list[Event] = []

    def arrive(run: Run, form: Foata) -> None:
        able = enabled_actions(run.actions())
        if not able:
            stats.complete(events, run.final(), form.key)
        elif len(events) >= stats.limits.depth:
            stats.cut()
            able = []
        nodes.append(Node(run, form, iter(able)))

    start = program.start()
    forkable = isinstance(start, Forkable)
    stats.counts.states += 1
    arrive(start, Foata.empty())
    while nodes:
        node = nodes[-1]
        action = next(node.left, None)
        if action is None:
            nodes.pop()
            if nodes:
                events.pop()
            continue
        run = node.run.fork() if forkable else run_after(program, Trace(events).schedule)  # type: ignore[attr-defined]
        event = run.step(action)
        stats.step()
        events.append(event)
        arrive(run, node.form.extend(event))
