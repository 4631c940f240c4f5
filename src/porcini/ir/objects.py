"""Objects, and the values and functions of a language that has more than numbers.

Methods are templates of a program, and tasks are their processes: one method running on one object. Variables are
private to the task (`.x`) or fields of its object (`@f`). References are pids of objects and of tasks: a future is
the task that will resolve it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from porcini.core.pids import Pid
from porcini.core.systems import Observed, Value
from porcini.ir.expr import Expr, ScalarType, Var, const
from porcini.ir.operations import Block

MAIN, MAIN_OBJECT = Pid((0,)), Pid((1,))
"""The task of the main block, and the object that it runs on."""

RESOLVED, VALUE, SAME_GROUP = "resolved?", "value of", "same group?"
"""Functions that read the state: is a task done, what did it return (it must be done), is an object in the same
group as this one.
"""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A method that another one may call, and in how many conditions the call is nested."""

    class_: int
    method: str
    depth: int
    tests: tuple[Expr, ...] = ()


@dataclass(slots=True)
class ObjectClass:
    """A class: `fields` include its parameters, which come first; `methods` by name, as numbers of templates."""

    name: str
    fields: tuple[Var, ...]
    parameters: int
    methods: dict[str, int] = field(default_factory=dict)
    init: Block = ()
    runs: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A function of the language, as an expression over its parameters."""

    parameters: tuple[Var, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class ObjectProposition:
    """A condition over fields of some objects; each field is a variable in it. It does not hold while one of the
    objects does not exist."""

    test: Expr
    fields: tuple[tuple[Var, Pid, str], ...]


@dataclass(frozen=True, slots=True)
class Values:
    """Operations on all values of the language."""

    show: Callable[[Any], Observed]
    """A value as reports show it."""
    rank: Callable[[Any], Any]
    """A key that sorts values of one type in the same order in every run."""
    renamed: Callable[[Any, Callable[[Pid], Any]], Any]
    """The value with the references in it replaced by other names or values."""


_NUMBERS = Values(lambda value: value, lambda value: value, lambda value, rename: value)


@dataclass(frozen=True, slots=True)
class Library:
    """The functions of a program, and what is known about them."""

    functions: Mapping[str, Callable[..., Any] | Definition] = field(default_factory=dict)
    values: Values = _NUMBERS
    """How values of the language are shown, ordered and renamed."""
    total: frozenset[str] = frozenset()
    """Functions that never fail."""
    theory: Mapping[str, str] = field(default_factory=dict)
    """Functions that are built into the solver, with its names for them."""
    arithmetic: Mapping[str, Definition] = field(default_factory=dict)
    """Definitions of some functions on numbers, as expressions."""
    inputs: Mapping[str, ScalarType] = field(default_factory=dict)
    """Functions without parameters whose values can be given from outside."""
    names_matter: bool = False
    """May the behaviour of the program depend on the names of objects and futures? A program may compare them for
    equality, but without this flag it must not depend on their order or on how they are printed."""

    def with_inputs(self, values: Mapping[str, Value]) -> Library:
        """The same functions with other values for some of the inputs."""
        given = {
            name: Definition((), const(value))
            for name, value in values.items()
            if name in self.inputs and isinstance(value, int)
        }
        return replace(self, functions={**self.functions, **given})


def collect_references(value: Any, found: set[Pid]) -> None:
    """Add the references in a value, however deep."""
    if type(value) is Pid:
        found.add(value)
    elif isinstance(value, tuple | frozenset):
        for part in value:
            collect_references(part, found)
