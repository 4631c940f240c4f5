"""Macro-steps to Python source: one function per point, over a flat list of slots.

    step(s, b, pid, me, T)          runs from a point to where the step ends; returns which parts of the code ran
    ready(s, b, me, T)              does the guard of a point hold?
    method(s, b, pid, me, T, ...)   a method called synchronously, on the object `me`

`s` is the state, `b` the slot where the task's frame begins, `me` the object that it runs on, `o` the slot where
that object's frame begins. The task's variables are Python variables (`v0`, `v1`, ...), stored back where the step
ends.

A block is cut into segments: stretches that run as a whole or not at all, as far as field accesses are concerned.
A step returns a set of segment numbers (as bits), so that its footprint is known without recording accesses;
what depends on references (futures that were read, methods run on other objects) is added to the list `T`.

Source contains slot numbers and literals only: constants and functions of the program are passed in by number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from porcini.core.errors import Place
from porcini.ir.analysis.numbering import ENDED, Numbering
from porcini.ir.expr import Apply, Binary, Datum, Expr, Let, Var, nodes
from porcini.ir.objects import RESOLVED, SAME_GROUP, VALUE, ObjectClass
from porcini.ir.operations import (
    Assert,
    Assign,
    Await,
    Block,
    Call,
    Forget,
    Get,
    If,
    New,
    Op,
    Post,
    Return,
    Suspend,
    Target,
    While,
    inside,
    reads_of,
    targets_of_op,
    variable_of,
)
from porcini.ir.source import source

TASK_FRAME = OBJECT_FRAME = 4
"""A task's frame: point, children, object, result, variables. An object's: ended, 0, group, lock, fields."""
_MOST_LOADED = 16


@dataclass(frozen=True, slots=True)
class Segment:
    """The fields that a stretch of code reads and writes."""

    reads: frozenset[str]
    writes: frozenset[str]

    @staticmethod
    def of(ops: Sequence[Op]) -> Segment:
        read = {v.name for op in ops for e in reads_of(op) for v in nodes(e) if isinstance(v, Var) and v.own}
        written = {v.name for op in ops for v in map(variable_of, targets_of_op(op)) if v.own}
        return Segment(frozenset(read), frozenset(written))

    @staticmethod
    def of_guard(guard: Expr) -> Segment:
        return Segment(frozenset(v.name for v in nodes(guard) if isinstance(v, Var) and v.own), frozenset())

    def __or__(self, other: Segment) -> Segment:
        return Segment(self.reads | other.reads, self.writes | other.writes)

    def covers(self, other: Segment) -> bool:
        return other.reads <= self.reads and other.writes <= self.writes


NOTHING = Segment(frozenset(), frozenset())


def may_end(code: Block) -> bool:
    """May a step end within this code?"""
    return any(isinstance(op, Await | Get | Suspend | Return) for op in inside(code))


@dataclass(slots=True)
class Names:
    """The names of constants and functions in generated source, and their values."""

    scope: dict[str, Any]
    functions: dict[str, str]
    constants: dict[Expr, str] = field(default_factory=dict)

    def constant(self, expr: Datum) -> str:
        name = self.constants.get(expr)
        if name is None:
            name = self.constants[expr] = f"k{len(self.constants)}"
            self.scope[name] = expr.value
        return name


@dataclass(slots=True)
class Compiled:
    """Source of a function, the place in the program of each of its lines, and its segments."""

    lines: list[str]
    places: list[Place | None]
    segments: list[Segment]
    simple: bool = False
    children: int = 0
    end: int = ENDED


class Writer:
    """Writes the function of one point, method, guard or definition."""

    def __init__(
        self, numbering: Numbering, names: Names, class_: ObjectClass | None, first_segment: int = 0
    ) -> None:
        self.numbering, self.program = numbering, numbering.program
        self.names = names
        self.fields = {v.name: i for i, v in enumerate(class_.fields)} if class_ else {}
        self.variables: dict[str, str] = {}
        self.stored: tuple[Var, ...] = ()
        self.size = 0
        self.lines: list[str] = []
        self.places: list[Place | None] = []
        self.segments: list[Segment] = []
        self.first_segment = first_segment
        self.is_task = False
        self.points: Sequence[int] = ()
        """For a task: its points by number."""

    # Expressions

    def source(self, expr: Expr) -> str:
        return source(expr, self._leaf)

    def _leaf(self, expr: Expr) -> str | None:
        match expr:
            case Datum():
                return self.names.constant(expr)
            case Var(name=name) if expr.own:
                return f"s[o+{OBJECT_FRAME + self.fields[name]}]"
            case Var(name=".this"):
                return "me"
            case Var(name=name):
                return self.variable(name)
            case Let(name=Var(name=name), value=value, body=body):
                return f"({self.variable(name)} := {self.source(value)}, {self.source(body)})[1]"
            case Apply(function=function, args=args) if function == RESOLVED:
                return f"resolved(s, T, {self.source(args[0])})"
            case Apply(function=function, args=args) if function == VALUE:
                return f"value(s, {self.source(args[0])})"
            case Apply(function=function, args=args) if function == SAME_GROUP:
                return f"same_group(s, me, {self.source(args[0])})"
            case Apply(function=function, args=args):
                return f"{self.names.functions[function]}({', '.join(map(self.source, args))})"
            case _:
                return None

    def variable(self, name: str) -> str:
        return self.variables.setdefault(name, f"v{len(self.variables)}")

    # Lines

    def line(self, text: str, depth: int, place: Place | None = None) -> None:
        self.lines.append("    " * depth + text)
        self.places.append(place)

    def assign(self, target: Target | None, value: str, depth: int, place: Place | None) -> None:
        if target is None:
            self.line(value, depth, place)
        else:
            self.line(f"{self.source(target)} = {value}", depth, place)

    # Block

    def code(self, code: Block, depth: int, known: Segment) -> None:
        """Write some code; `known` is what the segments entered so far touch."""
        for part in stretches(code):
            here = Segment.of(part)
            if not known.covers(here):
                known = known | here
                self.enter(here, depth)
            for op in part:
                self.operation(op, depth, known)
        if not code:
            self.line("pass", depth)

    def enter(self, segment: Segment, depth: int) -> None:
        number = len(self.segments)
        self.segments.append(segment)
        if self.is_task:
            self.line(f"t |= {1 << number}", depth)
        else:
            self.line(f"T.append((me, {self.first_segment + number}))", depth)

    def operation(self, op: Op, depth: int, known: Segment) -> None:
        match op:
            case Assign(target=target, value=value, place=place):
                self.assign(target, self.source(value), depth, place)
            case If(test=test, then=then, other=other, place=place):
                self.line(f"if {self.source(test)}:", depth, place)
                self.code(then, depth + 1, known)
                while len(other) == 1 and isinstance(other[0], If) and known.covers(Segment.of(other)):
                    self.line(f"elif {self.source(other[0].test)}:", depth, other[0].place)
                    self.code(other[0].then, depth + 1, known)
                    other = other[0].other
                if other:
                    self.line("else:", depth)
                    self.code(other, depth + 1, known)
            case While(test=test, body=body, place=place):
                count = f"n{len(self.lines)}"
                self.line(f"{count} = 0", depth)
                self.line(f"while {self.source(test)}:", depth, place)
                self.line(f"{count} = again({count})", depth + 1, place)
                self.code(body, depth + 1, known)
            case Post(target=target, receiver=receiver, method=method, args=args, place=place):
                number = self.names.functions[f"method {method}"]
                values = ", ".join(map(self.source, args))
                text = f"send(s, b, pid, {number}, {self.source(receiver)}, [{values}])"
                self.moving(target, text, depth, place)
            case New(target=target, class_=class_, args=args, local=local, place=place):
                values = ", ".join(map(self.source, args))
                text = f"new(s, b, pid, {class_}, [{values}], {'me' if local else None})"
                self.moving(target, text, depth, place)
            case Call(target=target, receiver=receiver, method=method, args=args, place=place):
                number = self.names.functions[f"method {method}"]
                values = ", ".join(map(self.source, args))
                text = f"call(s, b, pid, T, {number}, {self.source(receiver)}, [{values}])"
                self.moving(target, text, depth, place)
            case Assert(test=test, place=place):
                self.line(f"if not {self.source(test)}: refute({self.number_of(op)})", depth, place)
            case Return(value=returned, place=place):
                result = self.source(returned)
                if not self.is_task:
                    self.line(f"return {result}", depth, place)
                    return
                self.line(f"s[b+3] = {result}", depth, place)
                self.line(f"s[b] = {ENDED}", depth)
                if self.size:
                    self.line(f"s[b+{TASK_FRAME}:b+{TASK_FRAME + self.size}] = [None] * {self.size}", depth)
                self.line("return t", depth)
            case Await(guard=guard, point=point, place=place):
                self.line(f"if not {self.source(guard)}:", depth, place)
                self.stop(point, depth + 1)
            case Suspend(point=point):
                self.stop(point, depth)
            case Forget(variables=variables):
                for variable in variables:
                    self.line(f"{self.source(variable)} = None", depth)
            case Get(target=target, future=future, point=point, place=place):
                self.line(f"f = {self.source(future)}", depth, place)
                self.line("if not resolved(s, T, f):", depth, place)
                self.line("lock(s, me, pid)", depth + 1)
                self.stop(point, depth + 1)
                self.assign(target, "value(s, f)", depth, place)

    def moving(self, target: Var | None, text: str, depth: int, place: Place) -> None:
        """Write a statement that may add frames, so that the object's own frame may have moved afterwards."""
        if target is not None and target.own:
            self.line(f"r = {text}", depth, place)
            self.line("o = s[0].by_pid[me].base", depth)
            self.line(f"{self.source(target)} = r", depth)
        else:
            self.assign(target, text, depth, place)
            self.line("o = s[0].by_pid[me].base", depth)

    def stop(self, point: int, depth: int) -> None:
        for i, v in enumerate(self.stored):
            self.line(f"s[b+{TASK_FRAME + i}] = {self.variables[v.name]}", depth)
        self.line(f"s[b] = {self.points[point]}", depth)
        self.line("return t", depth)

    def number_of(self, op: Assert) -> str:
        name = f"c{len(self.names.scope)}"
        self.names.scope[name] = op.text
        return name

    def load(self, variables: Sequence[Var], depth: int) -> None:
        """Load a few variables into Python variables; if there are many, storing them at every stop costs more."""
        if len(variables) > _MOST_LOADED:
            self.variables = {v.name: f"s[b+{TASK_FRAME + i}]" for i, v in enumerate(variables)}
            return
        self.stored = tuple(variables)
        for i, v in enumerate(variables):
            self.line(f"{self.variable(v.name)} = s[b+{TASK_FRAME + i}]", depth)


