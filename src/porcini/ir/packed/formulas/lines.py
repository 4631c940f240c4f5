"""What an edge of a packed program does, as straight lines of assignments.

    Assign   as in labels
    Assert   a condition of this line: if it does not hold here, another line is taken
    Need     the same; but if it does not hold, the process fails

Each edge is one statement of the source: a test, an operation, or a communication. A communication over a channel
can happen in several ways: one for each channel that may be used, and for each position at which a message may be
inserted (`!!`) or from which it may be taken (`??`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import UnionType

from porcini.core.errors import InputError, InternalError, Place
from porcini.core.events import Failure
from porcini.ir import expr as ir
from porcini.ir.expr import TRUE, Expr, OfChannel, Poll, Select, binary, conj, const, disj, nodes, not_
from porcini.ir.operations import (
    Assert,
    Assign,
    Exit,
    Forget,
    Op,
    Print,
    Receive,
    Send,
    Spawn,
    Target,
    variable_of,
)
from porcini.ir.packed.formulas.operators import Term, number, wrapped
from porcini.ir.packed.formulas.terms import Terms, matches
from porcini.ir.packed.formulas.world import POPULATION_VAR, ChannelCells, Instance, World
from porcini.ir.program import Edge, Variable
from porcini.ir.simplify import simplify


@dataclass(frozen=True, slots=True)
class Need:
    """A condition: if it does not hold, the process fails."""

    test: ir.Expr
    failure: Failure


Line = tuple[Assign | Assert | Need, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which an edge can be taken: when, and what it does first."""

    when: ir.Expr
    line: Line = ()


@dataclass(frozen=True, slots=True)
class Births:
    """The number of processes, and how many each slot has had: this determines the name of the next one."""

    population: int
    counts: tuple[int, ...]

    def after(self, born: int) -> Births:
        """The same after some more processes were started."""
        slots = range(self.population, self.population + born)
        counts = list(self.counts)
        for slot in slots:
            counts += [0] * (slot + 1 - len(counts))
            counts[slot] += 1
        return Births(self.population + born, tuple(counts))

    def of(self, slot: int) -> int:
        return self.counts[slot] if slot < len(self.counts) else 0


