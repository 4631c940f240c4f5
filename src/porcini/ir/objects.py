"""Objects, and the values and functions of a language that has more than numbers.

Methods are templates of a program, tasks are their processes: one method running on one object. Variables are the
task's own (`.x`) or fields of its object (`@f`). References are pids, of objects and of tasks: a future is the
task that will resolve it.
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
"""Functions of expressions that look at the state: is a task done, what did it return (it is known to be done), is
an object in the group of this one.
"""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A method that another one may call, and under how many conditions the call stands."""

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
    """A condition over fields of some objects; each is a variable in it. It does not hold while one of the objects
    is not there."""

    test: Expr
    fields: tuple[tuple[Var, Pid, str], ...]


@dataclass(frozen=True, slots=True)
class Values:
    """What can be done with a value of the language, whatever it is."""

    show: Callable[[Any], Observed]
    """As reports show it."""
    rank: Callable[[Any], Any]
    """A key that puts any values of one type in an order that is the same in every run."""
    renamed: Callable[[Any, Callable[[Pid], Any]], Any]
    """The value with other names for the references in it, or other values in their place."""


_NUMBERS = Values(lambda value: value, lambda value: value, lambda value, rename: value)


@dataclass(frozen=True, slots=True)
class Library:
    """The functions of a program, and what is known of them."""

    functions: Mapping[str, Callable[..., Any] | Definition] = field(default_factory=dict)
    values: Values = _NUMBERS
    """How values of the language are shown, ordered and renamed."""
    total: frozenset[str] = frozenset()
    """Functions that never fail."""
    theory: Mapping[str, str] = field(default_factory=dict)
    """Functions that the solver knows, by its name for them."""
    arithmetic: Mapping[str, Definition] = field(default_factory=dict)
    """What some functions are on numbers, as expressions."""
    inputs: Mapping[str, ScalarType] = field(default_factory=dict)
    """Functions without parameters, whose values can be given from outside."""
    names_matter: bool = False
    """May the program do something else where objects and futures have other names? It may compare them, but what
    it does must not depend on their order, nor on how they are written."""

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
