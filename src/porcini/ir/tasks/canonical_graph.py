"""The graph of canonical states (`canonical`), and how its steps correspond to those of runs.

A state of this graph is a state of the system, so that the system takes its steps; the state after each step is
made canonical at once. Along a run, `_Walk` takes the same steps in the run and in the graph, and maps names to
each other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from porcini.core.events import Action, Event
from porcini.core.pids import Pid
from porcini.core.systems import Final, SystemGraph
from porcini.ir.flat.frames import State
from porcini.ir.tasks.canonical import Canonical, Names, is_numbered
from porcini.ir.tasks.system import StepSystem


class CanonicalGraph(SystemGraph):
    """States that differ only in names, and in what is unreachable, are merged."""

    exact = False

    def __init__(self, system: StepSystem, watched: Iterable[Pid] = ()) -> None:
        super().__init__(system)
        self.steps = system
        self.canonical = Canonical(system, watched)

    def successors_by(self, state: Any, actions: Sequence[Action]) -> list[Hashable]:
        """The successors by some actions. If tasks have equal frames and nothing refers to them, only one of them
        moves: the states after each are equal up to names."""
        held: set[Pid] | None = None
        alike: set[tuple[Any, ...]] = set()
        chosen: list[Action] = []
        for action in actions:
            if action.enabled and is_numbered(action.pid):
                held = self.canonical.references(state) if held is None else held
                if action.pid not in held:
                    frame = self.canonical.frame(state, action.pid)
                    if frame in alike:
                        continue
                    alike.add(frame)
            chosen.append(action)
        return super().successors_by(state, chosen)

    def fire(self, state: State, action: Action) -> tuple[State, Event]:
        after, event, _ = self.canonical_step(state, action)
        return after, event

    def canonical_step(self, state: State, action: Action) -> tuple[State, Event, Names]:
        """The canonical state after a step, its event, and the names in it of all that is kept."""
        after, event = self.steps.fire(state, action)
        nameless = self.canonical.nameless_of(state, action.pid, after, event.spawned) if event.spawned else set()
        merged, names = self.canonical.canonicalise(after, nameless)
        return merged, event, names

    def identities(self, state: Hashable, pids: frozenset[Pid]) -> frozenset[Hashable]:
        """Processes without names may be renumbered in the next state, so they are identified in this state
        only."""
        return frozenset((pid, state) if is_numbered(pid) else pid for pid in pids)

    def with_run_names(self, events: Sequence[Event]) -> list[Event]:
        walk = _Walk(self)
        return [walk.step(event.pid) for event in events]

    def state_after(self, events: Sequence[Event]) -> State:
        walk = _Walk(self)
        for event in events:
            walk.step(next(name for name, pid in walk.in_run.items() if pid == event.pid))
        return walk.state

    def final_of_run(self, state: Any, events: Sequence[Event]) -> Final:
        run = self.steps.start()
        for event in events:
            (action,) = run.actions_of(event.pid)
            run.step(action)
        return run.final()


class _Walk:
    """The same steps in a run and in the graph. `in_run` maps the names in the state to those in the run."""

    def __init__(self, graph: CanonicalGraph) -> None:
        self.graph = graph
        self.run = graph.steps.start()
        self.state: State = graph.initial()
        self.in_run: Names = {process.pid: process.pid for process in self.state[0].processes}

    def step(self, pid: Pid) -> Event:
        """Take the step of a process of the state; the event of the run."""
        (action,) = self.run.actions_of(self.in_run[pid])
        event = self.run.step(action)
        (action,) = self.graph.steps.actions_of(self.state, pid)
        self.state, same, names = self.graph.canonical_step(self.state, action)
        in_run = self.in_run | dict(zip(same.spawned, event.spawned, strict=True))
        self.in_run = {name: in_run[pid] for pid, name in names.items()}
        return event