def stretches(code: Block) -> Iterator[list[Op]]:
    """Cut code after each operation at which the step may end."""
    part: list[Op] = []
    for op in code:
        part.append(op)
        if may_end((op,)):
            yield part
            part = []
    if part:
        yield part


def step_function(numbering: Numbering, names: Names, number: int) -> Compiled:
    """The function that runs a step from a point."""
    point = numbering.points[number]
    method = numbering.template_at(number)
    w = Writer(numbering, names, numbering.program.classes[method.class_])
    w.is_task, w.size, w.points = True, len(method.variables), numbering.numbers[numbering.template_of[number]]
    w.line("t = 0", 1)
    w.line("o = s[0].by_pid[me].base", 1)
    w.load(method.vars, 1)
    if point.kind == "get":
        w.line("lock(s, me, None)", 1)
    w.line("try:", 1)
    w.code(point.code, 2, NOTHING)
    w.line("except FAILURES as problem:", 1)
    w.line("fail(s, b, T, problem)", 2)
    w.line("return t", 2)
    compiled = Compiled(w.lines, w.places, w.segments)
    _find_simple(numbering, point.code, compiled, w.points)
    return compiled


def _find_simple(numbering: Numbering, code: Block, compiled: Compiled, points: Sequence[int]) -> None:
    """A step is simple if its segments, its end and what it creates are the same in every state."""
    ops = list(inside(code))
    if len(compiled.segments) > 1 or any(isinstance(op, Call | Await | Get) for op in ops):
        return
    if compiled.segments and Segment.of(code) == NOTHING:
        return  # all that it touches is in a branch or a loop, which it may not enter
    if any(looks_at_futures(expr) for op in ops for expr in reads_of(op)):
        return
    ends = [op for op in ops if isinstance(op, Return | Suspend)]
    if len(ends) != 1 or ends[0] is not code[-1]:
        return
    makers = [op for op in ops if isinstance(op, Post | New)]
    if any(op not in code for op in makers):
        return
    for op in makers:
        if isinstance(op, New):
            class_ = numbering.program.classes[op.class_]
            if any(not isinstance(init, Assign) for init in class_.init):
                return
            compiled.children += class_.runs
        compiled.children += 1
    if numbering.program.uses_futures and any(_may_fail(op, numbering) for op in ops):
        return  # one that fails does not resolve its future
    if isinstance(ends[0], Suspend):
        compiled.end = points[ends[0].point]
    compiled.simple = True


