"""What the edges of a process touch, as known before they are taken.

There are two views of this. `bits` is the part of the state on which an edge's readiness and effect depend, so
that equal bits mean equal steps. Resources, one bit each, determine whether two edges depend on each other:

    reads, writes   two edges accord if neither writes what the other reads or writes: where both are enabled, they
                    can be taken in either order, and lead to the same state
    effects, wide   the same for what is not known exactly: some channel, some process
    wakes           for each guard, the resources that may make it true when they are written

A channel is two resources, its two ends: sending and receiving accord wherever both are possible, since then the
channel is neither empty nor full. A test of a channel reads both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from porcini.ir.expr import (
    Enabled,
    Expr,
    NoProgress,
    OfChannel,
    Peek,
    Poll,
    Population,
    Select,
    StandsAt,
    Timeout,
    Var,
    nodes,
)
from porcini.ir.operations import (
    Exit,
    Receive,
    Send,
    Spawn,
    Target,
    reads_of,
    reads_of_talk,
    targets_of_op,
    variable_of,
)
from porcini.ir.packed.code import Constants, channels_named
from porcini.ir.packed.layout import POPULATION, Channel, Layout
from porcini.ir.program import Edge, Variable, expressions, targets_of

EVERYTHING = -1
"""As bits: the whole state."""

SOME_CHANNEL, UNKNOWN_CHANNEL, SOME_POINT, SOME_VARIABLE, POPULATION_OF_ALL, TIME = (1 << n for n in range(6))
_FIRST_FREE = 6


@dataclass(frozen=True, slots=True)
class Touch:
    bits: int = 0
    reads: int = 0
    writes: int = 0
    effects: int = 0
    wide: int = 0

    def __or__(self, other: Touch) -> Touch:
        return Touch(
            self.bits | other.bits,
            self.reads | other.reads,
            self.writes | other.writes,
            self.effects | other.effects,
            self.wide | other.wide,
        )

    def accords(self, other: Touch, but: int = 0) -> bool:
        """Can two steps be taken in either order? The resources in `but` do not count."""
        return not (
            self.writes & (other.reads | other.writes) & ~but
            or other.writes & self.reads & ~but
            or self.effects & other.wide
            or other.effects & self.wide
        )

    def may_wake(self, wakes: int) -> bool:
        return bool((self.writes | self.effects) & wakes)


NOTHING = Touch()
EVERYONE = Touch(bits=EVERYTHING, reads=POPULATION_OF_ALL, wide=SOME_POINT | SOME_VARIABLE | SOME_CHANNEL)
"""What a test of enabledness reads: every step may change it."""


class Resources:
    """Numbers for resources, assigned when they are first used."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}

    def __call__(self, *key: object) -> int:
        return 1 << self._numbers.setdefault(key, _FIRST_FREE + len(self._numbers))

    def cells(self, var: Variable, slot: int, index: int | None) -> int:
        """One cell of a variable, or all of them."""
        if index is not None:
            return self(var, slot, index)
        mask = 0
        for cell in range(var.size):
            mask |= self(var, slot, cell)
        return mask

    def names(self, mask: int) -> list[object]:
        return [key for key, number in self._numbers.items() if mask >> number & 1]


