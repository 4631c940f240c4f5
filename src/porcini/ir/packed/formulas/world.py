"""The variables in formulas of a packed program, and their values in a state.

    x, a          shared variables and arrays
    2.i           a private variable of the process in slot 2
    c@len, c@0    a channel: how many messages it holds, and an array for each field of its messages, the oldest
                  message first; cells behind the last message are 0
    2.@point      the point of the process in slot 2, 0 if there is none; points are numbered over all templates
    2.@births     how many processes have had slot 2 so far, where slots may be used again
    @turn         who goes on alone (his slot plus 1), or 0
    _nr_pr        how many processes there are
    @message0     what is on its way in a rendezvous, while it is

All of them are whole numbers. A world has a fixed number of slots; a slot may be taken by the process that is
there from the start, and by every kind of process that is ever started.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from porcini.core.errors import InputError
from porcini.core.systems import Value
from porcini.ir import expr as ir
from porcini.ir.expr import TRUE, Enabled, NoProgress
from porcini.ir.packed.layout import HOLDER, POPULATION, POPULATION_AT, Channel
from porcini.ir.packed.system import PackedSystem
from porcini.ir.program import ChannelType, Program, Template, Variable, nodes_of

TURN = ir.var("@turn", "int")
POPULATION_VAR = ir.var("_nr_pr", "int")
FAILED_ASSERTION, FAILED_ERROR = 0, 1
"""Two more points of each template, after its own."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A process: its slot, its template, and the known values of its constant variables."""

    slot: int
    template: int
    known: frozenset[tuple[Variable, int]] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class ChannelCells:
    """A channel; `owner` is the process that it was created with and disappears with, if it is not shared."""

    id: int
    type: ChannelType
    name: str
    owner: tuple[int, int] | None = None

    @property
    def capacity(self) -> int:
        return self.type.capacity

    @property
    def length(self) -> ir.Var:
        return ir.var(f"{self.name}@len", "int")

    def field(self, number: int) -> ir.Var:
        return ir.var(f"{self.name}@{number}", ir.ArrayType("int", self.capacity))

    def cell(self, number: int, position: int) -> ir.Select:
        return ir.select(self.field(number), ir.const(position))

    def values(self, messages: Sequence[Sequence[int]]) -> Iterator[tuple[str, Value]]:
        """The variables of a channel that holds these messages."""
        if self.capacity:
            yield self.length.name, len(messages)
            for number in range(len(self.type.fields)):
                held = [message[number] for message in messages]
                yield self.field(number).name, tuple(held + [0] * (self.capacity - len(held)))


def _check(program: Program) -> None:
    """Raise an `InputError` if a program contains something that has no formulas."""
    for template in program.templates:
        for edge in template.edges:
            if edge.rank:
                raise InputError("there are no formulas for `unless`", place=edge.place)
            if any(isinstance(node, Enabled | NoProgress) for node in nodes_of(edge)):
                raise InputError("there are no formulas for `enabled` and `np_`", place=edge.place)
        if template.provided is not TRUE:
            raise InputError("there are no formulas for `provided`", place=template.place)
    if program.settled is not TRUE:
        raise InputError("there are no formulas for event traces")
    if program.priorities is not None:
        raise InputError("there are no formulas for priorities")


