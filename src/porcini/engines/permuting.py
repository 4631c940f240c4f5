"""`permute`: the Fagiani algorithm on a recorded run, with the results that a user wants to see.

The run may come from a program or from a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from porcini.core.events import Event, Move, Schedule
from porcini.core.reports import Outcome, TraceEntry
from porcini.core.systems import Final, Kind, Observed, Waiting
from porcini.core.traces import Trace
from porcini.engines.fagiani import CompiledTrace, Permutation, Permuter, Seeds, Store, compile_run
from porcini.engines.stats import SearchStats
from porcini.ir.expr import free
from porcini.ir.symbolic.formulas import LabelledRun
from porcini.ir.symbolic.labels import Label
from porcini.ir.symbolic.paths import path, where
from porcini.ir.text import show


class Permuting:
    """Permutes a recorded run. `entries` are the classes that were found, `runs` has one run of each class with
    its outcome, and `seeds` are the prefixes that lead to other classes."""

    def __init__(self, run: LabelledRun, stats: SearchStats, *, path_conditions: bool = True) -> None:
        self.path_conditions = path_conditions
        self.stats = stats
        self.final = run.final
        self.run = run
        self.waiting = {label.pid: label for label in run.waiting}
        kept = self.final.state.keys() | run.inputs
        self.private = {name: value for name, value in run.before.items() if name not in kept}
        self.entries: list[TraceEntry] = []
        self.runs: list[Outcome] = []
        self.seeds: list[Schedule] = []

    @cached_property
    def recorded(self) -> CompiledTrace:
        return compile_run(self.run)

    @cached_property
    def events(self) -> list[list[Event]]:
        """The recorded events of each process."""
        return [[e for e in self.run.trace if e.pid == pid] for pid in self.recorded.pids]

    def search(self) -> None:
        self._search(Permuter(self.recorded, self.stats.step))

    def search_for(self, seeds: Seeds) -> None:
        """Permute, and collect seeds as well. Where processes have choices these are two searches, because the one
        that looks for seeds may meet a class more than once."""
        try:
            if any(label.choices for label in self.run.labels):
                self.search()
                for _ in Permuter(self.recorded, self.stats.step, seeds).permutations():
                    continue
            else:
                self._search(Permuter(self.recorded, self.stats.step, seeds))
        finally:
            self.seeds = [self._schedule(*seed) for seed in seeds.shortest_first()]

    def _search(self, permuter: Permuter) -> None:
        self.stats.counts.states += 1
        for permutation in permuter.permutations():
            trace = self._trace(permutation)
            final = self.stats.project(self._final(permutation))
            if self.path_conditions:
                self.entries.append(self._entry(permutation, trace, final))
                self.runs.append(Outcome.of(trace, final))
            if final.kind != "unfinished":  # otherwise it is a trace, but not an execution
                self.stats.complete(trace, final, None)

    def _trace(self, permutation: Permutation) -> Trace:
        """The recorded events in their new order; an event that accesses a cell may access another one now."""
        at = [0] * len(self.events)
        events: list[Event] = []
        for process, masks in zip(permutation.order, permutation.masks, strict=True):
            event, step = self.events[process][at[process]], self.recorded.steps[process][at[process]]
            at[process] += 1
            if step.cells is not None:
                event = replace(event, footprint=self.recorded.footprint(masks))
            if self.run.tells_values:
                event = replace(event, label=step.label, failure=step.label.failure)
            events.append(event)
        return Trace(events)

    def _final(self, permutation: Permutation) -> Final:
        store = permutation.store
        state = self.run.observed(lambda name: self.recorded.value(store, name))
        kind: Kind = "unfinished" if self.recorded.unfinished(store) else self.final.kind
        waiting = tuple(replace(w, values=self._values(w, store)) for w in self.final.waiting)
        return Final(kind, state, waiting)

    def _values(self, waiting: Waiting, store: Store) -> dict[str, Observed]:
        """What a blocked process sees, by the names in its source."""
        seen = self.run.seen_by.get(waiting.pid)
        if seen is None:
            seen = variables_seen(waiting, self.waiting[waiting.pid])
        show, value = self.run.observed.show, self.recorded.value
        return {name: show(variable, value(store, variable)) for name, variable in seen.items()}

    def _entry(self, permutation: Permutation, trace: Trace, final: Final) -> TraceEntry:
        steps = [iter(steps) for steps in self.recorded.steps]
        labels = [next(steps[process]).label for process in permutation.order]
        condition = show(where(path(labels), self.private))
        return TraceEntry(trace.schedule, tuple(map(str, labels)), condition, final.state, final.kind)

    def _schedule(self, order: Sequence[int], choice: int | None) -> Schedule:
        """The recorded steps in this order. The last one uses the given choice, unless that is None."""
        events = [iter(events) for events in self.events]
        recorded = order if choice is None else order[:-1]
        moves = [next(events[process]).move for process in recorded]
        return (*moves, *(Move(self.recorded.pids[process], choice or 0) for process in order[len(recorded) :]))


def variables_seen(waiting: Waiting, label: Label) -> dict[str, str]:
    """The variables that a blocked process sees, by the names in its source."""
    if label.can_move is not None:
        places = {place.rpartition(".")[2]: str(place) for place in label.touched.fixed.reads}
        return {name: places[name] for name in waiting.values}
    seen = sorted({v.name for guard in label.guards for v in free(guard) if "@" not in v.name})
    return {name.removeprefix(f"{label.pid}.").partition("#")[0]: name for name in seen}
