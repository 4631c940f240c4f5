"""Recordings as JSON lines: a header, a line for each event, a line about the end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from porcini.core.errors import InputError
from porcini.core.events import Failure
from porcini.core.formulas import Formula
from porcini.core.observations import Cells, Observation, Part, Queue
from porcini.core.recordings import RecordedStep, RecordedWait, Recording
from porcini.core.version import __version__
from porcini.formats.sources import short_path
from porcini.formats.traces import FORMAT, LONGEST_NUMBER, VERSION

_MOST_BITS = LONGEST_NUMBER * 33 // 10
"""A number of so many bits has no more digits than can be read again: one digit takes more than 3.3 bits."""


def write_trace(recording: Recording, file: str | Path) -> None:
    text = "".join(line + "\n" for line in lines_of(recording))
    try:
        # What cannot be encoded is escaped in JSON's own way.
        Path(file).write_bytes(text.encode("utf-8", errors="backslashreplace"))
    except (OSError, ValueError) as problem:
        what = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise InputError(f"cannot be written: {what}", file=str(file)) from None


def lines_of(recording: Recording) -> Iterator[str]:
    for each in (_header(recording), *map(_event, recording.steps), _end(recording)):
        yield json.dumps(each, ensure_ascii=False)


def _header(recording: Recording) -> dict[str, Any]:
    found: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "porcini": __version__,
        "language": recording.language,
        "file": recording.program,
        "processes": [str(pid) for pid in recording.processes],
        "initial": _values(recording.initial),
    }
    if recording.unset:
        found["unset"] = dict(recording.unset)
    if recording.bookkeeping:
        found["bookkeeping"] = sorted(recording.bookkeeping)
    if recording.symbols:
        found["symbols"] = sorted(recording.symbols)
    if recording.observed is not None:
        found |= _observed(recording.observed)
    if recording.inputs:
        found["inputs"] = _values(recording.inputs)
    return found


def _observed(observed: Observation) -> dict[str, Any]:
    """What is observed: names, if all of them are plain variables."""
    parts = observed.parts
    plain = all(part == Cells(name) for name, part in parts.items())
    found: dict[str, Any] = {"observed": list(parts) if plain else {n: _part(part) for n, part in parts.items()}}
    if observed.names:
        found["meanings"] = {
            name: {str(number): _value(each) for number, each in names.items()}
            for name, names in observed.names.items()
        }
    return found


def _part(part: Part) -> object:
    if isinstance(part, Queue):
        return {"length": part.length, "fields": list(part.fields)}
    return {"cells": part.name, "sizes": list(part.sizes)} if len(part.sizes) > 1 else part.name


def _event(step: RecordedStep) -> dict[str, Any]:
    event = step.event
    found: dict[str, Any] = {"process": str(event.pid)}
    if event.choice:
        found["choice"] = event.choice
    found |= {"label": str(event.label), "reads": _values(step.reads), "writes": _values(step.writes)}
    if event.footprint.opaque:
        found["opaque"] = True
    if event.barrier:
        found["barrier"] = True
    if step.formula is not None:
        found |= _formula(step.formula)
    if event.spawned:
        found["spawned"] = [str(pid) for pid in event.spawned]
    if event.woke:
        found["woke"] = [str(pid) for pid in event.woke]
    if event.failure is not None:
        found["failure"] = _failure(event.failure)
        if step.formula is not None and step.formula.fails_after:
            found["failure"]["done"] = True
    if step.text not in ("", found["label"]):
        found["info"] = {"label": step.text}
    return found


def _formula(formula: Formula) -> dict[str, Any]:
    found: dict[str, Any] = {"guard": formula.guard}
    if formula.otherwise:
        found["otherwise"] = list(formula.otherwise)
    if formula.do:
        found["do"] = list(formula.do)
    if formula.choices:
        found["choices"] = list(formula.choices)
    if formula.family is not None:
        found["family"] = {"reads": sorted(formula.family.reads), "writes": sorted(formula.family.writes)}
    return found


def _failure(failure: Failure) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": failure.kind, "message": failure.message}
    if failure.place is not None:
        found["at"] = str(failure.place)
    if failure.file is not None:
        found["file"] = short_path(failure.file)
    return found


def _end(recording: Recording) -> dict[str, Any]:
    waiting = [_wait(wait) for wait in recording.waiting]
    found = {"end": recording.kind, "state": _values(recording.final), "waiting": waiting}
    return found | {"idle": [_wait(wait) for wait in recording.idle]} if recording.idle else found


def _wait(wait: RecordedWait) -> dict[str, Any]:
    waiting = wait.waiting
    found: dict[str, Any] = {"process": str(waiting.pid), "label": wait.label, "for": waiting.guard}
    if waiting.place is not None:
        found["at"] = str(waiting.place)
    if waiting.name:
        found["name"] = waiting.name
    if waiting.waits_for:
        found["waits_for"] = [str(pid) for pid in waiting.waits_for]
    if waiting.holds is not None:
        found["holds"] = waiting.holds
    if wait.reads:
        found["reads"] = sorted(wait.reads)
    if wait.sees is not None:
        found["sees"] = dict(wait.sees)
    if wait.formula is not None:
        found |= _formula(wait.formula)
    return found


def _values(values: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): _value(value) for name, value in values.items()}


def _value(value: Any) -> Any:
    """Numbers that are too large to be read again are left out."""
    if isinstance(value, tuple):
        return [_value(each) for each in value]
    return None if isinstance(value, int) and value.bit_length() > _MOST_BITS else value
