"""Objects and tasks whose numbers and booleans need not be known, and functions that may ask for inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from porcini.core.pids import Pid
from porcini.ir.expr import TRUE, Apply, Expr, Var, const, nodes, var
from porcini.ir.objects import Definition, Library
from porcini.ir.tasks.failures import FAILURES


@dataclass(frozen=True, slots=True)
class Task:
    """A task: what it runs, where it stands, on which object, and how many children it has had."""

    method: int
    point: int
    me: Pid
    children: int = 0


@dataclass(frozen=True, slots=True)
class Instance:
    """An object: its class, and the group that it belongs to."""

    class_: int
    group: Pid


@dataclass(frozen=True, slots=True)
class StepState:
    """Which tasks and objects there are, and what their variables are as formulas over the inputs. `path` is the
    condition on the inputs under which it is reached, as far as steps say it; a state that is `cut` has no future
    that anybody knows."""

    tasks: Mapping[Pid, Task]
    objects: Mapping[Pid, Instance]
    values: Mapping[Var, Expr]
    path: Expr = TRUE
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions of a program, as Python's own, and the inputs, which are symbols. `asking` are the functions
    that may ask for one of these."""

    python: Mapping[str, Callable[..., Any]]
    inputs: Mapping[str, Var]
    asking: frozenset[str]

    @staticmethod
    def of(library: Library, compiled: Mapping[str, Callable[..., Any]]) -> Functions:
        calls = {
            name: {node.function for node in nodes(function.body) if isinstance(node, Apply)}
            for name, function in library.functions.items()
            if isinstance(function, Definition)
        }
        asking = set(library.inputs)
        while more := {name for name, called in calls.items() if name not in asking and called & asking}:
            asking |= more
        symbols = {name: var(name, type_) for name, type_ in library.inputs.items()}
        return Functions(compiled, symbols, frozenset(asking))

    def given(self) -> dict[str, Expr]:
        """The values of the inputs. What fails is no input: it fails where it is asked for."""
        found: dict[str, Expr] = {}
        for name in self.inputs:
            with suppress(*FAILURES, RecursionError):
                found[name] = const(self.python[name]())
        return found
