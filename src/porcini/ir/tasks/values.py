"""Expressions of objects and tasks on values that need not be known.

A value is a Python value if it is known, and a formula over the state before the step if not: only integers and
booleans can be formulas. Variables that hold these are symbols, whatever their values, so that the result of a
step is valid for many states; the decisions along the path, in `tests`, say for which ones:

    decide    decides a condition: the state determines it, or both paths are open, and `forks` say which is
              followed
    settle    fixes a value that must be known (it goes into a list, it selects an element): valid for this value
              only
    read      reads a variable that holds a code, in the same way

All tests are over the state before the step. In a state in which they hold, the step takes the same path and
computes the same values: a test is added wherever it would make a difference, and nothing else is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from porcini.core.errors import InputError, Place
from porcini.core.pids import Pid
from porcini.ir.evaluation import OPERATIONS
from porcini.ir.expr import (
    ZERO,
    Apply,
    Binary,
    Const,
    Datum,
    Expr,
    Ite,
    Junction,
    Let,
    Neg,
    Not,
    Var,
    binary,
    conj,
    const,
    free,
    ite,
    nodes,
    not_,
    rebuild,
    substitute,
)
from porcini.ir.objects import RESOLVED, SAME_GROUP, VALUE, Definition
from porcini.ir.simplify import simplify
from porcini.ir.tasks.failures import Failed
from porcini.ir.tasks.names import FINISHED, FormulaVariable, Vocabulary
from porcini.ir.tasks.states import Functions, Instance, StepState, Task
from porcini.ir.text import show

MOST_FORKS = 60
"""The most conditions that may depend on inputs, along one path through a step: a loop that has more is cut."""


class TooManyForks(Exception):
    """The path through a step depends on the inputs too often to be followed."""


@dataclass(slots=True)
class Frame:
    """Where code runs: on which object, with which names. The variables of a `task` have their own names."""

    me: Pid
    names: dict[str, Any]
    task: Pid | None = None
    silent: bool = False
    """Nobody else can touch what it touches."""


class Evaluation:
    """Evaluates expressions in a state, along one path."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        functions: Functions,
        state: StepState,
        given: Sequence[bool] = (),
        possible: Callable[[Expr], bool] = lambda condition: True,
    ) -> None:
        self.vocabulary = vocabulary
        self.numbering, self.program = vocabulary.numbering, vocabulary.program
        self.functions = functions
        self.state = state
        self.given = given
        self.possible = possible
        self.tests: dict[Expr, None] = {}
        self.changed: dict[Var, Expr] = {}
        self.made: dict[Pid, Task | Instance] = {}
        self.futures: set[Pid] = set()
        """The futures that were read."""
        self.forks: list[bool] = []
        self.others: list[tuple[bool, ...]] = []
        """Other paths that begin like this one."""
        self._assumed = state.path
        self.place: Place | None = None

    # What the state determines

    def _here(self, formula: Expr) -> Expr:
        values = self.state.values
        return simplify(substitute(formula, {v: values[v] for v in free(formula) if v in values}))

    def decide(self, test: Any) -> bool:
        """Does a condition hold, on this path?"""
        if not isinstance(test, Expr):
            return bool(test)
        if test in self.tests:
            return True
        opposite = simplify(not_(test))
        if opposite in self.tests:
            return False
        here = self._here(test)
        holds = bool(here.value) if isinstance(here, Const) else self._fork(here)
        self.tests[test if holds else opposite] = None
        return holds

    def _fork(self, here: Expr) -> bool:
        if len(self.forks) < len(self.given):
            taken = self.given[len(self.forks)]
        elif len(self.forks) >= MOST_FORKS:
            raise TooManyForks
        else:
            taken = self.possible(conj(self._assumed, here))
            if taken and self.possible(conj(self._assumed, not_(here))):
                self.others.append((*self.forks, False))
        self.forks.append(taken)
        self._assumed = conj(self._assumed, here if taken else not_(here))
        return taken

    def settle(self, value: Any) -> Any:
        """A value that must be known from here on."""
        if not isinstance(value, Expr):
            return value
        here = self._here(value)
        if not isinstance(here, Const):
            raise InputError(
                f"`{show(here)}` depends on an input and becomes part of other data here: "
                "`symbolic` follows integers and booleans only",
                place=self.place,
            )
        self.tests[simplify(binary("==", value, here))] = None
        return here.value

    # Variables

    def read(self, named: FormulaVariable) -> Any:
        changed = self.changed.get(named.var)
        if changed is None and named.var not in self.state.values:
            raise InputError(f"`{show(named.var)}` is read before it has a value", place=self.place)
        if not named.whole:
            return named.var if changed is None else _folded(changed)
        code = changed
        if code is None:
            code = self.state.values[named.var]
            self.tests[simplify(binary("==", named.var, code))] = None
        assert isinstance(code, Const)
        return self.vocabulary.codes.value(int(code.value))

    def write(self, named: FormulaVariable, value: Any) -> None:
        if named.whole:
            value = self.vocabulary.codes.of(self.settle(value))
        self.changed[named.var] = value if isinstance(value, Expr) else const(value)

    def write_code(self, variable: Var, value: Any) -> None:
        self.write(FormulaVariable(variable, True), value)

    def task(self, pid: Pid) -> Task:
        found = self.made.get(pid) or self.state.tasks[pid]
        assert isinstance(found, Task)
        return found

    def instance(self, ref: Pid | None) -> Instance:
        if ref is None:
            raise Failed("a call on null")
        found = self.made.get(ref) or self.state.objects[ref]
        assert isinstance(found, Instance)
        return found

    # Expressions

    def value(self, expr: Expr, frame: Frame) -> Any:
        match expr:
            case Const(value=known):
                return known
            case Datum(value=known):
                return known
            case Var():
                return self._variable(expr, frame)
            case Not(arg=arg) | Neg(arg=arg):
                return _folded(rebuild(expr, (_formula(self.value(arg, frame)),)))
            case Binary():
                return self._operation(expr, frame)
            case Junction():
                return self._junction(expr, frame)
            case Ite(test=test, then=then, other=other):
                chosen = self.value(test, frame)
                if isinstance(chosen, Expr) and is_plain(then) and is_plain(other):
                    parts = _formula(self.value(then, frame)), _formula(self.value(other, frame))
                    return _folded(ite(chosen, *parts))
                return self.value(then if self.decide(chosen) else other, frame)
            case Let(name=name, value=value, body=body):
                frame.names[name.name] = self.value(value, frame)
                return self.value(body, frame)
            case Apply(function=function, args=args):
                return self._apply(function, [self.value(arg, frame) for arg in args], frame)
        raise AssertionError(f"not an expression: {expr!r}")

    def _variable(self, variable: Var, frame: Frame) -> Any:
        if variable.own:
            return self.read(self.vocabulary.field(frame.me, variable))
        if variable.name == ".this":
            return frame.me
        if variable.name in frame.names:
            return frame.names[variable.name]
        assert frame.task is not None, variable.name
        return self.read(self.vocabulary.variable(frame.task, variable))

    def _operation(self, expr: Binary, frame: Frame) -> Any:
        left, right = self.value(expr.left, frame), self.value(expr.right, frame)
        if not _is_number(left) or not _is_number(right):  # lists, references, text, fractions
            left, right = self.settle(left), self.settle(right)
            return OPERATIONS[expr.op](left, right)
        if expr.op in ("/", "%") and self.decide(_folded(binary("==", _formula(right), ZERO))):
            raise ZeroDivisionError
        return _folded(binary(expr.op, _formula(left), _formula(right)))

    def _junction(self, expr: Junction, frame: Frame) -> Any:
        """Evaluate from left to right, stopping early. Parts that cannot fail and read no data stay in one
        formula."""
        stop = expr.op == "or"
        parts: list[Expr] = []
        for number, arg in enumerate(expr.args):
            part = self.value(arg, frame)
            if isinstance(part, Expr) and all(map(is_plain, expr.args[number + 1 :])):
                parts.append(part)
            elif self.decide(part) == stop:
                if not parts:
                    return stop
                parts.append(const(stop))
                break
        return _folded(rebuild(expr, tuple(parts))) if parts else not stop

    def _apply(self, function: str, args: list[Any], frame: Frame) -> Any:
        if function in self.functions.inputs:
            return self.functions.inputs[function]
        if function in (RESOLVED, VALUE, SAME_GROUP):
            return self._look(function, self.settle(args[0]), frame)
        symbolic = any(isinstance(arg, Expr) for arg in args)
        known = self.program.library.functions[function]
        if isinstance(known, Definition):
            if symbolic or function in self.functions.asking:
                return self._call(known, args, frame)
        elif symbolic and function in self.program.library.arithmetic and all(map(_is_integer, args)):
            return self._call(self.program.library.arithmetic[function], args, frame)
        elif symbolic and function == "no branch":
            raise Failed(f"no branch of the case matches {show(args[0])}")
        return self.functions.python[function](*map(self.settle, args))

    def _call(self, definition: Definition, args: Sequence[Any], frame: Frame) -> Any:
        names = {v.name: arg for v, arg in zip(definition.parameters, args, strict=True)}
        return self.value(definition.body, Frame(frame.me, names))

    def _look(self, function: str, ref: Any, frame: Frame) -> Any:
        """Evaluate a function that reads the state."""
        if function == SAME_GROUP:
            return self.instance(frame.me).group == self.instance(ref).group
        if function == VALUE:
            return self.read(self.vocabulary.result(ref, self.task(ref).method))
        return self.is_resolved(ref)

    def is_resolved(self, future: Pid | None) -> bool:
        if future is None:
            raise Failed("waits for a future that is null")
        self.futures.add(future)
        standing = self.vocabulary.standing(future)
        if standing in self.changed:  # it was made by this step
            return False
        return self.holds(standing, FINISHED)

    def holds(self, variable: Var, value: Any) -> bool:
        """Did a variable that holds a code have this value before the step?"""
        return self.decide(simplify(binary("==", variable, const(self.vocabulary.codes.of(value)))))


def _formula(value: Any) -> Expr:
    return value if isinstance(value, Expr) else const(value)


def _folded(formula: Expr) -> Any:
    """A value: a Python value, if the formula is a constant."""
    formula = simplify(formula)
    return formula.value if isinstance(formula, Const) else formula


def _is_number(value: Any) -> bool:
    """A number or a boolean, known or not."""
    return isinstance(value, int | Expr)


def _is_integer(value: Any) -> bool:
    return value.type == "int" if isinstance(value, Expr) else type(value) is int


@lru_cache(maxsize=1 << 12)
def is_plain(expr: Expr) -> bool:
    """Does an expression never fail, and read only numbers and booleans?"""
    return all(
        isinstance(node, Const | Not | Neg | Junction | Ite)
        or (isinstance(node, Var) and node.type in ("int", "bool"))
        or (isinstance(node, Binary) and node.op not in ("/", "%"))
        for node in nodes(expr)
    )
