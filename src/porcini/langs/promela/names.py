"""What names stand for: variables, records, constants; and how large they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from porcini.core.errors import InputError, Place
from porcini.ir.expr import ArrayType, Type, Var
from porcini.ir.program import Bounds, ChannelType, Variable
from porcini.langs.promela import syntax as ast

TYPES: dict[str, Bounds] = {
    "bit": Bounds(1),
    "bool": Bounds(1, kind="bool"),
    "byte": Bounds(8),
    "pid": Bounds(8),
    "short": Bounds(16, signed=True),
    "int": Bounds(32, signed=True),
    "mtype": Bounds(8, kind="mtype"),
    "chan": Bounds(8, kind="chan"),
}

LARGEST_ARRAY = 65_536
LARGEST_CHANNEL = 255
LARGEST_MESSAGE = 255
MOST_MTYPES = 255


def problem(message: str, place: Place, hint: str | None = None) -> InputError:
    return InputError(message, place=place, hint=hint)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A variable; `sizes` are those of all arrays that it is in, outermost first."""

    variable: Variable
    sizes: tuple[int, ...]
    channel: ChannelType | None = None
    """What it names at first, if it is a channel's name."""


@dataclass(frozen=True, slots=True)
class Record:
    """A variable of a typedef; `array` if it is an array of them."""

    type: str
    array: bool
    members: Mapping[str, Symbol]


Symbol = Scalar | Record


@dataclass(slots=True)
class Scope:
    """The names of a block, and of what is around it."""

    outer: Scope | None = None
    names: dict[str, Symbol] = field(default_factory=dict)

    def find(self, name: str) -> Symbol | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def known(self) -> set[str]:
        return set(self.names) | (self.outer.known() if self.outer else set())


class Types:
    """The typedefs of a program, and how variables are made of types."""

    def __init__(self, program: ast.Program, constant: Callable[[ast.Expr], int]) -> None:
        self.constant = constant
        self.typedefs = {typedef.name: typedef for typedef in program.typedefs}
        self.declared: dict[Var, Variable] = {}
        self.notes: list[str] = []
        """What a user should know about what was declared."""

    def declare(self, declared: ast.Variable, *, local: bool) -> tuple[Symbol, list[Variable]]:
        """A symbol for a declaration, and the variables that it is made of."""
        made: list[Variable] = []
        return self._symbol(declared, declared.name, (), local, made), made

    def _symbol(
        self, declared: ast.Variable, name: str, around: tuple[int, ...], local: bool, made: list[Variable]
    ) -> Symbol:
        own: tuple[int, ...] = ()
        if declared.size is not None:
            size = self.constant(declared.size)
            if not 0 < size <= LARGEST_ARRAY:
                raise problem(f"array `{declared.name}` of {size} cells", declared.place)
            own = (size,)
        if declared.type in self.typedefs:
            if isinstance(declared.initial, ast.ChannelInit | ast.Values):
                raise problem(f"`{declared.name}` is a {declared.type}: it cannot be initialised", declared.place)
            if declared.initial is not None:
                line = declared.place.line
                self.notes.append(
                    f"line {line}: `{declared.name}` is a {declared.type}, and gets no initial value"
                )
            fields = self.typedefs[declared.type].fields
            members = {
                part.name: self._symbol(part, f"{name}.{part.name}", around + own, local, made) for part in fields
            }
            return Record(declared.type, bool(own), members)
        if isinstance(declared.initial, ast.Values) and not own:
            raise problem(f"a list of values wants an array, and `{declared.name}` is not one", declared.place)
        bounds = self.simple(declared.type, declared.width, declared.place)
        sizes = around + own
        count = prod(sizes)
        if count > LARGEST_ARRAY:
            raise problem(f"`{name}` has {count} cells in all; the limit is {LARGEST_ARRAY}", declared.place)
        variable = self._variable(f".{name}" if local else name, bounds, sizes, count)
        made.append(variable)
        channel = None
        if isinstance(declared.initial, ast.ChannelInit):
            channel = self.channel(declared.initial, name)
        return Scalar(variable, sizes, channel)

    def _variable(self, name: str, bounds: Bounds, sizes: tuple[int, ...], count: int) -> Variable:
        """A variable of its own, whatever others of this name there are in other processes and blocks. Until
        something is seen to assign to it, it is constant."""
        type_: Type = ArrayType("int", count) if sizes else "int"
        variable = Variable(name, type_, (0,) * count if sizes else 0, bounds, sizes, constant=True)
        number = 1
        while variable.var in self.declared:
            number += 1
            variable.name = f"{name}#{number}"
        self.declared[variable.var] = variable
        return variable

    def simple(self, name: str, width: int | None, place: Place) -> Bounds:
        if name == "unsigned":
            if width is None or not 1 <= width <= 32:
                raise problem("`unsigned` wants a width of 1 to 32 bits, as in `unsigned x : 5`", place)
            return Bounds(width)
        if name.startswith("mtype:"):
            return Bounds(8, kind=name)
        if name not in TYPES:
            raise problem(f"unknown type `{name}`", place)
        return TYPES[name]

    def channel(self, declared: ast.ChannelInit, name: str) -> ChannelType:
        if not 0 <= declared.capacity <= LARGEST_CHANNEL:
            raise problem(
                f"a channel for {declared.capacity} messages; the limit is {LARGEST_CHANNEL}", declared.place
            )
        fields = tuple(part for type_ in declared.types for part in self._parts(type_, None, declared.place))
        if len(fields) > LARGEST_MESSAGE:
            raise problem(f"messages of more than {LARGEST_MESSAGE} values", declared.place)
        return ChannelType(name, declared.capacity, fields)

    def _parts(self, type_: str, width: int | None, place: Place) -> list[Bounds]:
        """The values of a message that a type stands for: a record is its fields, an array its cells."""
        if type_ not in self.typedefs:
            return [self.simple(type_, width, place)]
        parts: list[Bounds] = []
        for part in self.typedefs[type_].fields:
            count = 1 if part.size is None else self.constant(part.size)
            parts += self._parts(part.type, part.width, part.place) * min(count, LARGEST_MESSAGE + 1)
        return parts


def mtype_sets(declared: Iterable[ast.Mtypes]) -> dict[str, tuple[str, ...]]:
    """The names of each set, the largest value first: SPIN counts from the end of a declaration, and goes on with
    the next one."""
    sets: dict[str, tuple[str, ...]] = {}
    seen: set[str] = set()
    for group in declared:
        for name in group.names:
            if name in seen:
                raise problem(f"`{name}` is in an mtype twice", group.place)
            seen.add(name)
        sets[group.type] = group.names + sets.get(group.type, ())
        if len(sets[group.type]) > MOST_MTYPES:
            raise problem(f"more than {MOST_MTYPES} names in one mtype", group.place)
    return sets


def scalars(symbol: Symbol) -> Iterator[Scalar]:
    if isinstance(symbol, Scalar):
        yield symbol
    else:
        for member in symbol.members.values():
            yield from scalars(member)
