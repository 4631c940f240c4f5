"""Actor programs with a judge: what they are in ABS, what they do, and which programs are smaller.

The trees and their text are in `syntax`; `types` says which trees are programs. The semantics is in
`code` and `machine`, which also says what a step reads and writes. `programs` makes programs at
random, and `edits` edits those in `bases`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from conformance.actors.machine import ActorMachine
from conformance.actors.syntax import (
    Await,
    AwaitCall,
    Binary,
    Body,
    Call,
    Class,
    Const,
    Field,
    Get,
    If,
    Local,
    Method,
    New,
    Not,
    Send,
    This,
    While,
    layout,
)
from conformance.actors.types import is_program
from conformance.trees import mapped, rewritten

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Program:
    classes: tuple[Class, ...]
    main: Body

    def text(self) -> str:
        return layout(self.classes, self.main)[0]

    def machine(self) -> ActorMachine:
        return ActorMachine(self.classes, self.main, layout(self.classes, self.main)[1])

    def is_sound(self) -> bool:
        """Is it a program of the subset that Porcini reads?"""
        return is_program(self.classes, self.main)

    def smaller(self) -> Iterator[Program]:
        """Programs with less in them: the first ones leave most out."""
        shorter = (replace(self, main=main) for main in rewritten(self.main, _simpler))
        simpler = (replace(self, classes=classes) for classes in rewritten(self.classes, _simpler))
        for candidate in chain(shorter, self._without_methods(), simpler, self._without_parameters()):
            if candidate.is_sound():
                yield candidate

    def _without_methods(self) -> Iterator[Program]:
        """Without one method, in all classes of its interface."""
        methods = ((each.interface, method.name) for each in self.classes for method in each.methods)
        for interface, name in _unique(methods):
            yield mapped(self, partial(_without_method, interface=interface, name=name))

    def _without_parameters(self) -> Iterator[Program]:
        """Without one parameter of a method or of a class, and without what is passed for it."""
        owners = [owner for each in self.classes for owner in (each, *each.methods)]
        for name, index in _unique((owner.name, i) for owner in owners for i in range(len(owner.parameters))):
            yield mapped(self, partial(_without_parameter, name=name, index=index))


def _unique(pairs: Iterable[Pair]) -> list[Pair]:
    return list(dict.fromkeys(pairs))


def _without_method(tree: Any, interface: str, name: str) -> Any:
    if isinstance(tree, Class) and tree.interface == interface:
        return replace(tree, methods=tuple(each for each in tree.methods if each.name != name))
    return tree


def _without_parameter(tree: Any, name: str, index: int) -> Any:
    match tree:
        case Method(name=named) | Class(name=named) if named == name:
            return replace(tree, parameters=_without(tree.parameters, index))
        case Send(_, named) | Call(_, named) | AwaitCall(_, named) | New(named) if named == name:
            return replace(tree, arguments=_without(tree.arguments, index))
    return tree


def _without(of: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return (*of[:index], *of[index + 1 :])


def _simpler(tree: Any) -> Iterator[Any]:
    """What could be in the place of a tree, and is smaller than it."""
    match tree:
        case tuple():
            for index, each in enumerate(tree):
                yield _without(tree, index)
                for block in _blocks(each):
                    yield (*tree[:index], *block, *tree[index + 1 :])
        case Binary(_, left, right):
            yield from (left, right, *CONSTANTS)
        case Await(futures, Binary() | Not()) if futures:
            yield Await(futures)
        case Field() | Local() | Not() | This() | New() | Send() | Call() | AwaitCall() | Get():
            yield from CONSTANTS


def _blocks(statement: Any) -> tuple[Body, ...]:
    match statement:
        case If(_, then, otherwise):
            return then, otherwise
        case While(_, body):
            return (body,)
    return ()


CONSTANTS = (Const(0), Const(1), Const(True), Const(False), Const(None))