class World:
    """A program with a number of slots. `symbols` are the input variables, whose values are not known."""

    def __init__(
        self,
        system: PackedSystem,
        slots: int,
        known: Mapping[tuple[int, int], Mapping[Variable, int]],
        symbols: frozenset[Variable] = frozenset(),
    ) -> None:
        self.system, self.program, self.slots, self.symbols = system, system.program, slots, symbols
        templates = self.program.templates
        _check(self.program)
        self.started = _started(templates)
        initial = self.program.initial
        self.kinds = [
            tuple(dict.fromkeys([*initial[slot : slot + 1], *sorted(self.started)])) for slot in range(slots)
        ]
        """For each slot, the templates that may have it."""
        self._known = {key: frozenset(values.items()) for key, values in known.items()}
        self._offsets = [1]
        for template in templates:
            self._offsets.append(self._offsets[-1] + len(template.points) + 2)
        self.declared = system.layout.declared
        self.channels = list(self._channels())
        self._longest = max((len(channel.type.fields) for channel in self.channels), default=0)

    # Variables

    def variable(self, var: Variable, slot: int) -> ir.Var:
        return ir.var(f"{slot}{var.name}" if var.local else var.name, var.type)

    @staticmethod
    def point(slot: int) -> ir.Var:
        return ir.var(f"{slot}.@point", "int")

    @staticmethod
    def births(slot: int) -> ir.Var:
        return ir.var(f"{slot}.@births", "int")

    def code(self, template: int, point: int) -> int:
        """The number of a point."""
        return self._offsets[template] + point

    def failed(self, template: int, how: int) -> int:
        return self.code(template, len(self.program.templates[template].points) + how)

    def at(self, slot: int, template: int, point: int) -> ir.Expr:
        return ir.binary("==", self.point(slot), ir.const(self.code(template, point)))

    def present(self, slot: int, template: int) -> ir.Expr:
        """Is there a process of a template in a slot, failed or not?"""
        here = self.point(slot)
        low, high = self._offsets[template], self._offsets[template + 1]
        return ir.conj(ir.binary("<=", ir.const(low), here), ir.binary("<", here, ir.const(high)))

    def standing(self, code: int) -> tuple[int, int] | None:
        """The template and the point that a number stands for; None if there is no process."""
        for template in range(len(self.program.templates)):
            if self._offsets[template] <= code < self._offsets[template + 1]:
                return template, code - self._offsets[template]
        return None

    def instances(self) -> Iterator[Instance]:
        """All processes that may exist."""
        for slot, kinds in enumerate(self.kinds):
            for template in kinds:
                yield self.instance(slot, template)

    def instance(self, slot: int, template: int) -> Instance:
        return Instance(slot, template, self._known.get((slot, template), frozenset()))

    def _channels(self) -> Iterator[ChannelCells]:
        layout = self.system.layout
        seen: set[str] = set()
        for channel in layout.shared_channels:
            yield self._cells(channel, seen)
        for slot, kinds in enumerate(self.kinds):
            for template in kinds:
                for index in range(len(self.program.templates[template].channels)):
                    yield self._cells(layout.own_channel(slot, template, index), seen, (slot, template))

    @staticmethod
    def _cells(channel: Channel, seen: set[str], owner: tuple[int, int] | None = None) -> ChannelCells:
        name = channel.name
        while name in seen:
            name += "'"
        seen.add(name)
        return ChannelCells(channel.id, channel.type, name, owner)

    def bounds(self, variables: Iterable[ir.Var]) -> ir.Expr:
        """The bounds of these variables, as far as they are single numbers."""
        owned = [(var, 0) for var in self.program.variables]
        for slot, kinds in enumerate(self.kinds):
            owned += [(var, slot) for template in kinds for var in self.program.templates[template].variables]
        known = {
            self.variable(var, slot): (var.bounded.low, var.bounded.high) for var, slot in owned if not var.array
        }
        known |= {channel.length: (0, channel.capacity) for channel in self.channels}
        parts = [(variable, *known[variable]) for variable in sorted(variables, key=ir.order) if variable in known]
        return ir.conj(
            *(
                ir.conj(ir.binary("<=", ir.const(low), variable), ir.binary("<=", variable, ir.const(high)))
                for variable, low, high in parts
            )
        )

    # States

    def store(self, state: int, births: Sequence[int]) -> dict[str, Value]:
        """The values of the variables in a state; those of processes that do not exist are 0."""
        system, layout = self.system, self.system.layout
        found: dict[str, Value] = {
            "@turn": state & HOLDER,
            "_nr_pr": (state & POPULATION) >> POPULATION_AT,
        }
        for var in self.program.variables:
            found[var.name] = self._read(state, var, None)
        for slot, kinds in enumerate(self.kinds):
            here = layout.template_of(state, slot)
            at = 0 if here < 0 else self.code(here, layout.point_of(state, slot, here))
            found[f"{slot}.@point"] = at
            found[f"{slot}.@births"] = births[slot] if slot < len(births) else 0
            for template in kinds:
                for var in self.program.templates[template].variables:
                    name = self.variable(var, slot).name
                    if template == here:
                        found[name] = self._read(state, var, slot)
                    else:
                        found.setdefault(name, (0,) * var.size if var.array else 0)
        found.update({f"@message{number}": 0 for number in range(self._longest)})
        for channel in self.channels:
            messages: Sequence[Sequence[int]] = ()
            if channel.owner is None or layout.template_of(state, channel.owner[0]) == channel.owner[1]:
                messages = system.channel(state, channel.id).messages(state) if channel.capacity else ()
            found.update(channel.values(messages))
        return found

    def _read(self, state: int, var: Variable, slot: int | None) -> Value:
        cells = tuple(self.system.read(state, var, cell, slot) for cell in range(var.size))
        return cells if var.array else cells[0]


def _started(templates: Sequence[Template]) -> set[int]:
    return {number for template in templates for number in template.starts}


def initial_constants(system: PackedSystem) -> dict[tuple[int, int], dict[Variable, int]]:
    """The constants of the initial processes whose templates are never started later."""
    started = _started(system.program.templates)
    members = system.present(system.initial()).members
    return {(p.slot, p.number): dict(p.constants.values) for p in members if p.number not in started}
