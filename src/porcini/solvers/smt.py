"""A small typed front to z3: terms are built by name, and a claim is proved or not.

Integers are unbounded. Division and modulo round down, by zero they give 0, and a cell outside an array is 0 or
False: the total meaning that expressions have (see `ir.expr`).
"""

from __future__ import annotations

from typing import Any

import z3

Term = Any
"""A z3 term; nobody outside this module looks into one."""


class Smt:
    """Builds terms and proves claims, each within a time limit."""

    def __init__(self, timeout: float = 0.5) -> None:
        self._context = z3.Context()
        self._solver = z3.Solver(ctx=self._context)
        self._solver.set("timeout", int(timeout * 1000))
        self.gave_up = 0

    def constant(self, value: int | bool) -> Term:
        return z3.BoolVal(value, self._context) if isinstance(value, bool) else z3.IntVal(value, self._context)

    def variable(self, name: str, cell: str, is_array: bool) -> Term:
        sort = z3.BoolSort(self._context) if cell == "bool" else z3.IntSort(self._context)
        return z3.Const(name, z3.ArraySort(z3.IntSort(self._context), sort) if is_array else sort)

    def apply(self, op: str, *args: Term) -> Term:
        """The operators of expressions, by their text; also `not`, `neg`, `ite` and `iff`."""
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
        """Does a claim hold for all values of its variables? What is not settled in time is not proved."""
        self._solver.push()
        self._solver.add(z3.Not(claim))
        answer = self._solver.check()
        self._solver.pop()
        if answer == z3.unknown:
            self.gave_up += 1
        return bool(answer == z3.unsat)
