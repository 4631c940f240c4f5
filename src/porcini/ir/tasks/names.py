"""The variables of objects and tasks by name, as formulas refer to them.

    0.1.x      the field x of object 0.1
    0.2.v#0    the variable v of task 0.2; `0.2.#result` is what it returned
    0.2        the point of task 0.2, in words
    0.1!       the task that blocks the group of object 0.1

Formulas have integers and booleans. Every other value (a reference, a list, the point of a task) is opaque and can
only be compared: each has a number, its code. Equal values have the same code, and different values have different
ones, so an equation of codes is equivalent to one of values.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from porcini.core.pids import Pid
from porcini.core.systems import Observed
from porcini.ir.analysis.numbering import ENDED, FIRST_POINT, Numbering
from porcini.ir.expr import ScalarType, Type, Var, var
from porcini.ir.tasks.events import field_of, future, lock

FINISHED = "finished"
"""The point of a task that has returned."""


class Codes:
    """Maps values to codes, and back."""

    def __init__(self) -> None:
        self._codes: dict[Hashable, int] = {}
        self._values: list[Any] = []

    def of(self, value: Any) -> int:
        key = _shape(value), value
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = len(self._values)
            self._values.append(value)
        return code

    def value(self, code: int) -> Any:
        return self._values[code]


def _shape(value: Any) -> Hashable:
    """A key that distinguishes values that Python considers equal: `True` and 1, an empty list and an empty
    map."""
    name = type(value).__name__
    if isinstance(value, frozenset):
        return name, frozenset(map(_shape, value))
    if isinstance(value, tuple):
        return name, tuple(map(_shape, value))
    return name


class FormulaVariable(NamedTuple):
    """A variable of a formula; `whole` if it holds a code."""

    var: Var
    whole: bool


class Vocabulary:
    """The names of one program."""

    def __init__(self, numbering: Numbering) -> None:
        self.numbering, self.program = numbering, numbering.program
        self.codes = Codes()
        self._known: dict[tuple[str, Type], FormulaVariable] = {}

    def _intern(self, name: str, type_: Type) -> FormulaVariable:
        found = self._known.get((name, type_))
        if found is None:
            scalar: ScalarType = "bool" if type_ == "bool" else "int"
            found = self._known[name, type_] = FormulaVariable(var(name, scalar), type_ not in ("int", "bool"))
        return found

    def field(self, ref: Pid, field: Var) -> FormulaVariable:
        return self._intern(field_of(ref, field.name), field.type)

    def variable(self, task: Pid, variable: Var) -> FormulaVariable:
        return self._intern(f"{task}{variable.name}", variable.type)

    def result(self, task: Pid, method: int) -> FormulaVariable:
        return self._intern(f"{task}.#result", self.program.templates[method].result)

    def standing(self, task: Pid) -> Var:
        return var(future(task), "int")

    def lock(self, group: Pid) -> Var:
        return var(lock(group), "int")

    def saved(self, task: Pid, variable: Var) -> Var:
        """The value of a variable before a step of a task that changes it."""
        return var(f"{task}.#{variable.name}", variable.type)

    def describe_point(self, method: int, point: int) -> str:
        """The point of a task, as reports show it."""
        if point == ENDED:
            return FINISHED
        name = self.numbering.task_name(method)
        return f"{name} failed" if point < FIRST_POINT else f"{name} at {self.numbering.points[point].text}"

    def show(self, code: int) -> Observed:
        """The value behind a code, as reports show it."""
        return self.program.library.values.show(self.codes.value(code))
