"""Program graphs over bounded variables and channels: what Promela is lowered to.

A template is a kind of process: points, and edges from point to point. An edge may be taken when all of its guards
are true and its communication, if it has one, can happen; then its operations are carried out. Values are whole
numbers: a variable says how many bits it has, and storing wraps around. A channel is named by a number, its id.

    atomic   after this edge the process keeps the turn: it is inside `atomic`
    d_step   after this edge it goes on at once, within the same step: it is inside `d_step`

A process that has reached `Template.end` is gone once all processes that
came after it are (as in SPIN).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from porcini.core.errors import Place

MOST_PROCESSES = 255


@dataclass(eq=False, slots=True)
class Var:
    """A variable or an array. `constant` once it is known that nothing ever assigns to it."""

    name: str
    bits: int
    signed: bool = False
    size: int = 1
    array: bool = False
    local: bool = False
    kind: str = "int"
    """For printing: `int`, `bool`, `mtype`, `chan`."""
    initial: tuple[int, ...] = (0,)
    sizes: tuple[int, ...] = ()
    """Of an array in arrays, the outermost first."""
    constant: bool = True
    set_up: bool = False
    """It gets its first value when its process starts: a parameter, or an initial value that is worked out."""
    remote: bool = False
    """Another process may look at it."""

    @property
    def low(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.bits - self.signed)) - 1

    def __repr__(self) -> str:
        return f"Var({self.name})"


# Expressions


@dataclass(frozen=True, slots=True)
class Const:
    value: int


@dataclass(frozen=True, slots=True)
class Load:
    """A variable's value, or that of an array's cell."""

    var: Var
    index: Expr | None = None


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator of C: `! ~ neg`, `+ - * / % << >> < <= > >= == != & ^ | && ||`, `?:`, and `check`: an index with
    its bound."""

    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """`len`, `empty`, `full`, `nempty` or `nfull` of a channel."""

    what: str
    channel: Expr


@dataclass(frozen=True, slots=True)
class Poll:
    """Could this message be received now?"""

    channel: Expr
    pattern: tuple[Expr | None, ...]
    anywhere: bool


@dataclass(frozen=True, slots=True)
class Self:
    """`_pid`."""


