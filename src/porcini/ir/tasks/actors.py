"""A program of objects and tasks as actors: what a search by actors needs to know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from porcini.core.events import Action, Event
from porcini.core.pids import Pid
from porcini.ir.expr import conj
from porcini.ir.flat.frames import Process
from porcini.ir.objects import CallSite
from porcini.ir.operations import Call, Get, New, inside
from porcini.ir.tasks.code import OBJECT_FRAME, TASK_FRAME, Segment, looks_at_futures
from porcini.ir.tasks.events import StepAction, StepLabel
from porcini.ir.tasks.system import StepSystem


class Actors:
    """An actor is a group of objects, named after its first object."""

    def __init__(self, system: StepSystem) -> None:
        self.system = system
        self.numbering, self.program = system.numbering, system.program
        self.is_object, self.class_of, self.group_of = system.is_object, system.class_of, system.group_of
        self._apart: dict[tuple[int, int], bool] = {}
        self._tests: dict[tuple[int, CallSite], Callable[..., bool]] = {}
        self._makes_local = any(
            isinstance(op, New) and op.local for point in self.numbering.points for op in inside(point.code)
        )

    def of_step(self, step: Action | Event) -> Pid:
        """The group in which a step runs, named after its first object."""
        assert isinstance(step.label, StepLabel)
        return step.label.actor

    def same_queue(self, a: Action | Event, b: Action | Event) -> bool:
        """Do two steps start tasks of one actor?"""
        one, two = a.label, b.label
        assert isinstance(one, StepLabel) and isinstance(two, StepLabel)
        starts = self.numbering.points[one.start].kind == self.numbering.points[two.start].kind == "start"
        return starts and one.actor == two.actor

    def members(self, state: Sequence[Any], group: Pid) -> list[Pid]:
        """The objects of a group."""
        if not self._makes_local:
            return [group]
        return [ref for ref, _, process in self.system.objects(state) if state[process.base + 2] == group]

    def fields_of(self, state: Sequence[Any], ref: Pid) -> Sequence[Any]:
        process = state[0].by_pid[ref]
        first = process.base + OBJECT_FRAME
        return state[first : first + len(self.program.classes[self.class_of(state, ref)].fields)]

    def variables_of(self, state: Sequence[Any], task: Process) -> Sequence[Any]:
        first = task.base + TASK_FRAME
        return state[first : first + len(self.program.templates[task.template].variables)]

    def result_of(self, state: Sequence[Any], task: Pid) -> Any:
        """The value of a future; None if it is not resolved yet."""
        return state[state[0].by_pid[task].base + 3]

    def waits_for_future(self, state: Sequence[Any], task: Process) -> bool:
        """Does a task wait at a guard that reads futures, which other tasks may resolve?"""
        return looks_at_futures(self.numbering.points[state[task.base]].guard)

    def independent_tasks(self, first: Event, second: Action) -> bool:
        """Can the second step be taken before the first with the same result, whatever other actors do in between?

        This is P4's Theorem 2, decided by the fields that occur in their methods. The answer is no for tasks that
        have begun already, and where the second step reads a future that others may resolve.
        """
        assert isinstance(second, StepAction) and isinstance(first.label, StepLabel)
        one, two = self.numbering.points[first.label.start], self.numbering.points[second.point]
        if one.kind != "start" or two.kind != "start" or not second.enabled or second.looks_around:
            return False
        if first.footprint.conflicts(second.footprint):
            return False
        return self.are_independent(first.label.start, second.point)

    def are_independent(self, a: int, b: int) -> bool:
        """Do two tasks of one object, at these points, share no field that one of them may still write?

        A task that may block in `get` prevents the others from running, whatever fields it uses.
        """
        known = self._apart.get((a, b))
        if known is None:
            points = self.numbering.points[a], self.numbering.points[b]
            codes = [list(inside(point.code)) for point in points]
            x, y = (Segment.of(code) | Segment.of_guard(p.guard) for code, p in zip(codes, points, strict=True))
            shared = x.reads & y.writes or x.writes & y.reads or x.writes & y.writes
            blocking = any(isinstance(op, Get | Call) for code in codes for op in code)
            known = self._apart[a, b] = not shared and not blocking
        return known

    def may_call(self, state: Sequence[Any], task: Process, site: CallSite) -> bool:
        """Could a task that has not begun reach a call, given the conditions in which the call is nested?"""
        if self.numbering.points[state[task.base]].kind != "start" or not site.tests:
            return True
        key = task.template, site
        test = self._tests.get(key)
        if test is None:
            test = self._tests[key] = self.system.evaluates(task.template, conj(*site.tests))
        try:
            return bool(test(state, task.base, state[task.base + 2], []))
        except Exception:  # a condition over what the task has not computed yet says nothing
            return True
