"""Reports as the JSON object of the contract."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from porcini.core.events import Label, Move
from porcini.core.reports import PLAIN, Outcome, Report, Solutions, TraceEntry, Unfinished, View
from porcini.core.systems import Observed, StepSource
from porcini.core.version import __version__
from porcini.formats.schedules import show_schedule
from porcini.formats.sources import short_path

SCHEMA = 1


def show_json(report: Report, view: View = PLAIN) -> str:
    """What `--json` prints: one line."""
    return json.dumps(to_json(report), ensure_ascii=False)


def to_json(report: Report) -> dict[str, Any]:
    """The object that `--json` prints, ready for `json.dumps`."""
    counts = report.counts
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "porcini": __version__,
        "command": report.command,
        "file": report.file,
        "language": report.language,
        "engine": report.engine,
        "independence": report.independence,
        "property": report.property,
        "verdict": report.verdict,
        "stopped": report.stopped,
        "counts": {
            "executions": counts.executions,
            "blocked": counts.blocked,
            "classes": counts.classes,
            "states": counts.states,
            "events": counts.events,
        },
        "outcomes": [_outcome(outcome) for outcome in report.outcomes],
        "counterexample": None,
    }
    if counts.heuristic is not None:
        found["counts"]["heuristic"] = counts.heuristic
    if report.counterexample:
        found["counterexample"] = {
            "schedules": [show_schedule(schedule) for schedule in report.counterexample.schedules],
            "differs": list(report.counterexample.differs),
        }
        if report.counterexample.input is not None:
            found["counterexample"]["input"] = dict(report.counterexample.input)
    if report.command == "symbolic":
        found["condition"] = report.condition
    if report.trail is not None:
        found["trail"] = {
            "stem": show_schedule(report.trail.stem.schedule),
            "loop": show_schedule(report.trail.loop.schedule),
        }
    if report.search is not None:
        found["search"] = _search(report.search)
    if report.formulas:
        found["formulas"] = dict(report.formulas)
    found |= _following(report)
    if report.reduction:
        found["reduction"] = report.reduction
    if report.machine:
        found["machine"] = report.machine
    if report.bitstate is not None:
        seen = report.bitstate
        found["bitstate"] = {
            "bytes": seen.bytes,
            "hash_factor": round(seen.hash_factor, 1),
            "estimated_coverage": round(seen.estimate, 6),
        }
    if report.selection:
        found["selection"] = report.selection
    if report.limit:
        found["limit"] = report.limit
    if report.notes:
        found["notes"] = list(report.notes)
    if report.coverage is not None and report.coverage.unfinished is not None:
        found["unfinished"] = _unfinished(report.coverage.unfinished)
    if report.traces is not None:
        found["traces"] = [_trace(entry) for entry in report.traces]
    if report.trace is not None:
        found["trace"] = {"exact": report.trace.exact, "program": report.trace.program}
    if report.seeds is not None:
        found["seeds"] = [show_schedule(seed) for seed in report.seeds]
    return found


def _unfinished(unfinished: Unfinished) -> dict[str, Any]:
    return {
        "estimate": unfinished.estimate,
        "locations": [{"location": name, "schedules": times} for name, times in unfinished.locations],
        "opaque": [{"call": name, "schedules": times} for name, times in unfinished.opaque],
        "tasks": unfinished.tasks,
        "advice": list(unfinished.advice),
    }


def _search(search: Solutions) -> dict[str, Any]:
    first = [
        {
            "schedule": show_schedule(each.trace.schedule),
            "binding": dict(each.binding),
            "state": _state(each.state),
        }
        for each in search.first
    ]
    return {"solutions": search.count, "states": search.states, "exact": search.exact, "first": first}


def _following(report: Report) -> dict[str, Any]:
    """What `run` and `replay` report about the steps of their run."""
    found: dict[str, Any] = {}
    if report.seed is not None:
        found["seed"] = report.seed
    if report.steps is not None:
        found["steps"] = [
            _step(step.event.move, step.event.label, step.source)
            | {"changed": {each.name: [_value(each.before), _value(each.after)] for each in step.changes}}
            for step in report.steps
        ]
    if report.watched is not None:
        found["watched"] = {name: _value(value) for name, value in report.watched.items()}
    if report.snapshot is not None:
        able = [_step(step.move, step.label, step.source) for step in report.snapshot.enabled]
        found["snapshot"] = {"state": _state(report.snapshot.variables), "enabled": able}
    return found


def _step(move: Move, label: Label, source: StepSource) -> dict[str, Any]:
    return {
        "move": show_schedule((move,)),
        "label": str(label),
        "process": source.process or None,
        "line": source.place.line if source.place else None,
    }


def _value(value: Observed | None) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _state(state: Mapping[str, Observed]) -> dict[str, Any]:
    return {name: _value(value) for name, value in state.items()}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": outcome.kind,
        "state": _state(outcome.state),
        "executions": outcome.executions,
        "schedule": show_schedule(outcome.schedule),
    }
    if outcome.faults:
        found["faults"] = list(outcome.faults)
    if outcome.waiting:
        found["waiting"] = [
            {
                "pid": str(waiting.pid),
                "guard": waiting.guard,
                "at": str(waiting.place) if waiting.place else None,
                "values": _state(waiting.values),
            }
            | ({"waits_for": [str(pid) for pid in waiting.waits_for]} if waiting.waits_for else {})
            | ({"holds": waiting.holds} if waiting.holds else {})
            | ({"name": waiting.name} if waiting.name else {})
            | ({"why": waiting.why} if waiting.why else {})
            | ({"file": short_path(waiting.stack[-1].path)} if waiting.stack else {})
            for waiting in outcome.waiting
        ]
    failures = [(event.pid, event.failure) for event in outcome.trace if event.failure]
    if failures:
        found["failures"] = [
            {
                "pid": str(pid),
                "kind": failure.kind,
                "message": failure.message,
                "at": str(failure.place) if failure.place else None,
            }
            | ({"file": short_path(failure.file)} if failure.file else {})
            for pid, failure in failures
        ]
    return found


def _trace(entry: TraceEntry) -> dict[str, Any]:
    found: dict[str, Any] = {
        "schedule": show_schedule(entry.schedule),
        "labels": list(entry.labels),
        "path": entry.path,
        "state": _state(entry.state),
        "kind": entry.kind,
    }
    if entry.reversed is not None:
        found["reversed"] = [[str(first), str(second)] for first, second in entry.reversed]
    return found if entry.input is None else found | {"input": dict(entry.input)}
