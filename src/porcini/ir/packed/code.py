"""The functions of one process, generated for its slot in the state and for its constants.

A process is specialised by its number and the values of its constant parameters: so `fork[id]` is one cell, a
channel that was handed over is one channel, and an edge is a few shifts and masks. Source is generated when a
point is first reached. It holds numbers only, and names made of numbers: nothing of the model's text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from porcini.core.systems import Scalar
from porcini.ir.evaluation import defined, evaluate, quotient, remainder, wrap
from porcini.ir.expr import (
    ONE,
    WORD,
    ZERO,
    Binary,
    Checked,
    Const,
    Enabled,
    Expr,
    Ite,
    Junction,
    Neg,
    NoProgress,
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
    const,
    rebuild,
)
from porcini.ir.operations import Assert, Assign, Exit, Forget, Op, Print, Send, Spawn, Target, variable_of
from porcini.ir.packed.layout import (
    ONE_PROCESS,
    POPULATION,
    POPULATION_AT,
    Channel,
    CheckFailed,
    Layout,
    RunError,
)
from porcini.ir.program import Edge, Variable
from porcini.ir.source import source


class Surroundings(Protocol):
    """What generated code needs to know about the state as a whole."""

    def channel(self, s: int, number: int) -> Channel: ...

    def start(self, s: int, template: int, args: tuple[int, ...]) -> int: ...

    def stands_at(self, s: int, template: int, pid: int, label: str) -> bool: ...

    def enabled(self, s: int, pid: int) -> bool: ...

    def no_progress(self, s: int) -> bool: ...

    def peek(self, s: int, template: int, pid: int, var: Variable, index: int) -> int: ...

    def wrapped(self, what: str) -> None: ...

    def outgrown(self, what: str) -> None: ...


@dataclass(eq=False, slots=True)
class EdgeCode:
    """The functions of an edge. If it communicates, `channel` gives the channel; a rendezvous uses `values` of the
    sender, and `wanted` and `accept` of the receiver."""

    edge: Edge
    ready: Callable[[int, bool], bool]
    apply: Callable[[int], int]
    channel: Callable[[int], Channel] | None = None
    fixed: Channel | None = None
    among: tuple[Channel, ...] | None = None
    """The channels that it may use, if they are cells of an array that is never assigned to."""
    values: Callable[[int], tuple[int, ...]] | None = None
    wanted: Callable[[int], tuple[int | None, ...]] | None = None
    accept: Callable[[int, tuple[int, ...]], int] | None = None


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise RunError("division by zero")
    return quotient(a, b)


def _remainder(a: int, b: int) -> int:
    if b == 0:
        raise RunError("division by zero")
    return remainder(a, b)


def _floor(a: int, b: int) -> int:
    if b == 0:
        raise RunError("division by zero")
    return a // b


def _modulo(a: int, b: int) -> int:
    if b == 0:
        raise RunError("division by zero")
    return a % b


def _shift_left(a: int, b: int) -> int:
    if not 0 <= b < WORD:
        raise RunError(f"a shift by {b}")
    return wrap(a << b, WORD, True)


def _shift_right(a: int, b: int) -> int:
    if not 0 <= b < WORD:
        raise RunError(f"a shift by {b}")
    return a >> b


def _index(i: int, size: int) -> int:
    if not 0 <= i < size:
        raise RunError(f"array index {i} is out of range: the array has {size} cells")
    return i


RENDEZVOUS_IN_D_STEP = "a rendezvous cannot be sent inside d_step"


def _buffered(channel: Channel) -> Channel:
    """The channel of a send inside a `d_step`, which cannot wait for a receiver."""
    if channel.capacity == 0:
        raise RunError(RENDEZVOUS_IN_D_STEP)
    return channel


POLLED_RENDEZVOUS = "a rendezvous channel cannot be polled"


def _polled(channel: Channel) -> Channel:
    if channel.capacity == 0:
        raise RunError(POLLED_RENDEZVOUS)
    return channel


_PROVIDED: dict[str, Any] = {
    "buffered": _buffered,
    "polled": _polled,
    "quot": _divide,
    "rem": _remainder,
    "floor": _floor,
    "modulo": _modulo,
    "shl": _shift_left,
    "shr": _shift_right,
    "index": _index,
    "CheckFailed": CheckFailed,
}
_ASKED = {
    "len": "{c}.length(s)",
    "empty": "(not {c}.length(s))",
    "nempty": "({c}.length(s) > 0)",
    "full": "(0 < {c}.capacity <= {c}.length(s))",  # a rendezvous never is, as in SPIN
    "nfull": "(not 0 < {c}.capacity <= {c}.length(s))",
    "buffered": "({c}.capacity > 0)",
}


class Constants:
    """The values of constant expressions in one process; `assumed` are values of variables that are not constant,
    in some states."""

    def __init__(
        self,
        slot: int | None,
        values: Mapping[Variable, int],
        declared: Mapping[Var, Variable],
        assumed: Mapping[Variable, int] | None = None,
    ) -> None:
        self.slot, self.values, self.declared, self.assumed = slot, values, declared, assumed or {}
        self._found: dict[Expr, int | None] = {}

    def of(self, expr: Expr) -> int | None:
        if expr not in self._found:
            self._found[expr] = self._of(expr)
        return self._found[expr]

    def _of(self, expr: Expr) -> int | None:
        match expr:
            case Const(value=value):
                return int(value)
            case OwnNumber():
                return self.slot
            case Var() | Select():
                return self._of_cell(expr)
            case Not() | Neg() | Binary() | Junction() | Ite() | Checked():
                return self._folded(expr)
            case _:
                return None

    def _folded(self, expr: Expr) -> int | None:
        """The value of an operation on constants; None if it fails."""
        operands: list[Expr] = []
        for child in expr.children:
            value = self.of(child)
            if value is None:
                return None
            operands.append(const(bool(value) if child.type == "bool" else value))
        folded = rebuild(expr, tuple(operands))
        return int(cast(Scalar, evaluate(folded, {}))) if evaluate(defined(folded), {}) else None

    def _of_cell(self, cell: Target) -> int | None:
        var = self.declared[variable_of(cell)]
        if not var.constant:
            return self.assumed.get(var) if isinstance(cell, Var) else None
        if isinstance(cell, Var):
            return self.values.get(var, None if var.set_up else var.initial[0])
        at = self.of(cell.index)
        if at is None or not 0 <= at < var.size or var.set_up:
            return None
        return var.initial[at]


class Coder:
    """Generates the functions of one process."""

    def __init__(
        self,
        layout: Layout,
        template: int,
        constants: Constants,
        around: Surroundings,
        channels: dict[int, Channel],
    ) -> None:
        self.layout, self.template, self.constants, self.around = layout, template, constants, around
        slot = constants.slot
        self.base = layout.base(slot) if slot is not None else 0
        self.frame = layout.frame_mask(slot, template) if slot is not None else 0
        self.channels = channels
        """The channels that the process is known to use, by id."""
        self._objects: list[object] = []
        self._functions: dict[Expr, Callable[[int], int]] = {}
        self._space: dict[str, Any] = {**_PROVIDED, "around": around, "objects": self._objects}

    # Expressions

    def function(self, expr: Expr) -> Callable[[int], int]:
        made = self._functions.get(expr)
        if made is None:
            made = self._functions[expr] = self._define("s", f"    return {self.expr(expr)}")
        return made

    def expr(self, expr: Expr) -> str:
        return source(expr, self._leaf)

    def _leaf(self, expr: Expr) -> str | None:
        known = self.constants.of(expr)
        if known is not None:
            return f"({known})" if known < 0 else str(known)
        match expr:
            case Var() | Select():
                return self._load(expr)
            case Ite(test=test, then=then, other=other) if then is ONE and other is ZERO:
                return self.expr(test)  # as bits, a boolean is a number
            case Binary(op="/" | "%", left=left, right=right):
                return f"{'floor' if expr.op == '/' else 'modulo'}({self.expr(left)}, {self.expr(right)})"
            case OfChannel(question=question, channel=channel):
                return _ASKED[question].format(c=self._channel(channel))
            case Poll(channel=channel, pattern=pattern, anywhere=anywhere):
                return f"(polled({self._channel(channel)}).find(s, {self._pattern(pattern)}, {anywhere}) >= 0)"
            case Population():
                return f"((s & {POPULATION}) >> {POPULATION_AT})"
            case Timeout():
                return "t"
            case NoProgress():
                return "around.no_progress(s)"
            case Enabled(pid=pid):
                return f"around.enabled(s, {self.expr(pid)})"
            case StandsAt(template=template, pid=pid, label=label):
                return f"around.stands_at(s, {template}, {self.expr(pid)}, {self._object(label)})"
            case Peek(template=template, pid=pid, variable=variable, index=index):
                at = "0" if index is None else self.expr(index)
                declared = self._object(self.layout.declared[variable])
                return f"around.peek(s, {template}, {self.expr(pid)}, {declared}, {at})"
            case _:
                return None

    def _first(self, var: Variable) -> int:
        return self.layout.of_var[var] + (self.base if var.local else 0)

    def _at(self, cell: Target) -> str:
        """The bit at which a cell begins."""
        var = self.layout.declared[variable_of(cell)]
        first, bits = self._first(var), var.bounded.bits
        if isinstance(cell, Var):
            return str(first)
        known = self.constants.of(cell.index)
        if known is not None and 0 <= known < var.size:
            return str(first + known * bits)
        return f"({first} + {bits} * index({self.expr(cell.index)}, {var.size}))"

    def _load(self, cell: Target) -> str:
        bounds = self.layout.declared[variable_of(cell)].bounded
        value = f"s >> {self._at(cell)} & {(1 << bounds.bits) - 1}"
        if bounds.signed:
            half = 1 << (bounds.bits - 1)
            return f"((({value}) ^ {half}) - {half})"
        return f"({value})"

    def _channel(self, channel: Expr) -> str:
        known = self.constants.of(channel)
        if known is not None and known in self.channels:
            return self._object(self.channels[known])
        return f"around.channel(s, {self.expr(channel)})"

    def _pattern(self, pattern: Sequence[Expr | None]) -> str:
        return _tuple(["None" if part is None else self.expr(part) for part in pattern])

    def _object(self, thing: object) -> str:
        self._objects.append(thing)
        return f"objects[{len(self._objects) - 1}]"

    # Edges

    def edge(self, edge: Edge) -> EdgeCode:
        guards = [self.expr(guard) for guard in edge.guards]
        rest = self._ops(edge.block) + self._go(edge)
        talk = edge.talk
        if talk is None:
            ready = self._define("s, t", f"    return bool({' and '.join(guards) or 'True'})")
            return EdgeCode(edge, ready, self._define("s", *rest, "    return s"))
        c = self._channel(talk.channel)
        channel = self._define("s", f"    return {c}")
        known = self.constants.of(talk.channel)
        fixed = self.channels.get(known) if known is not None else None
        candidates = (
            (fixed,) if fixed is not None else channels_named(talk.channel, self.channels, self.layout.declared)
        )
        if isinstance(talk, Send):
            values = _tuple([self.expr(value) for value in talk.values])
            return EdgeCode(
                edge,
                self._define(
                    "s, t",
                    f"    c = {f'buffered({c})' if talk.in_d_step else c}",
                    f"    return {' and '.join([*guards, 'c.length(s) < c.capacity'])}",
                ),
                self._define(
                    "s", f"    c = {c}", f"    s = c.send(s, {values}, {talk.ordered})", *rest, "    return s"
                ),
                channel,
                fixed,
                candidates,
                values=self._define("s", f"    return {c}.fits({values})"),
                accept=self._define("s, m", *rest, "    return s"),
            )
        pattern = self._pattern(talk.pattern)
        stores = [
            line
            for number, target in enumerate(talk.into)
            if target is not None
            for line in self._store(target, f"m[{number}]")
        ]
        find = f"c.find(s, {pattern}, {talk.anywhere})"
        return EdgeCode(
            edge,
            self._define("s, t", f"    c = {c}", f"    return {' and '.join([*guards, f'{find} >= 0'])}"),
            self._define(
                "s",
                f"    c = {c}",
                f"    s, m = c.take(s, {find}, {talk.keep})",
                *stores,
                *rest,
                "    return s",
            ),
            channel,
            fixed,
            candidates,
            wanted=self._define("s", f"    return {pattern}"),
            accept=self._define("s, m", *stores, *rest, "    return s"),
        )

    def _ops(self, block: Sequence[Op]) -> list[str]:
        lines: list[str] = []
        for number, op in enumerate(block):
            match op:
                case Assign(target=target, value=value):
                    lines += self._store(target, self.expr(value))
                case Spawn(template=template, copies=copies, into=into):
                    values = _tuple([self.expr(value) for _, value in copies])
                    lines.append(f"    p = (s & {POPULATION}) >> {POPULATION_AT}")
                    lines.append(f"    s = around.start(s, {template}, {values})")
                    if into is not None:
                        lines += self._store(into, "p")
                case Assert(test=test):
                    lines.append(f"    if not {self.expr(test)}: raise CheckFailed({number})")
                case Forget(variables=variables):
                    mask = 0
                    for var in map(self.layout.declared.__getitem__, variables):
                        mask |= (1 << var.bounded.bits * var.size) - 1 << self._first(var)
                    lines.append(f"    s &= {~mask:#x}")
                case Exit():
                    lines.append(f"    s = (s & {~self.frame:#x}) - {ONE_PROCESS}")
                case Print():
                    pass
        return lines

    def _store(self, target: Target, value: str) -> list[str]:
        var = self.layout.declared[variable_of(target)]
        bounds = var.bounded
        what = self._object(f"`{var.title}`")
        refuse = "outgrown" if bounds.exact else "wrapped"
        return [
            f"    v = {value}",
            f"    if not {bounds.low} <= v <= {bounds.high}: around.{refuse}({what})",
            f"    o = {self._at(target)}",
            f"    s ^= ((s >> o ^ v) & {(1 << bounds.bits) - 1}) << o",
        ]

    def _go(self, edge: Edge) -> list[str]:
        if edge.exits:
            return []
        at = self.base + self.layout.template_bits
        mask = (1 << self.layout.point_bits[self.template]) - 1
        return [f"    s ^= ((s >> {at} ^ {edge.target}) & {mask}) << {at}"]

    def _define(self, parameters: str, *lines: str) -> Any:
        text = "\n".join([f"def f({parameters}):", *lines])
        exec(compile(text, "<packed>", "exec"), self._space)
        return self._space.pop("f")


def channels_named(
    channel: Expr, known: Mapping[int, Channel], declared: Mapping[Var, Variable]
) -> tuple[Channel, ...] | None:
    """The channels that an expression may refer to, if it is a cell of an array that is never assigned to."""
    if isinstance(channel, Var | Select):
        var = declared[variable_of(channel)]
        if var.constant and not var.set_up and not var.local:
            return tuple(known[number] for number in var.initial if number in known) or None
    return None


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
