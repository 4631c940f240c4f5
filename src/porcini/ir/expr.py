"""One immutable typed expression tree for every language.

Nodes are interned: two equal expressions are the same object, so equality is identity, hashing is free,
and whatever walks an expression can remember what it has seen. Build nodes with the functions below,
never with the classes.

Their values are defined in `evaluation`. The last nodes depend on more of a state than its variables: on the
process that evaluates them, on channels, on other processes. Only a machine that runs programs can evaluate these.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

from porcini.core.systems import Scalar

ScalarType = Literal["int", "bool"]


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A fixed number of cells of one scalar type."""

    cell: ScalarType
    size: int

    def __str__(self) -> str:
        return f"array of {self.size} {self.cell}"


@dataclass(frozen=True, slots=True)
class DataType:
    """Values that are opaque to the solver: lists, references, what a language defines."""

    name: str

    def __str__(self) -> str:
        return self.name


Type = ScalarType | ArrayType | DataType
Arithmetic = Literal["+", "-", "*", "/", "%", "quot", "rem", "<<", ">>", "&", "^", "|"]
Comparison = Literal["==", "!=", "<", "<=", ">", ">="]
BinaryOp = Arithmetic | Comparison
COMPARISONS: frozenset[str] = frozenset({"==", "!=", "<", "<=", ">", ">="})
PARTIAL: frozenset[str] = frozenset({"/", "%", "quot", "rem", "<<", ">>"})
"""Operators that have no value for some operands."""
WORD = 32
"""The bits of a number that is shifted, as in C."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Expr:
    """A node; `depth` and `size` are those of its tree, `digest` is a hash of its structure."""

    type: Type
    depth: int
    size: int
    digest: int

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Const(Expr):
    value: Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Datum(Expr):
    """A value of a data type: hashable, and opaque."""

    value: Hashable


@dataclass(frozen=True, slots=True, eq=False)
class Var(Expr):
    """A location. A name that starts with a dot is private to the process that evaluates it; one that starts
    with an @ is a field of the object whose code evaluates it.
    """

    name: str

    @property
    def private(self) -> bool:
        return self.name.startswith(".")

    @property
    def own(self) -> bool:
        return self.name.startswith("@")


@dataclass(frozen=True, slots=True, eq=False)
class Select(Expr):
    """The cell of an array at an index."""

    array: Expr
    index: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.array, self.index)


@dataclass(frozen=True, slots=True, eq=False)
class Store(Expr):
    """An array with one cell replaced; it occurs only in weakest preconditions."""

    array: Expr
    index: Expr
    value: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.array, self.index, self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Not(Expr):
    arg: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.arg,)


@dataclass(frozen=True, slots=True, eq=False)
class Neg(Expr):
    arg: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.arg,)


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Expr):
    op: BinaryOp
    left: Expr
    right: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class Junction(Expr):
    """`and` or `or` of two or more, evaluated left to right, stopping early."""

    op: Literal["and", "or"]
    args: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args


@dataclass(frozen=True, slots=True, eq=False)
class Ite(Expr):
    test: Expr
    then: Expr
    other: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.test, self.then, self.other)


@dataclass(frozen=True, slots=True, eq=False)
class Apply(Expr):
    """A function of the language applied to values. It reads nothing else, and may fail."""

    function: str
    args: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args


@dataclass(frozen=True, slots=True, eq=False)
class Let(Expr):
    """`body`, in which a private variable stands for a value that is computed once."""

    name: Var
    value: Expr
    body: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.name, self.value, self.body)


@dataclass(frozen=True, slots=True, eq=False)
class Checked(Expr):
    """An index that must be at least 0 and less than `bound`: it belongs to one dimension of an array of
    arrays."""

    index: Expr
    bound: int

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.index,)


ChannelQuestion = Literal["len", "empty", "nempty", "full", "nfull", "buffered"]


@dataclass(frozen=True, slots=True, eq=False)
class OfChannel(Expr):
    """How full a channel is."""

    question: ChannelQuestion
    channel: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.channel,)


@dataclass(frozen=True, slots=True, eq=False)
class Poll(Expr):
    """Could a message be received now? A part of the pattern that is None matches anything."""

    channel: Expr
    pattern: tuple[Expr | None, ...]
    anywhere: bool

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.channel, *(part for part in self.pattern if part is not None))


@dataclass(frozen=True, slots=True, eq=False)
class OwnNumber(Expr):
    """The number of the process that evaluates this."""


@dataclass(frozen=True, slots=True, eq=False)
class Population(Expr):
    """How many processes there are."""


@dataclass(frozen=True, slots=True, eq=False)
class Timeout(Expr):
    """Can nothing else be done anywhere?"""


@dataclass(frozen=True, slots=True, eq=False)
class NoProgress(Expr):
    """Is no process at a label that begins with `progress`, while something can be done?"""


@dataclass(frozen=True, slots=True, eq=False)
class Enabled(Expr):
    """Can process `pid` do something? As in SPIN, a process that sends by a rendezvous counts as able to, and one
    that receives by a rendezvous does not."""

    pid: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.pid,)


@dataclass(frozen=True, slots=True, eq=False)
class StandsAt(Expr):
    """Does process `pid`, of this template, stand at a point with this label?"""

    template: int
    pid: Expr
    label: str

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.pid,)


@dataclass(frozen=True, slots=True, eq=False)
class Peek(Expr):
    """A private variable of another process, or a cell of it."""

    template: int
    pid: Expr
    variable: Var
    index: Expr | None

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.pid,) if self.index is None else (self.pid, self.index)


_interned: weakref.WeakValueDictionary[tuple[object, ...], Expr] = weakref.WeakValueDictionary()


def _make(cls: type[Expr], type_: Type, children: tuple[Expr, ...], *fields: object) -> Expr:
    # The type is in the key because Python holds True and 1 to be equal.
    key = (cls, type_, *fields)
    found = _interned.get(key)
    if found is None:
        depth = 1 + max((child.depth for child in children), default=0)
        size = 1 + sum(child.size for child in children)
        plain = [hash(f) for f in fields if isinstance(f, int)] + [f for f in fields if isinstance(f, str)]
        structure = (cls.__name__, type_, plain, [child.digest for child in children])
        found = cls(type_, depth, size, crc32(repr(structure).encode()), *fields)
        _interned[key] = found
    return found


def const(value: Scalar) -> Expr:
    return _make(Const, "bool" if isinstance(value, bool) else "int", (), value)


TRUE = const(True)
FALSE = const(False)
ZERO = const(0)
ONE = const(1)


def var(name: str, type_: Type) -> Var:
    made = _make(Var, type_, (), name)
    assert isinstance(made, Var)
    return made


def cell_type(array: Expr) -> ScalarType:
    assert isinstance(array.type, ArrayType), array.type
    return array.type.cell


def select(array: Expr, index: Expr) -> Select:
    made = _make(Select, cell_type(array), (array, index), array, index)
    assert isinstance(made, Select)
    return made


def store(array: Expr, index: Expr, value: Expr) -> Expr:
    return _make(Store, array.type, (array, index, value), array, index, value)


def datum(value: Hashable, type_: DataType) -> Expr:
    return _make(Datum, type_, (), value)


def apply(function: str, args: tuple[Expr, ...], type_: Type) -> Expr:
    return _make(Apply, type_, args, function, args)


def let(name: Var, value: Expr, body: Expr) -> Expr:
    return _make(Let, body.type, (name, value, body), name, value, body)


def not_(arg: Expr) -> Expr:
    return _make(Not, "bool", (arg,), arg)


def neg(arg: Expr) -> Expr:
    return _make(Neg, "int", (arg,), arg)


def binary(op: BinaryOp, left: Expr, right: Expr) -> Expr:
    return _make(Binary, "bool" if op in COMPARISONS else "int", (left, right), op, left, right)


def ite(test: Expr, then: Expr, other: Expr) -> Expr:
    return _make(Ite, then.type, (test, then, other), test, then, other)


def checked(index: Expr, bound: int) -> Expr:
    return _make(Checked, "int", (index,), index, bound)


def of_channel(question: ChannelQuestion, channel: Expr) -> Expr:
    return _make(OfChannel, "int" if question == "len" else "bool", (channel,), question, channel)


def poll(channel: Expr, pattern: tuple[Expr | None, ...], anywhere: bool) -> Expr:
    parts = tuple(part for part in pattern if part is not None)
    return _make(Poll, "bool", (channel, *parts), channel, pattern, anywhere)


def enabled(pid: Expr) -> Expr:
    return _make(Enabled, "bool", (pid,), pid)


def stands_at(template: int, pid: Expr, label: str) -> Expr:
    return _make(StandsAt, "bool", (pid,), template, pid, label)


def peek(template: int, pid: Expr, variable: Var, index: Expr | None) -> Expr:
    children = (pid,) if index is None else (pid, index)
    type_ = variable.type.cell if isinstance(variable.type, ArrayType) else variable.type
    return _make(Peek, type_, children, template, pid, variable, index)


OWN_NUMBER = _make(OwnNumber, "int", ())
POPULATION = _make(Population, "int", ())
TIMEOUT = _make(Timeout, "bool", ())
NO_PROGRESS = _make(NoProgress, "bool", ())


def cut(expr: Expr) -> Expr:
    """A number cut to a word, as in C."""
    return binary("<<", expr, ZERO)


def is_partial(expr: Expr) -> bool:
    """Is this an operation that has no value for some operands?"""
    if not isinstance(expr, Binary) or expr.op not in PARTIAL:
        return False
    if not isinstance(expr.right, Const):
        return True
    by = expr.right.value
    return not 0 <= by < WORD if expr.op in ("<<", ">>") else by <= 0  # division by -1 may leave the range


def number_of(expr: Expr) -> Expr:
    """A truth value as a number, 1 or 0, for languages that do not distinguish them."""
    if expr.type != "bool":
        return expr
    return const(int(expr.value)) if isinstance(expr, Const) else ite(expr, ONE, ZERO)


def truth_of(expr: Expr) -> Expr:
    """A number as a truth value: every number except 0 is true."""
    if expr.type == "bool":
        return expr
    if isinstance(expr, Const):
        return const(bool(expr.value))
    if isinstance(expr, Ite) and expr.then is ONE and expr.other is ZERO:
        return expr.test
    return binary("!=", expr, ZERO)


def _junction(op: Literal["and", "or"], args: tuple[Expr, ...]) -> Expr:
    unit = TRUE if op == "and" else FALSE
    flat: list[Expr] = []
    for arg in args:
        if isinstance(arg, Junction) and arg.op == op:
            flat += arg.args
        elif arg is not unit:
            flat.append(arg)
    if len(flat) < 2:
        return flat[0] if flat else unit
    return _make(Junction, "bool", tuple(flat), op, tuple(flat))


def conj(*args: Expr) -> Expr:
    """`and`, flattened, without the constant True."""
    return _junction("and", args)


def disj(*args: Expr) -> Expr:
    """`or`, flattened, without the constant False."""
    return _junction("or", args)


def order(expr: Expr) -> tuple[int, str, int]:
    """A sort key that does not depend on how an expression was built: variables first, by name."""
    return (0, expr.name, 0) if isinstance(expr, Var) else (expr.size, "", expr.digest)


def rebuild(expr: Expr, children: tuple[Expr, ...]) -> Expr:
    """The same node with other children."""
    match expr:
        case Select():
            return select(*children)
        case Store():
            return store(*children)
        case Not():
            return not_(*children)
        case Neg():
            return neg(*children)
        case Binary(op=op):
            return binary(op, *children)
        case Junction(op=op):
            return _junction(op, children)
        case Ite():
            return ite(*children)
        case Apply(function=function, type=type_):
            return apply(function, children, type_)
        case Checked(bound=bound):
            return checked(children[0], bound)
        case OfChannel(question=question):
            return of_channel(question, *children)
        case Poll(pattern=pattern, anywhere=anywhere):
            channel, *parts = children
            left = iter(parts)
            return poll(channel, tuple(part and next(left) for part in pattern), anywhere)
        case Enabled():
            return enabled(*children)
        case StandsAt(template=template, label=label):
            return stands_at(template, children[0], label)
        case Peek(template=template, variable=variable):
            pid, *index = children
            return peek(template, pid, variable, index[0] if index else None)
        case Let():
            name, value, body = children
            assert isinstance(name, Var)
            return let(name, value, body)
        case _:
            return expr


def nodes(expr: Expr) -> Iterator[Expr]:
    """Every distinct node below and including `expr`, each after its children."""
    done: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if ready:
            done.add(node)
            yield node
        else:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(node.children)]


def free(expr: Expr) -> frozenset[Var]:
    """The variables that occur in an expression."""
    return frozenset(node for node in nodes(expr) if isinstance(node, Var))


def substitute(expr: Expr, mapping: Mapping[Var, Expr]) -> Expr:
    """Replace variables, all at once: `e[e'/x]`."""
    new: dict[Expr, Expr] = {}
    for node in nodes(expr):
        if isinstance(node, Var):
            new[node] = mapping.get(node, node)
        else:
            children = tuple(new[child] for child in node.children)
            new[node] = node if children == node.children else rebuild(node, children)
    return new[expr]
