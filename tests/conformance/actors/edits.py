"""Random edits of actor programs: what a person would change in a program to see what happens.

Statements are copied, dropped, swapped and wrapped; expressions are taken from elsewhere in the program. An edit
is kept if what it gives is still a program, and one that ends.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, get_args

from conformance.actors.program import Program
from conformance.actors.programs import Size, glanced
from conformance.actors.syntax import (
    Assert,
    Await,
    AwaitCall,
    Binary,
    Call,
    Const,
    Expr,
    If,
    New,
    Not,
    Send,
    Statement,
    Suspend,
)
from conformance.trees import parts, rewritten

Edit = Callable[[Any], Iterator[Any]]
STATEMENTS = get_args(Statement)
EXPRESSIONS = get_args(Expr)
CONDITIONS = (Not, Binary)
SIZE = Size(fewest_tasks=1, most_tasks=10, longest_run=16)


def mutate(source: random.Random, program: Program) -> Program:
    """The program with one to four edits."""
    for _ in range(source.randint(1, 4)):
        program = _edited(source, program)
    return program


def _edited(source: random.Random, program: Program) -> Program:
    """The program with one edit in a random place."""
    while True:
        editor = Editor(source, program)
        candidates = list(rewritten(program, source.choice(editor.edits)))
        source.shuffle(candidates)
        for candidate in candidates[:10]:
            if candidate != program and candidate.is_sound() and glanced(candidate, source, SIZE):
                return candidate


class Editor:
    """For a place in a program, gives what could be there instead: one thing per place and edit."""

    def __init__(self, source: random.Random, program: Program) -> None:
        self.source = source
        everything = list(parts(program))
        self.statements = [each for each in everything if isinstance(each, STATEMENTS)]
        self.expressions = [each for each in everything if isinstance(each, EXPRESSIONS)]
        self.conditions = [each for each in self.expressions if isinstance(each, CONDITIONS)] or [Const(True)]
        self.sends = [each for each in everything if isinstance(each, Send)]
        self.edits: list[Edit] = [self.drops, self.copies, self.swaps, self.inserts, self.wraps, self.alters]

    def _is_block(self, place: Any) -> bool:
        """Does it hold statements? An empty tuple may be anything, and stays as it is."""
        return isinstance(place, tuple) and bool(place) and all(isinstance(each, STATEMENTS) for each in place)

    def drops(self, place: Any) -> Iterator[Any]:
        if isinstance(place, tuple) and place:
            index = self.source.randrange(len(place))
            yield (*place[:index], *place[index + 1 :])

    def copies(self, place: Any) -> Iterator[Any]:
        """A statement from anywhere in the program is added."""
        if self._is_block(place):
            yield self._with(place, self.source.choice(self.statements))

    def inserts(self, place: Any) -> Iterator[Any]:
        """A statement is added at which something can happen in between, or go wrong."""
        if self._is_block(place):
            condition = self.source.choice(self.conditions)
            yield self._with(place, self.source.choice([Suspend(), Await((), condition), Assert(condition)]))

    def _with(self, block: tuple[Any, ...], statement: Any) -> tuple[Any, ...]:
        index = self.source.randint(0, len(block))
        return (*block[:index], statement, *block[index:])

    def swaps(self, place: Any) -> Iterator[Any]:
        if isinstance(place, tuple) and len(place) > 1:
            index = self.source.randrange(len(place) - 1)
            yield (*place[:index], place[index + 1], place[index], *place[index + 2 :])

    def wraps(self, place: Any) -> Iterator[Any]:
        """Some statements of a block are done on a condition only."""
        if self._is_block(place):
            start = self.source.randrange(len(place))
            end = self.source.randint(start + 1, len(place))
            yield (*place[:start], If(self.source.choice(self.conditions), place[start:end]), *place[end:])

    def alters(self, place: Any) -> Iterator[Any]:
        """An expression or an effect becomes another one."""
        match place:
            case Const(value) if isinstance(value, int) and not isinstance(value, bool):
                yield Const(self.source.randint(0, 9))
            case Const(bool(value)):
                yield Const(not value)
            case Binary(symbol, left, right) if symbol not in ("+", "-", "*"):
                yield Binary(self.source.choice(["==", "!=", "<", ">=", "&&", "||"]), left, right)
            case Send(target, method, arguments):
                how = self.source.choice([Call, AwaitCall, Send])
                yield how(target, method, arguments)
                yield self.source.choice(self.sends)
            case New(class_name, arguments, local):
                yield New(class_name, arguments, not local)
        if isinstance(place, EXPRESSIONS):
            yield self.source.choice(self.expressions)
