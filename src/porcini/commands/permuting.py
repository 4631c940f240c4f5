"""`permute`: the executable permutations of one execution (P0), of a program or from a trace file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from porcini.commands.needs import require
from porcini.commands.reporting import About, build_report, locate_errors, moves_of, note_stop, place_errors_in
from porcini.commands.requests import Request
from porcini.core.errors import InputError, InternalError, LimitHit
from porcini.core.recordings import Recording
from porcini.core.reports import Report, TraceSource
from porcini.core.traces import Trace
from porcini.engines.catalogue import ENGINES
from porcini.engines.fagiani import Seeds
from porcini.engines.limits import Limits
from porcini.engines.options import Options
from porcini.engines.permuting import Permuting
from porcini.engines.reordering import Orders, Reordering, entries
from porcini.engines.replaying import run_freely
from porcini.engines.stats import SearchStats, Watcher
from porcini.formats.traces.formulas import label_recording
from porcini.formats.traces.reading import read_trace
from porcini.ir.symbolic.formulas import FormulaSystem, LabelledRun
from porcini.properties.outcomes import find_inequivalent

MOST_CLASSES = 10_000
"""How many classes of a trace without formulas are listed, unless a limit is given."""
_EVERY_ORDER = "optimal"


def permute(request: Request) -> Report:
    """Record one run and list its executable permutations, one per class: are all of them equivalent to it?"""
    subject, following = request.subject, request.following
    model = subject.model
    require("permute", subject)
    system = subject.system()
    if not isinstance(system, FormulaSystem):
        raise InternalError(f"{subject.capabilities.programs} are said to have formulas, and have none")
    stats = SearchStats(request.limits, subject.observed, watch=request.watch)
    with locate_errors(following.schedule):
        recorded = run_freely(system, moves_of(following.schedule), Random(following.seed), request.limits)
    if recorded.limit is not None:
        note_stop(stats, recorded)
        return build_report(model, "permute", stats, property="equivalent", traces=())
    try:
        with place_errors_in(model):
            run = system.label_run(recorded.trace, recorded.run)
    except LimitHit as hit:  # it has no formulas within the limits
        stats.leave_out(str(hit))
        return build_report(model, "permute", stats, property="equivalent", traces=())
    return _report_permutations(model, run, stats, request.seeds)


def _report_permutations(subject: About, run: LabelledRun, stats: SearchStats, seeds: bool) -> Report:
    """The report about the permutations of a recorded run."""
    permuting = Permuting(run, stats)
    collected = Seeds(permuting.recorded) if seeds else None
    stats.explore(lambda _: permuting.search() if collected is None else permuting.search_for(collected))
    return build_report(
        subject,
        "permute",
        stats,
        property="equivalent",
        counterexample=find_inequivalent(permuting.runs),
        traces=tuple(permuting.entries),
        seeds=tuple(permuting.seeds) if seeds else None,
    )


@dataclass(frozen=True, slots=True)
class _TraceFile:
    """A trace file as the subject of a report."""

    file: str
    language: str


def permute_trace(
    file: str | Path,
    *,
    seeds: bool = False,
    observe: frozenset[str] | None = None,
    limits: Limits | None = None,
    watch: Watcher | None = None,
) -> Report:
    """The same for a run in a file. The answer is exact if all of its events have guards; otherwise it lists the
    reorderings that the conflicts allow, and only `holds` is certain."""
    recording = read_trace(file)
    subject = _TraceFile(str(file), recording.language or "trace")
    limits = limits or Limits()
    if len(recording.steps) > limits.depth:
        raise InputError(
            f"a trace of {len(recording.steps):,} events; the limit is {limits.depth:,}",
            file=str(file),
            hint="--max-depth",
        )
    if recording.exact:
        return _permute_exactly(subject, recording, SearchStats(limits, observe, watch=watch), seeds)
    if seeds or observe is not None:
        what = "seeds" if seeds else "outcomes to observe"
        raise InputError(f"there are no {what} in a trace without guards on all events", file=str(file))
    return _permute_by_conflicts(subject, recording, limits, watch)


def _permute_exactly(subject: _TraceFile, recording: Recording, stats: SearchStats, seeds: bool) -> Report:
    run = label_recording(recording, subject.file)
    for name in sorted(stats.observe or ()):
        if name not in run.final.state:
            hint = f"known: {', '.join(run.final.state)}"
            raise InputError(f"cannot observe `{name}`: no such variable", file=subject.file, hint=hint)
    if seeds and recording.kind == "unfinished":
        raise InputError("a run that was not recorded to its end has no seeds", file=subject.file)
    report = _report_permutations(subject, run, stats, seeds)
    return replace(report, trace=TraceSource(True, recording.program, recording.inputs))


def _permute_by_conflicts(
    subject: _TraceFile, recording: Recording, limits: Limits, watch: Watcher | None
) -> Report:
    if limits.max_executions is None:
        limits = replace(limits, max_executions=MOST_CLASSES)
    recorded = Trace([step.event for step in recording.steps])
    stats = Orders(limits, watch=watch)
    system = Reordering(recorded, recording.processes)
    stats.explore(lambda stats: ENGINES[_EVERY_ORDER](system, stats, Options()))
    found = entries(recorded, recording.kind, stats.found)
    others = len(found) - 1
    report = build_report(
        subject,
        "permute",
        stats,
        engine=_EVERY_ORDER,
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
