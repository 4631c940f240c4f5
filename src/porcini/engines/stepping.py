"""A run that is executed and inspected step by step: what `replay` and `run --interactive` do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from porcini.core.events import Action, Schedule
from porcini.core.steps import (
    Change,
    EnabledStep,
    Snapshot,
    TakenStep,
    belongs_to,
    changes_between,
    unknown_variable,
    value_in,
)
from porcini.core.systems import Observed, Program
from porcini.core.traces import Trace
from porcini.engines.replaying import enabled_actions, find_action


class Stepper:
    """A run of a program, with what each of its steps changed. Steps can be taken back: the run is then
    repeated. `expected` is the schedule that it will be told to follow, as far as that is known."""

    def __init__(self, program: Program, expected: Schedule = ()) -> None:
        self.program = program
        self._expected = expected
        self._restart()

    def _restart(self) -> None:
        self.run = self.program.start_under(self._expected)
        self.steps: list[TakenStep] = []
        self.initial = self.variables = dict(self.program.variables(self.run))
        self._seen = dict(self.initial)

    @property
    def trace(self) -> Trace:
        return Trace([step.event for step in self.steps])

    @property
    def schedule(self) -> Schedule:
        return self.trace.schedule

    def enabled(self) -> list[Action]:
        return enabled_actions(self.run.actions())

    def take(self, action: Action) -> TakenStep:
        event = self.run.step(action)
        before, self.variables = self.variables, dict(self.program.variables(self.run))
        self._seen |= self.variables
        changes = tuple(changes_between(before, self.variables))
        step = TakenStep(event, self.program.source_of(event.label), changes)
        self.steps.append(step)
        return step

    def follow(self, schedule: Schedule) -> None:
        """Take the moves of a schedule in turn; a move that does not fit is an error that names the step."""
        for number, move in enumerate(schedule, len(self.steps) + 1):
            self.take(find_action(self.run, move, number))

    def back(self) -> None:
        """Take back the last step."""
        schedule = self.schedule[:-1]
        self._restart()
        self.follow(schedule)

    def snapshot(self) -> Snapshot:
        source_of = self.program.source_of
        able = (EnabledStep(action.move, action.label, source_of(action.label)) for action in self.enabled())
        return Snapshot(self.variables, tuple(able))

    # Watching

    def value_of(self, name: str) -> Observed | None:
        """The current value of a variable or of a cell; None if it does not exist."""
        return value_in(name, self.variables)

    def require_variables(self, names: Iterable[str]) -> None:
        """Raise an error unless all names are variables, or cells, that existed at some time in the run."""
        for name in names:
            if value_in(name, self._seen) is None:
                raise unknown_variable(name, sorted(self._seen))

    def watched_steps(self, names: Sequence[str]) -> tuple[TakenStep, ...]:
        """The steps with their changes to the variables with these names. Without names: with all changes except
        of variables that appeared or disappeared with their processes."""

        def counts(change: Change) -> bool:
            if names:
                return any(belongs_to(change.name, name) for name in names)
            return change.before is not None and change.after is not None

        return tuple(replace(step, changes=tuple(filter(counts, step.changes))) for step in self.steps)
