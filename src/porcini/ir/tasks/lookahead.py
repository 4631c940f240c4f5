"""What tasks may still do: for ample sets (`core.systems.Lookahead`).

A task and those that it may start touch fields of objects, locks of groups and futures. Which ones these are
depends on references, so there are two analyses, and for each object or future the one that names fewer tasks is
used:

    by code       what the code from a task's point on may do, with all that it may call and send: to its own
                  object (also by `this!m()`), and to any object of the classes that messages may go to
    by reference  which tasks can get hold of an object now, through their variables and objects, and the values of
                  futures; whoever does may do to it what the code of all tasks together may do

*Why* this is enough: let P be a set of tasks none of which moves. Let x be a task outside of P, or one that such a
task has started, that touches an object o which exists now. Then the code of the task that x comes from may do so:
that task is named by code. And x got its reference to o from another task that is not in P, that one from another
again, up to one that can get hold of o now: that one is named by reference, though its own code need not touch o.
So either way a task outside of P is named for o, and a set of tasks that conflicts with no other task's footprint
is ample (`engines.ample`). Nobody touches now what is created later. The future of a task is written by its end
alone.

The lock of a group is read by every task that runs in it, and written by a task that blocks there in `get` or goes
on from it. That may be a task of an object that does not exist yet, but then a task that runs in the group creates
it: in programs that put new objects into existing groups, every task that runs in a group may write its lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from porcini.core.footprints import EMPTY, Footprint, Location
from porcini.core.pids import Pid
from porcini.ir.analysis.numbering import ENDED, FIRST_POINT, Numbering
from porcini.ir.expr import Var
from porcini.ir.flat.frames import Process, State
from porcini.ir.objects import collect_references
from porcini.ir.operations import Block, Call, Get, New, Op, Post, inside, reads_of
from porcini.ir.tasks.code import OBJECT_FRAME, TASK_FRAME, Segment, looks_at_futures
from porcini.ir.tasks.events import field_of, future, lock
from porcini.ir.tasks.flow import StepFlow
from porcini.ir.tasks.system import StepSystem

THIS = -1
"""Stands for the object that a task runs on, in place of a class."""


@dataclass(frozen=True, slots=True)
class Access:
    """What may be done to an object: which fields are accessed, and whether a task may run on it or block in
    `get`."""

    fields: Segment = field(default_factory=lambda: Segment(frozenset(), frozenset()))
    runs: bool = False
    blocks: bool = False

    def __or__(self, other: Access) -> Access:
        return Access(self.fields | other.fields, self.runs or other.runs, self.blocks or other.blocks)


NO_ACCESS = Access()


@dataclass(slots=True)
class Accesses:
    """What may be done from a point on: to the task's own object (`THIS`) and to those of classes."""

    to: dict[int, Access] = field(default_factory=dict)
    looks_at_futures: bool = False

    def add(self, whom: int, access: Access) -> None:
        self.to[whom] = self.to.get(whom, NO_ACCESS) | access


class CodeLookahead:
    """What the code from a point on may do, computed once per point."""

    def __init__(self, numbering: Numbering, flow: StepFlow) -> None:
        self.numbering, self.program, self.flow = numbering, numbering.program, flow
        self._known: dict[int, Accesses] = {}

    @cached_property
    def makes_local(self) -> bool:
        """May a new object belong to an existing group?"""
        codes = [point.code for point in self.numbering.points] + [class_.init for class_ in self.program.classes]
        return any(isinstance(op, New) and op.local for code in codes for op in inside(code))

    def from_point(self, number: int) -> Accesses:
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._find(number)
        return known

    def _find(self, number: int) -> Accesses:
        point = self.numbering.points[number]
        found = Accesses(looks_at_futures=looks_at_futures(point.guard))
        found.add(THIS, Access(Segment.of_guard(point.guard), runs=True, blocks=point.kind == "get"))
        left: list[tuple[int, Block]] = [(THIS, point.code)]
        seen: set[tuple[int, int]] = set()
        while left:
            whom, code = left.pop()
            for op in inside(code):
                self._do(op, whom, found)
                for step in self._methods_started_by(op, whom):
                    if step not in seen:
                        seen.add(step)
                        left.append((step[0], self.flow.body(step[1])))
        return found

    def _do(self, op: Op, whom: int, found: Accesses) -> None:
        found.add(whom, Access(Segment.of((op,)), runs=True, blocks=isinstance(op, Get)))
        found.looks_at_futures |= isinstance(op, Get) or any(looks_at_futures(e) for e in reads_of(op))

    def _methods_started_by(self, op: Op, whom: int) -> Iterable[tuple[int, int]]:
        """The methods that an operation may start or call, each with the class of the receiver, or `THIS`."""
        methods: Iterable[int] = ()
        if isinstance(op, Post | Call):
            methods = self.flow.receivers(op)
            if isinstance(op.receiver, Var) and op.receiver.name == ".this" and whom == THIS:
                return [(THIS, method) for method in methods]
        elif isinstance(op, New):  # the object is new, but its tasks may send to existing ones
            methods = self.flow.makes((op,)).methods
        return [(self.program.templates[method].class_, method) for method in methods]


