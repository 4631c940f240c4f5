"""Expressions of packed programs as formulas: the one place that knows how the two kinds of expressions differ.

What operators mean is in `ir.packed.operators`. A channel that is named by a variable is one of those that there
may be, and another process is one of those that may be in its slot: these are told apart case by case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porcini.core.errors import InternalError
from porcini.ir import expr as ir
from porcini.ir.expr import FALSE, TRUE, binary, conj, const, disj, ite, not_, select
from porcini.ir.packed.operators import Term, applied, by_cases, flag, number, within
from porcini.ir.packed.program import (
    Apply,
    Ask,
    At,
    Const,
    Expr,
    Load,
    Peek,
    Poll,
    Population,
    Quiet,
    Self,
    Var,
)
from porcini.ir.packed.world import POPULATION_VAR, ChannelCells, Instance, World
from porcini.ir.simplify import simplify


class Terms:
    """Translates what one process evaluates; `me` is None for what is evaluated outside processes."""

    def __init__(self, world: World, me: Instance | None, quiet: Callable[[], ir.Expr]) -> None:
        self.world, self.me, self.quiet = world, me, quiet
        self._known = dict(me.known) if me is not None else {}

    def __call__(self, expr: Expr) -> Term:
        match expr:
            case Const(value=value):
                return number(value)
            case Load(var=var, index=index):
                return self._load(var, index)
            case Apply(op=op, args=args):
                return applied(op, [self(arg) for arg in args])
            case Ask(what=what, channel=channel):
                return self._ask(what, channel)
            case Poll(channel=channel, pattern=pattern, anywhere=anywhere):
                return self._poll(channel, pattern, anywhere)
            case Self():
                assert self.me is not None
                return number(self.me.slot)
            case Population():
                return Term(POPULATION_VAR, 0, 255)
            case Quiet():
                return flag(self.quiet())
            case At(template=template, pid=pid, label=label):
                return self._at(template, pid, label)
            case Peek(template=template, pid=pid, var=var, index=index):
                return self._peek(template, pid, var, index)
        raise InternalError(f"no formula for {expr}")

    # Variables

    def _load(self, var: Var, index: Expr | None) -> Term:
        at = None if index is None else self(index)
        known = self._constant(var, at)
        if known is not None:
            return number(known)
        assert self.me is not None or not var.local
        slot = self.me.slot if self.me is not None else 0
        return self._cell(var, slot, at)

    def _constant(self, var: Var, at: Term | None) -> int | None:
        """The value of a variable that never changes, where that is known."""
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

    def _cell(self, var: Var, slot: int, at: Term | None) -> Term:
        variable = self.world.variable(var, slot)
        if at is None:
            return Term(variable, var.low, var.high)
        cell, ok = self.cell(variable, at)
        return Term(simplify(cell), var.low, var.high, ok)

    def cell(self, array: ir.Var, at: Term) -> tuple[ir.Select, ir.Expr]:
        """A cell, and when there is one at this index."""
        assert isinstance(array.type, ir.ArrayType)
        size = array.type.size
        if at.low >= 0 and at.high < size:
            return select(array, at.value), at.ok
        inside = within(at.value, 0, size)
        return select(array, simplify(ite(inside, at.value, const(0)))), conj(at.ok, inside)

    def target(self, load: Load) -> tuple[ir.Var | ir.Select, ir.Expr]:
        """Where a value is stored, and when there is such a place."""
        assert self.me is not None
        variable = self.world.variable(load.var, self.me.slot)
        return (variable, TRUE) if load.index is None else self.cell(variable, self(load.index))

    # Channels

    def channels(self, expr: Expr) -> tuple[list[tuple[ChannelCells, ir.Expr]], ir.Expr]:
        """The channels that an expression may name, each with the condition under which it is this one; and the
        condition under which it is one of them."""
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

    @staticmethod
    def _possible(expr: Expr) -> tuple[int, ...] | None:
        """The channels in an array of them that nobody assigns to."""
        if isinstance(expr, Load) and expr.var.constant and not expr.var.set_up and not expr.var.local:
            return expr.var.initial
        return None

    def _ask(self, what: str, channel: Expr) -> Term:
        def asked(cells: ChannelCells) -> Term:
            length = number(0) if cells.capacity == 0 else Term(cells.length, 0, cells.capacity)
            full = binary(">=", length.value, const(cells.capacity))
            empty = binary("==", length.value, const(0))
            match what:
                case "len":
                    return length
                case "empty" | "nempty":
                    return flag(empty if what == "empty" else not_(empty))
                case _:
                    return flag(full if what == "full" else not_(full))

        return self._by_channel(channel, asked)

    def _poll(self, channel: Expr, pattern: Sequence[Expr | None], anywhere: bool) -> Term:
        wanted = self.pattern(pattern)
        ok = [part.ok for part in wanted if part is not None]

        def polled(cells: ChannelCells) -> Term:
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

    def _peek(self, template: int, pid: Expr, var: Var, index: Expr | None) -> Term:
        at = None if index is None else self(index)

        def seen(slot: int) -> Term:
            return self._cell(var, slot, at)

        found = self._of_process(template, pid, seen)
        return found if at is None else found.given(at.ok)  # the index is worked out in any case

    def _of_process(self, template: int, pid: Expr, look: Callable[[int], Term]) -> Term:
        """What is seen of the process that is meant: 0 if there is none, the first of its kind if it has no
        number."""
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
    """Is there a message at a place that has these values?"""
    parts = [binary("<", const(place), channel.length)]
    for field, part in zip(range(len(channel.type.fields)), wanted, strict=False):
        if part is not None:
            parts.append(binary("==", channel.cell(field, place), part.value))
    return conj(*parts)
