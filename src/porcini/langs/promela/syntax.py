"""Promela as the parser gives it: macros and inlines expanded, names not yet resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from porcini.core.errors import Place

MOST_PRIORITY = 255

# Expressions


@dataclass(frozen=True, slots=True)
class Number:
    """A literal; `true` and `skip` are 1, `false` is 0, `'a'` is a character's code."""

    place: Place
    value: int


@dataclass(frozen=True, slots=True)
class Ref:
    """A variable, `a[i]`, `s.x`, or a predefined name such as `_pid`, `_nr_pr`, `_`."""

    place: Place
    name: str
    index: Expr | None = None
    field: Ref | None = None


@dataclass(frozen=True, slots=True)
class Unary:
    place: Place
    op: Literal["!", "-", "~"]
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """`place` is the operator's."""

    place: Place
    op: str  # + - * / % << >> < <= > >= == != & ^ | && ||
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    """`(test -> then : otherwise)`."""

    place: Place
    test: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Asked:
    """`len(c)`, `empty(c)`, `full(c)`, `nempty(c)`, `nfull(c)`."""

    place: Place
    what: Literal["len", "empty", "full", "nempty", "nfull"]
    channel: Ref


@dataclass(frozen=True, slots=True)
class Eval:
    """`eval(e)`, in a receive only: the message must hold this value."""

    place: Place
    operand: Expr


@dataclass(frozen=True, slots=True)
class Poll:
    """`c?[x, 3]` and `c??[x, 3]`: could it be received? Changes nothing."""

    place: Place
    channel: Ref
    args: tuple[Expr, ...]
    anywhere: bool


@dataclass(frozen=True, slots=True)
class Run:
    place: Place
    proctype: str
    args: tuple[Expr, ...]
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class Enabled:
    """`enabled(pid)`."""

    place: Place
    pid: Expr


@dataclass(frozen=True, slots=True)
class Priority:
    """`get_priority(pid)`."""

    place: Place
    pid: Expr


@dataclass(frozen=True, slots=True)
class NoProgress:
    """`np_`."""

    place: Place


@dataclass(frozen=True, slots=True)
class AtLabel:
    """`p[i]@label`; the index is None where there is only one instance."""

    place: Place
    proctype: str
    index: Expr | None
    label: str


@dataclass(frozen=True, slots=True)
class Remote:
    """`p[i]:x`."""

    place: Place
    proctype: str
    index: Expr | None
    variable: Ref


@dataclass(frozen=True, slots=True)
class Timeout:
    place: Place


Expr = (
    Number | Ref | Unary | Binary | Conditional | Asked | Eval | Poll | Run | AtLabel | Remote | Timeout | Enabled
    | Priority | NoProgress
)  # fmt: skip

# Declarations


@dataclass(frozen=True, slots=True)
class ChannelInit:
    """`[capacity] of { types }`; the types are names: `byte`, `mtype`, `chan`, a typedef's."""

    place: Place
    capacity: int
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """`{ 1, 2, 3 }`: initial values of the cells of an array."""

    place: Place
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """One declared variable. `type` is `bit bool byte short int unsigned mtype chan pid`, a typedef's name, or
    `mtype:fruit`."""

    place: Place
    type: str
    name: str
    size: Expr | None = None
    """Of an array; an expression that must be constant."""
    initial: Expr | ChannelInit | Values | None = None
    width: int | None = None
    """Of `unsigned x : 5`."""


# Statements