class Lines:
    """The lines of one process."""

    def __init__(self, world: World, me: Instance, terms: Terms) -> None:
        self.world, self.me, self.terms = world, me, terms

    # Tests

    def guards(self, edge: Edge) -> tuple[ir.Expr, ir.Expr]:
        """The condition under which the guards of an edge are true, and the one under which one of them has no
        value. Guards are evaluated one after the other."""
        so_far: list[ir.Expr] = []
        broken: list[ir.Expr] = []
        for guard in edge.guards:
            term = self.terms(guard)
            broken.append(conj(*so_far, not_(term.ok)))
            so_far += [term.ok, term.truth]
        return simplify(conj(*so_far)), simplify(disj(*broken))

    # Operations

    def ops(self, edge: Edge, births: Births | None) -> Line:
        """What an edge does after its communication."""
        line: list[Assign | Assert | Need] = []
        for op in edge.block:
            line += self._op(op, edge.place, births)
            if isinstance(op, Spawn) and births is not None:
                births = births.after(1)
        return tuple(line)

    def _op(self, op: Op, place: Place | None, births: Births | None) -> Iterator[Assign | Assert | Need]:
        match op:
            case Assign(target=target, value=value):
                yield from self._store(target, self.terms(value), place)
            case Assert(test=test, place=there, text=text):
                term = self.terms(test)
                yield from _require(term.ok, there)
                yield Need(term.truth, Failure("assertion", f"assertion `{text}` failed", there))
            case Spawn(template=template, copies=copies, into=into):
                if births is None:
                    raise InternalError("a process is started, and nobody knows which number it gets")
                yield from self._start(template, [self.terms(value) for _, value in copies], place, births)
                if into is not None:
                    yield from self._store(into, number(births.population), place)
            case Forget(variables=variables):
                for var in variables:
                    forgotten = self.world.variable(self.world.declared[var], self.me.slot)
                    yield Assign(forgotten, const(0), silent=True)
            case Exit():
                yield Assign(POPULATION_VAR, binary("-", POPULATION_VAR, const(1)), silent=True)
            case Print():
                return

    def _store(self, into: Target, term: Term, place: Place | None) -> Iterator[Assign | Need]:
        target, ok = self.terms.target(into)
        yield from _require(conj(term.ok, ok), place)
        yield Assign(target, wrapped(term, self.world.declared[variable_of(into)].bounded))

    def _start(
        self, template: int, args: Sequence[Term], place: Place | None, births: Births
    ) -> Iterator[Assign | Assert | Need]:
        slot = births.population
        yield from _require(conj(*(arg.ok for arg in args)), place)
        yield Assert(binary("==", POPULATION_VAR, const(slot)))
        yield Assert(binary("==", self.world.births(slot), const(births.of(slot))))
        yield from first_values(self.world, slot, template, args, place, self.terms)
        yield Assign(POPULATION_VAR, const(slot + 1), silent=True)
        yield Assign(self.world.births(slot), const(births.of(slot) + 1), silent=True)

    # Communication over buffered channels

    def send(self, talk: Send, channel: ChannelCells, when: ir.Expr, place: Place | None) -> Iterator[Way]:
        values = [self.terms(value) for value in talk.values]
        needs = tuple(_require(conj(*(value.ok for value in values)), place))
        message = self.message(channel, values)
        room = simplify(conj(when, binary("<", channel.length, const(channel.capacity))))
        longer = Assign(channel.length, binary("+", channel.length, const(1)))
        if not talk.ordered:
            cells = (ir.select(channel.field(n), channel.length) for n in range(len(message)))
            line = [Assign(cell, value) for cell, value in zip(cells, message, strict=True)]
            yield Way(room, (*needs, *line, longer))
            return
        _refuse_channel_reads(talk.values, Poll, "the message of a sorted send", place)  # its length changes last
        sent = [term.value for term in values] + [const(0)] * (len(message) - len(values))  # not cut yet
        for position in range(channel.capacity):
            here = self._belongs(channel, sent, position)
            yield Way(room, (*needs, Assert(here), *_insert(channel, message, position), longer))

    @staticmethod
    def message(channel: ChannelCells, values: Sequence[Term]) -> list[ir.Expr]:
        """The values cut to the fields of a channel; missing ones are 0."""
        fields = channel.type.fields
        held = [wrapped(term, part) for part, term in zip(fields, values, strict=False)]
        return held + [const(0)] * (len(fields) - len(held))

    @staticmethod
    def _belongs(channel: ChannelCells, message: Sequence[ir.Expr], position: int) -> ir.Expr:
        """Does a message belong at a position: after all that are not greater, before the first that is?"""
        parts = [binary("<=", const(position), channel.length)]
        parts += [not_(_less(message, channel, earlier)) for earlier in range(position)]
        last = binary("==", channel.length, const(position))
        return simplify(conj(*parts, disj(last, _less(message, channel, position))))

    def receive(self, talk: Receive, channel: ChannelCells, when: ir.Expr, place: Place | None) -> Iterator[Way]:
        wanted = self.terms.pattern(talk.pattern)
        _refuse_channel_reads(
            [target.index for target in talk.into if isinstance(target, Select)],
            OfChannel | Poll,
            "the index in a receive",
            place,
        )
        for position in range(channel.capacity if talk.anywhere else 1):
            parts = [when, matches(channel, position, wanted)]
            parts += [not_(matches(channel, earlier, wanted)) for earlier in range(position)]
            message = [
                Term(channel.cell(n, position), part.low, part.high) for n, part in enumerate(channel.type.fields)
            ]
            line = self.store_message(talk, message, place)
            if not talk.keep:
                line += tuple(_remove(channel, position))
            yield Way(simplify(conj(*parts)), line)

    def store_message(self, talk: Receive, message: Sequence[Term], place: Place | None) -> Line:
        """How a receiver stores a message; all values are computed before the first is stored."""
        line: list[Assign | Assert | Need] = []
        kept: list[tuple[Target, Term]] = [
            (target, term) for target, term in zip(talk.into, message, strict=False) if target is not None
        ]
        declared = self.world.declared
        written = {self.world.variable(declared[variable_of(into)], self.me.slot) for into, _ in kept[:-1]}
        for place_in_message, (target, term) in enumerate(kept):
            if ir.free(term.value) & written:  # an earlier assignment may change it
                held = ir.var(f"@message{place_in_message}", "int")
                line.append(Assign(held, term.value, silent=True))
                kept[place_in_message] = target, Term(held, term.low, term.high)
        for target, term in kept:
            line += self._store(target, term, place)
        return tuple(line)