@dataclass(frozen=True, slots=True)
class Population:
    """`_nr_pr`: how many processes there are."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """`timeout`: nothing else can be done anywhere."""


@dataclass(frozen=True, slots=True)
class At:
    """Does process `pid` of this template stand at one of these points?"""

    template: int
    pid: Expr
    label: str


@dataclass(frozen=True, slots=True)
class Peek:
    """A private variable of another process."""

    template: int
    pid: Expr
    var: Var
    index: Expr | None = None


Expr = Const | Load | Apply | Ask | Poll | Self | Population | Quiet | At | Peek
TRUE, FALSE = Const(1), Const(0)


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Load(index=index):
            return () if index is None else (index,)
        case Apply(args=args):
            return args
        case Ask(channel=channel):
            return (channel,)
        case Poll(channel=channel, pattern=pattern):
            return (channel, *(part for part in pattern if part is not None))
        case At(pid=pid):
            return (pid,)
        case Peek(pid=pid, index=index):
            return (pid,) if index is None else (pid, index)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """An expression and all of its parts."""
    yield expr
    for child in children(expr):
        yield from walk(child)


# Operations


@dataclass(frozen=True, slots=True)
class Store:
    var: Var
    index: Expr | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Start:
    """Start a process; its number goes into `into`, if anywhere."""

    template: int
    args: tuple[Expr, ...]
    into: Load | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """If it is false, the process fails here."""

    test: Expr
    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """`printf`: it has no effect on the state."""

    text: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Reset:
    """These will be assigned before they are read again: what they hold makes no difference."""

    vars: tuple[Var, ...]


@dataclass(frozen=True, slots=True)
class Die:
    """The process is gone."""


Op = Store | Start | Check | Say | Reset | Die


@dataclass(frozen=True, slots=True)
class Send:
    """Append a message, or insert it where it belongs by its value (`ordered`)."""

    channel: Expr
    values: tuple[Expr, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Receive:
    """Take the first message, or the first that fits (`anywhere`); `keep` leaves it there. A part of the pattern
    is an expression to match, a `Load` with `into`, or None: anything."""

    channel: Expr
    pattern: tuple[Expr | None, ...]
    into: tuple[Load | None, ...]
    anywhere: bool = False
    keep: bool = False


@dataclass(eq=False, slots=True)
class Edge:
    guards: tuple[Expr, ...]
    ops: tuple[Op, ...]
    target: int
    place: Place
    text: str
    choice: int
    talk: Send | Receive | None = None
    otherwise: bool = False
    """`else`: when none of the other edges of its family, the last one, can be taken."""
    families: tuple[int, ...] = ()
    """The selections that it is an option of, the outermost first."""
    atomic: bool = False
    d_step: bool = False
    parts: tuple[Edge, ...] = ()
    """The edges as they were written, if this one was made of others."""


def rivals(edge: Edge, edges: Iterable[Edge]) -> list[Edge]:
    """The edges that keep an `else` from being taken."""
    return [other for other in edges if other is not edge and edge.families[-1] in other.families]


@dataclass(eq=False, slots=True)
class Point:
    place: Place
    edges: list[Edge] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ChannelType:
    """`capacity` 0 is a rendezvous. Fields are (bits, signed, kind)."""

    name: str
    capacity: int
    fields: tuple[tuple[int, bool, str], ...]

    @property
    def message_bits(self) -> int:
        return sum(bits for bits, _, _ in self.fields)


@dataclass(eq=False, slots=True)
class Template:
    """A kind of process. Its own channels are made with it; `channel_vars` says which cells name them at first."""

    name: str
    place: Place
    parameters: list[Var] = field(default_factory=list)
    variables: list[Var] = field(default_factory=list)
    """Parameters first."""
    channels: list[ChannelType] = field(default_factory=list)
    channel_cells: list[tuple[Var, int]] = field(default_factory=list)
    """For each own channel, the cell that is its name at first."""
    setup: list[tuple[Var, Expr]] = field(default_factory=list)
    """Values that are worked out when a process starts."""
    points: list[Point] = field(default_factory=list)
    entry: int = 0
    end: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    starts: set[int] = field(default_factory=set)
    """The templates that it may start."""


@dataclass(eq=False, slots=True)
class Program:
    """Initial processes are 0, 1, 2, ... of these templates."""

    globals: list[Var]
    channels: list[ChannelType]
    """Of ids 1, 2, 3, ..."""
    templates: list[Template]
    initial: list[int]
    mtypes: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    unordered: list[Var | int] = field(default_factory=list)
    """The model's own word: variables and shared channels (by id) whose users need not be ordered."""
    strangers: list[tuple[int, int]] = field(default_factory=list)
    """The same for all that processes of two templates do."""


def expressions(edge: Edge) -> Iterator[Expr]:
    """All that an edge evaluates, whole expressions only."""
    yield from edge.guards
    match edge.talk:
        case Send(channel=channel, values=values):
            yield channel
            yield from values
        case Receive(channel=channel, pattern=pattern, into=into):
            yield channel
            yield from (part for part in pattern if part is not None)
            yield from (load.index for load in into if load is not None and load.index is not None)
    for op in edge.ops:
        match op:
            case Store(index=index, value=value):
                yield value
                if index is not None:
                    yield index
            case Start(args=args, into=target):
                yield from args
                if target is not None and target.index is not None:
                    yield target.index
            case Check(test=test):
                yield test
            case Say(args=args):
                yield from args


def assigned(edge: Edge) -> Iterator[tuple[Var, Expr | None]]:
    """The variables that an edge stores into, with the index of a cell."""
    if isinstance(edge.talk, Receive):
        yield from ((load.var, load.index) for load in edge.talk.into if load is not None)
    for op in edge.ops:
        match op:
            case Store(var=var, index=index):
                yield var, index
            case Start(into=Load(var=var, index=index)):
                yield var, index
            case Reset(vars=vars_):
                yield from ((var, None) for var in vars_)
