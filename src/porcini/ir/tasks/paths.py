"""One path through a macro-step, as formulas: what a task does from its point to where the step ends.

A walk runs the code of a point as `code` compiles it, statement by statement, on values that need not be known
(`values`). Calls are inlined, and loops are unrolled. What it touches is recorded by the same segments of code
from which the events of compiled steps get their footprints, so that both agree.
"""

from __future__ import annotations

from typing import Any

from porcini.core.events import Failure
from porcini.core.footprints import Footprint, Location
from porcini.core.pids import Pid
from porcini.ir.analysis.numbering import ENDED, FAILED_ASSERTION, FAILED_ERROR, FIRST_POINT
from porcini.ir.expr import Var
from porcini.ir.flat.frames import require_room
from porcini.ir.operations import (
    Assert,
    Assign,
    Await,
    Block,
    Call,
    Get,
    If,
    New,
    Op,
    Post,
    Return,
    Suspend,
    Target,
    While,
    place_of,
)
from porcini.ir.program import Point
from porcini.ir.tasks.code import NOTHING, Segment, stretches
from porcini.ir.tasks.events import future, lock, touch
from porcini.ir.tasks.failures import FAILURES, Failed, Refuted, again, message_of, too_deep, waits_inside
from porcini.ir.tasks.states import Instance, Task
from porcini.ir.tasks.values import Evaluation, Frame, TooManyForks


