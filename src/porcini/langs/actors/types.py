"""Types of ABS: names with arguments, and holes that are filled as a program is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from porcini.ir.expr import DataType
from porcini.ir.expr import Type as IrType


@dataclass(frozen=True, slots=True)
class Con:
    """A type with a name. A class as the type of `this` is written `class C`."""

    name: str
    args: tuple[Ty, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}<{', '.join(map(str, map(resolve, self.args)))}>" if self.args else self.name


@dataclass(slots=True, eq=False)
class Hole:
    """A type that is not known yet."""

    filled: Ty | None = None

    def __str__(self) -> str:
        return str(self.filled) if self.filled else "_"


Ty = Con | Hole

INT, BOOL, STRING, RAT, UNIT, NULL = Con("Int"), Con("Bool"), Con("String"), Con("Rat"), Con("Unit"), Con("null")


def resolve(type_: Ty) -> Ty:
    while isinstance(type_, Hole) and type_.filled is not None:
        type_ = type_.filled
    return type_


def list_of(item: Ty) -> Con:
    return Con("List", (item,))


def instantiate(type_: Ty, holes: dict[str, Ty]) -> Ty:
    """A type with its parameters replaced."""
    type_ = resolve(type_)
    if isinstance(type_, Hole):
        return type_
    if type_.name in holes:
        return holes[type_.name]
    return Con(type_.name, tuple(instantiate(arg, holes) for arg in type_.args))


def in_ir(type_: Ty) -> IrType:
    type_ = resolve(type_)
    if isinstance(type_, Con) and type_.name in ("Int", "Bool"):
        return "int" if type_.name == "Int" else "bool"
    return DataType(type_.name if isinstance(type_, Con) else "_")


@dataclass(slots=True)
class Subtyping:
    """Which interfaces extend which; `interfaces` maps each to all that it is, itself included."""

    interfaces: dict[str, frozenset[str]] = field(default_factory=dict)

    def fits(self, actual: Ty, expected: Ty) -> bool:
        """May a value of one type stand where another is expected? Fills holes."""
        actual, expected = resolve(actual), resolve(expected)
        if actual is expected:
            return True
        if isinstance(expected, Hole):
            if isinstance(actual, Con) and actual == NULL:
                return True
            expected.filled = actual
            return True
        if isinstance(actual, Hole):
            actual.filled = expected
            return True
        if actual == NULL:
            return expected.name in self.interfaces or expected.name in ("Fut", "null")
        if actual.name == expected.name and len(actual.args) == len(expected.args):
            return all(self.fits(a, e) for a, e in zip(actual.args, expected.args, strict=True))
        if actual.name == "Int" and expected.name == "Rat":
            return True
        return not actual.args and not expected.args and expected.name in self.interfaces.get(actual.name, ())

    def alike(self, a: Ty, b: Ty) -> bool:
        return self.fits(a, b) or self.fits(b, a)
