"""Blocks of statements as lists of instructions, which `machine` runs.

An instruction acts on an `Execution`. It gives the stage at which the task stops (`await`, `get`, `suspend`), or
nothing if the task goes on with the next instruction. `await` and `get` are done again when the task goes on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

from conformance.actors.syntax import (
    Assert,
    Assign,
    Await,
    AwaitCall,
    Binary,
    Body,
    Call,
    Const,
    Declare,
    Do,
    Expr,
    Field,
    Get,
    If,
    Local,
    New,
    Not,
    Return,
    Right,
    Send,
    Statement,
    Suspend,
    This,
    While,
    lines_of,
)
from conformance.oracle import Pid

if TYPE_CHECKING:
    from conformance.actors.machine import Execution

Value = int | bool | Pid | None
"""Objects and futures are the paths by which they were made; null, and the value of type `Unit`, is `None`."""
Target = Field | Local | None
Evaluate = Callable[["Execution"], Value]
ANSWER = Local("answer?")
"""Where `target.method(..)` and `await target!method(..)` keep the future of the task that they send."""


class Failed(Exception):
    """The task stops here."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


@dataclass(slots=True)
class Instruction:
    run: Callable[[Execution], str | None]
    line: int
    reads: frozenset[str] = frozenset()
    """The fields that it mentions, of the object that the block belongs to."""


Code = Sequence[Instruction]