class _Returned(Exception):
    """A method or a task has returned."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _LetGo(Exception):
    """The step ends, and the task stands at a point."""

    def __init__(self, point: int) -> None:
        self.point = point


class Walk(Evaluation):
    """A step of a task along one path. After `go`, `end` is the point of the task, and `failure` says why it
    stopped. The walk is `cut` if the path was not followed to its end."""

    pid: Pid
    end: int
    failure: Failure | None = None
    cut: bool = False
    began: bool = False
    """Did it reach its code, so that its guard held?"""

    def begin(self, pid: Pid) -> None:
        self.pid = pid
        self.mover = self.state.tasks[pid]
        self.children = self.mover.children
        self.point: Point = self.numbering.points[self.mover.point]
        self.end = self.mover.point
        self.group = self.instance(self.mover.me).group
        self.frame = Frame(self.mover.me, {}, pid)
        self.reads: set[Location] = set()
        self.writes: set[Location] = set()

    def go(self, pid: Pid) -> bool:
        """Take the step, if the task is enabled."""
        self.begin(pid)
        try:
            if not self.is_ready():
                return False
            self._run()
        except FAILURES as problem:
            self._fail(problem)
        except TooManyForks:
            self.cut = True
        except RecursionError:
            raise too_deep() from None
        self._finish()
        return True

    def could_go(self, pid: Pid) -> bool:
        """Could the task take some step, possibly one that fails?"""
        self.begin(pid)
        try:
            return self.is_ready()
        except FAILURES:
            return True

    def is_ready(self) -> bool:
        """Is the group free, and does the guard of the task hold?"""
        self.place = self.point.place
        touch(Segment.of_guard(self.point.guard), self.frame.me, self.reads, self.writes)
        if self.program.uses_get and self.point.kind != "get":
            self.reads.add(lock(self.group))
            if not self.holds(self.vocabulary.lock(self.group), None):
                return False
        return self.decide(self.value(self.point.guard, self.frame))

    def _run(self) -> None:
        self.began = True
        if self.point.kind == "get":
            self.write_code(self.vocabulary.lock(self.group), None)
        try:
            self._code(self.point.code, self.frame, NOTHING)
        except _Returned as returned:
            self.end = ENDED
            self.write(self.vocabulary.result(self.pid, self.mover.method), returned.value)
        except _LetGo as left:
            self.end = self.numbering.numbers[self.mover.method][left.point]

    def _fail(self, problem: Exception) -> None:
        """Stop the task where it failed; what it did before is not undone."""
        kind = problem.kind if isinstance(problem, Failed) else "error"
        self.end = FAILED_ASSERTION if kind == "assertion" else FAILED_ERROR
        self.failure = Failure(kind, message_of(problem), self.place)

    def _finish(self) -> None:
        standing = self.vocabulary.describe_point(self.mover.method, self.end)
        self.write_code(self.vocabulary.standing(self.pid), standing)
        self.made[self.pid] = Task(self.mover.method, self.end, self.mover.me, self.children)
        ends_in_get = self.end >= FIRST_POINT and self.numbering.points[self.end].kind == "get"
        if self.began and self.program.uses_get and (ends_in_get or self.point.kind == "get"):
            self.writes.add(lock(self.group))
        if self.end == ENDED and self.program.uses_futures:
            self.writes.add(future(self.pid))

    # Block

    def _code(self, code: Block, frame: Frame, known: Segment) -> None:
        """Run some code; `known` is what the segments entered so far touch."""
        for part in stretches(code):
            here = Segment.of(part)
            if not known.covers(here):
                known = known | here
                if not frame.silent:
                    touch(here, frame.me, self.reads, self.writes)
            for op in part:
                self.place = place_of(op)
                self._execute(op, frame, known)

    def _execute(self, op: Op, frame: Frame, known: Segment) -> None:
        match op:
            case Assign(target=target, value=value):
                self._assign(target, self.value(value, frame), frame)
            case If(test=test, then=then, other=other):
                self._code(then if self.decide(self.value(test, frame)) else other, frame, known)
            case While(test=test, body=body):
                count = 0
                while self.decide(self.value(test, frame)):
                    count = again(count)
                    self._code(body, frame, known)
                    self.place = op.place
            case Post(target=target, receiver=receiver, method=name, args=args):
                ref = self.settle(self.value(receiver, frame))
                sent = self._send(ref, name, [self.value(arg, frame) for arg in args])
                self._assign(target, sent, frame)
            case New(target=target, class_=class_, args=args, local=local):
                values = [self.value(arg, frame) for arg in args]
                self._assign(target, self._new(class_, values, frame.me if local else None), frame)
            case Call(target=target, receiver=receiver, method=name, args=args):
                ref = self.settle(self.value(receiver, frame))
                returned = self._call_method(ref, name, [self.value(arg, frame) for arg in args], frame)
                self._assign(target, returned, frame)
            case Assert(test=test, text=text):
                if not self.decide(self.value(test, frame)):
                    raise Refuted(text)
            case Return(value=returned_):
                raise _Returned(self.value(returned_, frame))
            case Await(guard=guard, point=point):
                if not self.decide(self.value(guard, frame)):
                    raise _LetGo(point)
            case Suspend(point=point):
                raise _LetGo(point)
            case Get(target=target, future=waited, point=point):
                task = self.settle(self.value(waited, frame))
                if not self.is_resolved(task):
                    self.write_code(self.vocabulary.lock(self.group), self.pid)
                    raise _LetGo(point)
                result = self.vocabulary.result(task, self.task(task).method)
                self._assign(target, self.read(result), frame)

    def _assign(self, target: Target | None, value: Any, frame: Frame) -> None:
        if not isinstance(target, Var):
            return
        if target.own:
            self.write(self.vocabulary.field(frame.me, target), value)
        elif frame.task is not None:
            self.write(self.vocabulary.variable(frame.task, target), value)
        else:
            frame.names[target.name] = value

    # Tasks and objects

    def _child(self) -> Pid:
        child = self.pid.child(self.children)
        self.children += 1
        require_room(len(self.state.tasks) + len(self.state.objects) + len(self.made), child)
        return child

    def _send(self, ref: Pid | None, name: str, args: list[Any]) -> Pid:
        number = self.program.classes[self.instance(ref).class_].methods[name]
        method = self.program.templates[number]
        child = self._child()
        assert ref is not None
        entry = self.numbering.entries[number]
        self.made[child] = Task(number, entry, ref)
        self.write_code(self.vocabulary.standing(child), self.vocabulary.describe_point(number, entry))
        for parameter, value in zip(method.parameters, args, strict=True):
            self.write(self.vocabulary.variable(child, parameter.var), value)
        return child

    def _new(self, number: int, args: list[Any], maker: Pid | None) -> Pid:
        class_ = self.program.classes[number]
        ref = self._child()
        group = ref if maker is None else self.instance(maker).group
        self.made[ref] = Instance(number, group)
        if maker is None:
            self.write_code(self.vocabulary.lock(ref), None)
        for position, v in enumerate(class_.fields):
            field = self.vocabulary.field(ref, v)
            if position < len(args):
                self.write(field, args[position])
            elif field.whole:
                self.write(field, None)
        self._code(class_.init, Frame(ref, {}, silent=True), NOTHING)
        if class_.runs:
            self._send(ref, "run", [])
        return ref

    def _call_method(self, ref: Pid | None, name: str, args: list[Any], caller: Frame) -> Any:
        class_ = self.instance(ref).class_
        number = self.program.classes[class_].methods[name]
        method = self.program.templates[number]
        if method.releases:
            raise waits_inside(method)
        assert ref is not None
        names = {v.name: arg for v, arg in zip(method.parameters, args, strict=True)}
        try:
            entry = self.numbering.points[self.numbering.entries[number]]
            self._code(entry.code, Frame(ref, names, silent=caller.silent), NOTHING)
        except _Returned as returned:
            return returned.value
        return None

    @property
    def footprint(self) -> Footprint:
        return Footprint(frozenset({*self.reads, *map(future, self.futures)}), frozenset(self.writes))
