"""Recording a run of a model: `RecordedProgram` wraps the program and reads values before and after each step.

If the program has formulas, its run is labelled at the end, as for `permute`, and the formulas of the labels are
recorded as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from porcini.core.errors import InputError, LimitHit
from porcini.core.events import Action, Event, Label, Schedule
from porcini.core.footprints import NOWHERE, Location
from porcini.core.formulas import Formula
from porcini.core.pids import Pid
from porcini.core.recordings import RecordedStep, RecordedWait, Recording
from porcini.core.systems import Final, Kind, Observed, Program, Run, StepSource, Waiting
from porcini.core.traces import Trace
from porcini.engines.permuting import variables_seen
from porcini.engines.replaying import enabled_actions, follow
from porcini.ir.expr import free
from porcini.ir.operations import reads_of, targets_of_op
from porcini.ir.symbolic import labels
from porcini.ir.symbolic.formula_text import formula_of
from porcini.ir.symbolic.formulas import FormulaSystem, LabelledRun

MOST_LABELLED = 10_000
"""Longer runs have no formulas: nobody could permute them, and labels take time."""


class RecordedProgram(Program):
    """A program that records its last run, with values. `run` is the underlying run, without the recording."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.run = program.start()
        self.steps: list[RecordedStep] = []

    def start(self) -> Run:
        self.run, self.steps = self.program.start(), []
        return _RecordedRun(self)

    def variables(self, run: object) -> Mapping[str, Observed]:
        return self.program.variables(self.run)

    def source_of(self, label: Label) -> StepSource:
        return self.program.source_of(label)

    def recording(self, *, stopped: bool = False) -> Recording:
        """The run so far; a run that was stopped counts as unfinished."""
        program, run, steps = self.program, self.run, self.steps
        final = run.final()
        kind: Kind = "unfinished" if stopped or enabled_actions(run.actions()) else final.kind
        events = [step.event for step in steps]
        roots = initial_processes(events, (action.pid for action in program.start().actions()))
        plain = Recording(
            steps,
            roots,
            _initial(program, steps),
            kind=kind,
            waiting=_waits(run) if kind != "unfinished" else (),
            final=final.state,
        )
        labelled = _labelled(program, Trace(events), run)
        return plain if labelled is None else _with_formulas(plain, labelled)


class _RecordedRun:
    def __init__(self, recorder: RecordedProgram) -> None:
        self._recorder = recorder
        self._run = recorder.run

    def actions(self) -> Sequence[Action]:
        return self._run.actions()

    def final(self) -> Final:
        return self._run.final()

    def step(self, action: Action) -> Event:
        program, run = self._recorder.program, self._run
        before = program.values(run, action.footprint.reads | action.footprint.writes)
        event = run.step(action)
        foot = event.footprint
        after = program.values(run, foot.writes)
        reads = {place: before.get(place) for place in sorted(foot.reads)}
        writes = {place: after.get(place) for place in sorted(foot.writes)}
        self._recorder.steps.append(RecordedStep(event, reads, writes))
        return event


def record(program: Program, schedule: Schedule) -> Recording:
    """Record the run of a program under a schedule, which need not be complete."""
    recorder = RecordedProgram(program)
    follow(recorder.start(), schedule)
    return recorder.recording()


def _initial(program: Program, steps: Sequence[RecordedStep]) -> dict[str, Observed]:
    """The initial values of all locations that the run touched."""
    touched = set[Location]().union(*(chain(step.reads, step.writes) for step in steps))
    return dict(sorted(program.values(program.start(), sorted(touched)).items()))


def initial_processes(events: Sequence[Event], seen: Iterable[Pid] = ()) -> list[Pid]:
    """The initial processes: those that were seen in the initial state, and those that act without having been
    spawned."""
    found, spawned = set(seen), set[Pid]()
    for event in events:
        if event.pid not in spawned:
            found.add(event.pid)
        spawned.update(event.spawned)
    return sorted(found)


def _waits(run: Run) -> list[RecordedWait]:
    """The processes that were blocked, each with its first action."""
    actions: dict[Pid, str] = {}
    for action in run.actions():
        actions.setdefault(action.pid, str(action.label))
    return [RecordedWait(waiting, actions.get(waiting.pid, "")) for waiting in run.final().waiting]


# Formulas


def _labelled(program: Program, trace: Trace, run: Run) -> LabelledRun | None:
    """The run with its labels; None if the program has no formulas, or not within the limits."""
    if not isinstance(program, FormulaSystem) or len(trace) > MOST_LABELLED:
        return None
    try:
        return program.label_run(trace, run)
    except (InputError, LimitHit):
        return None


def _with_formulas(plain: Recording, run: LabelledRun) -> Recording:
    """A recording in which steps and waiting processes have formulas, where these can be written."""
    in_guards = {label: run.in_guards(label) for label in dict.fromkeys([*run.labels, *run.waiting])}
    initial, unset = _store(run, [label for label in in_guards.values() if label is not None])
    known = initial.keys() | unset.keys()

    def formula(label: labels.Label) -> Formula | None:
        found = in_guards[label]
        return None if found is None else formula_of(found)

    steps = []
    for step, label in zip(plain.steps, run.labels, strict=True):
        found = formula(label)
        if found is not None and run.tells_values:
            event = replace(step.event, label=label, failure=label.failure)
            step = replace(step, event=event, text=str(step.event.label))
        steps.append(replace(step, formula=found))
    recorded = {wait.waiting.pid: wait.waiting for wait in plain.waiting}
    waiting, idle = list[RecordedWait](), list[RecordedWait]()
    for label in run.waiting if plain.kind != "unfinished" else ():
        waits = recorded.get(label.pid, Waiting(label.pid, str(label), {}))
        reads = label.touched.fixed.reads if run.bookkeeping else NOWHERE
        seen = variables_seen(waits, label) if label.pid in recorded else {}
        sees = {name: v for name, v in seen.items() if v in known}
        wait = RecordedWait(waits, str(label), formula(label), reads=reads, sees=sees)
        (waiting if label.pid in recorded else idle).append(wait)
    return replace(
        plain,
        steps=steps,
        waiting=waiting,
        idle=idle,
        initial=initial,
        unset=unset,
        observed=run.observed,
        bookkeeping=run.bookkeeping & known,
        symbols=run.inputs & initial.keys(),
    )


def _store(run: LabelledRun, written: Sequence[labels.Label]) -> tuple[dict[str, Any], dict[str, str]]:
    """The initial values of variables, and the types of those that have none yet. What is book-keeping is left out
    if no formula needs it."""
    exprs = [guard for label in written for guard in label.guards]
    for label in written:
        for op in (*label.line, *((label.stopped,) if label.stopped else ())):
            exprs += [*reads_of(op), *targets_of_op(op)]
    types = {v.name: str(v.type) for expr in dict.fromkeys(exprs) for v in free(expr)}
    needed = types.keys() | run.observed.variables()
    initial = {
        name: value
        for name, value in run.before.items()
        if value is not None and (name in needed or name not in run.bookkeeping)
    }
    return initial, {name: type_ for name, type_ in types.items() if name not in initial}
