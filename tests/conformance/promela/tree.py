"""Promela models as trees: what the generator makes, what is made smaller, what the judge runs, and their text.

The trees cover what the random models need, and no more. Nothing here is taken from Porcini's own parser: a model
reaches Porcini, and SPIN, as text only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, is_dataclass
from typing import Any

from conformance.trees import parts

INDENT = "  "


@dataclass(frozen=True, slots=True)
class Num:
    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, a parameter, a constant of type mtype, `_pid`, `_nr_pr` or `timeout`."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Cell:
    array: str
    index: Expression

    def __str__(self) -> str:
        return f"{self.array}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Op:
    operator: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"({self.left} {self.operator} {self.right})"


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expression

    def __str__(self) -> str:
        return f"(!{self.operand})"


@dataclass(frozen=True, slots=True)
class End:
    """A channel, or one of an array of channels."""

    name: str
    index: Expression | None = None

    def __str__(self) -> str:
        return self.name if self.index is None else f"{self.name}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Measure:
    """`len`, `empty`, `nempty`, `full` or `nfull` of a channel."""

    what: str
    channel: End

    def __str__(self) -> str:
        return f"{self.what}({self.channel})"


@dataclass(frozen=True, slots=True)
class Eval:
    """In a receive: what comes must be equal to this."""

    value: Expression

    def __str__(self) -> str:
        return f"eval({self.value})"


@dataclass(frozen=True, slots=True)
class Any_:
    """In a receive: whatever comes, and it is forgotten."""

    def __str__(self) -> str:
        return "_"


@dataclass(frozen=True, slots=True)
class Poll:
    """Could this be received now?"""

    channel: End
    patterns: tuple[Pattern, ...]
    anywhere: bool = False

    def __str__(self) -> str:
        return f"{self.channel}{'??' if self.anywhere else '?'}[{_commas(self.patterns)}]"


Place = Name | Cell
Expression = Num | Name | Cell | Op | Not | Measure | Poll
Pattern = Num | Name | Cell | Eval | Any_


class Statement:
    """A statement. A simple one is written by `str`, one with blocks in it by `lines`."""

    __slots__ = ()

    def lines(self) -> list[str]:
        return [str(self)]


Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Skip(Statement):
    def __str__(self) -> str:
        return "skip"


@dataclass(frozen=True, slots=True)
class Guard(Statement):
    condition: Expression

    def __str__(self) -> str:
        return str(self.condition)


@dataclass(frozen=True, slots=True)
class Assert(Statement):
    condition: Expression

    def __str__(self) -> str:
        return f"assert({self.condition})"


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    place: Place
    value: Expression

    def __str__(self) -> str:
        return f"{self.place} = {self.value}"


@dataclass(frozen=True, slots=True)
class Select(Statement):
    """Any value from `low` to `high`, for a variable of the process."""

    place: Name
    low: int
    high: int

    def __str__(self) -> str:
        return f"select({self.place} : {self.low} .. {self.high})"


@dataclass(frozen=True, slots=True)
class Send(Statement):
    channel: End
    values: tuple[Expression, ...]
    in_order: bool = False
    """`!!`: before the first message that is larger"""

    def __str__(self) -> str:
        return f"{self.channel}{'!!' if self.in_order else '!'}{_commas(self.values)}"


@dataclass(frozen=True, slots=True)
class Receive(Statement):
    channel: End
    patterns: tuple[Pattern, ...]
    anywhere: bool = False
    """`??`: the first message that matches, not the first of all"""
    keep: bool = False
    """the message stays in the channel"""

    def __str__(self) -> str:
        wanted = _commas(self.patterns)
        return f"{self.channel}{'??' if self.anywhere else '?'}{f'<{wanted}>' if self.keep else wanted}"


@dataclass(frozen=True, slots=True)
class Run(Statement):
    proctype: str
    arguments: tuple[Expression, ...] = ()
    into: Name | None = None

    def __str__(self) -> str:
        call = f"run {self.proctype}({_commas(self.arguments)})"
        return call if self.into is None else f"{self.into} = {call}"


@dataclass(frozen=True, slots=True)
class Else(Statement):
    def __str__(self) -> str:
        return "else"


@dataclass(frozen=True, slots=True)
class Break(Statement):
    def __str__(self) -> str:
        return "break"


@dataclass(frozen=True, slots=True)
class Goto(Statement):
    label: str

    def __str__(self) -> str:
        return f"goto {self.label}"


@dataclass(frozen=True, slots=True)
class Labelled(Statement):
    label: str
    statement: Statement

    def lines(self) -> list[str]:
        return [f"{self.label}:", *self.statement.lines()]


@dataclass(frozen=True, slots=True)
class If(Statement):
    options: tuple[Block, ...]

    def lines(self) -> list[str]:
        return ["if", *_options(self.options), "fi"]


@dataclass(frozen=True, slots=True)
class Do(Statement):
    options: tuple[Block, ...]

    def lines(self) -> list[str]:
        return ["do", *_options(self.options), "od"]


@dataclass(frozen=True, slots=True)
class Atomic(Statement):
    body: Block

    def lines(self) -> list[str]:
        return ["atomic {", *_indented(block_lines(self.body)), "}"]


@dataclass(frozen=True, slots=True)
class DStep(Statement):
    body: Block

    def lines(self) -> list[str]:
        return ["d_step {", *_indented(block_lines(self.body)), "}"]


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    type: str = "byte"
    size: int | None = None
    initial: int = 0

    def __str__(self) -> str:
        cells = "" if self.size is None else f"[{self.size}]"
        return f"{self.type} {self.name}{cells}" + (f" = {self.initial}" if self.initial else "")


@dataclass(frozen=True, slots=True)
class Channel:
    name: str
    capacity: int
    types: tuple[str, ...] = ("byte",)
    size: int | None = None

    def __str__(self) -> str:
        cells = "" if self.size is None else f"[{self.size}]"
        return f"chan {self.name}{cells} = [{self.capacity}] of {{ {', '.join(self.types)} }}"


@dataclass(frozen=True, slots=True)
class Proctype:
    name: str
    body: Block
    active: int = 1
    """how many there are at the start"""
    parameters: tuple[Variable, ...] = ()
    variables: tuple[Variable, ...] = ()

    def lines(self) -> list[str]:
        how_many = {0: "", 1: "active "}.get(self.active, f"active [{self.active}] ")
        head = f"{how_many}proctype {self.name}({'; '.join(map(str, self.parameters))}) {{"
        return [head, *(f"{INDENT}{v};" for v in self.variables), *_indented(block_lines(self.body)), "}"]


@dataclass(frozen=True, slots=True)
class Model:
    variables: tuple[Variable, ...]
    channels: tuple[Channel, ...]
    proctypes: tuple[Proctype, ...]
    constants: tuple[str, ...] = field(default=())
    """of type mtype"""

    def text(self) -> str:
        lines = [f"mtype = {{ {', '.join(self.constants)} }};"] if self.constants else []
        lines += [f"{each};" for each in (*self.variables, *self.channels)]
        for proctype in self.proctypes:
            lines += proctype.lines()
        return "\n".join(lines) + "\n"


def block_lines(block: Block) -> list[str]:
    """The statements of a block, with semicolons between them."""
    lines: list[str] = []
    for index, statement in enumerate(block):
        lines += statement.lines()
        if index < len(block) - 1:
            lines[-1] += ";"
    return lines


def nodes(tree: Any) -> Iterator[Any]:
    """A tree and all that is in it, without tuples and names."""
    return (part for part in parts(tree) if is_dataclass(part))


def _commas(items: tuple[Any, ...]) -> str:
    return ",".join(map(str, items))


def _indented(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]


def _options(options: tuple[Block, ...]) -> list[str]:
    lines: list[str] = []
    for option in options:
        first, *others = block_lines(option)
        lines += [f":: {first}", *(f"   {line}" for line in others)]
    return lines
