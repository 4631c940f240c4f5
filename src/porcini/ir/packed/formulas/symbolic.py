"""Packed programs run on symbols (`ir.symbolic.formulas.SymbolicSystem`): some shared variables may have any
initial value.

A state gives the value of each variable, as an expression over these initial values. The points of processes, the
turn and the number of messages in a channel are always numbers: where they would depend on a symbol, there are
several outcomes (`ir.packed.formulas.outcomes`). A world has a few more slots than there are processes, and is
replaced by a larger one when they are used up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porcini.core.errors import InputError
from porcini.core.footprints import Footprint
from porcini.core.observations import nest_cells
from porcini.core.pids import Pid
from porcini.core.systems import Kind, Observed, Value
from porcini.ir import expr as ir
from porcini.ir.expr import ScalarType, binary, conj, const, ite, substitute
from porcini.ir.packed.formulas.labels import Labels, StepInfo, Who, pid_of, values_of
from porcini.ir.packed.formulas.lines import Births, Need, first_values
from porcini.ir.packed.formulas.options import Option
from porcini.ir.packed.formulas.outcomes import StepOutcome, Values
from porcini.ir.packed.formulas.reach import Reach, of_line, touched_by
from porcini.ir.packed.formulas.terms import Terms
from porcini.ir.packed.formulas.world import FAILED_ASSERTION, POPULATION_VAR, TURN, Instance, World
from porcini.ir.packed.system import PackedSystem
from porcini.ir.packed.view import name_value
from porcini.ir.program import Program, Variable
from porcini.ir.simplify import simplify
from porcini.ir.symbolic.labels import Label, condition
from porcini.ir.symbolic.paths import carry_out
from porcini.ir.symbolic.program import cells_of, literal
from porcini.ir.text import show

_MORE_SLOTS = 4


@dataclass(frozen=True, slots=True)
class SymbolicStep:
    """What a process may do; `choice` is as in schedules."""

    label: Label
    choice: int
    births: Births

    @property
    def pid(self) -> Pid:
        return self.label.pid


@dataclass(frozen=True, slots=True)
class PackedState:
    """The values of variables, and how many processes each slot has had."""

    values: Values
    births: Births


@dataclass(frozen=True, slots=True)
class _Sized:
    """The labels and footprints of one world."""

    labels: Labels
    reach: Reach


class SymbolicPacked:
    """A packed program with some of its shared variables as symbols."""

    def __init__(self, program: Program, symbols: Sequence[Variable]) -> None:
        self.program, self.symbols = program, symbols
        self.system = PackedSystem(program)
        self._known: dict[tuple[int, int], dict[Variable, int]] = {}
        self._worlds: dict[int, _Sized] = {}
        self._outcomes: dict[tuple[object, ...], list[StepOutcome]] = {}

    @property
    def inputs(self) -> dict[str, ScalarType]:
        return {var.name: "bool" if var.bounded.kind == "bool" else "int" for var in self.symbols}

    @property
    def assumed(self) -> ir.Expr:
        """Each symbol is within the bounds of its type."""
        numbers = [(v.var, v.bounded) for v in self.symbols if v.bounded.kind != "bool"]
        return conj(
            *(
                conj(binary("<=", const(bounds.low), symbol), binary("<=", symbol, const(bounds.high)))
                for symbol, bounds in numbers
            )
        )

    @property
    def arrays(self) -> dict[str, Value]:
        largest = self._worlds[max(self._worlds)].labels.world
        store = largest.store(self.system.initial(), ())
        return {name: value for name, value in store.items() if isinstance(value, tuple)}

    # States

    def initial(self) -> PackedState:
        count = len(self.program.initial)
        births = Births(count, (1,) * count)
        world = self._world(births).labels.world
        values = values_of(world.store(self.system.initial(), births.counts))
        for var in self.symbols:
            symbol: ir.Expr = ir.var(var.name, "int")
            if var.bounded.kind == "bool":
                symbol = ite(ir.var(var.name, "bool"), const(1), const(0))
            values[world.variable(var, 0)] = symbol
        if self.symbols:
            self._set_up(world, values)
        for slot, template in enumerate(self.program.initial):
            if template not in world.started:
                self._known[slot, template] = self._constants(world, slot, template, values)
        self._worlds.clear()  # now more is known
        return PackedState(values, births)

    def _set_up(self, world: World, values: dict[ir.Var, ir.Expr]) -> None:
        """Add the initial values of all processes, which may depend on symbols."""
        for slot, template in enumerate(self.program.initial):
            values[POPULATION_VAR] = const(slot + 1)
            place = self.program.templates[template].place
            for op in first_values(world, slot, template, (), place, Terms(world, None, lambda: ir.FALSE)):
                if isinstance(op, Need):
                    if simplify(substitute(op.test, values)) is not ir.TRUE:
                        raise InputError("a first value may not exist for some inputs", place=place)
                else:
                    carry_out(op, values)

    def _constants(self, world: World, slot: int, template: int, values: Values) -> dict[Variable, int]:
        found: dict[Variable, int] = {}
        for var in self.program.templates[template].variables:
            if var.constant and not var.array:
                value = values[world.variable(var, slot)]
                if isinstance(value, ir.Const):
                    found[var] = int(value.value)
        return found

    def _world(self, births: Births) -> _Sized:
        used = len(births.counts)
        slots = used if not self.system.starts else (used // _MORE_SLOTS + 2) * _MORE_SLOTS
        if slots not in self._worlds:
            labels = Labels(World(self.system, slots, self._known, frozenset(self.symbols)))
            self._worlds[slots] = _Sized(labels, Reach(labels.options))
        return self._worlds[slots]

    def _standing(self, state: PackedState, pid: Pid) -> tuple[_Sized, Who, int] | None:
        """The template and point of a process."""
        sized = self._world(state.births)
        slot, world = pid[0], sized.labels.world
        code = _number(state.values.get(world.point(slot), const(0)))
        standing = world.standing(code)
        if standing is None or pid != pid_of(slot, state.births.of(slot)):
            return None
        template, point = standing
        known = frozenset(self._constants(world, slot, template, state.values).items())
        return sized, Who(Instance(slot, template, known), state.births.of(slot), (point,)), point

    # Steps

    def waiting(self, state: PackedState) -> list[Pid]:
        found = []
        for slot in range(len(state.births.counts)):
            pid = pid_of(slot, state.births.of(slot))
            standing = self._standing(state, pid)
            if standing is not None and standing[2] < len(self._points(standing[1])):
                found.append(pid)
        return found

    def _points(self, who: Who) -> Sequence[object]:
        return self.program.templates[who.me.template].points

    def steps(self, state: PackedState, pid: Pid) -> list[SymbolicStep]:
        standing = self._standing(state, pid)
        if standing is None:
            return []
        sized, who, point = standing
        labels = sized.labels
        held = _number(state.values[TURN]) == who.me.slot + 1
        found: list[SymbolicStep] = []
        for option in labels.options.at(who.me, point):
            if simplify(substitute(option.when, state.values)) is ir.FALSE:
                continue
            for outcome in self._outcomes_of(labels, who.me, option, held, state):
                label = labels.step(
                    who, point, option, held, outcome, self._step_info(labels, who, option, outcome)
                )
                births = state.births.after(len(outcome.spawned))
                found.append(SymbolicStep(label, option.choice, births))
        return found

    def _outcomes_of(
        self, labels: Labels, me: Instance, option: Option, held: bool, state: PackedState
    ) -> list[StepOutcome]:
        """The outcomes of an option. Only the path through a `d_step` depends on the state."""
        if option.edge.d_step or (option.partner is not None and option.partner.edge.d_step):
            return list(labels.outcomes.of(me, option, held, state.values, state.births))
        key = me, option, held, state.births
        if key not in self._outcomes:
            self._outcomes[key] = list(labels.outcomes.of(me, option, held, {}, state.births))
        return self._outcomes[key]

    @staticmethod
    def _step_info(labels: Labels, who: Who, option: Option, outcome: StepOutcome) -> StepInfo:
        text = option.edge.text
        if option.partner is not None:
            text = f"{text} -> {option.partner.me.slot}: {option.partner.edge.text}"
        if outcome.failure is not None:
            text += " fails" if outcome.failure.kind == "assertion" else " (error)"
        reads = [*labels.guards(who)[1], TURN] if labels.outcomes.has_atomic else labels.guards(who)[1]
        return StepInfo(text, of_line(outcome.line) | touched_by(reads, []))

    def when(self, state: PackedState, step: SymbolicStep) -> ir.Expr:
        return simplify(substitute(condition(step.label), state.values))

    def take(self, state: PackedState, step: SymbolicStep) -> PackedState:
        values = dict(state.values)
        for effect in step.label.effects:
            carry_out(effect, values)
        births = Births(_number(values[POPULATION_VAR]), step.births.counts)
        store = self._world(births).labels.world.store(self.system.initial(), ())
        for name, value in store.items():  # a larger world has more of them
            variable = ir.var(name, ir.ArrayType("int", len(value)) if isinstance(value, tuple) else "int")
            if variable not in values:
                values[variable] = literal(variable, value)
        return PackedState(values, births)

    def now(self, state: PackedState, pid: Pid) -> Footprint:
        standing = self._standing(state, pid)
        assert standing is not None
        sized, who, point = standing
        return sized.reach.now(who.me, point)

    def later(self, state: PackedState, pid: Pid) -> Footprint:
        standing = self._standing(state, pid)
        assert standing is not None
        sized, who, point = standing
        return sized.reach.later(who.me, point)

    # Ends

    def kind(self, state: PackedState) -> Kind:
        failed: set[Kind] = set()
        stuck = False
        for slot in range(len(state.births.counts)):
            standing = self._standing(state, pid_of(slot, state.births.of(slot)))
            if standing is None:
                continue
            _, who, point = standing
            template = self.program.templates[who.me.template]
            if point >= len(template.points):
                is_assertion = point - len(template.points) == FAILED_ASSERTION
                failed.add("assertion" if is_assertion else "error")
            elif point != template.end and template.points[point].edges:
                stuck = stuck or not any(label.startswith("end") for label in template.points[point].labels)
        if failed:
            return "error" if "error" in failed else "assertion"
        return "deadlock" if stuck else "terminated"

    def observed(self, state: PackedState) -> dict[str, ir.Expr]:
        """The shared variables, and each shared channel as one array: the number of messages, then all cells."""
        world = self._world(state.births).labels.world
        found: dict[str, ir.Expr] = {}
        for var in self.program.variables:
            if var.bounded.kind != "chan":
                found[var.name] = state.values[world.variable(var, 0)]
        for channel in world.channels:
            if channel.owner is None and channel.capacity:
                cells = [state.values[channel.length]]
                for number in range(len(channel.type.fields)):
                    cells += cells_of(state.values[channel.field(number)])
                array: ir.Expr = ir.var(f"{channel.name}@seen", ir.ArrayType("int", len(cells)))
                for index, cell in enumerate(cells):
                    array = ir.store(array, const(index), cell)
                found[channel.name] = array
        return dict(sorted(found.items()))

    def show_observed(self, name: str, value: ir.Expr) -> Observed:
        for var in self.program.variables:
            if var.name == name and var.bounded.kind != "chan":
                cells = [
                    self._cell(var.bounded.kind, cell) for cell in (cells_of(value) if var.array else [value])
                ]
                return nest_cells(tuple(cells), var.sizes) if var.array else cells[0]
        type_ = next(type_ for type_ in self.program.channels if type_.name == name)
        length, *rest = cells_of(value)
        messages = []
        for position in range(_number(length)):
            held = rest[position :: type_.capacity]
            message = tuple(self._cell(part.kind, cell) for part, cell in zip(type_.fields, held, strict=True))
            messages.append(message[0] if len(message) == 1 else message)
        return tuple(messages)

    def _cell(self, kind: str, value: ir.Expr) -> Observed:
        if isinstance(value, ir.Const):
            return name_value(kind, int(value.value), self.program.mtypes)
        return show(simplify(binary("!=", value, const(0))) if kind == "bool" else value)


def _number(value: ir.Expr) -> int:
    assert isinstance(value, ir.Const), "control is always known"
    return int(value.value)