@dataclass(frozen=True, slots=True)
class Declare:
    """Declarations among statements; they take no step of their own unless they have an initial value."""

    place: Place
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """`x = e`; `x++` and `x--` come as `x = x + 1` and `x = x - 1`."""

    place: Place
    target: Ref
    value: Expr


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression as a statement: it waits until it is true. `skip` is the condition 1."""

    place: Place
    test: Expr


@dataclass(frozen=True, slots=True)
class Send:
    """`c!x, 3` and `c!!x, 3`; `c!m(x)` is `c!m, x`."""

    place: Place
    channel: Ref
    args: tuple[Expr, ...]
    sorted: bool = False


@dataclass(frozen=True, slots=True)
class Receive:
    """`c?x, 3`, `c??x, 3`, `c?<x>`. An argument is a `Ref` (stored, `_` dropped; an mtype's name is a constant),
    `Eval`, or a constant to match."""

    place: Place
    channel: Ref
    args: tuple[Expr, ...]
    anywhere: bool = False
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Assert:
    place: Place
    test: Expr


@dataclass(frozen=True, slots=True)
class Print:
    """`printf("...", args)` and `printm(e)`."""

    place: Place
    text: str
    args: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Goto:
    place: Place
    label: str


@dataclass(frozen=True, slots=True)
class Break:
    place: Place


@dataclass(frozen=True, slots=True)
class Fi:
    """The end of an `if`, where it is a step: nobody writes it."""

    place: Place


@dataclass(frozen=True, slots=True)
class Else:
    """`else`, the first statement of an option."""

    place: Place


@dataclass(frozen=True, slots=True)
class Labelled:
    place: Place
    label: str
    body: Statement


@dataclass(frozen=True, slots=True)
class Choose:
    """`if ... fi`, or `do ... od` when `loops`."""

    place: Place
    options: tuple[Block, ...]
    loops: bool
    made_of_for: bool = False


@dataclass(frozen=True, slots=True)
class Unless:
    """`main unless escape`: wherever `main` stands, `escape` goes first if it can begin, and takes its place."""

    place: Place
    main: Statement
    escape: Statement


@dataclass(frozen=True, slots=True)
class For:
    """`for (i : low .. high) { body }`; `for (i in a)` has the array instead of bounds."""

    place: Place
    variable: Ref
    low: Expr | None
    high: Expr | None
    array: Ref | None
    body: Block


@dataclass(frozen=True, slots=True)
class Select:
    """`select (i : low .. high)`, unless the bounds are numbers as they stand (`inlines`)."""

    place: Place
    variable: Ref
    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class SetPriority:
    """`set_priority(pid, value)`; `_priority = value` has no pid."""

    place: Place
    pid: Expr | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Block:
    """`{ ... }`, an option, or a body; `kind` says whether it is atomic."""

    place: Place
    statements: tuple[Statement, ...]
    kind: Literal["plain", "atomic", "d_step"] = "plain"


@dataclass(frozen=True, slots=True)
class Exclusive:
    """`xr c, d` and `xs c`: only this process receives from, or sends to, these channels."""

    place: Place
    what: Literal["xr", "xs"]
    channels: tuple[Ref, ...]


Statement = (
    Declare | Assign | Condition | Send | Receive | Assert | Print | Goto | Break | Fi | Else | Labelled | Choose
    | Unless | For | Select | SetPriority | Block | Exclusive
)  # fmt: skip

# Programs


@dataclass(frozen=True, slots=True)
class Mtypes:
    """`mtype = { a, b }`; `type` is `mtype`, or `mtype:fruit` for a set of names of its own."""

    place: Place
    type: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Typedef:
    place: Place
    name: str
    fields: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Proctype:
    """A proctype, or `init` (of that name, `active` 1). `active` is the number of instances at the start."""

    place: Place
    name: str
    parameters: tuple[Variable, ...]
    body: Block
    active: Expr | None
    end: Place
    """Of the closing brace."""
    provided: Expr | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class Ltl:
    """`ltl name { formula }`: the text of the formula, macros expanded, and where it begins."""

    place: Place
    name: str
    formula: str


@dataclass(frozen=True, slots=True)
class Never:
    place: Place
    name: str | None
    body: Block


@dataclass(frozen=True, slots=True)
class EventTrace:
    """`trace { ... }`, or `notrace` if it is `negated`."""

    place: Place
    negated: bool
    body: Block


@dataclass(frozen=True, slots=True)
class Program:
    mtypes: tuple[Mtypes, ...]
    typedefs: tuple[Typedef, ...]
    variables: tuple[Variable, ...]
    proctypes: tuple[Proctype, ...]
    formulas: tuple[Ltl, ...] = ()
    nevers: tuple[Never, ...] = ()
    traces: tuple[EventTrace, ...] = ()
    independent: tuple[tuple[str, str, Place], ...] = field(default=())
    """`//@ independent a b`: two names (variables or channels) whose users need not be ordered."""
    asked_labels: frozenset[str] = frozenset()
    """Those after an `@`, wherever: `P@here`."""
    words: frozenset[str] = frozenset()
    """All words that it is written with."""