OPERATORS: dict[str, Callable[[Value, Value], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "&&": lambda left, right: left and right,
    "||": lambda left, right: left or right,
}
"""Nothing that an expression does can fail, so that short-circuits need not be followed."""


def evaluation(expression: Expr) -> Evaluate:
    match expression:
        case Const(value):
            return lambda execution: value
        case Field(name):
            return lambda execution: execution.fields[name]
        case Local(name):
            return lambda execution: execution.variables[name]
        case This():
            return lambda execution: execution.this
        case Not(operand):
            inner = evaluation(operand)
            return lambda execution: not inner(execution)
        case Binary(symbol, left, right):
            operation, first, second = OPERATORS[symbol], evaluation(left), evaluation(right)
            return lambda execution: operation(first(execution), second(execution))


def _evaluations(expressions: Sequence[Expr]) -> Callable[[Execution], list[Value]]:
    evaluates = [evaluation(each) for each in expressions]
    return lambda execution: [evaluate(execution) for evaluate in evaluates]


def mentioned(what: object) -> frozenset[str]:
    """The fields that an expression or an effect mentions."""
    if isinstance(what, Field):
        return frozenset({what.name})
    if isinstance(what, tuple):
        return frozenset().union(*map(mentioned, what))
    if is_dataclass(what):
        return frozenset().union(*(mentioned(getattr(what, each.name)) for each in fields(what)))
    return frozenset()


def compiled(body: Body, line: int) -> Code:
    """The instructions of a block that begins on a line."""
    code: list[Instruction] = []
    _block(code, body, line)
    return code


def _block(code: list[Instruction], body: Body, line: int) -> int:
    """Append a block; gives the line after it."""
    for statement in body:
        _statement(code, statement, line)
        line += len(lines_of(statement))
    return line


def _statement(code: list[Instruction], statement: Statement, line: int) -> None:
    match statement:
        case Assign(target, value):
            code.extend(_assignment(target, value, line))
        case Declare(_, name, value):
            code.extend(_assignment(Local(name), value, line))
        case Do(effect):
            code.extend(_assignment(None, effect, line))
        case If(condition, then, otherwise):
            _if(code, condition, then, otherwise, line)
        case While(condition, body):
            start = len(code)
            code.append(_branch(condition, line))
            _block(code, body, line + 1)
            code.append(_jump(start, line))
            code[start].run = _skipping(condition, len(code))
        case Await(futures, condition):
            code.append(_wait(futures, condition, line))
        case Suspend():
            code.append(Instruction(lambda execution: "suspend", line))
        case Assert(condition):
            code.append(Instruction(_check(condition), line, mentioned(condition)))
        case Return(value):
            evaluate = evaluation(value)
            code.append(Instruction(lambda e: e.finish(evaluate(e)), line, mentioned(value)))


def _if(code: list[Instruction], condition: Expr, then: Body, otherwise: Body, line: int) -> None:
    start = len(code)
    code.append(_branch(condition, line))
    line = _block(code, then, line + 1)
    end = len(code)
    if otherwise:
        code.append(_jump(0, line))
        _block(code, otherwise, line + 1)
        code[end].run = _jump(len(code), line).run
        end += 1
    code[start].run = _skipping(condition, end)


def _branch(condition: Expr, line: int) -> Instruction:
    """An instruction that is told later where to go if the condition does not hold."""
    return Instruction(lambda execution: None, line, mentioned(condition))


def _skipping(condition: Expr, to: int) -> Callable[[Execution], None]:
    evaluate = evaluation(condition)

    def skip(execution: Execution) -> None:
        if not evaluate(execution):
            execution.at = to

    return skip


def _jump(to: int, line: int) -> Instruction:
    def jump(execution: Execution) -> None:
        execution.at = to

    return Instruction(jump, line)


def _check(condition: Expr) -> Callable[[Execution], None]:
    evaluate = evaluation(condition)

    def check(execution: Execution) -> None:
        if not evaluate(execution):
            raise Failed("assertion")

    return check


def _wait(futures: tuple[Expr, ...], condition: Expr | None, line: int) -> Instruction:
    evaluate_futures = _evaluations(futures)
    evaluate = evaluation(condition or Const(True))

    def wait(execution: Execution) -> str | None:
        there = [execution.looked_up(future) for future in evaluate_futures(execution)]
        return None if all(there) and evaluate(execution) else "await"

    return Instruction(wait, line, mentioned((futures, condition)))


def _assignment(target: Target, value: Right, line: int) -> Iterator[Instruction]:
    """What `target = value` does; no target is a statement that throws the result away."""
    reads = mentioned(value)
    if isinstance(value, Send | Call | AwaitCall):
        yield Instruction(_present(value.target), line, mentioned(value.target))
    match value:
        case New(class_name, arguments, local):
            evaluate = _evaluations(arguments)
            yield Instruction(lambda e: e.make(class_name, evaluate(e), local, target), line, reads)
        case Send():
            yield Instruction(_sending(value, target), line, reads)
        case Call():
            yield Instruction(_calling(value, target), line, reads)
            yield Instruction(_getting(ANSWER, target), line)
        case AwaitCall(receiver, method, arguments):
            yield Instruction(_sending(Send(receiver, method, arguments), ANSWER), line, reads)
            yield _wait((ANSWER,), None, line)
            yield Instruction(_getting(ANSWER, target), line)
        case Get(future):
            yield Instruction(_getting(future, target), line, reads)
        case _:
            simple = evaluation(value)
            yield Instruction(lambda e: e.store(target, simple(e)), line, reads)


def _present(receiver: Expr) -> Callable[[Execution], None]:
    """A message to null fails before anything that is passed is looked at."""
    evaluate = evaluation(receiver)

    def check(execution: Execution) -> None:
        if evaluate(execution) is None:
            raise Failed("error")

    return check


def _sending(effect: Send, target: Target) -> Callable[[Execution], None]:
    receiver, arguments = evaluation(effect.target), _evaluations(effect.arguments)

    def send(execution: Execution) -> None:
        execution.store(target, execution.send(receiver(execution), effect.method, arguments(execution)))

    return send


def _calling(effect: Call, target: Target) -> Callable[[Execution], None]:
    """Within the group a call skips the `get` that follows it."""
    receiver, arguments = evaluation(effect.target), _evaluations(effect.arguments)

    def call(execution: Execution) -> None:
        to, values = receiver(execution), arguments(execution)
        _, group = execution.class_of(to)
        if group == execution.group:
            execution.at += 1
            execution.call(to, effect.method, values, target)
        else:
            execution.store(ANSWER, execution.send(to, effect.method, values))

    return call


def _getting(future: Expr, target: Target) -> Callable[[Execution], str | None]:
    evaluate = evaluation(future)

    def get(execution: Execution) -> str | None:
        of = evaluate(execution)
        if not execution.looked_up(of):
            return "get"
        execution.store(target, execution.results[of])
        return None

    return get
