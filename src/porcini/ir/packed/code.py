"""The functions of one process, generated for where it stands in a state and for what never changes there.

A process is specialised by its number and the values of its constant parameters: so `fork[id]` is one cell, a
channel that was handed over is one channel, and an edge is a few shifts and masks. Source is generated when a
point is first reached. It holds numbers only, and names made of numbers: nothing of the model's text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from porcini.core.errors import InternalError
from porcini.ir.packed.layout import (
    ONE_PROCESS,
    POPULATION,
    POPULATION_AT,
    Channel,
    CheckFailed,
    Layout,
    RunError,
)
from porcini.ir.packed.program import (
    Apply,
    Ask,
    At,
    Check,
    Const,
    Die,
    Edge,
    Expr,
    Load,
    Op,
    Peek,
    Poll,
    Population,
    Quiet,
    Reset,
    Say,
    Self,
    Send,
    Start,
    Store,
    Var,
)


class Surroundings(Protocol):
    """What generated code asks of the state as a whole."""

    def channel(self, s: int, number: int) -> Channel: ...

    def start(self, s: int, template: int, args: tuple[int, ...]) -> int: ...

    def stands_at(self, s: int, template: int, pid: int, label: str) -> bool: ...

    def peek(self, s: int, template: int, pid: int, var: Var, index: int) -> int: ...

    def wrapped(self, what: str) -> None: ...


@dataclass(eq=False, slots=True)
class EdgeCode:
    """An edge's functions. Where it communicates, `channel` says on what; a rendezvous uses `values` of the
    sender, `wanted` and `accept` of the receiver."""

    edge: Edge
    ready: Callable[[int, bool], bool]
    apply: Callable[[int], int]
    channel: Callable[[int], Channel] | None = None
    fixed: Channel | None = None
    among: tuple[Channel, ...] | None = None
    """The channels that it may be: a cell of an array that nobody assigns to."""
    values: Callable[[int], tuple[int, ...]] | None = None
    wanted: Callable[[int], tuple[int | None, ...]] | None = None
    accept: Callable[[int, tuple[int, ...]], int] | None = None


class Constants:
    """What is known of expressions in one process, whatever the state."""

    def __init__(self, slot: int | None, values: Mapping[Var, int]) -> None:
        self.slot = slot
        self.values = values

    def of(self, expr: Expr) -> int | None:
        match expr:
            case Const(value=value):
                return value
            case Self():
                return self.slot
            case Load(var=var, index=index):
                return self._of_var(var, index)
            case Apply(op=op, args=args):
                values = [self.of(arg) for arg in args]
                if None in values:
                    return None
                try:
                    return int(_FOLDED[op](*values))
                except (RunError, KeyError):
                    return None
            case _:
                return None

    def _of_var(self, var: Var, index: Expr | None) -> int | None:
        if not var.constant:
            return None
        if index is None:
            return self.values.get(var, None if var.set_up else var.initial[0])
        at = self.of(index)
        if at is None or not 0 <= at < var.size or var.set_up:
            return None
        return var.initial[at]


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise RunError("division by zero")
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _remainder(a: int, b: int) -> int:
    if b == 0:
        raise RunError("division by zero")
    return a - b * _divide(a, b)


def _shift_left(a: int, b: int) -> int:
    if not 0 <= b < 32:
        raise RunError(f"a shift by {b}")
    return ((a << b & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def _shift_right(a: int, b: int) -> int:
    if not 0 <= b < 32:
        raise RunError(f"a shift by {b}")
    return a >> b


def _index(i: int, size: int) -> int:
    if not 0 <= i < size:
        raise RunError(f"array index {i} is out of range: the array has {size} cells")
    return i


_FOLDED: dict[str, Callable[..., int]] = {
    "!": lambda a: not a,
    "~": lambda a: ~a,
    "neg": lambda a: -a,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": _remainder,
    "<<": _shift_left,
    ">>": _shift_right,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
    "|": lambda a, b: a | b,
    "&&": lambda a, b: bool(a and b),
    "||": lambda a, b: bool(a or b),
    "?:": lambda a, b, c: b if a else c,
    "check": _index,
}
_CALLED = {"/": "div", "%": "mod", "<<": "shl", ">>": "shr", "check": "ix"}


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
        """Those that the process is known to use, by id."""
        self._objects: list[object] = []
        self._space: dict[str, Any] = {
            "div": _divide,
            "mod": _remainder,
            "shl": _shift_left,
            "shr": _shift_right,
            "ix": _index,
            "around": around,
            "CheckFailed": CheckFailed,
            "objects": self._objects,
        }

    # Expressions

    def function(self, expr: Expr) -> Callable[[int], int]:
        made: Callable[[int], int] = self._define("s", f"    return {self.expr(expr)}")
        return made

    def expr(self, expr: Expr) -> str:
        known = self.constants.of(expr)
        if known is not None:
            return f"({known})" if known < 0 else str(known)
        match expr:
            case Load(var=var, index=index):
                return self._load(var, index)
            case Apply(op=op, args=args):
                return self._apply(op, [self.expr(arg) for arg in args])
            case Ask(what=what, channel=channel):
                c = self._channel(channel)
                length = f"{c}.length(s)"
                full = f"({length} >= {c}.capacity)"
                return {
                    "len": length,
                    "empty": f"(not {length})",
                    "nempty": f"({length} > 0)",
                    "full": full,
                    "nfull": f"(not {full})",
                }[what]
            case Poll(channel=channel, pattern=pattern, anywhere=anywhere):
                return f"({self._channel(channel)}.find(s, {self._pattern(pattern)}, {anywhere}) >= 0)"
            case Population():
                return f"((s & {POPULATION}) >> {POPULATION_AT})"
            case Quiet():
                return "t"
            case At(template=template, pid=pid, label=label):
                return f"around.stands_at(s, {template}, {self.expr(pid)}, {self._object(label)})"
            case Peek(template=template, pid=pid, var=var, index=index):
                at = "0" if index is None else self.expr(index)
                return f"around.peek(s, {template}, {self.expr(pid)}, {self._object(var)}, {at})"
        raise InternalError(f"no code for {expr}")

    def _apply(self, op: str, args: list[str]) -> str:
        if op in _CALLED:
            return f"{_CALLED[op]}({', '.join(args)})"
        match op, args:
            case "!", [a]:
                return f"(not {a})"
            case "~", [a]:
                return f"(~{a})"
            case "neg", [a]:
                return f"(-{a})"
            case "&&", [a, b]:
                return f"bool({a} and {b})"
            case "||", [a, b]:
                return f"bool({a} or {b})"
            case "?:", [a, b, c]:
                return f"({b} if {a} else {c})"
            case _, [a, b]:
                return f"({a} {op} {b})"
        raise InternalError(f"no operator {op}")

    def _at(self, var: Var, index: Expr | None) -> str:
        """The bit at which a cell begins."""
        first = self.layout.of_var[var] + (self.base if var.local else 0)
        if index is None:
            return str(first)
        known = self.constants.of(index)
        if known is not None and 0 <= known < var.size:
            return str(first + known * var.bits)
        return f"({first} + {var.bits} * ix({self.expr(index)}, {var.size}))"

    def _load(self, var: Var, index: Expr | None) -> str:
        value = f"s >> {self._at(var, index)} & {(1 << var.bits) - 1}"
        if var.signed:
            half = 1 << (var.bits - 1)
            return f"((({value}) ^ {half}) - {half})"
        return f"({value})"

    def _channel(self, channel: Expr) -> str:
        known = self.constants.of(channel)
        if known is not None and known in self.channels:
            return self._object(self.channels[known])
        return f"around.channel(s, {self.expr(channel)})"

    def _among(self, channel: Expr) -> tuple[Channel, ...] | None:
        return among(channel, self.channels)

    def _pattern(self, pattern: Sequence[Expr | None]) -> str:
        return _tuple(["None" if part is None else self.expr(part) for part in pattern])

    def _object(self, thing: object) -> str:
        self._objects.append(thing)
        return f"objects[{len(self._objects) - 1}]"

    # Edges

    def edge(self, edge: Edge) -> EdgeCode:
        guards = [self.expr(guard) for guard in edge.guards]
        rest = self._ops(edge.ops) + self._go(edge)
        talk = edge.talk
        if talk is None:
            ready = self._define("s, t", f"    return bool({' and '.join(guards) or 'True'})")
            return EdgeCode(edge, ready, self._define("s", *rest, "    return s"))
        c = self._channel(talk.channel)
        channel = self._define("s", f"    return {c}")
        known = self.constants.of(talk.channel)
        fixed = self.channels.get(known) if known is not None else None
        among = (fixed,) if fixed is not None else self._among(talk.channel)
        if isinstance(talk, Send):
            values = _tuple([self.expr(value) for value in talk.values])
            return EdgeCode(
                edge,
                self._define(
                    "s, t",
                    f"    c = {c}",
                    f"    return {' and '.join([*guards, 'c.length(s) < c.capacity'])}",
                ),
                self._define(
                    "s", f"    c = {c}", f"    s = c.send(s, {values}, {talk.ordered})", *rest, "    return s"
                ),
                channel,
                fixed,
                among,
                values=self._define("s", f"    return {c}.fits({values})"),
                accept=self._define("s, m", *rest, "    return s"),
            )
        pattern = self._pattern(talk.pattern)
        stores = [
            line
            for number, load in enumerate(talk.into)
            if load is not None
            for line in self._store(load.var, load.index, f"m[{number}]")
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
            among,
            wanted=self._define("s", f"    return {pattern}"),
            accept=self._define("s, m", *stores, *rest, "    return s"),
        )

    def _ops(self, ops: Sequence[Op]) -> list[str]:
        lines: list[str] = []
        for number, op in enumerate(ops):
            match op:
                case Store(var=var, index=index, value=value):
                    lines += self._store(var, index, self.expr(value))
                case Start(template=template, args=args, into=into):
                    values = _tuple([self.expr(arg) for arg in args])
                    lines.append(f"    p = (s & {POPULATION}) >> {POPULATION_AT}")
                    lines.append(f"    s = around.start(s, {template}, {values})")
                    if into is not None:
                        lines += self._store(into.var, into.index, "p")
                case Check(test=test):
                    lines.append(f"    if not {self.expr(test)}: raise CheckFailed({number})")
                case Reset(vars=vars_):
                    mask = 0
                    for var in vars_:
                        mask |= (1 << var.bits * var.size) - 1 << self.base + self.layout.of_var[var]
                    lines.append(f"    s &= {~mask}")
                case Die():
                    lines.append(f"    s = (s & {~self.frame}) - {ONE_PROCESS}")
                case Say():
                    pass
        return lines

    def _store(self, var: Var, index: Expr | None, value: str) -> list[str]:
        what = self._object(f"`{var.name}`")
        return [
            f"    v = {value}",
            f"    if not {var.low} <= v <= {var.high}: around.wrapped({what})",
            f"    o = {self._at(var, index)}",
            f"    s ^= ((s >> o ^ v) & {(1 << var.bits) - 1}) << o",
        ]

    def _go(self, edge: Edge) -> list[str]:
        if any(isinstance(op, Die) for op in edge.ops):
            return []
        at = self.base + self.layout.template_bits
        mask = (1 << self.layout.point_bits[self.template]) - 1
        return [f"    s ^= ((s >> {at} ^ {edge.target}) & {mask}) << {at}"]

    def _define(self, parameters: str, *lines: str) -> Any:
        source = "\n".join([f"def f({parameters}):", *lines])
        exec(compile(source, "<packed>", "exec"), self._space)
        return self._space.pop("f")


def among(channel: Expr, known: Mapping[int, Channel]) -> tuple[Channel, ...] | None:
    """The channels that an expression may name, if it is a cell of an array of them that nobody assigns to."""
    if isinstance(channel, Load) and channel.var.constant and not channel.var.set_up and not channel.var.local:
        return tuple(known[number] for number in channel.var.initial if number in known) or None
    return None


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
