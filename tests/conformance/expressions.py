"""Expressions over whole numbers and booleans: trees, their text, what they read and what they are worth.

The languages of GCL and of P3 share them. They bind as in Python and division rounds down. `and` and `or` look at
their right side only when they must, so that a failure there may not happen; what they read is what stands there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from conformance.trees import located

Value = int | bool | tuple[int, ...] | tuple[bool, ...]

ATOM, NEGATED = 8, 7
LEVELS = {"or": 1, "and": 2, "not": 3}
LEVELS |= dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 4)
LEVELS |= dict.fromkeys("+-", 5) | dict.fromkeys("*/%", 6)
"""How tightly an operator binds. Comparisons do not chain."""
COMPARISONS = tuple(name for name, level in LEVELS.items() if level == 4)

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
}


class Failure(Exception):
    """A division by zero, or an index outside its array."""


class Illegal(Exception):
    """A program that means nothing: an unknown name, or a value of the wrong type."""


class Scope(Protocol):
    """The values of names, as a process sees them."""

    def __getitem__(self, name: str) -> Value: ...

    def shared(self, name: str) -> bool:
        """Can other processes see it, too?"""


@dataclass(frozen=True, slots=True)
class Const:
    number: int | bool

    def value(self, scope: Scope) -> int:
        return self.number

    def reads(self, scope: Scope) -> set[str]:
        return set()

    def text(self, level: int = 0) -> str:
        if isinstance(self.number, bool):
            return "true" if self.number else "false"
        return _within(level, NEGATED if self.number < 0 else ATOM, str(self.number))

    def type(self, types: Mapping[str, str]) -> str:
        return type(self.number).__name__


@dataclass(frozen=True, slots=True)
class Var:
    name: str

    def value(self, scope: Scope) -> int:
        return scope[self.name]

    def reads(self, scope: Scope) -> set[str]:
        return {self.name} if scope.shared(self.name) else set()

    def text(self, level: int = 0) -> str:
        return self.name

    def type(self, types: Mapping[str, str]) -> str:
        if types.get(self.name) not in ("int", "bool"):
            raise Illegal(self.name)
        return types[self.name]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of an array. `types` of an array end in `[]`."""

    array: str
    index: Expression

    def place(self, scope: Scope) -> int:
        index = self.index.value(scope)
        if not 0 <= index < len(scope[self.array]):
            raise Failure
        return index

    def value(self, scope: Scope) -> int:
        return scope[self.array][self.place(scope)]

    def reads(self, scope: Scope) -> set[str]:
        found = self.index.reads(scope)
        if scope.shared(self.array):
            with suppress(Failure):
                found.add(f"{self.array}[{self.place(scope)}]")
        return found

    def text(self, level: int = 0) -> str:
        return f"{self.array}[{self.index.text()}]"

    def type(self, types: Mapping[str, str]) -> str:
        if not types.get(self.array, "").endswith("[]") or self.index.type(types) != "int":
            raise Illegal(self.text())
        return types[self.array].removesuffix("[]")


@dataclass(frozen=True, slots=True)
class Unary:
    """`not e` or `-e`."""

    operator: str
    operand: Expression

    def value(self, scope: Scope) -> int:
        value = self.operand.value(scope)
        return -value if self.operator == "-" else not value

    def reads(self, scope: Scope) -> set[str]:
        return self.operand.reads(scope)

    def text(self, level: int = 0) -> str:
        if self.operator == "-":
            return _within(level, NEGATED, "-" + self.operand.text(ATOM))
        return _within(level, LEVELS["not"], "not " + self.operand.text(LEVELS["not"]))

    def type(self, types: Mapping[str, str]) -> str:
        wanted = "int" if self.operator == "-" else "bool"
        if self.operand.type(types) != wanted:
            raise Illegal(self.text())
        return wanted


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: Expression
    right: Expression

    def value(self, scope: Scope) -> int:
        left = self.left.value(scope)
        if self.operator in ("and", "or"):
            return self.right.value(scope) if left == (self.operator == "and") else left
        right = self.right.value(scope)
        if right == 0 and self.operator in "/%":
            raise Failure
        return _OPERATIONS[self.operator](left, right)

    def reads(self, scope: Scope) -> set[str]:
        return self.left.reads(scope) | self.right.reads(scope)

    def text(self, level: int = 0) -> str:
        own = LEVELS[self.operator]
        left = self.left.text(own + (self.operator in COMPARISONS))
        return _within(level, own, f"{left} {self.operator} {self.right.text(own + 1)}")

    def type(self, types: Mapping[str, str]) -> str:
        left, right = self.left.type(types), self.right.type(types)
        wanted = "bool" if self.operator in ("and", "or") else "int"
        if self.operator in ("==", "!="):
            wanted = left
        if (left, right) != (wanted, wanted):
            raise Illegal(self.text())
        return "int" if LEVELS[self.operator] > LEVELS["=="] else "bool"


Expression = Const | Var | Cell | Unary | Binary
Target = Var | Cell
TRUE = Const(True)


def _within(level: int, own: int, text: str) -> str:
    return text if own >= level else f"({text})"


def names(tree: object) -> frozenset[str]:
    """The names of variables, arrays, and cells with a fixed index, that stand anywhere in a tree."""
    found = set()
    for _, each in located(tree):
        match each:
            case Var(name):
                found.add(name)
            case Cell(array, Const(number)):
                found.add(f"{array}[{number}]")
            case Cell(array, _):
                found.add(array)
    return frozenset(found)


def simpler(expression: Expression) -> Iterator[Expression]:
    """Expressions with fewer places or smaller numbers; not all of them are of the same type."""
    if isinstance(expression, Const):
        if expression.number not in (0, 1):
            yield Const(expression.number // 10 if expression.number > 1 else 0)
        return
    yield from (Const(True), Const(False), Const(0), Const(1))
    for path, each in located(expression):
        if path and not isinstance(each, Const | tuple):
            yield each
