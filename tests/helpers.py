"""What several tests need: all traces of a program, replays by hand, classes that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from porcini import Limits, Model, explore, loads
from porcini.core.events import Schedule
from porcini.core.systems import Final
from porcini.core.traces import Trace, normal_form
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.exhaustive import exhaustive
from porcini.engines.stats import SearchStats
from porcini.ir.flat.interpreter import FlatSystem


@dataclass(slots=True)
class Collecting(SearchStats):
    """A stats that keeps every run."""

    runs: list[tuple[Trace, Final, object]] = field(default_factory=list)

    def complete(self, events, final: Final, name: object, ended=None) -> None:
        run = Trace(events() if callable(events) else events)
        self.runs.append((run, final, name))
        SearchStats.complete(self, run, final, name, ended)


def system_of(source: str) -> FlatSystem:
    return loads(source).system()


def all_runs(system: FlatSystem, most: int = 300) -> list[tuple[Trace, Final, object]] | None:
    """Every interleaving, or None if there are more than `most`."""
    stats = Collecting(Limits(max_executions=most))
    stats.explore(lambda stats: exhaustive(system, stats))
    return stats.runs if stats.stopped == "exhausted" else None


def engines_agree(system, names: Sequence[str], most: int) -> tuple[set, set] | None:
    """(a) outcomes, (b) classes, (c) no class twice, (d) nothing blocked under `optimal`, against `exhaustive`.

    Gives the classes and outcomes there are; None if there are too many interleavings to tell.
    """
    runs = all_runs(system, most)
    if runs is None:
        return None
    classes = {class_of(trace) for trace, _, _ in runs}
    outcomes = {(final.kind, str(final.state)) for _, final, _ in runs}
    for name in names:
        stats = Collecting()
        ENGINES[name](system, stats, Options())
        seen = [class_of(trace) for trace, _, _ in stats.runs]
        assert set(seen) == classes, f"{name}: {len(set(seen))} of {len(classes)} classes"
        assert len(seen) == len(set(seen)) == stats.counts.executions, f"{name} ran a class twice"
        assert {(final.kind, str(final.state)) for _, final, _ in stats.runs} == outcomes
        assert name != "optimal" or stats.counts.blocked == 0
    return classes, outcomes


def semantic_saves_runs_only(model: Model, most: int) -> None:
    """Semantic independence loses no outcome, gives up no run, and needs no more runs than syntactic."""
    runs = all_runs(model.system(), most)
    if runs is None:
        return
    semantic = explore(model, independence="semantic")
    seen = {(outcome.kind, str(dict(outcome.state))) for outcome in semantic.outcomes}
    assert seen == {(final.kind, str(final.state)) for _, final, _ in runs}
    assert semantic.counts.blocked == 0
    assert semantic.counts.executions <= explore(model).counts.executions


def class_of(trace: Trace) -> tuple:
    """The class of a trace, comparable between systems that were compiled separately."""
    return tuple(frozenset((n, c, str(label)) for n, c, label in step) for step in normal_form(trace))


def followed(system: FlatSystem, schedule: Schedule) -> tuple[Trace, tuple]:
    """Follow a schedule over saved states; every move must be enabled."""
    state, events = system.initial(), []
    for move in schedule:
        (action,) = [a for a in system.actions(state) if a.move == move]
        assert action.enabled, f"{move} is blocked after {events}"
        state, event = system.fire(state, action)
        events.append(event)
    return Trace(events), state
