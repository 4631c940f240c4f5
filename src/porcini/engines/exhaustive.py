"""Every interleaving, with no reduction: the oracle that all other engines must equal.

Depth first. At each state every enabled action is taken, each in a run of its own: forked where the
program can be forked, replayed from the start where it cannot. Independence is never consulted; the
normal forms are only counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from porcini.core.events import Event
from porcini.core.systems import Forkable, Program, Run
from porcini.core.traces import Foata, Trace
from porcini.engines.replaying import replayed
from porcini.engines.tally import Tally


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A state of the search: a run that stands there, and how it came to be."""

    run: Run
    form: Foata
    depth: int = 0
    event: Event | None = None
    parent: Node | None = None

    def trace(self) -> Trace:
        events: list[Event] = []
        node: Node | None = self
        while node is not None and node.event is not None:
            events.append(node.event)
            node = node.parent
        return Trace(reversed(events))


def exhaustive(program: Program, tally: Tally) -> None:
    """Run every interleaving of a program."""
    todo = [Node(program.start(), Foata.empty())]
    tally.counts.states += 1
    while todo:
        node = todo.pop()
        enabled = [action for action in node.run.actions() if action.enabled]
        if not enabled:
            tally.complete(node.trace(), node.run.final(), node.form.key)
        elif node.depth == tally.limits.depth:
            tally.cut()
        else:
            for action in reversed(enabled):
                run = node.run
                if action is not enabled[0]:  # the last user of a run may have it
                    run = run.fork() if isinstance(run, Forkable) else replayed(program, node.trace().schedule)
                event = run.step(action)
                tally.step()
                todo.append(Node(run, node.form.extend(event), node.depth + 1, event, node))
