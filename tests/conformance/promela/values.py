"""Expressions and simple statements of Promela, for the judge: compiled to Python functions of a `Frame`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from conformance.promela.tree import (
    Any_,
    Assert,
    Assign,
    Cell,
    Else,
    End,
    Eval,
    Expression,
    Guard,
    If,
    Measure,
    Model,
    Name,
    Not,
    Num,
    Op,
    Pattern,
    Place,
    Poll,
    Proctype,
    Receive,
    Run,
    Send,
    Skip,
    Statement,
    Variable,
)

Message = tuple[int, ...]
BITS = {"bit": 1, "bool": 1, "byte": 8, "mtype": 8, "short": 16, "int": 32}
SIGNED = ("short", "int")
OPERATORS = {"&&": "and", "||": "or"}


class Stopped(Exception):
    """A step that stops its process: an `assertion` that failed, or an `error`."""


@dataclass(slots=True)
class Frame:
    """What a process sees when it moves, and what it has changed."""

    shared: list[int]
    queues: list[tuple[Message, ...]]
    values: list[int]
    pid: int
    count: int
    idle: bool = False
    """Can nobody move otherwise? That is `timeout`."""
    started: list[tuple[str, Message]] = field(default_factory=list)


Value = Callable[[Frame], int]


@dataclass(frozen=True, slots=True)
class Operation:
    """A statement: can it be executed, and what does it do? It may raise `Stopped`."""

    ready: Callable[[Frame], bool]
    apply: Callable[[Frame], None]

    def checked(self, frame: Frame) -> None:
        """It is an error if it has to wait, or if it cannot even be tested."""
        if not self.ready(frame):
            raise Stopped("error")
        self.apply(frame)


def wrapped(type_: str, value: int) -> int:
    """A number as a variable of this type keeps it."""
    size = 1 << BITS[type_]
    value = int(value) % size
    return value - size if type_ in SIGNED and value >= size // 2 else value


def inside(index: int, size: int) -> int:
    if not 0 <= index < size:
        raise Stopped("error")
    return index


def quotient(left: int, right: int) -> int:
    """Division as in C, towards zero."""
    if right == 0:
        raise Stopped("error")
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def remainder(left: int, right: int) -> int:
    return left - right * quotient(left, right)


_BUILTINS = {"inside": inside, "quotient": quotient, "remainder": remainder, "len": len, "abs": abs}


class Scope:
    """The names that a proctype sees, and its statements and expressions as functions."""

    def __init__(self, model: Model, proctype: Proctype) -> None:
        self.locals = {v.name: (slot, v) for slot, v in enumerate((*proctype.parameters, *proctype.variables))}
        self.globals = layout(model.variables)
        self.channels = layout(model.channels)
        self.constants = constant_values(model)
        self.polls: list[Callable[[Frame], bool]] = []
        self.parameters = {p.name: p.parameters for p in model.proctypes}

    def value(self, expression: Expression) -> Value:
        return self._function(self.source(expression))

    def source(self, expression: Expression) -> str:
        """Python source for an expression; `f` is the frame."""
        match expression:
            case Num(value):
                return f"({value})"
            case Name(name):
                return self._name(name)
            case Cell(array, index):
                base, variable = self.globals[array]
                return f"f.shared[{base} + inside({self.source(index)}, {variable.size})]"
            case Not(operand):
                return f"(not {self.source(operand)})"
            case Op("/" | "%" as operator, left, right):
                function = "quotient" if operator == "/" else "remainder"
                return f"{function}({self.source(left)}, {self.source(right)})"
            case Op(operator, left, right):
                operator = OPERATORS.get(operator, operator)
                wrap = "bool" if operator in ("and", "or") else ""
                return f"({wrap}({self.source(left)}) {operator} {wrap}({self.source(right)}))"
            case Measure(what, channel):
                return self._measure(what, channel)
            case Poll(channel, patterns, anywhere):
                self.polls.append(self.receive(Receive(channel, patterns, anywhere)).ready)
                return f"polls[{len(self.polls) - 1}](f)"

    def slot(self, channel: End) -> Value:
        """Which of the queues a channel is."""
        base, declared = self.channels[channel.name]
        if channel.index is None:
            return lambda frame: base
        return self._function(f"{base} + inside({self.source(channel.index)}, {declared.size})")

    def capacity(self, channel: End) -> int:
        return self.channels[channel.name][1].capacity

    def message(self, send: Send) -> Callable[[Frame], Message]:
        types = self.channels[send.channel.name][1].types
        values = [self.value(value) for value in send.values]
        return lambda frame: tuple(wrapped(t, v(frame)) for t, v in zip(types, values, strict=True))

    def operation(self, statement: Statement) -> Operation:
        """A simple statement, or one inside a `d_step`."""
        match statement:
            case Skip():
                return Operation(_always, _nothing)
            case Guard(condition):
                return Operation(self.value(condition), _nothing)
            case Assert(condition):
                return Operation(_always, _asserting(self.value(condition)))
            case Assign(place, value):
                return Operation(_always, self._assigning(place, self.value(value)))
            case Send():
                return self._send(statement)
            case Receive():
                return self.receive(statement)
            case Run():
                return Operation(_always, self._running(statement))
            case If(options):
                return self._first_of(options)
        raise AssertionError(f"{statement} is no step by itself")

    def receive(self, statement: Receive) -> Operation:
        slot, matches, store = self.slot(statement.channel), self.matches(statement), self.store(statement)

        def found(frame: Frame) -> int:
            queue = frame.queues[slot(frame)]
            for index, message in enumerate(queue if statement.anywhere else queue[:1]):
                if matches(frame, message):
                    return index
            return -1

        def apply(frame: Frame) -> None:
            channel, index = slot(frame), found(frame)
            queue = frame.queues[channel]
            if not statement.keep:
                frame.queues[channel] = queue[:index] + queue[index + 1 :]
            store(frame, queue[index])

        return Operation(lambda frame: found(frame) >= 0, apply)

    def matches(self, statement: Receive) -> Callable[[Frame, Message], bool]:
        """Is this a message that the statement takes?"""
        wanted = [(i, value) for i, p in enumerate(statement.patterns) if (value := self._wanted(p))]
        return lambda frame, message: all(message[i] == value(frame) for i, value in wanted)

    def store(self, statement: Receive) -> Callable[[Frame, Message], None]:
        stores = [
            (i, self._storing(pattern))
            for i, pattern in enumerate(statement.patterns)
            if isinstance(pattern, Name | Cell) and not self._wanted(pattern)
        ]

        def apply(frame: Frame, message: Message) -> None:
            for i, into in stores:
                into(frame, message[i])

        return apply

    def _name(self, name: str) -> str:
        if name in self.locals:
            return f"f.values[{self.locals[name][0]}]"
        if name in self.globals:
            return f"f.shared[{self.globals[name][0]}]"
        known = {"_pid": "f.pid", "_nr_pr": "f.count", "timeout": "f.idle"}
        return known[name] if name in known else f"({self.constants[name]})"

    def _measure(self, what: str, channel: End) -> str:
        base, declared = self.channels[channel.name]
        index = "0" if channel.index is None else f"inside({self.source(channel.index)}, {declared.size})"
        length = f"len(f.queues[{base} + {index}])"
        test = {
            "empty": "== 0",
            "nempty": "!= 0",
            "full": f"== {declared.capacity}",
            "nfull": f"!= {declared.capacity}",
        }
        return f"({length} {test.get(what, '')})"

    def _wanted(self, pattern: Pattern) -> Value | None:
        match pattern:
            case Eval(value):
                return self.value(value)
            case Num():
                return self.value(pattern)
            case Name(name) if name in self.constants and name not in self.locals:
                return self.value(pattern)
        assert isinstance(pattern, Name | Cell | Any_)
        return None

    def _storing(self, place: Place) -> Callable[[Frame, int], None]:
        if isinstance(place, Name) and place.name in self.locals:
            slot, variable = self.locals[place.name]

            def into_values(frame: Frame, value: int) -> None:
                frame.values[slot] = wrapped(variable.type, value)

            return into_values
        name = place.name if isinstance(place, Name) else place.array
        base, variable = self.globals[name]
        index = self.value(place.index) if isinstance(place, Cell) else (lambda frame: 0)
        size = variable.size or 1

        def into_shared(frame: Frame, value: int) -> None:
            frame.shared[base + inside(index(frame), size)] = wrapped(variable.type, value)

        return into_shared

    def _assigning(self, place: Place, value: Value) -> Callable[[Frame], None]:
        store = self._storing(place)
        return lambda frame: store(frame, value(frame))

    def _send(self, statement: Send) -> Operation:
        slot, capacity, message = (
            self.slot(statement.channel),
            self.capacity(statement.channel),
            self.message(statement),
        )

        def apply(frame: Frame) -> None:
            channel, sent = slot(frame), message(frame)
            queue = frame.queues[channel]
            at = (
                next((i for i, m in enumerate(queue) if m > sent), len(queue))
                if statement.in_order
                else len(queue)
            )
            frame.queues[channel] = (*queue[:at], sent, *queue[at:])

        return Operation(lambda frame: len(frame.queues[slot(frame)]) < capacity, apply)

    def _running(self, statement: Run) -> Callable[[Frame], None]:
        types = [parameter.type for parameter in self.parameters[statement.proctype]]
        arguments = [self.value(argument) for argument in statement.arguments]
        store = None if statement.into is None else self._storing(statement.into)

        def apply(frame: Frame) -> None:
            given = tuple(wrapped(t, a(frame)) for t, a in zip(types, arguments, strict=True))
            if store:
                store(frame, frame.count + len(frame.started))
            frame.started.append((statement.proctype, given))

        return apply

    def _first_of(self, options: tuple[tuple[Statement, ...], ...]) -> Operation:
        """In a `d_step`, of several options the first one that can be executed is taken; `else` comes last."""
        blocks = [self.d_step(option) for option in options]

        def apply(frame: Frame) -> None:
            next(block for block in blocks if block.ready(frame)).apply(frame)

        return Operation(lambda frame: any(block.ready(frame) for block in blocks), apply)

    def d_step(self, body: tuple[Statement, ...]) -> Operation:
        """A block in one step: it is an error if it has to wait after its first statement."""
        operations = [Operation(_always, _nothing) if isinstance(s, Else) else self.operation(s) for s in body]

        def apply(frame: Frame) -> None:
            for operation in operations:
                operation.checked(frame)

        return Operation(operations[0].ready, apply)

    def _function(self, source: str) -> Any:
        return eval(f"lambda f: {source}", {**_BUILTINS, "polls": self.polls})


def layout(declared: tuple[Any, ...]) -> dict[str, tuple[int, Any]]:
    """Where each variable or channel begins, one after the other."""
    places, base = {}, 0
    for each in declared:
        places[each.name] = base, each
        base += each.size or 1
    return places


def initial_values(variables: tuple[Variable, ...]) -> tuple[int, ...]:
    return tuple(wrapped(v.type, v.initial) for v in variables for _ in range(v.size or 1))


def constant_values(model: Model) -> dict[str, int]:
    """SPIN numbers the constants of a list from its end."""
    return {name: number for number, name in enumerate(reversed(model.constants), 1)}


def _always(frame: Frame) -> bool:
    return True


def _nothing(frame: Frame) -> None:
    pass


def _asserting(condition: Callable[[Frame], bool]) -> Callable[[Frame], None]:
    def apply(frame: Frame) -> None:
        if not condition(frame):
            raise Stopped("assertion")

    return apply
