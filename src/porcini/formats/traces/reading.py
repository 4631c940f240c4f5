"""JSON lines as a recording. Whatever is wrong with them is an `InputError` that names file and line.

The order of events and processes is checked here; what formulas say, in `formulas`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, get_args

from porcini.core.errors import InputError, Place
from porcini.core.events import Event, Failure, FailureKind
from porcini.core.footprints import OPAQUE, Footprint
from porcini.core.formulas import Formula
from porcini.core.pids import Pid
from porcini.core.recordings import RecordedStep, RecordedWait, Recording
from porcini.core.systems import Kind, Waiting
from porcini.formats.traces.header import read_header
from porcini.formats.traces.objects import (
    Fields,
    items,
    lines_of,
    mapping,
    natural,
    naturals,
    place,
    process,
    processes,
    text,
    text_or_null,
    texts,
    touched,
    truth,
    variables,
)

_ENDS: tuple[str, ...] = ("terminated", "deadlock", "assertion", "error", "unfinished")


def read_trace(file: str | Path) -> Recording:
    """What a file says was recorded.

    >>> read_trace("no such file")
    Traceback (most recent call last):
    porcini.core.errors.InputError: no such file: error: no such file
    """
    name = str(file)
    lines = [Fields(found, name, number) for number, found in lines_of(file)]
    if not lines:
        raise InputError("the file is empty", file=name, hint="a trace begins with a line that says its format")
    lines[0].what = "the first line"
    header, given = read_header(lines[0])
    steps: list[RecordedStep] = []
    waits: tuple[RecordedWait, ...] = ()
    idle: tuple[RecordedWait, ...] = ()
    kind: Kind | None = None
    for fields in lines[1:]:
        if kind is not None:
            fields.refuse("nothing may come after the line with `end`")
        if "end" in fields:
            kind, waits, idle = _end(fields, any(step.event.failure for step in steps))
        else:
            steps.append(_event(fields))
        fields.end()
    roots = _check_processes(name, given, steps, (*waits, *idle))
    return replace(header, steps=steps, processes=roots, waiting=waits, idle=idle, kind=kind or _kind(steps))


def _event(fields: Fields) -> RecordedStep:
    pid = fields.take("process", process)
    opaque, barrier = fields.take("opaque", truth, False), fields.take("barrier", truth, False)
    told: dict[str, Any] = {"default": {}} if opaque or barrier or "guard" in fields else {}
    reads, writes = fields.take("reads", touched, **told), fields.take("writes", touched, **told)
    foot = Footprint(frozenset(reads), frozenset(writes), opaque)
    spawned, woke = fields.take("spawned", processes, ()), fields.take("woke", processes, ())
    failure, done = fields.take("failure", _failure, (None, False))
    event = Event(
        pid,
        fields.take("choice", natural, 0),
        fields.take("label", text),
        OPAQUE if barrier else foot,
        spawned,
        failure,
        woke=woke,
        barrier=barrier,
    )
    if pid in (*spawned, *woke):
        fields.refuse(f"process {pid} cannot spawn or wake itself")
    formula = _formula(fields)
    if formula is not None:
        if formula.choices and formula.choices[0] != event.choice:
            fields.refuse("the first of `choices` must be that of the event, its `choice`")
        formula = replace(formula, fails_after=done)
    return RecordedStep(event, reads, writes, formula, fields.line)


def _formula(fields: Fields) -> Formula | None:
    guard = fields.take("guard", text_or_null, None)
    otherwise, done = fields.take("otherwise", texts, ()), fields.take("do", texts, ())
    choices, family = fields.take("choices", naturals, ()), fields.take("family", _family, None)
    if guard is None:
        if otherwise or done or choices or family:
            fields.refuse("a step that says what it does needs a `guard`", hint='without a condition it is "true"')
        return None
    if choices and len(choices) != 1 + len(otherwise):
        fields.refuse("`choices` must be as many as the guards: `guard` and those in `otherwise`")
    return Formula(guard, otherwise, done, choices=choices, family=family)


def _family(fields: Fields, key: str, value: Any) -> Footprint:
    inner = Fields(value, fields.file, fields.line, f"`{key}`")
    found = Footprint(frozenset(inner.take("reads", touched)), frozenset(inner.take("writes", touched)))
    inner.end()
    return found


def _failure(fields: Fields, key: str, value: Any) -> tuple[Failure, bool]:
    inner = Fields(value, fields.file, fields.line, f"`{key}`")
    kind = inner.take("kind", text)
    if kind not in get_args(FailureKind):
        inner.refuse(f"a failure is one of {', '.join(get_args(FailureKind))}, not `{kind}`")
    message, at = inner.take("message", text), inner.take("at", place, None)
    found = Failure(kind, message, at, inner.take("file", text, None)), inner.take("done", truth, False)
    inner.end()
    return found


def _end(fields: Fields, failed: bool) -> tuple[Kind, tuple[RecordedWait, ...], tuple[RecordedWait, ...]]:
    """How a run ended, who waited, and who did not go on either."""
    kind: Any = fields.take("end", text)
    fields.take("state", variables, {})  # this is for readers of the file; Porcini computes it
    if kind not in _ENDS:
        fields.refuse(f"a run ends as one of {', '.join(_ENDS)}, not `{kind}`")
    waits, idle = (
        tuple(_wait(fields, each, key) for each in fields.take(key, items, [])) for key in ("waiting", "idle")
    )
    if idle and kind == "unfinished":
        fields.refuse("who is `idle` is known only where a run has ended")
    if (waits and kind in ("terminated", "unfinished")) or (kind == "terminated" and failed):
        why = "processes wait at its end" if waits else "a step of it failed"
        fields.refuse(f"this run cannot have ended as `{kind}`: {why}")
    return kind, waits, idle


def _wait(fields: Fields, value: object, key: str) -> RecordedWait:
    inner = Fields(value, fields.file, fields.line, f"each of `{key}`")
    pid, label = inner.take("process", process), inner.take("label", text, "")
    waiting = Waiting(
        pid,
        inner.take("for", text, label),
        {},
        inner.take("at", place, None),
        waits_for=inner.take("waits_for", processes, ()),
        holds=inner.take("holds", text, None),
        name=inner.take("name", text, ""),
    )
    reads, sees = frozenset(inner.take("reads", touched, {})), inner.take("sees", _sees, None)
    formula = _formula(inner)
    if formula is not None and formula.do:
        inner.refuse(f"process {pid} waits, so it can have done nothing")
    inner.end()
    return RecordedWait(waiting, label, formula, fields.line, reads, sees)


def _sees(fields: Fields, key: str, value: Any) -> dict[str, str]:
    return {name: text(fields, key, each) for name, each in mapping(fields, key, value).items()}


def _kind(steps: Sequence[RecordedStep]) -> Kind:
    """How a run ended, if its trace does not say so."""
    kinds = {step.event.failure.kind for step in steps if step.event.failure}
    return "error" if "error" in kinds else "assertion" if kinds else "terminated"


def _check_processes(
    file: str, given: tuple[Pid, ...] | None, steps: Sequence[RecordedStep], waits: Sequence[RecordedWait]
) -> tuple[Pid, ...]:
    """The initial processes. No process may act, wait or be woken before it is spawned."""

    def refuse(line: int, message: str) -> NoReturn:
        raise InputError(message, file=file, place=Place(line, 1))

    spawned = {pid: step.line for step in steps for pid in step.event.spawned}
    acting = {wait.waiting.pid for wait in waits}
    for step in steps:
        acting |= {step.event.pid, *step.event.woke}
    roots = sorted(acting - spawned.keys()) if given is None else given
    alive = set(roots)
    for step in steps:
        event = step.event
        for pid in (event.pid, *event.woke):
            if pid not in alive:
                later = f"it is spawned in line {spawned[pid]}" if pid in spawned else "nobody spawned it"
                refuse(step.line, f"process {pid} is not there yet: {later}")
        for pid in event.spawned:
            if pid in alive:
                refuse(step.line, f"process {pid} is spawned here, but it is there already")
            alive.add(pid)
    waiting: set[Pid] = set()
    for wait in waits:
        pid = wait.waiting.pid
        if pid not in alive:
            refuse(wait.line, f"process {pid} cannot wait: nobody spawned it")
        if pid in waiting:
            refuse(wait.line, f"process {pid} waits twice")
        waiting.add(pid)
    return tuple(roots)