def _may_fail(op: Op, numbering: Numbering) -> bool:
    if isinstance(op, Assert | Post | New):
        return True
    return any(_is_partial(node, numbering) for e in reads_of(op) for node in nodes(e))


def _is_partial(node: Expr, numbering: Numbering) -> bool:
    if isinstance(node, Apply):
        return node.function not in numbering.program.library.total
    return isinstance(node, Binary) and node.op in ("/", "%")


def may_fail_while_waiting(guard: Expr, numbering: Numbering) -> bool:
    """May a condition that has a value now have none later, while its task waits? The task's own variables do not
    change meanwhile: if one refers to a future now, it still does later."""
    return any(
        _is_partial(node, numbering)
        for node in nodes(guard)
        if not (isinstance(node, Apply) and node.function == RESOLVED and is_own_variable(node.args[0]))
    )


def is_own_variable(expr: Expr) -> bool:
    return isinstance(expr, Var) and expr.private


def looks_at_futures(expr: Expr) -> bool:
    return any(isinstance(node, Apply) and node.function == RESOLVED for node in nodes(expr))


def ready_function(numbering: Numbering, names: Names, number: int) -> tuple[list[str], Segment]:
    """The function that says whether a guard holds, and what the guard reads."""
    point = numbering.points[number]
    return test_function(numbering, names, numbering.template_of[number], point.guard), Segment.of_guard(
        point.guard
    )


