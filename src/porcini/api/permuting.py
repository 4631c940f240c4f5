"""`permute`: the permutations of one run, of a program or of one that was written down.

What permutes is loaded when it is needed: it brings a solver with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from porcini.api.programs import model_of, observed_names
from porcini.core.errors import InputError
from porcini.core.events import Schedule
from porcini.core.recordings import Recording
from porcini.core.reports import Report, TraceSource
from porcini.core.systems import Value
from porcini.core.traces import Trace
from porcini.engines.limits import Limits
from porcini.engines.replaying import run_freely
from porcini.engines.stats import SearchStats, Watcher
from porcini.formats.traces.reading import read_trace
from porcini.models import Model
from porcini.properties.outcomes import inequivalent
from porcini.reporting import Subject, build_report, located, moves_of, stopped

if TYPE_CHECKING:
    from porcini.engines.permuting import SymbolicRun

MOST_CLASSES = 10_000
"""Of a trace without formulas so many classes are listed, unless a limit says otherwise."""


def permute(
    model: Model | str | Path,
    *,
    seed: int = 0,
    schedule: Schedule | str = (),
    seeds: bool = False,
    observe: Iterable[str] | None = None,
    inputs: Mapping[str, Value] | None = None,
    limits: Limits | None = None,
    watch: Watcher | None = None,
) -> Report:
    """Record one run and list its executable permutations, one per class (P0's algorithm): are all of them
    equivalent to it?

    >>> sorted(entry.state["x"] for entry in permute("examples/gcl/vineyard.gcl").traces)
    [2, 3, 4, 4, 5]
    """
    model = model_of(model)
    model.capabilities.require("`permute`", ("formulas",), model.file)
    from porcini.engines.permuting import SymbolicRun

    system: Any = model.system(inputs)
    limits = limits or Limits()
    stats = SearchStats(limits, observed_names(model, observe), watch=watch)
    with located(schedule):
        recorded = run_freely(system, moves_of(schedule), Random(seed), limits)
    if recorded.limit is not None:
        stopped(stats, recorded)
        return build_report(model, "permute", stats, engine="fagiani", property="equivalent", traces=())
    run: Any = recorded.run
    return _permuted(model, SymbolicRun.of(system, recorded.trace, run), stats, seeds=seeds)


def _permuted(subject: Subject, run: SymbolicRun, stats: SearchStats, *, seeds: bool) -> Report:
    """The report of a recorded run's permutations."""
    from porcini.engines.fagiani import Seeds
    from porcini.engines.permuting import Permuting

    permuting = Permuting(run, stats)
    collected = Seeds(permuting.recorded)
    stats.explore(lambda _: permuting.search_for(collected) if seeds else permuting.search())
    return build_report(
        subject,
        "permute",
        stats,
        engine="fagiani",
        property="equivalent",
        counterexample=inequivalent(permuting.runs),
        traces=tuple(permuting.entries),
        seeds=tuple(permuting.seeds) if seeds else None,
    )


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a report is about (`reporting.Subject`)."""

    file: str
    language: str


def permute_trace(
    file: str | Path,
    *,
    seeds: bool = False,
    observe: Iterable[str] | None = None,
    limits: Limits | None = None,
    watch: Watcher | None = None,
) -> Report:
    """The permutations of a run in a file, one per class: are all of them equivalent to it?

    If all events have guards, these are the executable ones, and the answer is that of `permute` for the program.
    If not, they are the reorderings that the conflicts allow, and only `holds` is certain.
    """
    recording = read_trace(file)
    subject = _Subject(str(file), recording.language or "trace")
    limits = limits or Limits()
    if len(recording.steps) > limits.depth:
        raise InputError(
            f"a trace of {len(recording.steps):,} events; the limit is {limits.depth:,}",
            file=str(file),
            hint="--max-depth",
        )
    names = None if observe is None else frozenset(observe)
    if recording.exact:
        return _executable(subject, recording, SearchStats(limits, names, watch=watch), seeds=seeds)
    if seeds or names is not None:
        what = "seeds" if seeds else "outcomes to observe"
        raise InputError(f"there are no {what} in a trace without guards on all events", file=str(file))
    return _possible(subject, recording, limits, watch)


def _executable(subject: _Subject, recording: Recording, stats: SearchStats, *, seeds: bool) -> Report:
    from porcini.formats.traces.formulas import symbolic_run

    run = symbolic_run(recording, subject.file)
    for name in sorted(stats.observe or ()):
        if name not in run.final.state:
            hint = f"known: {', '.join(run.final.state)}"
            raise InputError(f"cannot observe `{name}`: no such variable", file=subject.file, hint=hint)
    if seeds and recording.kind == "unfinished":
        raise InputError("a run that was not recorded to its end has no seeds", file=subject.file)
    report = _permuted(subject, run, stats, seeds=seeds)
    return replace(report, trace=TraceSource(True, recording.program, recording.inputs))


def _possible(subject: _Subject, recording: Recording, limits: Limits, watch: Watcher | None) -> Report:
    from porcini.engines.catalogue import OPTIMAL
    from porcini.engines.options import Options
    from porcini.engines.reordering import Orders, Reordering, entries

    if limits.max_executions is None:
        limits = replace(limits, max_executions=MOST_CLASSES)
    recorded = Trace([step.event for step in recording.steps])
    stats = Orders(limits, watch=watch)
    system = Reordering(recorded, recording.processes)
    stats.explore(lambda stats: OPTIMAL(system, stats, Options()))
    found = entries(recorded, recording.kind, stats.found)
    others = len(found) - 1
    report = build_report(
        subject,
        "permute",
        stats,
        engine="optimal",
        property="equivalent",
        traces=tuple(found),
        notes=tuple(_notes(recording)) if others else (),
    )
    return replace(
        report,
        verdict="unknown" if others else report.verdict,
        outcomes=(),
        trace=TraceSource(False, recording.program, recording.inputs),
    )


def _notes(recording: Recording) -> Iterator[str]:
    yield "reads and writes do not say when a step can happen: these reorderings may not be executable"
    guarded = sum(step.formula is not None for step in recording.steps)
    if guarded:
        events = f"{len(recording.steps) - guarded:,} of {len(recording.steps):,} events"
        yield f"{events} have no guard: if all had one, the answer would be exact"
    elif recording.program is not None:
        yield f"`porcini run {recording.program} --schedule S` tries one"
