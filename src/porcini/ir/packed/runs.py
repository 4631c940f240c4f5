"""Runs of a packed program: their steps, and names for processes, whose numbers are reused."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from porcini.core.errors import Place
from porcini.core.events import Action, Event
from porcini.core.footprints import Location
from porcini.core.pids import Pid
from porcini.core.systems import Final
from porcini.ir.packed.system import PackedStep
from porcini.ir.symbolic.formulas import Ways

if TYPE_CHECKING:
    from porcini.ir.packed.view import PackedView

TURN = Location("the turn")


@dataclass(frozen=True, slots=True)
class StepLabel:
    """The text and place of a step; equal labels denote the same edge of the same kind of process."""

    text: str
    place: Place | None
    template: int
    choice: int
    point: int = field(default=-1, compare=False)
    view: PackedView | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text

    def formulas(self, step: Event | Action) -> Ways | None:
        """All possible effects of the step (`ir.symbolic.formulas.Formulated`)."""
        if self.view is None or (isinstance(step, Action) and not step.enabled) or TURN in step.footprint.writes:
            return None
        return self.view.step_formulas(self.template, self.point, self.choice, step.pid)


@dataclass(frozen=True, slots=True, eq=False)
class PackedAction(Action):
    """An action with its step; the step is None if the action is blocked."""

    step: PackedStep | None = field(kw_only=True, default=None)


class Names:
    """Names for processes. Numbers are reused: the first process with number 1 is `1`, later ones are `1.1`,
    `1.2`."""

    def __init__(self, initial: int) -> None:
        self.births = [1] * initial

    def copy(self) -> Names:
        made = Names(0)
        made.births = self.births.copy()
        return made

    def __call__(self, pid: Pid) -> Pid:
        births = self.births[pid[0]]
        return pid if births == 1 else Pid((pid[0], births - 1))

    def rename(self, event: Event) -> Event:
        """An event with the names that its processes have in this run. It must be called for all events, in
        order."""
        pid = self(event.pid)
        spawned = tuple(self._born(new[0]) for new in event.spawned)
        if pid == event.pid and spawned == event.spawned:
            return event
        return Event(
            pid, event.choice, event.label, event.footprint, spawned, event.failure, event.guard_locations
        )

    def _born(self, slot: int) -> Pid:
        if slot == len(self.births):
            self.births.append(0)
        self.births[slot] += 1
        return self(Pid((slot,)))


@dataclass(slots=True)
class PackedRun:
    """A run of a packed program, in which no two processes have one name."""

    view: PackedView
    state: int
    names: Names
    said: list[str] = field(default_factory=list)
    """What `printf` statements would have printed."""

    def actions(self) -> list[Action]:
        return [self._rename(action) for action in self.view.actions(self.state)]

    def _rename(self, action: PackedAction) -> PackedAction:
        pid = self.names(action.pid)
        if pid == action.pid:
            return action
        return PackedAction(
            pid,
            action.choice,
            action.label,
            action.footprint,
            action.enabled,
            action.guard_locations,
            step=action.step,
        )

    def step(self, action: Action) -> Event:
        before = self.state
        self.state, event = self.view.fire(before, action)
        assert isinstance(action, PackedAction) and action.step is not None
        self.said += self.view.said(before, action.step)
        return self.names.rename(event)

    def final(self) -> Final:
        final = self.view.final(self.state)
        waiting = tuple(replace(each, pid=self.names(each.pid)) for each in final.waiting)
        return Final(final.kind, final.state, waiting)

    def fork(self) -> PackedRun:
        return PackedRun(self.view, self.state, self.names.copy(), self.said.copy())
