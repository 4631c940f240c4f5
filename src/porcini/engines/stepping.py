"""A run that is taken step by step and looked at on the way: what `replay` and `run --interactive` do."""

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
from porcini.engines.replaying import choose, enabled


class Stepper:
    """A run of a program, with what each of its steps changed. It can be taken back, by running it again."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._restart()

    def _restart(self) -> None:
        self.run = self.program.start()
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
        return enabled(self.run.actions())

    def take(self, action: Action) -> TakenStep:
        event = self.run.step(action)
        before, self.variables = self.variables, dict(self.program.variables(self.run))
        self._seen |= self.variables
        changes = tuple(changes_between(before, self.variables))
        step = TakenStep(event, self.program.source_of(event.label), changes)
        self.steps.append(step)
        return step

    def follow(self, schedule: Schedule) -> None:
        """Take the moves of a schedule in turn; one that does not fit is an error that names the step."""
        for number, move in enumerate(schedule, len(self.steps) + 1):
            self.take(choose(self.run, move, number))

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
        """What a variable, or a cell of one, holds now; None if it is not there."""
        return value_in(name, self.variables)

    def require_known(self, names: Iterable[str]) -> None:
        """Names of variables, or of cells, that were there at some time; another one is an error."""
        for name in names:
            if value_in(name, self._seen) is None:
                raise unknown_variable(name, sorted(self._seen))

    def watching(self, names: Sequence[str]) -> tuple[TakenStep, ...]:
        """The steps with what they changed: of the variables with these names, or else of all but those that came
        or went with their processes."""

        def counts(change: Change) -> bool:
            if names:
                return any(belongs_to(change.name, name) for name in names)
            return change.before is not None and change.after is not None

        return tuple(replace(step, changes=tuple(filter(counts, step.changes))) for step in self.steps)
