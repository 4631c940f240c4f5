"""A small typed front end to z3: terms are built by name, and a claim is proved or not.

Integers are unbounded. Division and modulo round down and give 0 for a divisor of 0, and a cell outside an array
is 0 or False: this is the total semantics of expressions (see `ir.evaluation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import z3

Term = Any
"""A z3 term; it is opaque outside of this module."""


class Mismatch(Exception):
    """Terms whose sorts do not match: an order on data, a number where a rational is expected."""


def _milliseconds(seconds: float) -> int:
    """At least 1, since 0 means no limit to z3; at most the largest value that z3 accepts."""
    return min(max(1, int(seconds * 1000)), 2**31)


class Smt:
    """Builds terms and proves claims, each within a time limit."""

    def __init__(self, timeout: float = 0.5) -> None:
        self._context = z3.Context()
        self._solver = z3.Solver(ctx=self._context)
        self._solver.set("timeout", _milliseconds(timeout))
        self._data = z3.DeclareSort("Data", self._context)
        element = z3.Datatype("Element", self._context)
        element.declare("number", ("the_number", z3.IntSort(self._context)))
        element.declare("data", ("the_data", self._data))
        self._element: Term = element.create()
        self._values: dict[tuple[str, object], int] = {}
        self.gave_up = 0

    def constant(self, value: int | bool) -> Term:
        return z3.BoolVal(value, self._context) if isinstance(value, bool) else z3.IntVal(value, self._context)

    def variable(self, name: str, cell: str, is_array: bool = False) -> Term:
        sort = self._sort(cell)
        return z3.Const(name, z3.ArraySort(z3.IntSort(self._context), sort) if is_array else sort)

    def _sort(self, name: str) -> Term:
        """The sort of numbers, of booleans, of sets and maps of elements, or of opaque data."""
        match name:
            case "int":
                return z3.IntSort(self._context)
            case "bool":
                return z3.BoolSort(self._context)
            case "Set":
                return z3.ArraySort(self._element, z3.BoolSort(self._context))
            case "Map":
                return z3.ArraySort(self._element, self._data)
        return self._data

    def datum(self, value: object, sort: str) -> Term:
        """A value of a data type. Equal values are equal terms; that different values differ is not asserted."""
        if sort == "Set" and value == frozenset():
            return z3.K(self._element, z3.BoolVal(False, self._context))
        number = self._values.setdefault((sort, value), len(self._values))
        return self.variable(f"value {number}", sort)

    def function(self, name: str, args: list[Term], sort: str) -> Term:
        try:
            return self._function(name, args, sort)
        except (TypeError, z3.Z3Exception) as problem:
            raise Mismatch(str(problem)) from None

    def _function(self, name: str, args: list[Term], sort: str) -> Term:
        """A function by name: those of sets and maps are interpreted, all others are uninterpreted."""
        match name, args:
            case "set insert", (a, x):
                return z3.Store(a, self._box(x), z3.BoolVal(True, self._context))
            case "set remove", (a, x):
                return z3.Store(a, self._box(x), z3.BoolVal(False, self._context))
            case "set has", (a, x):
                return z3.Select(a, self._box(x))
            case "map put", (a, k, v):
                return z3.Store(a, self._box(k), self.function("just", [self._box(v)], "data"))
            case "map drop", (a, k):
                return z3.Store(a, self._box(k), self.variable("nothing", "data"))
            case "map get", (a, k):
                return z3.Select(a, self._box(k))
        sorts = [arg.sort() for arg in args]
        shape = " ".join(map(str, sorts))
        if not args:
            return self.variable(f"{name}()", sort)
        return z3.Function(f"{name}/{shape}", *sorts, self._sort(sort))(*args)

    def _box(self, term: Term) -> Term:
        """An element of sets and maps: different numbers are different elements."""
        sort = term.sort()
        if sort == z3.IntSort(self._context):
            return self._element.number(term)
        if sort == self._data:
            return self._element.data(term)
        return self._element.data(z3.Function(f"box/{sort}", sort, self._data)(term))

    def apply(self, op: str, *args: Term) -> Term:
        """The operators of expressions, by their text; also `not`, `neg`, `ite` and `iff`."""
        try:
            return self._apply_operator(op, args)
        except (TypeError, z3.Z3Exception) as problem:
            raise Mismatch(str(problem)) from None

    def _apply_operator(self, op: str, args: tuple[Term, ...]) -> Term:
        match op, args:
            case "and", _:
                return z3.And(*args, self._context)
            case "or", _:
                return z3.Or(*args, self._context)
            case "not", (a,):
                return z3.Not(a)
            case "neg", (a,):
                return -a
            case "ite", (a, b, c):
                return z3.If(a, b, c)
            case (("==" | "iff"), (a, b)):
                return a == b
            case "!=", (a, b):
                return a != b
            case "/", (a, b):
                return z3.If(b == 0, self.constant(0), self._floor(a, b))
            case "%", (a, b):
                return z3.If(b == 0, self.constant(0), a - b * self._floor(a, b))
        a, b = args
        simple = {"+": a + b, "-": a - b, "*": a * b} if op in "+-*" else {}
        return simple[op] if simple else {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]

    def _floor(self, a: Term, b: Term) -> Term:
        return z3.If(b > 0, a / b, (-a) / (-b))  # z3 rounds down for a positive divisor only

    def select(self, array: Term, index: Term, size: int, default: int | bool) -> Term:
        return z3.If(z3.And(index >= 0, index < size), z3.Select(array, index), self.constant(default))

    def store(self, array: Term, index: Term, value: Term, size: int) -> Term:
        return z3.If(z3.And(index >= 0, index < size), z3.Store(array, index, value), array)

    def proves(self, claim: Term) -> bool:
        """Does a claim hold for all values of its variables? A claim that is not decided in time is not proved."""
        self._solver.push()
        self._solver.add(z3.Not(claim))
        answer = self._solver.check()
        self._solver.pop()
        if answer == z3.unknown:
            self.gave_up += 1
        return bool(answer == z3.unsat)


class Assumptions:
    """A stack of assumptions in one solver: what is assumed along a search is asserted once, not for each
    question."""

    def __init__(self, smt: Smt, timeout: float) -> None:
        self._smt = smt
        self._solver = z3.Solver(ctx=smt._context)
        self._solver.set("timeout", _milliseconds(timeout))
        self.calls = 0
        self.seconds = 0.0
        self.gave_up = 0

    def push(self, term: Term) -> None:
        started = perf_counter()
        self._solver.push()
        self._solver.add(term)
        self.seconds += perf_counter() - started

    def pop(self) -> None:
        started = perf_counter()
        self._solver.pop()
        self.seconds += perf_counter() - started

    def possible(self, *terms: Term) -> bool | None:
        """Can all terms be true under the assumptions? None if the solver did not find out in time."""
        self.calls += 1
        started = perf_counter()
        answer = self._solver.check(*terms)
        self.seconds += perf_counter() - started
        if answer == z3.unknown:
            self.gave_up += 1
            return None
        return bool(answer == z3.sat)

    def example(self, *terms: Term, wanted: Mapping[str, Term]) -> dict[str, int | bool] | None:
        """Values of the wanted variables for which all terms are true; None if there are none, or none were
        found."""
        if not self.possible(*terms):
            return None
        started = perf_counter()
        model = self._solver.model()
        found: dict[str, int | bool] = {}
        for name, term in wanted.items():
            value = model.eval(term, model_completion=True)
            found[name] = z3.is_true(value) if z3.is_bool(value) else value.as_long()
        self.seconds += perf_counter() - started
        return found