class StepLookahead:
    """What each task of a state may still do. The answers for the last state are cached, since an engine asks for
    all tasks of a state one after the other."""

    def __init__(self, system: StepSystem) -> None:
        self.system = system
        self.code_lookahead = CodeLookahead(system.numbering, system.flow)
        self._state: State | None = None
        self._found: dict[Pid, Footprint] = {}

    def may_still_do(self, state: State, pid: Pid) -> Footprint:
        if state is not self._state:
            self._state, self._found = state, _StateLookahead(self.system, self.code_lookahead, state).footprints()
        return self._found.get(pid, EMPTY)


class _StateLookahead:
    """The lookahead of all tasks in one state."""

    def __init__(self, system: StepSystem, code_lookahead: CodeLookahead, state: Sequence[Any]) -> None:
        self.system, self.program, self.state = system, system.program, state
        self.makes_local = code_lookahead.makes_local
        self.tasks: list[Process] = []
        self.objects: dict[Pid, Process] = {}
        for process in state[0].processes:
            if process.template >= system.class_template:
                self.objects[process.pid] = process
            elif state[process.base] >= FIRST_POINT:
                self.tasks.append(process)
        self.accesses = {task.pid: code_lookahead.from_point(state[task.base]) for task in self.tasks}
        self.reads: dict[Pid, set[Location]] = {task.pid: set() for task in self.tasks}
        self.writes: dict[Pid, set[Location]] = {task.pid: set() for task in self.tasks}

    def footprints(self) -> dict[Pid, Footprint]:
        reached = {task.pid: self._reachable_from(task) for task in self.tasks}
        together = self._access_by_all()
        for ref in self.objects:
            coded = self._tasks_by_code(ref)
            holding = [pid for pid, refs in reached.items() if ref in refs]
            if len(holding) < len(coded):
                coded = dict.fromkeys(holding, together.get(self._class_of(ref), NO_ACCESS))
            for pid, access in coded.items():
                self._touch(pid, ref, access)
        if self.program.uses_futures:
            self._look_at_futures(reached)
        return {pid: Footprint(frozenset(self.reads[pid]), frozenset(self.writes[pid])) for pid in self.reads}

    def _class_of(self, ref: Pid) -> int:
        return self.system.class_of(self.state, ref)

    def _tasks_by_code(self, ref: Pid) -> dict[Pid, Access]:
        """The tasks whose code may lead to an object, and what it may do to it."""
        found: dict[Pid, Access] = {}
        class_ = self._class_of(ref)
        for task in self.tasks:
            to = self.accesses[task.pid].to
            access = to.get(class_, NO_ACCESS)
            if self.state[task.base + 2] == ref:
                access |= to[THIS]
            if access != NO_ACCESS:
                found[task.pid] = access
        return found

    def _access_by_all(self) -> dict[int, Access]:
        """What all tasks together may do to objects of each class."""
        found: dict[int, Access] = {}
        for task in self.tasks:
            own = self._class_of(self.state[task.base + 2])
            for whom, access in self.accesses[task.pid].to.items():
                class_ = own if whom == THIS else whom
                found[class_] = found.get(class_, NO_ACCESS) | access
        return found

    def _touch(self, pid: Pid, ref: Pid, access: Access) -> None:
        reads, writes = self.reads[pid], self.writes[pid]
        reads.update(field_of(ref, name) for name in access.fields.reads)
        writes.update(field_of(ref, name) for name in access.fields.writes)
        if self.program.uses_get and access.runs:
            blocks = access.blocks or self.makes_local
            (writes if blocks else reads).add(lock(self.system.group_of(self.state, ref)))

    def _look_at_futures(self, reached: dict[Pid, set[Pid]]) -> None:
        looking = [pid for pid, accesses in self.accesses.items() if accesses.looks_at_futures]
        for task in self.tasks:
            holding = [pid for pid, refs in reached.items() if task.pid in refs]
            for pid in holding if len(holding) < len(looking) else looking:
                self.reads[pid].add(future(task.pid))
            self.writes[task.pid].add(future(task.pid))

    def _reachable_from(self, task: Process) -> set[Pid]:
        """The objects and futures that a task can get hold of."""
        state, by_pid = self.state, self.state[0].by_pid
        found: set[Pid] = set()
        left = {state[task.base + 2]}
        variables = len(self.program.templates[task.template].variables)
        for value in state[task.base + TASK_FRAME : task.base + TASK_FRAME + variables]:
            collect_references(value, left)
        while left:
            ref = left.pop()
            if ref in found:
                continue
            found.add(ref)
            process = by_pid[ref]
            held: Sequence[Any] = ()
            if ref in self.objects:
                fields = len(self.program.classes[process.template - self.system.class_template].fields)
                held = state[process.base + OBJECT_FRAME : process.base + OBJECT_FRAME + fields]
            elif state[process.base] == ENDED:
                held = state[process.base + 3 : process.base + 4]
            for value in held:
                collect_references(value, left)
        return found
