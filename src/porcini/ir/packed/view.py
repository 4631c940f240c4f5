"""A packed program in the terms that all engines use: actions, events, footprints, outcomes.

Processes are named by their numbers (`_pid`), since the order in which they are started matters. Each
choice of a process is an action. A rendezvous is the sender's action, one for each receiver that could answer; its
choice is the sender's plus a multiple of how many choices there are at that point: 1 + the receiver's number (plus
256 for each edge of the receiver that comes before the one that answers).

While a process holds the turn no other process can move, so steps that take or keep the turn write it, and all
others read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from porcini.core.errors import InternalError
from porcini.core.events import Action, Event, Label
from porcini.core.footprints import EMPTY, Footprint, Location
from porcini.core.observations import nest_cells
from porcini.core.pids import Pid
from porcini.core.systems import (
    Final,
    Kind,
    Observed,
    Run,
    StateGraph,
    StepSource,
    Structure,
    System,
    Waiting,
    Watched,
)
from porcini.core.traces import Trace
from porcini.ir.expr import Expr, Select, Timeout
from porcini.ir.operations import Print, Receive, Send, loads, variable_of
from porcini.ir.packed.code import Coder, Constants, EdgeCode
from porcini.ir.packed.layout import (
    ASSERTION_FAILED,
    ERROR_FAILED,
    FAILED,
    FAILED_AT,
    HOLDER,
    POPULATION,
    POPULATION_AT,
    Channel,
    RunError,
)
from porcini.ir.packed.processes import PointCode, Process, ProcessSet
from porcini.ir.packed.propositions import Propositions
from porcini.ir.packed.runs import TURN, Names, PackedAction, PackedRun, StepLabel
from porcini.ir.packed.system import PER_ANSWER, PackedStep, PackedSystem, rendezvous
from porcini.ir.packed.touch import (
    POPULATION_OF_ALL,
    SOME_CHANNEL,
    SOME_POINT,
    SOME_VARIABLE,
    UNKNOWN_CHANNEL,
    Touch,
)
from porcini.ir.program import MOST_PROCESSES, Edge, Program, Variable, nodes_of
from porcini.ir.symbolic.formulas import LabelledRun

if TYPE_CHECKING:
    from porcini.ir.packed.formulas.commuting import StepFormulas
    from porcini.ir.packed.formulas.recorded import RecordedRuns

_FIELD = re.compile(r"%[-0-9.]*[duxoce%]")
_NAMES = {POPULATION_OF_ALL: Location("_nr_pr")}
_MOST_KNOWN = 1 << 13


class PackedView(System):
    """A compiled packed program, whose runs can be forked."""

    has_choices = True

    def __init__(
        self, program: Program, inputs: Mapping[Variable, int] | None = None, wider: System | None = None
    ) -> None:
        self.system = PackedSystem(program, inputs, wider)
        self.may_fail = self.system.may_fail
        self._labels: dict[tuple[object, ...], StepLabel] = {}
        shared = [channel.name for channel in self.system.layout.shared_channels]
        self._slots = slots = range(MOST_PROCESSES if self.system.starts else len(program.initial))
        numbers = range(MOST_PROCESSES + 1)
        remote = [var for template in program.templates for var in template.variables if var.remote]
        # What an edge may touch of which it is not known which one it is.
        self._all_channels = {Location(name) for name in shared} | {Location(f"channel {n}") for n in numbers}
        self._all_private = {self._point(slot) for slot in slots} | {
            _location(var, cell, slot) for slot in slots for var in remote for cell in range(var.size)
        }
        constants = Constants(None, self.system.inputs, self.system.layout.declared)
        coder = Coder(self.system.layout, 0, constants, self.system, {})
        self._settled = coder.function(program.settled)
        self._known: dict[int, list[PackedAction]] = {}
        self._waiting_actions: dict[tuple[Process, int, int], PackedAction] = {}
        self._footprints: dict[tuple[Process, int], tuple[tuple[Footprint, ...], frozenset[Location]]] = {}

    @property
    def structure(self) -> Structure:
        return "packed"

    def initial(self) -> int:
        return self.system.initial()

    def output_of(self, run: PackedRun) -> tuple[str, ...]:
        return tuple(run.said)

    def start(self) -> PackedRun:
        return PackedRun(self, self.initial(), Names(len(self.system.program.initial)))

    def actions(self, state: int) -> Sequence[PackedAction]:
        """The actions of a state. Runs visit the same states repeatedly, so those of a few thousand states are
        cached."""
        found = self._known.get(state)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[state] = self._find_actions(state)
        return found

    def _find_actions(self, state: int) -> list[PackedAction]:
        present = self.system.present(state)
        by_edge: dict[tuple[int, EdgeCode], list[PackedStep]] = {}
        for step in self.system.steps(state):
            by_edge.setdefault((step.process.slot, step.code), []).append(step)
        found: list[PackedAction] = []
        for process in present.members:
            here = process.at(state)
            for number, code in enumerate(here.edges):
                steps = by_edge.get((process.slot, code), [])
                for step in steps:
                    found.append(self._action(present, step, here, number, state))
                if not steps:
                    found.append(self._blocked_action(present, process, here, number))
        return found

    def fire(self, state: int, action: Action) -> tuple[int, Event]:
        if not isinstance(action, PackedAction) or action.step is None:
            raise InternalError(f"a step of {action.pid} was taken that is not enabled")
        return action.step.after, self._event(state, action, action.step)

    def private_steps(self, step: PackedStep, event: Event) -> Iterator[Event]:
        """The events of the private steps that were merged with a step."""
        if step.failure is not None:
            return
        for part in step.code.edge.parts[1:]:
            yield self._part(step.process, part, event)
        for part in step.partner_code.edge.parts[1:] if step.partner and step.partner_code else ():
            yield self._part(cast(Process, step.partner), part, event)

    def _part(self, process: Process, edge: Edge, event: Event) -> Event:
        """The event of a private step that was merged with another one."""
        label = StepLabel(edge.text, edge.place, process.number, edge.choice)
        label = self._labels.setdefault((process.number, edge), label)
        return Event(Pid((process.slot,)), edge.choice, label, event.footprint)

    def event(self, state: int, step: PackedStep) -> Event:
        """A step of a state as an event."""
        present = self.system.present(state)
        here = step.process.at(state)
        number = here.edges.index(step.code)
        return self._event(state, self._action(present, step, here, number, state), step)

    @staticmethod
    def _event(state: int, action: PackedAction, step: PackedStep) -> Event:
        before, after = (state & POPULATION) >> POPULATION_AT, (step.after & POPULATION) >> POPULATION_AT
        spawned = tuple(Pid((slot,)) for slot in range(before, after))
        return Event(
            Pid((step.process.slot,)),
            action.choice,
            action.label,
            action.footprint,
            spawned,
            step.failure,
            action.guard_locations,
        )

    def _action(
        self, present: ProcessSet, step: PackedStep, here: PointCode, number: int, state: int
    ) -> PackedAction:
        process, code = step.process, step.code
        foot, guard_locations = self._footprint(present, process, here, number)
        choice = code.edge.choice
        text = code.edge.text
        if step.partner is not None and step.partner_code is not None:
            there = step.partner.at(state)
            answer = there.edges.index(step.partner_code)
            choice += len(here.edges) * (1 + step.partner.slot + PER_ANSWER * answer)
            other, _ = self._footprint(present, step.partner, there, answer)
            foot |= other
            text = f"{text} -> {step.partner.slot}: {step.partner_code.edge.text}"
        if self.system.has_atomic:
            takes = state & HOLDER or self._may_hold(process, code)
            if step.partner is not None and step.partner_code is not None:
                takes = takes or self._may_hold(step.partner, step.partner_code)
            turn = frozenset({TURN})
            foot |= Footprint(turn, turn if takes else frozenset())
        label = StepLabel(text, code.edge.place, process.number, choice, here.number, self)
        label = self._labels.setdefault((process.number, here.number, choice), label)
        return PackedAction(Pid((process.slot,)), choice, label, foot, True, guard_locations, step=step)

    def _blocked_action(self, present: ProcessSet, process: Process, here: PointCode, number: int) -> PackedAction:
        known = self._waiting_actions.get((process, here.number, number))
        if known is not None:
            return known
        edge = here.edges[number].edge
        foot, guard_locations = self._footprint(present, process, here, number)
        label = StepLabel(edge.text, edge.place, process.number, edge.choice, here.number, self)
        label = self._labels.setdefault((process.number, here.number, edge.choice), label)
        made = PackedAction(Pid((process.slot,)), edge.choice, label, foot, False, guard_locations)
        self._waiting_actions[process, here.number, number] = made
        return made

    # Footprints

    def _footprint(
        self, present: ProcessSet, process: Process, here: PointCode, number: int
    ) -> tuple[Footprint, frozenset[Location]]:
        """What an edge touches, and what determines which edges of its point are enabled."""
        key = process, here.number
        if key not in self._footprints:
            self._footprints[key] = self._footprints_of(present, process, here)
        feet, guard_locations = self._footprints[key]
        return feet[number], guard_locations

    def _footprints_of(
        self, present: ProcessSet, process: Process, here: PointCode
    ) -> tuple[tuple[Footprint, ...], frozenset[Location]]:
        feet = [self._foot(process, code, process.step_touch(code)) for code in here.edges]
        everything = frozenset({TURN}) if self.system.has_atomic else frozenset()
        guard_locations = frozenset(place for foot in feet for place in foot.reads | foot.writes) | everything
        if any(rendezvous(code) or _waits_for_timeout(code) for code in here.edges):
            guard_locations |= {self._point(slot) for slot in self._slots}
        # By taking one of its choices a process gives up the others: a step reads what decides all of them.
        return tuple(foot | Footprint(guard_locations, frozenset()) for foot in feet), guard_locations

    def _may_hold(self, process: Process, code: EdgeCode) -> bool:
        """May an edge keep the turn, now or at the end of its `d_step`?"""
        return code.edge.atomic or any(edge.edge.atomic for edge in process.rest_of_d_step(code))

    @staticmethod
    def _point(slot: int) -> Location:
        return Location(f"point of {slot}")

    def _foot(self, process: Process, code: EdgeCode, touch: Touch) -> Footprint:
        reads, writes = set(self._locations(touch.reads)), set(self._locations(touch.writes))
        if touch.wide & SOME_CHANNEL:
            reads |= self._all_channels
        if touch.effects & UNKNOWN_CHANNEL:
            writes |= self._all_channels
        if touch.wide & (SOME_POINT | SOME_VARIABLE):
            reads |= self._all_private
        writes |= {Location(channel.name) for channel in code.among or ()}
        return Footprint(frozenset(reads | writes), frozenset(writes))

    def _locations(self, mask: int) -> Iterator[Location]:
        if mask & POPULATION_OF_ALL:
            yield _NAMES[POPULATION_OF_ALL]
        for key in self.system.resources.names(mask):
            match key:
                case ("point", int() as slot):
                    yield self._point(slot)
                case ("tail" | "head", int() as number):
                    shared = self.system.layout.shared_channels
                    yield Location(shared[number - 1].name if number <= len(shared) else f"channel {number}")
                case (Variable() as var, int() as slot, int() as cell):
                    yield _location(var, cell, None if slot < 0 else slot)

    def said(self, state: int, step: PackedStep) -> Iterator[str]:
        """What the `printf` statements of a step print; their arguments are evaluated before the step."""
        for op in step.code.edge.block:
            if isinstance(op, Print):
                coder = step.process.coder
                yield self._printed_text(op.text, [coder.function(arg)(state) for arg in op.args])

    def _printed_text(self, text: str, values: list[int]) -> str:
        left = iter(values)

        def filled(found: re.Match[str]) -> str:
            kind = found[0][-1]
            if kind == "%":
                return "%"
            value = next(left, 0)
            if kind == "e":
                return str(name_value("mtype", value, self.system.program.mtypes))
            if kind == "c":
                return chr(value & 0xFF)
            return format(value, {"x": "x", "o": "o"}.get(kind, "d"))

        return _FIELD.sub(filled, text)

    def runtime_notes(self) -> tuple[str, ...]:
        """What a user should know about the runs so far."""
        return tuple(dict.fromkeys([*self.system.program.notes, *self.system.notes]))

    def label_run(self, trace: Trace, after: Run) -> LabelledRun:
        """A recorded run as formulas (`ir.symbolic.formulas.FormulaSystem`)."""
        return self._recorded.label_run(trace, after.final())

    @cached_property
    def _recorded(self) -> RecordedRuns:
        from porcini.ir.packed.formulas.recorded import RecordedRuns  # which follows runs of this

        return RecordedRuns(self)

    @cached_property
    def step_formulas(self) -> StepFormulas:
        from porcini.ir.packed.formulas.commuting import StepFormulas  # which few need

        return StepFormulas(self.system)

    def family(self, process: Process, here: PointCode) -> Footprint:
        """What a process might touch at a point by any of its edges, and what determines which are enabled."""
        foot = EMPTY
        present = ProcessSet(())
        for number, code in enumerate(here.edges):
            foot |= self._footprint(present, process, here, number)[0]
            if self._may_hold(process, code):
                foot |= Footprint(frozenset({TURN}), frozenset({TURN}))
        return foot

    # For searches that keep states

    def state_graph(self, *, exact: bool = True) -> StateGraph[int]:
        from porcini.ir.packed.graph import PackedGraph  # which names its events as this does

        return PackedGraph(self)

    def watching(self, propositions: Sequence[Expr]) -> Watched[int]:
        found = Propositions(self.system, propositions)
        return Watched(found.letter, found.visible, parts=found.parts)

    # Looking at states

    def observe(self, state: int) -> dict[str, Observed]:
        """The shared variables by name, and what is in the shared channels."""
        read = self.system.read
        return self.observed(
            lambda var: [read(state, var, cell) for cell in range(var.size)],
            lambda channel: channel.messages(state),
        )

    def observed(
        self,
        cells_of: Callable[[Variable], Sequence[int]],
        messages_of: Callable[[Channel], Sequence[Sequence[int]]],
    ) -> dict[str, Observed]:
        """The same, given the cells of variables and the messages in channels."""
        found: dict[str, Observed] = {}
        for var in self.system.program.variables:
            if var.bounded.kind == "chan" or not var.observed:
                continue
            cells = tuple(self._show_value(var, cell) for cell in cells_of(var))
            found[var.name] = nest_cells(cells, var.sizes) if var.array else cells[0]
        for channel in self.system.layout.shared_channels:
            if channel.capacity:
                found[channel.name] = self._messages(channel, messages_of(channel))
        return dict(sorted(found.items()))

    def variables(self, run: PackedRun) -> dict[str, Observed]:
        """The same, and the private variables of each process as `pid.name`."""
        found, read = self.observe(run.state), self.system.read
        for process in self.system.present(run.state).members:
            pid = run.names(Pid((process.slot,)))
            for var in process.template.variables:
                if var.bounded.kind != "chan":
                    cells = tuple(
                        self._show_value(var, read(run.state, var, k, process.slot)) for k in range(var.size)
                    )
                    name = f"{pid}.{var.title}"
                    name = f"{pid}{var.name}" if name in found else name  # of a scope inside
                    found[name] = nest_cells(cells, var.sizes) if var.array else cells[0]
        return found

    def source_of(self, label: Label) -> StepSource:
        assert isinstance(label, StepLabel)
        return StepSource(label.place, self.system.program.templates[label.template].name)

    def values(self, run: Any, locations: Iterable[Location]) -> dict[Location, Observed]:
        """The values of variables and shared channels; the point of a process and the turn have none."""
        state, system = run.state, self.system
        scopes: list[tuple[int | None, Sequence[Variable]]] = [(None, system.program.variables)]
        scopes += [(process.slot, process.template.variables) for process in system.present(state).members]
        places: dict[Location, tuple[Variable, int, int | None]] = {}
        for slot, variables in scopes:
            for var in variables:
                for cell in range(var.size if var.bounded.kind != "chan" else 0):
                    places[_location(var, cell, slot)] = var, cell, slot
        channels = {Location(channel.name): channel for channel in system.layout.shared_channels}
        found: dict[Location, Observed] = {}
        for location in locations:
            if location in places:
                var, cell, at = places[location]
                found[location] = self._show_value(var, system.read(state, var, cell, at))
            elif location in channels:
                found[location] = self._messages(channels[location], channels[location].messages(state))
        return found

    def _messages(self, channel: Channel, messages: Sequence[Sequence[int]]) -> tuple[Observed, ...]:
        kinds = [part.kind for part in channel.type.fields]
        return tuple(self._message(kinds, message) for message in messages)

    def _message(self, kinds: Sequence[str], message: Sequence[int]) -> Observed:
        mtypes = self.system.program.mtypes
        values = tuple(name_value(kind, value, mtypes) for kind, value in zip(kinds, message, strict=True))
        return values[0] if len(values) == 1 else values

    def _show_value(self, var: Variable, value: int) -> Observed:
        return name_value(var.bounded.kind, value, self.system.program.mtypes)

    def final(self, state: int) -> Final:
        failed = (state & FAILED) >> FAILED_AT
        waiting = tuple(self._waiting(state))
        kind: Kind = "terminated"
        if failed & ERROR_FAILED:
            kind = "error"
        elif failed & ASSERTION_FAILED:
            kind = "assertion"
        elif waiting:
            kind = "deadlock"
        return Final(kind, self.observe(state), waiting)

    def _waiting(self, state: int) -> Iterator[Waiting]:
        """The processes that have not ended properly: they stand neither at their last brace nor at an `end`
        label."""
        if not self._settled(state):
            yield Waiting(Pid((0,)), "the rest of the trace", {}, name="trace")
        for process in self.system.present(state).members:
            here = process.at(state)
            if here.number == process.template.end or not here.edges:
                continue
            if any(label.startswith("end") for label in here.point.labels):
                continue
            guard = " or ".join(code.edge.text for code in here.edges)
            values = dict(self._guard_reads(state, process, here))
            name = process.template.name
            yield Waiting(Pid((process.slot,)), guard, values, here.point.place, name=name)

    def _guard_reads(self, state: int, process: Process, here: PointCode) -> Iterator[tuple[str, Observed]]:
        """The variables that its guards read."""
        for code in here.edges:
            exprs = [*code.edge.guards]
            if isinstance(code.edge.talk, Send | Receive):
                exprs.append(code.edge.talk.channel)
            for cell in (cell for expr in exprs for cell in loads(expr)):
                var = self.system.layout.declared[variable_of(cell)]
                slot = process.slot if var.local else None
                if var.bounded.kind == "chan":
                    continue
                try:
                    at = process.coder.function(cell.index)(state) if isinstance(cell, Select) else 0
                except RunError:  # the guard does not look at it either: `p > 0 && a[6 / p]`
                    continue
                if 0 <= at < var.size:
                    name = f"{var.title}[{at}]" if isinstance(cell, Select) else var.title
                    yield name, self._show_value(var, self.system.read(state, var, at, slot))


def _location(var: Variable, cell: int, slot: int | None) -> Location:
    """A variable, or a cell of it, of the process in a slot."""
    name = f"{var.title}[{cell}]" if var.array else var.title
    return Location(name if slot is None else f"{slot}.{name}")


def _waits_for_timeout(code: EdgeCode) -> bool:
    """Does an edge wait until no other process can move?"""
    return any(isinstance(node, Timeout) for node in nodes_of(code.edge))


def name_value(kind: str, value: int, mtypes: Mapping[str, Sequence[str]]) -> Observed:
    """A value as the source writes it: a boolean, the name of an mtype, or a number."""
    if kind == "bool":
        return bool(value)
    names = mtypes.get(kind, ())
    return names[len(names) - value] if 1 <= value <= len(names) else value