def test_function(numbering: Numbering, names: Names, number: int, test: Expr) -> list[str]:
    """The function that evaluates a condition for a task of a method, at its point."""
    method = numbering.program.templates[number]
    w = Writer(numbering, names, numbering.program.classes[method.class_])
    w.line("o = s[0].by_pid[me].base", 1)
    for i, v in enumerate(method.vars):
        if any(node is v for node in nodes(test)):
            w.line(f"{w.variable(v.name)} = s[b+{TASK_FRAME + i}]", 1)
    w.line(f"return {w.source(test)}", 1)
    return w.lines


def method_function(
    numbering: Numbering, names: Names, class_: int, parameters: Sequence[Var], code: Block, first_segment: int
) -> tuple[list[str], Compiled]:
    """The function of a method that is called synchronously, and its parameters in source."""
    w = Writer(numbering, names, numbering.program.classes[class_], first_segment)
    formals = [w.variable(v.name) for v in parameters]
    w.line("o = s[0].by_pid[me].base", 1)
    w.code(code, 1, NOTHING)
    return formals, Compiled(w.lines, w.places, w.segments)


def definition_function(
    numbering: Numbering, names: Names, parameters: Sequence[Var], body: Expr
) -> tuple[list[str], str]:
    w = Writer(numbering, names, None)
    formals = [w.variable(v.name) for v in parameters]
    return formals, f"return {w.source(body)}"
