"""A recorded run of a packed program as formulas: the run is followed again, state by state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porcini.core.errors import InternalError
from porcini.core.events import Event
from porcini.core.footprints import Footprint
from porcini.core.observations import Cells, Observation, Part, Queue
from porcini.core.pids import Pid
from porcini.core.systems import Final, Observed, Value
from porcini.core.traces import Trace
from porcini.ir.packed.formulas.labels import Labels, StepInfo, Who, pid_of, values_of
from porcini.ir.packed.formulas.lines import Births
from porcini.ir.packed.formulas.world import Instance, World, initial_constants
from porcini.ir.packed.layout import HOLDER, POPULATION, POPULATION_AT
from porcini.ir.packed.processes import Process
from porcini.ir.packed.runs import PackedAction
from porcini.ir.packed.system import PackedStep
from porcini.ir.packed.view import PackedView, name_value
from porcini.ir.symbolic.formulas import LabelledRun
from porcini.ir.symbolic.labels import Label


@dataclass(frozen=True, slots=True)
class _FollowedStep:
    """A step of a run: the state before it, and how many processes each slot had had by then."""

    event: Event
    step: PackedStep
    state: int
    births: tuple[int, ...]


Stood = dict[int, Process]
"""The points at which a process stood, each with the compiled process at that time."""


class RecordedRuns:
    """Turns runs of a program into formulas; equal steps share one label."""

    def __init__(self, view: PackedView) -> None:
        self.view, self.system = view, view.system
        self._labels: dict[int, Labels] = {}

    def label_run(self, trace: Trace, final: Final) -> LabelledRun:
        taken, state, births = self._follow(trace)
        slots = len(births)
        if slots not in self._labels:
            self._labels[slots] = Labels(World(self.system, slots, initial_constants(self.system)))
        labels = self._labels[slots]
        stood = self._points_of_moved(taken, state, births)
        made = [self._label(labels, each, stood) for each in taken]
        waiting = [
            self._waiting(labels, process, births, state, stood) for process in self.system.present(state).members
        ]
        initial = len(self.system.program.initial)
        before = labels.world.store(self.system.initial(), (1,) * initial)
        roots = [Pid((number,)) for number in range(initial)]
        return LabelledRun(
            trace,
            made,
            waiting,
            before,
            roots,
            final,
            self._observed(labels.world),
            bookkeeping=self._bookkeeping(before),
        )

    def _follow(self, trace: Sequence[Event]) -> tuple[list[_FollowedStep], int, tuple[int, ...]]:
        run = self.view.start()
        taken: list[_FollowedStep] = []
        for event in trace:
            action = next(action for action in run.actions() if action.move == event.move)
            if not isinstance(action, PackedAction) or action.step is None:
                raise InternalError(f"a recorded step of {event.pid} cannot be taken again")
            taken.append(_FollowedStep(event, action.step, run.state, tuple(run.names.births)))
            run.step(action)
        return taken, run.state, tuple(run.names.births)

    def _points_of_moved(
        self, taken: Sequence[_FollowedStep], state: int, births: tuple[int, ...]
    ) -> dict[Pid, Stood]:
        """The points at which processes stood, for those that were moved by others."""
        moved = {
            pid_of(each.step.partner.slot, each.births[each.step.partner.slot])
            for each in taken
            if each.step.partner is not None
        }
        found: dict[Pid, Stood] = {}
        for at, counts in [*((each.state, each.births) for each in taken), (state, births)]:
            for process in self.system.present(at).members:
                pid = pid_of(process.slot, counts[process.slot])
                if pid in moved:
                    found.setdefault(pid, {})[process.here(at)] = process
        return {pid: dict(sorted(stood.items())) for pid, stood in found.items()}

    def _label(self, labels: Labels, taken: _FollowedStep, stood: Mapping[Pid, Stood]) -> Label:
        step, state = taken.step, taken.state
        who, there = self._who(step.process, state, taken.births, stood)
        point, held = step.process.here(state), bool(state & HOLDER)
        births = Births((state & POPULATION) >> POPULATION_AT, taken.births)
        values = values_of(labels.world.store(state, taken.births))
        option, outcome = labels.outcome_of(who.me, point, taken.event.choice, held, values, births)
        family = self._family(step.process, state, there)
        if step.partner is not None:
            family |= self.view.family(step.partner, step.partner.at(state))
        seen = StepInfo(str(taken.event.label), taken.event.footprint, family)
        return labels.step(who, point, option, held, outcome, seen)

    def _waiting(
        self,
        labels: Labels,
        process: Process,
        births: tuple[int, ...],
        state: int,
        stood: Mapping[Pid, Stood],
    ) -> Label:
        who, there = self._who(process, state, births, stood)
        family = self._family(process, state, there)
        text = " or ".join(code.edge.text for code in process.at(state).edges)
        return labels.waiting(who, StepInfo(text, Footprint(family.reads), family))

    @staticmethod
    def _who(
        process: Process, state: int, births: tuple[int, ...], stood: Mapping[Pid, Stood]
    ) -> tuple[Who, Stood]:
        """A process, and where it may stand when it has taken as many steps as here."""
        me = Instance(process.slot, process.number, frozenset(process.constants.values.items()))
        count = births[process.slot]
        there = stood.get(pid_of(process.slot, count), {process.here(state): process})
        return Who(me, count, tuple(there)), there

    def _family(self, process: Process, state: int, stood: Stood) -> Footprint:
        """What a process might touch at its point, and what decides what it can do there and at its other
        points."""
        foot = self.view.family(process, process.at(state))
        for point, then in stood.items():
            foot |= Footprint(self.view.family(then, then.point(point)).reads)
        return foot

    def _observed(self, world: World) -> Observation:
        """The shared variables and the messages in shared channels, as `PackedView.observed` shows them."""
        parts: dict[str, Part] = {}
        names: dict[str, Mapping[int, Observed]] = {}
        for var in self.system.program.variables:
            if var.bounded.kind != "chan":
                names |= self._meanings(var.name, var.bounded.kind)
                if var.observed:
                    parts[var.name] = Cells(var.name, var.sizes)
        for channel in world.channels:
            if channel.owner is None and channel.capacity:
                fields = [channel.field(number).name for number in range(len(channel.type.fields))]
                parts[channel.name] = Queue(channel.length.name, tuple(fields))
                for name, part in zip(fields, channel.type.fields, strict=True):
                    names |= self._meanings(name, part.kind)
        return Observation(dict(sorted(parts.items())), names)

    def _meanings(self, name: str, kind: str) -> dict[str, Mapping[int, Observed]]:
        """What the numbers of a variable stand for, where they stand for something else."""
        if kind == "bool":
            return {name: {0: False, 1: True}}
        mtypes = self.system.program.mtypes
        count = len(mtypes.get(kind, ()))
        return {name: {value: name_value(kind, value, mtypes) for value in range(1, count + 1)}} if count else {}

    def _bookkeeping(self, before: Mapping[str, Value]) -> frozenset[str]:
        """All variables but the shared ones of the program: private variables, points, the turn, how many
        processes there are and have been, and how channels are stored. `PackedView` names other locations for
        these (`point of 2`, the whole channel `c`), or says when they matter. A variable that holds a channel has
        the name of a channel."""
        shared = {
            var.name
            for var in self.system.program.variables
            if var.bounded.kind != "chan" and var.name == var.title
        }
        return frozenset(before.keys() - shared)
