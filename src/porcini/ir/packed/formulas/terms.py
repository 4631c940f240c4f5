"""Expressions of packed programs as formulas, over the variables of a world: total, and with their bounds.

The meaning of operators is defined in `ir.packed.formulas.operators`. A variable may refer to any channel that may
exist, and a process number to any process that may be in its slot: these are distinguished case by case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porcini.core.errors import InternalError
from porcini.ir import expr as ir
from porcini.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    Checked,
    Const,
    Expr,
    Ite,
    Junction,
    Neg,
    Not,
    OfChannel,
    OwnNumber,
    Peek,
    Poll,
    Population,
    Select,
    StandsAt,
    Timeout,
    Var,
    binary,
    conj,
    const,
    disj,
    ite,
    not_,
    select,
)
from porcini.ir.operations import Target, variable_of
from porcini.ir.packed.formulas.operators import Term, applied, by_cases, flag, number, within
from porcini.ir.packed.formulas.world import POPULATION_VAR, ChannelCells, Instance, World
from porcini.ir.program import Variable
from porcini.ir.simplify import simplify


class Terms:
    """Translates what one process evaluates; `me` is None for what is evaluated outside processes."""

    def __init__(self, world: World, me: Instance | None, quiet: Callable[[], ir.Expr]) -> None:
        self.world, self.me, self.quiet = world, me, quiet
        self._known = dict(me.known) if me is not None else {}

    def __call__(self, expr: Expr) -> Term:
        match expr:
            case Const(value=value):
                return number(int(value))
            case Var() | Select():
                return self._load(expr)
            case Not():
                return applied("!", self._all(expr))
            case Neg():
                return applied("neg", self._all(expr))
            case Binary(op=op):
                return applied(op, self._all(expr))
            case Junction(op=op, args=args):
                found = self(args[0])
                for arg in args[1:]:
                    found = applied(op, [found, self(arg)])
                return found
            case Ite():
                return applied("?:", self._all(expr))
            case Checked(index=index, bound=bound):
                return applied("check", [self(index), number(bound)])
            case OfChannel(question=question, channel=channel):
                return self._ask(question, channel)
            case Poll(channel=channel, pattern=pattern, anywhere=anywhere):
                return self._poll(channel, pattern, anywhere)
            case OwnNumber():
                assert self.me is not None
                return number(self.me.slot)
            case Population():
                return Term(POPULATION_VAR, 0, 255)
            case Timeout():
                return flag(self.quiet())
            case StandsAt(template=template, pid=pid, label=label):
                return self._at(template, pid, label)
            case Peek(template=template, pid=pid, variable=variable, index=index):
                return self._peek(template, pid, self.world.declared[variable], index)
        raise InternalError(f"no formula for {expr}")

    def _all(self, expr: Expr) -> list[Term]:
        return [self(child) for child in expr.children]

    # Variables

    def _load(self, cell: Target) -> Term:
        var = self.world.declared[variable_of(cell)]
        at = self(cell.index) if isinstance(cell, Select) else None
        known = self._constant(var, at)
        if known is not None:
            return number(known)
        assert self.me is not None or not var.local
        slot = self.me.slot if self.me is not None else 0
        return self._cell(var, slot, at)

    def _constant(self, var: Variable, at: Term | None) -> int | None:
        """The value of a constant variable, if it is known."""
        if not var.constant or var in self.world.symbols:
            return None
        if at is None:
            found = self._known.get(var)
            if found is None and not var.set_up:
                found = self.world.system.first_value(var)
            return found
        if var.set_up or at.low != at.high or not 0 <= at.low < var.size:
            return None
        return var.initial[at.low]

    def _cell(self, var: Variable, slot: int, at: Term | None) -> Term:
        variable, bounds = self.world.variable(var, slot), var.bounded
        if at is None:
            return Term(variable, bounds.low, bounds.high)
        cell, ok = self.cell(variable, at)
        return Term(simplify(cell), bounds.low, bounds.high, ok)

    def cell(self, array: ir.Var, at: Term) -> tuple[ir.Select, ir.Expr]:
        """A cell, and the condition under which the index is valid."""
        assert isinstance(array.type, ir.ArrayType)
        size = array.type.size
        if at.low >= 0 and at.high < size:
            return select(array, at.value), at.ok
        inside = within(at.value, 0, size)
        return select(array, simplify(ite(inside, at.value, const(0)))), conj(at.ok, inside)

    def target(self, target: Target) -> tuple[Target, Expr]:
        """The target of an assignment, and the condition under which it exists."""
        assert self.me is not None
        variable = self.world.variable(self.world.declared[variable_of(target)], self.me.slot)
        return self.cell(variable, self(target.index)) if isinstance(target, Select) else (variable, TRUE)

    # Channels

    def channels(self, expr: Expr) -> tuple[list[tuple[ChannelCells, ir.Expr]], ir.Expr]:
        """The channels that an expression may refer to, each with the condition under which it does; and the
        condition under which it refers to one of them."""
        term = self(expr)
        possible = self._possible(expr)
        found = []
        for channel in self.world.channels:
            if possible is not None and channel.id not in possible:
                continue
            alive = TRUE if channel.owner is None else self.world.present(*channel.owner)
            when = simplify(conj(term.ok, binary("==", term.value, const(channel.id)), alive))
            if term.low <= channel.id <= term.high and when is not FALSE:
                found.append((channel, when))
        return found, simplify(disj(*(when for _, when in found)))

    def _possible(self, expr: Expr) -> tuple[int, ...] | None:
        """The channels in an array that is never assigned to."""
        if isinstance(expr, Var | Select):
            var = self.world.declared[variable_of(expr)]
            if var.constant and not var.set_up and not var.local:
                return var.initial
        return None

    def _ask(self, what: str, channel: Expr) -> Term:
        def asked(cells: ChannelCells) -> Term:
            length = number(0) if cells.capacity == 0 else Term(cells.length, 0, cells.capacity)
            full = binary(">=", length.value, const(cells.capacity)) if cells.capacity else FALSE
            empty = binary("==", length.value, const(0))
            match what:
                case "len":
                    return length
                case "empty" | "nempty":
                    return flag(empty if what == "empty" else not_(empty))
                case "buffered":
                    return flag(TRUE if cells.capacity else FALSE)
                case _:
                    return flag(full if what == "full" else not_(full))

        return self._by_channel(channel, asked)

    def _poll(self, channel: Expr, pattern: Sequence[Expr | None], anywhere: bool) -> Term:
        wanted = self.pattern(pattern)
        ok = [part.ok for part in wanted if part is not None]

        def polled(cells: ChannelCells) -> Term:
            if not cells.capacity:
                return flag(FALSE).given(FALSE)  # an error
            places = range(cells.capacity if anywhere else min(cells.capacity, 1))
            return flag(disj(*(matches(cells, place, wanted) for place in places)))

        return self._by_channel(channel, polled).given(*ok)

    def pattern(self, pattern: Sequence[Expr | None]) -> list[Term | None]:
        return [None if part is None else self(part) for part in pattern]

    def _by_channel(self, expr: Expr, answer: Callable[[ChannelCells], Term]) -> Term:
        found, ok = self.channels(expr)
        return by_cases([(when, answer(channel)) for channel, when in found]).given(ok)

    # Other processes

    def _at(self, template: int, pid: Expr, label: str) -> Term:
        points = self.world.program.templates[template].points
        labelled = [number for number, point in enumerate(points) if label in point.labels]

        def there(slot: int) -> Term:
            return flag(disj(*(self.world.at(slot, template, point) for point in labelled)))

        return self._of_process(template, pid, there)

    def _peek(self, template: int, pid: Expr, var: Variable, index: Expr | None) -> Term:
        at = None if index is None else self(index)

        def seen(slot: int) -> Term:
            return self._cell(var, slot, at)

        found = self._of_process(template, pid, seen)
        return found if at is None else found.given(at.ok)  # the index is worked out in any case

    def _of_process(self, template: int, pid: Expr, look: Callable[[int], Term]) -> Term:
        """What is read of another process: 0 if it does not exist; the first of its template if no number is
        given."""
        who = self(pid)
        slots = [slot for slot, kinds in enumerate(self.world.kinds) if template in kinds]
        cases = []
        for slot in slots:
            meant = binary("==", who.value, const(slot))
            if who.low < 0:
                meant = disj(meant, binary("<", who.value, const(0)))
            cases.append((simplify(conj(meant, self.world.present(slot, template))), look(slot)))
        return by_cases(cases).given(who.ok)


def matches(channel: ChannelCells, place: int, wanted: Sequence[Term | None]) -> ir.Expr:
    """Is there a message at a position that matches these values?"""
    parts = [binary("<", const(place), channel.length)]
    for field, part in zip(range(len(channel.type.fields)), wanted, strict=False):
        if part is not None:
            parts.append(binary("==", channel.cell(field, place), part.value))
    return conj(*parts)
