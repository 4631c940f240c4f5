"""Proctypes as graphs, for the judge: the transitions from each place where a process can be.

A place inside of an atomic block is marked with it. A place before the block is not inside: so a process that
falls out of one block and into the next is outside between the two, while one that jumps into a block from another
is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from conformance.promela.tree import (
    Assign,
    Atomic,
    Block,
    Break,
    Do,
    DStep,
    Else,
    Goto,
    If,
    Labelled,
    Model,
    Num,
    Proctype,
    Receive,
    Select,
    Send,
    Skip,
    Statement,
)
from conformance.promela.values import Frame, Message, Operation, Scope, Value

END, STOPPED = -1, -2
"""Where a process is that has reached its end, or that has failed."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The sender's half of a rendezvous."""

    channel: Value
    message: Callable[[Frame], Message]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The receiver's half of a rendezvous."""

    channel: Value
    matches: Callable[[Frame, Message], bool]
    apply: Callable[[Frame, Message], None]


@dataclass(slots=True)
class Transition:
    does: Operation | Offer | Acceptance
    target: int
    holds: bool
    """Is the process inside of an atomic block before and after it?"""
    unless: list[Transition] = field(default_factory=list)
    """for `else`: the other options"""


@dataclass(frozen=True, slots=True)
class _Around:
    """What is around a statement: where `break` leads, and which atomic block it is in (0: none)."""

    after_loop: int = END
    atomic: int = 0


class Template:
    """A proctype as a graph."""

    def __init__(self, model: Model, proctype: Proctype) -> None:
        self.parameters, self.variables = proctype.parameters, proctype.variables
        self.places: list[list[Transition]] = []
        self._scope = Scope(model, proctype)
        self._inside: list[int] = []
        self._labels: dict[str, int] = {}
        self._blocks = 0
        self.start = self._sequence(proctype.body, END, _Around())
        for transition in (t for transitions in self.places for t in transitions):
            transition.holds &= transition.target >= 0 and self._inside[transition.target] > 0
        self.ends = {END} | {place for label, place in self._labels.items() if label.startswith("end")}

    def _place(self, atomic: int) -> int:
        self.places.append([])
        self._inside.append(atomic)
        return len(self.places) - 1

    def _label(self, name: str) -> int:
        if name not in self._labels:
            self._labels[name] = self._place(0)
        return self._labels[name]

    def _sequence(self, block: Block, exit: int, around: _Around) -> int:
        """The place before a block."""
        for statement in reversed(block):
            exit = self._entry(statement, exit, around)
        return exit

    def _entry(self, statement: Statement, exit: int, around: _Around) -> int:
        """The place before a statement. A jump takes no step here: it never has to wait, and nobody sees it."""
        match statement:
            case Goto(label):
                return self._label(label)
            case Break():
                return around.after_loop
            case Labelled(label):
                self._first(statement, exit, around)
                return self._label(label)
            case Do():
                return self._loop(statement, exit, around)
        place = self._place(around.atomic)
        self.places[place] = self._first(statement, exit, around)
        return place

    def _first(self, statement: Statement, exit: int, around: _Around) -> list[Transition]:
        """The transitions with which a statement begins."""
        match statement:
            case If(options):
                return self._options(options, exit, around)
            case Do():
                return self.places[self._loop(statement, exit, around)]
            case Labelled(label, inner):
                place = self._label(label)
                self._inside[place] = around.atomic
                if isinstance(inner, Do):
                    self._loop(inner, exit, around, head=place)
                else:
                    self.places[place] = self._first(inner, exit, around)
                return self.places[place]
            case Atomic(body):
                self._blocks += 1
                within = _Around(around.after_loop, around.atomic or self._blocks)
                return self._first(body[0], self._sequence(body[1:], exit, within), within)
            case Goto() | Break():
                return self._simple(Skip(), self._entry(statement, exit, around), around)
            case Select(place, low, high):
                values = (Assign(place, Num(value)) for value in range(low, high + 1))
                return [transition for value in values for transition in self._simple(value, exit, around)]
        return self._simple(statement, exit, around)

    def _simple(self, statement: Statement, exit: int, around: _Around) -> list[Transition]:
        return [Transition(self._does(statement), exit, around.atomic > 0)]

    def _does(self, statement: Statement) -> Operation | Offer | Acceptance:
        scope = self._scope
        match statement:
            case DStep((Receive() as first, *others)) if scope.capacity(first.channel) == 0:
                return self._accepting(first, scope.d_step(tuple(others)).apply)
            case DStep(body):
                return scope.d_step(body)
            case Send(channel) if scope.capacity(channel) == 0:
                return Offer(scope.slot(channel), scope.message(statement))
            case Receive(channel) if scope.capacity(channel) == 0:
                return self._accepting(statement, lambda frame: None)
        return scope.operation(statement)

    def _accepting(self, statement: Receive, then: Callable[[Frame], None]) -> Acceptance:
        """A rendezvous, and what a `d_step` that begins with it does in the same step."""
        store = self._scope.store(statement)

        def apply(frame: Frame, message: Message) -> None:
            store(frame, message)
            then(frame)

        return Acceptance(self._scope.slot(statement.channel), self._scope.matches(statement), apply)

    def _loop(self, loop: Do, exit: int, around: _Around, head: int | None = None) -> int:
        head = self._place(around.atomic) if head is None else head
        self.places[head] = self._options(loop.options, head, _Around(exit, around.atomic))
        return head

    def _options(self, options: tuple[Block, ...], exit: int, around: _Around) -> list[Transition]:
        found: list[Transition] = []
        otherwise: list[Transition] = []
        for first, *others in options:
            after = self._sequence(tuple(others), exit, around)
            if isinstance(first, Else):
                otherwise = self._simple(Skip(), after, around)
            else:
                found += self._first(first, after, around)
        for transition in otherwise:
            transition.unless = list(found)
        return found + otherwise