class Toucher:
    """Computes what the edges of one process touch."""

    def __init__(
        self,
        layout: Layout,
        template: int,
        constants: Constants,
        channels: dict[int, Channel],
        resources: Resources,
        channel_of: Callable[[int], Channel | None],
    ) -> None:
        self.layout, self.template, self.constants = layout, template, constants
        self.channels, self.resources, self.channel_of = channels, resources, channel_of
        self.slot = -1 if constants.slot is None else constants.slot
        self.point = 0
        if self.slot >= 0:
            self.point = (1 << layout.template_bits + layout.point_bits[template]) - 1 << layout.base(self.slot)

    def edge(self, edge: Edge) -> Touch:
        """All that an edge touches when it is taken or tried."""
        own = self.resources("point", self.slot)
        touch = Touch(bits=self.point, reads=own, writes=own, effects=SOME_POINT)
        for expr in (self.layout.program.templates[self.template].provided, *expressions(edge)):
            touch |= self.expr(expr)
        for target in targets_of(edge):
            touch |= self._cell(target, written=True)
        if self.layout.program.priorities is not None:
            touch |= EVERYONE
        if edge.talk is not None:
            touch |= self._talk(edge.talk)
        for op in edge.block:
            if isinstance(op, Spawn | Exit):
                touch |= Touch(
                    bits=POPULATION, reads=POPULATION_OF_ALL, writes=POPULATION_OF_ALL, effects=SOME_VARIABLE
                )
            if isinstance(op, Exit):
                touch |= self._gone()
            elif isinstance(op, Spawn):
                for _, first in self.layout.program.templates[op.template].setup:
                    touch |= self._first_value(first)
        return touch

    def assuming(self, values: Mapping[Variable, int]) -> Toucher:
        """The same where some variables have known values."""
        known = self.constants
        constants = Constants(known.slot, known.values, known.declared, values)
        return Toucher(self.layout, self.template, constants, self.channels, self.resources, self.channel_of)

    def bits_of(self, edge: Edge, assumed: Toucher, of: Collection[Variable]) -> int:
        """The bits on which the readiness and effect of an edge depend, where some variables have the values that
        `assumed` knows: whatever is evaluated before one of them is assigned to depends on fewer bits."""
        program = self.layout.program
        if program.priorities is not None or any(isinstance(op, Spawn | Exit) for op in edge.block):
            return self.edge(edge).bits
        exprs = (program.templates[self.template].provided, *edge.guards, *reads_of_talk(edge.talk))
        bits, toucher = self.point, assumed
        for expr in exprs:
            bits |= assumed.expr(expr).bits
        steps: list[tuple[Sequence[Expr], Sequence[Target]]] = []
        if edge.talk is not None:
            bits |= assumed._talk(edge.talk).bits
        if isinstance(edge.talk, Receive):
            steps += [((), (target,)) for target in edge.talk.into if target is not None]
        steps += [(reads_of(op), tuple(targets_of_op(op))) for op in edge.block]
        for reads, targets in steps:
            for expr in reads:
                bits |= toucher.expr(expr).bits
            for target in targets:
                bits |= toucher._cell(target, written=True).bits
            if any(self.layout.declared[variable_of(target)] in of for target in targets):
                toucher = self
        return bits

    def _first_value(self, expr: Expr) -> Touch:
        """What the initial value of a variable of a new process reads. Its own variables are new, so that only
        shared ones can have been touched by others."""
        touch = NOTHING
        for node in nodes(expr):
            match node:
                case Var():
                    var = self.layout.declared[node]
                    if not var.local:
                        mask = (1 << var.bounded.bits * var.size) - 1 << self.layout.of_var[var]
                        touch |= Touch(bits=mask, reads=self.resources.cells(var, -1, None))
                case OfChannel() | Poll():
                    touch |= Touch(bits=EVERYTHING, wide=SOME_CHANNEL)
                case Population():
                    touch |= Touch(bits=POPULATION, reads=POPULATION_OF_ALL)
                case StandsAt() | Peek() | Enabled() | NoProgress():
                    wide = SOME_POINT | SOME_VARIABLE
                    touch |= Touch(bits=EVERYTHING, reads=POPULATION_OF_ALL, wide=wide)
        return touch

    def _gone(self) -> Touch:
        """What the end of a process touches: its channels disappear, and whoever still uses one of them fails."""
        if self.slot < 0:
            return NOTHING
        touch = Touch(bits=self.layout.frame_mask(self.slot, self.template))
        for index in range(len(self.layout.program.templates[self.template].channels)):
            number = self.layout.own_id(self.slot, index)
            ends = self.resources("tail", number) | self.resources("head", number)
            touch |= Touch(writes=ends, effects=SOME_CHANNEL, wide=UNKNOWN_CHANNEL)
        return touch

    def expr(self, expr: Expr) -> Touch:
        """What the value of an expression depends on, including its parts."""
        touch = NOTHING
        match expr:
            case Var():
                return NOTHING if self.constants.of(expr) is not None else self._cell(expr, written=False)
            case Select(index=index):
                own = NOTHING if self.constants.of(expr) is not None else self._cell(expr, written=False)
                return own | self.expr(index)
            case OfChannel(channel=channel) | Poll(channel=channel):
                touch = self.tested(channel)
            case Population():
                touch = Touch(bits=POPULATION, reads=POPULATION_OF_ALL)
            case Timeout():
                touch = Touch(reads=TIME)
            case Enabled() | NoProgress():
                touch = EVERYONE
            case StandsAt(pid=pid):
                touch = self._remote(pid, None)
            case Peek(pid=pid, variable=variable):
                touch = self._remote(pid, self.layout.declared[variable])
        for child in expr.children:
            touch |= self.expr(child)
        return touch

    def waking(self, expr: Expr) -> int:
        """The resources that may make a guard true when they are written."""
        touch = self.expr(expr)
        return touch.reads | touch.wide

    def waking_talk(self, talk: Send | Receive) -> int:
        """The same for a communication over a buffered channel."""
        wakes = self.waking_end(talk, "head")
        return wakes | self.waking_end(talk, "tail") if isinstance(talk, Receive) else wakes

    def waking_end(self, talk: Send | Receive, end: Literal["head", "tail"]) -> int:
        """The same for what is asked at one end of the channel: which channel it is, and at the head whether the
        message is the one that is wanted."""
        wakes = self.waking(talk.channel)
        if end == "head" and isinstance(talk, Receive):
            for part in talk.pattern:
                wakes |= 0 if part is None else self.waking(part)
        known = self.among(talk.channel)
        if known is None:
            return wakes | SOME_CHANNEL
        for channel in known:
            wakes |= self.resources(end, channel.id) | UNKNOWN_CHANNEL
        return wakes

    def bits_at_end(self, talk: Receive, end: Literal["head", "tail"]) -> int:
        """The bits that a receive looks at: at the tail only whether there is a message, at the head also the
        first one."""
        bits = self.expr(talk.channel).bits
        known = self.among(talk.channel)
        if known is None:
            return EVERYTHING
        for channel in known:
            bits |= channel.length_mask if end == "tail" else channel.head_mask
        if end == "head":
            for part in talk.pattern:
                bits |= 0 if part is None else self.expr(part).bits
        return bits

    def _numbers(self, channel: Expr) -> Channel | None:
        number = self.constants.of(channel)
        if number is None:
            return None
        return self.channels.get(number) or self.channel_of(number)

    def cells(self, target: Target) -> int:
        """The resources of a variable, or of the cell that is meant."""
        var, known = self._meant(target)
        if known is not None and not 0 <= known < var.size:
            return 0
        return self.resources.cells(var, self.slot if var.local else -1, known)

    def among(self, channel: Expr) -> tuple[Channel, ...] | None:
        """The channels that are meant, or may be; None if it could be any."""
        known = self._numbers(channel)
        return channels_named(channel, self.channels, self.layout.declared) if known is None else (known,)

    def _meant(self, target: Target) -> tuple[Variable, int | None]:
        """A variable and which cell of it, if that is known."""
        known = 0 if isinstance(target, Var) else self.constants.of(target.index)
        return self.layout.declared[variable_of(target)], known

    def _cell(self, target: Target, written: bool) -> Touch:
        var, known = self._meant(target)
        if known is not None and not 0 <= known < var.size:
            return NOTHING  # an error, whatever is there
        first = self.layout.of_var[var] + (self.layout.base(self.slot) if var.local else 0)
        each = var.bounded.bits
        if known is None or isinstance(target, Var):
            bits = (1 << each * var.size) - 1 << first
        else:
            bits = (1 << each) - 1 << first + known * each
        cells = self.resources.cells(var, self.slot if var.local else -1, known)
        if written:
            return Touch(bits=bits, writes=cells, effects=SOME_VARIABLE if var.remote else 0)
        return Touch(bits=bits, reads=cells)

    def tested(self, channel: Expr) -> Touch:
        found = self.among(channel)
        if found is None:
            return Touch(bits=EVERYTHING, wide=SOME_CHANNEL)
        touch = Touch(wide=UNKNOWN_CHANNEL)
        for known in found:
            ends = self.resources("tail", known.id) | self.resources("head", known.id)
            touch |= Touch(bits=known.mask, reads=ends)
        return touch

    def _talk(self, talk: Send | Receive) -> Touch:
        found = self.among(talk.channel)
        if found is None:
            return Touch(bits=EVERYTHING, effects=SOME_CHANNEL | UNKNOWN_CHANNEL, wide=SOME_CHANNEL)
        touch = Touch(effects=SOME_CHANNEL, wide=UNKNOWN_CHANNEL)
        for known in found:
            tail, head = self.resources("tail", known.id), self.resources("head", known.id)
            ends = tail if isinstance(talk, Send) else head
            if isinstance(talk, Send) and talk.ordered:
                ends |= head  # it may become the first
            touch |= Touch(bits=known.mask, reads=ends, writes=ends)
        return touch

    def _remote(self, pid: Expr, var: Variable | None) -> Touch:
        slot = self.constants.of(pid)
        if slot is None or slot < 0:
            return Touch(bits=EVERYTHING, reads=POPULATION_OF_ALL, wide=SOME_POINT | SOME_VARIABLE)
        base = self.layout.base(slot)
        widest = max(self.layout.point_bits)
        bits = (1 << self.layout.template_bits + widest) - 1 << base
        if var is None:
            return Touch(bits=bits, reads=self.resources("point", slot) | POPULATION_OF_ALL)
        bits |= (1 << var.bounded.bits * var.size) - 1 << base + self.layout.of_var[var]
        return Touch(bits=bits, reads=self.resources.cells(var, slot, None) | POPULATION_OF_ALL)
