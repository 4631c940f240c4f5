"""Symbolic states of objects and tasks, in which numbers and booleans need not be known, and functions that may
read inputs."""

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
    """A task: its method, its point, its object, and how many children it has created."""

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
    """The tasks and objects that exist, and the values of their variables as formulas over the inputs. `path` is
    the condition on the inputs under which the state is reached, as far as it is known; the successors of a state
    that is `cut` are unknown."""

    tasks: Mapping[Pid, Task]
    objects: Mapping[Pid, Instance]
    values: Mapping[Var, Expr]
    path: Expr = TRUE
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions of a program, as Python functions, and the inputs, which are symbols. `asking` are the
    functions that may read an input."""

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
        """The values of the inputs. An input whose definition fails has none: it fails where it is read."""
        found: dict[str, Expr] = {}
        for name in self.inputs:
            with suppress(*FAILURES, RecursionError):
                found[name] = const(self.python[name]())
        return found
