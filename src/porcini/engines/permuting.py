"""`permute`: the Fagiani algorithm on a recorded run of a program graph, with what a user wants to see."""

from __future__ import annotations

from collections.abc import Sequence

from porcini.core.events import Move, Schedule
from porcini.core.pids import Pid
from porcini.core.reports import TraceEntry
from porcini.core.systems import Final, Kind
from porcini.core.traces import Trace
from porcini.engines.fagiani import Permutation, Permuter, Recorded, Seeds, compile_trace
from porcini.engines.tally import Tally
from porcini.ir.interpreter import GraphRun, GraphSystem
from porcini.ir.labels import Label
from porcini.ir.paths import path, where
from porcini.ir.text import show


class Permuting:
    """Permutes a recorded run; `entries` are the classes found, `seeds` the prefixes that lead elsewhere."""

    def __init__(self, system: GraphSystem, trace: Trace, after: GraphRun, tally: Tally) -> None:
        self.system = system
        self.tally = tally
        self.final = after.final()
        self.before = system.store_before(after.slots)
        labels = [_symbolic(event.label) for event in trace]
        waiting = [_symbolic(action.label) for action in after.actions()]
        roots = [Pid((number,)) for number in range(len(system.graph.initial))]
        self.recorded: Recorded = compile_trace(labels, waiting, self.before, roots)
        self.events = [[e for e in trace if e.pid == pid] for pid in self.recorded.pids]
        self.private = {name: value for name, value in self.before.items() if name not in self.final.state}
        self.entries: list[TraceEntry] = []
        self.seeds: list[Schedule] = []

    def search(self, tally: Tally) -> None:
        self._search(Permuter(self.recorded, tally.step))

    def search_with_seeds(self, tally: Tally) -> None:
        seeds = Seeds(self.recorded)
        try:
            self._search(Permuter(self.recorded, tally.step, seeds))
        finally:
            self.seeds = [self._schedule(order) for order in seeds.shortest_first()]

    def _search(self, permuter: Permuter) -> None:
        self.tally.counts.states += 1
        for permutation in permuter.permutations():
            entry, trace = self._entry(permutation)
            self.entries.append(entry)
            self.tally.complete(trace, Final(entry.kind, entry.state, self.final.waiting), permutation.order)

    def _entry(self, permutation: Permutation) -> tuple[TraceEntry, Trace]:
        remaining = [iter(events) for events in self.events]
        trace = Trace(next(remaining[process]) for process in permutation.order)
        labels = [_symbolic(event.label) for event in trace]
        state = {name: self.recorded.value(permutation.store, name) for name in self.final.state}
        kind: Kind = "unfinished" if self.recorded.unfinished(permutation.store) else self.final.kind
        condition = show(where(path(labels), self.private))
        return TraceEntry(trace.schedule, tuple(map(str, labels)), condition, state, kind), trace

    def _schedule(self, order: Sequence[int]) -> Schedule:
        return tuple(Move(self.recorded.pids[process]) for process in order)


def _symbolic(label: object) -> Label:
    assert isinstance(label, Label)
    return label
