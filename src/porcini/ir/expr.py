"""One immutable typed expression tree for every language.

Nodes are interned: two equal expressions are the same object, so equality is identity, hashing is free,
and whatever walks an expression can remember what it has seen. Build nodes with the functions below,
never with the classes.

Division and modulo round down; `quot` and `rem` round towards zero, as C does. `evaluate` is total: dividing by
zero gives 0, and a cell outside an array is the default of its type. Where that matters, `defined` says when the
real program gets a value.

The last nodes ask for more of a state than its variables: who evaluates this, what is in a channel, where another
process stands. Only a machine that runs programs can answer them; `evaluate` cannot.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

from porcini.core.systems import Scalar, Value

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
    """Values that the solver does not look into: lists, references, what a language defines."""

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
    """A node; `depth` and `size` are those of the tree that it stands for, `digest` of its structure."""

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
    """A value of a data type: hashable, and nobody looks into it."""

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
    """An array with one cell replaced: only weakest preconditions make these."""

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
    """`body`, where a private variable stands for a value that is worked out once."""

    name: Var
    value: Expr
    body: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.name, self.value, self.body)


@dataclass(frozen=True, slots=True, eq=False)
class Checked(Expr):
    """An index that must be at least 0 and less than `bound`: that of one dimension of an array of arrays."""

    index: Expr
    bound: int

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.index,)


ChannelQuestion = Literal["len", "empty", "nempty", "full", "nfull"]


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
    """Could a message be received now? A part of the pattern that is None fits anything."""

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


def stands_at(template: int, pid: Expr, label: str) -> Expr:
    return _make(StandsAt, "bool", (pid,), template, pid, label)


def peek(template: int, pid: Expr, variable: Var, index: Expr | None) -> Expr:
    children = (pid,) if index is None else (pid, index)
    type_ = variable.type.cell if isinstance(variable.type, ArrayType) else variable.type
    return _make(Peek, type_, children, template, pid, variable, index)


OWN_NUMBER = _make(OwnNumber, "int", ())
POPULATION = _make(Population, "int", ())
TIMEOUT = _make(Timeout, "bool", ())


def number_of(expr: Expr) -> Expr:
    """A truth value as a number, 1 or 0, where a language does not tell them apart."""
    if expr.type != "bool":
        return expr
    return const(int(expr.value)) if isinstance(expr, Const) else ite(expr, ONE, ZERO)


def truth_of(expr: Expr) -> Expr:
    """A number as a truth value: every one but 0 is true."""
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
    """A key to sort by that does not depend on how an expression came to be: variables first, by name."""
    return (0, expr.name, 0) if isinstance(expr, Var) else (expr.size, "", expr.digest)


def rebuild(expr: Expr, children: tuple[Expr, ...]) -> Expr:
    """The same node over other children."""
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


def default(type_: Type) -> Scalar:
    return False if (type_.cell if isinstance(type_, ArrayType) else type_) == "bool" else 0


def quotient(a: int, b: int) -> int:
    """Division that rounds towards zero."""
    return abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))


def remainder(a: int, b: int) -> int:
    return a - b * quotient(a, b)


def wrap(value: int, bits: int, signed: bool) -> int:
    """A number as so many bits hold it."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


OPERATIONS: dict[str, Callable[[int, int], Scalar]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "quot": lambda a, b: quotient(a, b) if b else 0,
    "rem": lambda a, b: remainder(a, b) if b else 0,
    "<<": lambda a, b: wrap(a << b, WORD, True) if 0 <= b < WORD else 0,
    ">>": lambda a, b: a >> b if 0 <= b < WORD else 0,
    "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
    "|": lambda a, b: a | b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _value(node: Expr, values: dict[Expr, Value], store_: Mapping[str, Value]) -> Value:
    match node:
        case Const(value=value):
            return value
        case Var(name=name):
            return store_[name]
        case Select(array=array, index=index):
            cells, i = values[array], values[index]
            assert isinstance(cells, tuple) and isinstance(i, int)
            return cells[i] if 0 <= i < len(cells) else default(array.type)
        case Store(array=array, index=index, value=value_):
            cells, i, new = values[array], values[index], values[value_]
            assert isinstance(cells, tuple) and isinstance(i, int) and not isinstance(new, tuple)
            return (*cells[:i], new, *cells[i + 1 :]) if 0 <= i < len(cells) else cells
        case Not(arg=arg):
            return not values[arg]
        case Neg(arg=arg):
            number = values[arg]
            assert isinstance(number, int)
            return -number
        case Binary(op=op, left=left, right=right):
            a, b = values[left], values[right]
            assert isinstance(a, int) and isinstance(b, int)
            return OPERATIONS[op](a, b)
        case Junction(op=op, args=args):
            return (all if op == "and" else any)(values[arg] for arg in args)
        case Ite(test=test, then=then, other=other):
            return values[then] if values[test] else values[other]
        case Checked(index=index):
            return values[index]
    raise AssertionError(f"not an expression: {node!r}")


def evaluate(expr: Expr, store_: Mapping[str, Value]) -> Value:
    """The value of an expression where `store_` gives the values of its variables. Total: see above."""
    values: dict[Expr, Value] = {}
    for node in nodes(expr):
        values[node] = _value(node, values, store_)
    return values[expr]


def _within(index: Expr, size: int) -> tuple[Expr, Expr]:
    return binary("<=", ZERO, index), binary("<", index, const(size))


def defined(expr: Expr) -> Expr:
    """When evaluation left to right, stopping early, divides by no zero, leaves no array and shifts by less than a
    word has."""
    known: dict[Expr, Expr] = {}
    for node in nodes(expr):
        parts = [known[child] for child in node.children]
        match node:
            case Select(array=array, index=index) if isinstance(array.type, ArrayType):
                known[node] = conj(*parts, *_within(index, array.type.size))
            case Binary(op="/" | "%" | "quot" | "rem", right=right):
                known[node] = conj(*parts, binary("!=", right, ZERO))
            case Binary(op="<<" | ">>", right=right):
                known[node] = conj(*parts, *_within(right, WORD))
            case Checked(index=index, bound=bound):
                known[node] = conj(*parts, *_within(index, bound))
            case Junction(op=op, args=args) if any(part is not TRUE for part in parts[1:]):
                rest = TRUE
                for arg, part in zip(reversed(args), reversed(parts), strict=True):
                    skips = not_(arg) if op == "and" else arg
                    rest = conj(part, rest if rest is TRUE else disj(skips, rest))
                known[node] = rest
            case Ite(test=test, then=then, other=other):
                known[node] = conj(
                    known[test],
                    TRUE if known[then] is TRUE else disj(not_(test), known[then]),
                    TRUE if known[other] is TRUE else disj(test, known[other]),
                )
            case _:
                known[node] = conj(*parts)
    return known[expr]
