"""Running programs in flat states: a transition system whose states are flat tuples of slots.

Slot 0 holds the layout: which processes exist and where their frames begin, ordered by pid, so that
equal states are equal tuples however they were reached. Then come the shared variables, arrays cell by
cell, then one frame per process: its control point, its number of children, its private variables.

Actions, events and labels are created once per (process, edge, children, cells touched) and shared.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from porcini.core.errors import InternalError
from porcini.core.events import Action, Event, FailureKind
from porcini.core.footprints import Footprint, Location
from porcini.core.observations import Observation
from porcini.core.pids import Pid
from porcini.core.systems import Final, Kind, Observed, Run, Scalar, StepSource, Value, Waiting, Watched
from porcini.core.traces import Trace
from porcini.ir.analysis import footprint
from porcini.ir.analysis.lookahead import PointLookahead
from porcini.ir.analysis.numbering import FAILED_ASSERTION, FAILED_ERROR, FIRST_POINT, Numbering
from porcini.ir.evaluation import defined, evaluate
from porcini.ir.expr import ArrayType, Expr, Var, conj, free
from porcini.ir.flat import codegen
from porcini.ir.flat.compiled import CompiledChoice, CompiledEdge, compile_program
from porcini.ir.flat.frames import FrameRun, FrameSystem, Layout, Layouts, Process, State
from porcini.ir.program import Program, Variable
from porcini.ir.symbolic import labels
from porcini.ir.symbolic.formulas import LabelledRun
from porcini.ir.text import show

_FRAME = 2
"""A frame begins with the control point and the number of children."""


@dataclass(frozen=True, slots=True, eq=False)
class FlatAction(Action):
    """An action with the edge to take. The edge is None if the action is blocked, or a guard cannot be
    evaluated."""

    choice_: CompiledChoice = field(kw_only=True)
    edge: CompiledEdge | None = field(kw_only=True)
    event: Event | None = field(kw_only=True)
    children: int = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Standing:
    """A process of a state: who it is, where it stands (by `Numbering`), its number of children, and the cells of
    its private variables."""

    pid: Pid
    template: int
    point: int
    children: int
    cells: tuple[Scalar, ...]


def _place(variables: Sequence[Variable], first: int) -> dict[str, int]:
    slots: dict[str, int] = {}
    for variable in variables:
        slots[variable.name] = first
        first += variable.size
    return slots


class FlatSystem(FrameSystem):
    """A compiled program: a `TransitionSystem`, and a `Program` whose runs can be forked."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.numbering = Numbering(program)
        self._shared = _place(program.variables, 1)
        self._private = [_place(template.variables, _FRAME) for template in program.templates]
        self._init = [
            [cell for variable in template.variables for cell in variable.initial]
            for template in program.templates
        ]
        cells = [cell for variable in program.variables for cell in variable.initial]
        self._layouts = Layouts(1 + len(cells), [_FRAME + len(private) for private in self._init])
        self._locations = {
            self._shared[v.name] + i: location
            for v in program.variables
            for i, location in enumerate(footprint.locations(v.var))
        }
        self._labels: dict[Hashable, labels.Label] = {}
        module = codegen.Module(spawn=self._spawn)
        self._choices = compile_program(program, self.numbering, self._shared, self._private, module)
        self.source = module.source
        self.has_choices = any(len(choices) > 1 for choices in self._choices)
        layout = self._layouts.empty
        frames: list[Scalar] = []
        for number, template in enumerate(program.initial):
            layout = layout.with_process(Pid((number,)), template, self._layouts)
            frames += [self.numbering.entries[template], 0, *self._init[template]]
        self._initial: State = (layout, *cells, *frames)

    def _spawn(self, s: list[Any], b: int, template: int, values: list[Scalar]) -> None:
        """Insert the frame of a new process where its pid belongs. Generated code calls this."""
        layout: Layout = s[0]
        parent = layout.processes[bisect(layout.processes, b, key=lambda process: process.base) - 1].pid
        pid = parent.child(s[b + 1])
        s[b + 1] += 1
        grown = s[0] = layout.with_process(pid, template, self._layouts)
        base = grown.by_pid[pid].base  # a child sorts after its parent, so b does not change
        s[base:base] = [self.numbering.entries[template], 0, *values]

    # The transition system

    def _actions_of(self, state: Sequence[Any], process: Process, found: list[FlatAction]) -> None:
        b = process.base
        for choice in self._choices[state[b]]:
            position = choice.decide(state, b)
            edge = choice.edges[position] if position >= 0 else None
            deciding = choice.deciding_cells
            key: object
            if edge is None:
                key = (choice.number, position, choice.cells and choice.cells(state, b))
            elif edge.cells is None and deciding is None and not edge.spawns:
                key = edge.number
            else:
                key = (
                    edge.number,
                    state[b + 1] if edge.spawns else 0,
                    edge.cells and edge.cells(state, b),
                    deciding and deciding(state, b),
                )
            action = process.actions_by_key.get(key)
            if action is None:
                action = self._action(state, process, choice, edge, cast(int, position))
                process.actions_by_key[key] = action
            found.append(action)

    def apply(self, s: list[Any], action: Action) -> Event:
        """Take an action in place; it must be an action of the current state."""
        if not action.enabled or not isinstance(action, FlatAction):
            raise InternalError(f"a step of {action.pid} was taken that is not enabled")
        b = s[0].by_pid[action.pid].base
        edge = action.edge
        if edge is None:
            s[b] = FAILED_ERROR
            assert action.event is not None
            return action.event
        stopped = edge.apply(s, b)
        if stopped is None:
            s[b] = edge.target
            assert action.event is not None
            return action.event
        return self._stop(s, b, action, edge, cast(int, stopped))

    def _stop(self, s: list[Any], b: int, action: FlatAction, edge: CompiledEdge, stopped: int) -> Event:
        kind: FailureKind = "assertion" if stopped >= 0 else "error"
        position = stopped if stopped >= 0 else ~stopped
        s[b] = FAILED_ASSERTION if kind == "assertion" else FAILED_ERROR
        choice, pid, children = action.choice_.choice, action.pid, action.children
        label = self._intern_label(
            (edge.number, pid, children, stopped),
            lambda: labels.label_of_failure(choice, edge.position, children, position, kind, _label(action.label)),
        )
        return Event(
            pid, choice.number, label, action.footprint, label.spawned, label.failure, action.guard_locations
        )

    # What is created once

    def _action(
        self,
        state: Sequence[Any],
        process: Process,
        choice: CompiledChoice,
        edge: CompiledEdge | None,
        position: int,
    ) -> FlatAction:
        pid, children = process.pid, state[process.base + 1]
        part = edge or choice
        foot = self._footprint(part.fixed, part.cells, state, process.base)
        guard_locations = self._footprint(choice.deciding, choice.deciding_cells, state, process.base).reads
        if edge is not None:
            label = self._intern_label(
                (edge.number, pid, children if edge.spawns else 0),
                lambda: labels.label_of(choice.choice, edge.position, pid, children),
            )
        elif position == labels.UNDEFINED:
            label = self._intern_label(
                (choice.number, pid, "error"), lambda: labels.label_of_guard_error(choice.choice, pid)
            )
        else:
            label = self._intern_label((choice.number, pid), lambda: labels.waiting_label(choice.choice, pid))
        number, enabled = choice.choice.number, position != labels.BLOCKED
        event = Event(pid, number, label, foot, label.spawned, label.failure, guard_locations) if enabled else None
        return FlatAction(
            pid,
            number,
            label,
            foot,
            enabled,
            guard_locations,
            choice_=choice,
            edge=edge,
            event=event,
            children=children,
        )

    def _intern_label(self, key: Hashable, make: Callable[[], labels.Label]) -> labels.Label:
        """Labels are compared by identity, so each is created once."""
        if key not in self._labels:
            self._labels[key] = make()
        return self._labels[key]

    def _footprint(self, fixed: Footprint, cells: codegen.STEP | None, state: Sequence[Any], b: int) -> Footprint:
        if cells is None:
            return fixed
        touched = cast(tuple[int, ...], cells(state, b))
        middle = touched.index(-1)
        reads = (self._locations[slot] for slot in touched[:middle])
        writes = (self._locations[slot] for slot in touched[middle + 1 : -1])
        return Footprint(fixed.reads.union(reads), fixed.writes.union(writes))

    # Looking at states

    def state_of_parts(self, shared: Sequence[Scalar], processes: Sequence[Standing]) -> State:
        """The state with these cells of shared variables, and these processes, which are in order."""
        layout = self._layouts.of(tuple((each.pid, each.template) for each in processes))
        frames = (part for each in processes for part in (each.point, each.children, *each.cells))
        return (layout, *shared, *frames)

    def observe(self, state: Sequence[Any]) -> dict[str, Value]:
        """The shared variables by name, without those of the language itself, which have a `#`."""
        return {name: value for name, value in self._globals(state).items() if "#" not in name}

    def _globals(self, state: Sequence[Any]) -> dict[str, Value]:
        return {v.name: _read(state, self._shared[v.name], v.type) for v in self._by_name()}

    def _by_name(self) -> list[Variable]:
        return sorted(self.program.variables, key=lambda v: v.name)

    def store(self, state: Sequence[Any]) -> dict[str, Value]:
        """Every variable by its name in labels; private variables as `pid.name`."""
        values = self._globals(state)
        for process in state[0].processes:
            slots = self._private[process.template]
            for v in self.program.templates[process.template].variables:
                slot = process.base + slots[v.name]
                values[f"{process.pid}{v.name}"] = _read(state, slot, v.type)
        return values

    def store_before(self, state: Sequence[Any]) -> dict[str, Value]:
        """The initial store with the private variables of all processes that exist in a later state."""
        values = self._globals(self._initial)
        for process in state[0].processes:
            for v in self.program.templates[process.template].variables:
                values[f"{process.pid}{v.name}"] = cast(Value, v.value)
        return values

    def label_run(self, trace: Trace, after: Run) -> LabelledRun:
        """A recorded run as formulas (`ir.symbolic.formulas.FormulaSystem`)."""
        assert isinstance(after, FrameRun)
        waiting = [_label(action.label) for action in after.actions()]
        roots = [Pid((number,)) for number in range(len(self.program.initial))]
        names = [name for name in self._globals(after.slots) if "#" not in name]
        return LabelledRun(
            trace,
            [_label(event.label) for event in trace],
            waiting,
            self.store_before(after.slots),
            roots,
            after.final(),
            Observation.of(names),
        )

    # Runs that a user follows, or that are recorded

    def variables(self, run: Any) -> dict[str, Observed]:
        """The shared variables, and the private ones as `pid.name`, without those of the language itself."""
        return {name: value for name, value in self.store(run.slots).items() if "#" not in name}

    def source_of(self, label: object) -> StepSource:
        return StepSource(_label(label).place)

    def values(self, run: Any, locations: Iterable[Location]) -> dict[Location, Observed]:
        return {place: run.slots[self._slots[place]] for place in locations}

    @cached_property
    def _slots(self) -> dict[Location, int]:
        return {location: slot for slot, location in self._locations.items()}

    @cached_property
    def lookahead(self) -> PointLookahead:
        return PointLookahead(self.program, self.numbering)

    def watching(self, propositions: Sequence[Expr]) -> Watched[State]:
        """A proposition without a value, for example because it divides by zero, does not hold."""
        tests = [conj(defined(expr), expr) for expr in propositions]

        def letter(state: State) -> int:
            store = self.observe(state)
            return sum(1 << number for number, test in enumerate(tests) if evaluate(test, store))

        seen = {variable for expr in propositions for variable in free(expr)}
        return Watched(letter, frozenset(place for variable in seen for place in footprint.locations(variable)))

    def final(self, state: Sequence[Any]) -> Final:
        points = [state[process.base] for process in state[0].processes]
        waiting = tuple(self._waiting(state))
        kind: Kind = "terminated"
        if FAILED_ERROR in points:
            kind = "error"
        elif FAILED_ASSERTION in points:
            kind = "assertion"
        elif waiting:
            kind = "deadlock"
        return Final(kind, self.observe(state), waiting)

    def _waiting(self, state: Sequence[Any]) -> list[Waiting]:
        found: list[Waiting] = []
        for process in state[0].processes:
            point = state[process.base]
            if point < FIRST_POINT:
                continue
            guards = [choice.choice.waits_for for choice in self._choices[point]]
            seen = sorted({v for guard in guards for v in free(guard)}, key=lambda v: v.name)
            values = {show(v): self._value(state, process, v) for v in seen}
            guard = " or ".join(map(show, guards))
            found.append(Waiting(process.pid, guard, values, self.numbering.points[point].place))
        return found

    def _value(self, state: Sequence[Any], process: Process, variable: Var) -> Value:
        if variable.private:
            slot = process.base + self._private[process.template][variable.name]
        else:
            slot = self._shared[variable.name]
        return _read(state, slot, variable.type)


def _label(label: Hashable) -> labels.Label:
    assert isinstance(label, labels.Label)
    return label


def _read(state: Sequence[Any], slot: int, type_: object) -> Value:
    if isinstance(type_, ArrayType):
        return tuple(state[slot : slot + type_.size])
    return cast(Scalar, state[slot])