def first_values(
    world: World, slot: int, template: int, args: Sequence[Term], place: Place | None, outside: Terms
) -> Iterator[Assign | Need]:
    """The initial values of the variables of a new process."""
    kind = world.program.templates[template]
    me = Instance(slot, template)
    terms = Terms(world, me, outside.quiet)
    yield Assign(world.point(slot), const(world.code(template, kind.entry)), silent=True)
    own = [channel for channel in world.channels if channel.owner == (slot, template)]
    for channel in own:
        if channel.capacity:
            yield Assign(channel.length, const(0), silent=True)
            for n in range(len(channel.type.fields)):
                for position in range(channel.capacity):
                    yield Assign(channel.cell(n, position), const(0), silent=True)
    first: dict[tuple[Variable, int], int] = {}
    for (var, cell), channel in zip(kind.channel_cells, own, strict=True):
        if channel.id > var.bounded.high:
            raise InputError("too many channels for formulas", place=place)
        first[var, cell] = channel.id
    given = dict(zip(kind.parameters, args, strict=True)) if args else {}
    for var in kind.variables:
        variable = world.variable(var, slot)
        if var in given:
            yield Assign(variable, wrapped(given[var], var.bounded), silent=True)
            continue
        for cell in range(var.size):
            target = ir.select(variable, const(cell)) if var.array else variable
            yield Assign(target, const(first.get((var, cell), var.initial[cell])), silent=True)
    for var, expr in kind.setup:
        term = terms(expr)
        yield from _require(term.ok, place)
        for cell in range(var.size):
            variable = world.variable(var, slot)
            target = ir.select(variable, const(cell)) if var.array else variable
            yield Assign(target, wrapped(term, var.bounded), silent=True)


def _require(ok: ir.Expr, place: Place | None) -> Iterator[Need]:
    if simplify(ok) is not TRUE:
        yield Need(ok, Failure("error", "no value: an index, a division, a shift or a channel", place))


def _less(message: Sequence[ir.Expr], channel: ChannelCells, position: int) -> ir.Expr:
    """Is a message less than the one at a position, field by field?"""
    found: ir.Expr = ir.FALSE
    for n in reversed(range(len(message))):
        cell = channel.cell(n, position)
        found = disj(binary("<", message[n], cell), conj(binary("==", message[n], cell), found))
    return found


def _insert(channel: ChannelCells, message: Sequence[ir.Expr], position: int) -> Iterator[Assign]:
    for n, value in enumerate(message):
        for place in range(channel.capacity - 1, position, -1):
            yield Assign(channel.cell(n, place), channel.cell(n, place - 1))
        yield Assign(channel.cell(n, position), value)


def _remove(channel: ChannelCells, position: int) -> Iterator[Assign]:
    for n in range(len(channel.type.fields)):
        for place in range(position, channel.capacity - 1):
            yield Assign(channel.cell(n, place), channel.cell(n, place + 1))
        yield Assign(channel.cell(n, channel.capacity - 1), const(0))
    yield Assign(channel.length, binary("-", channel.length, const(1)))


def _refuse_channel_reads(exprs: Sequence[Expr], at: type | UnionType, what: str, place: Place | None) -> None:
    """Expressions that are evaluated in between must not read the channel that is changing."""
    if any(isinstance(node, at) for expr in exprs for node in nodes(expr)):
        raise InputError(f"{what} looks at a channel: there are no formulas for that", place=place)
