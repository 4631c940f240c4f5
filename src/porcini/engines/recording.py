"""Recording a run of a model: `Recorder` wraps the program and reads values before and after each step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from porcini.core.events import Action, Event, Label, Schedule
from porcini.core.footprints import Location
from porcini.core.pids import Pid
from porcini.core.recordings import RecordedStep, RecordedWait, Recording
from porcini.core.systems import Final, Kind, Observed, Program, Run, StepSource
from porcini.engines.replaying import enabled_actions, follow


class Recorder(Program):
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
        final, store = run.final(), program.store_of(run)
        kind: Kind = "unfinished" if stopped or enabled_actions(run.actions()) else final.kind
        return Recording(
            steps,
            initial_processes(
                [step.event for step in steps], (action.pid for action in program.start().actions())
            ),
            store or _initial(program, steps),
            sorted(final.state.keys() & store.keys()) if store else None,
            kind,
            _waits(program, run) if kind != "unfinished" else (),
            final.state,
        )


class _RecordedRun:
    def __init__(self, recorder: Recorder) -> None:
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
        self._recorder.steps.append(RecordedStep(event, reads, writes, program.formula(event.label)))
        return event


def record(program: Program, schedule: Schedule) -> Recording:
    """Record the run of a program under a schedule, which need not be complete."""
    recorder = Recorder(program)
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


def _waits(program: Program, run: Run) -> list[RecordedWait]:
    """The processes that were blocked, each with the formula of its action if it has only one."""
    actions: dict[Pid, list[object]] = {}
    for action in run.actions():
        actions.setdefault(action.pid, []).append(action.label)
    waits = []
    for waiting in run.final().waiting:
        found = actions.get(waiting.pid, [])
        formula = program.formula(found[0]) if len(found) == 1 else None
        waits.append(RecordedWait(waiting, str(found[0]) if found else "", formula))
    return waits
