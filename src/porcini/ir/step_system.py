"""Running objects and tasks: a system of processes with frames whose steps are macro-steps.

Objects have frames too, among those of the tasks: their fields are slots, and `layout.by_pid` finds them by
reference. References are pids: objects and tasks are named by who made them, so they are the same in every
schedule of a class.

Locations are fields (`0.1.balance`), futures (`0.2`, the task that resolves it) and, if the program ever blocks
in `get`, the lock of a group (`0.1!`). Sending puts a task into an unordered bag and touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from porcini.core.errors import InputError, LimitHit, Place
from porcini.core.events import Action, Event, Failure, FailureKind
from porcini.core.footprints import Footprint, Location
from porcini.core.pids import Pid
from porcini.core.systems import Final, Kind, Observed, Waiting
from porcini.ir.expr import Apply, conj, nodes
from porcini.ir.frames import (
    ENDED,
    FAILED_ASSERTION,
    FAILED_ERROR,
    FIRST_POINT,
    FrameSystem,
    Layout,
    Layouts,
    Process,
    State,
)
from porcini.ir.step_code import (
    MOST_ITERATIONS,
    OBJECT_FRAME,
    TASK_FRAME,
    Compiled,
    Names,
    Segment,
    definition_function,
    method_function,
    ready_function,
    step_function,
    test_function,
)
from porcini.ir.steps import RESOLVED, Call, CallSite, Definition, Get, New, StepGraph, inside
from porcini.ir.text import show

MAIN, MAIN_OBJECT = Pid((0,)), Pid((1,))


class Failed(Exception):
    """A task cannot go on: a run-time error of the program, not of ours."""

    kind: FailureKind = "error"


class Refuted(Failed):
    """An assertion does not hold."""

    kind = "assertion"


@dataclass(frozen=True, slots=True)
class StepLabel:
    """A macro-step as text: whose task, from where, to where. Labels are made once each."""

    text: str
    actor: Pid
    start: int
    end: int

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, eq=False)
class StepAction(Action):
    """An action and, where it does the same in every state, its event. `failure`: its guard has no value.

    `looks_around`: it looks at a future that was there before, so what others do may change it.
    """

    point: int = field(kw_only=True)
    event: Event | None = field(kw_only=True)
    failure: Failure | None = field(kw_only=True, default=None)
    looks_around: bool = field(kw_only=True, default=False)


class StepSystem(FrameSystem):
    """A compiled program of objects and tasks."""

    def __init__(self, graph: StepGraph) -> None:
        self.graph = graph
        self._class_template = len(graph.methods)
        sizes = [TASK_FRAME + len(method.variables) for method in graph.methods]
        sizes += [OBJECT_FRAME + len(class_.fields) for class_ in graph.classes]
        self._layouts = Layouts(1, sizes)
        self._methods = [class_.methods for class_ in graph.classes]
        self._segments: list[Segment] = []
        self._apart: dict[tuple[int, int], bool] = {}
        self._site_tests: dict[CallSite, Callable[..., bool]] = {}
        self._names_of: WeakKeyDictionary[Layout, tuple[list[tuple[str, int]], list[Process]]] = (
            WeakKeyDictionary()
        )
        self._makes_local = any(
            isinstance(op, New) and op.local for point in graph.points for op in inside(point.code)
        )
        self._compile()
        layout = self._layouts.empty.with_process(MAIN, 0, self._layouts)
        layout = layout.with_process(MAIN_OBJECT, self._class_template, self._layouts)
        main, fields = graph.methods[0], graph.classes[0].fields
        task = [main.entry, 0, MAIN_OBJECT, None, *(None for _ in main.variables)]
        self._initial: State = (layout, *task, ENDED, 0, MAIN_OBJECT, None, *(None for _ in fields))

    # Compiling

    def _compile(self) -> None:
        graph = self.graph
        scope: dict[str, Any] = {
            "__builtins__": {},
            "resolved": _resolved,
            "same_group": _same_group,
            "value": _value,
            "lock": _lock,
            "again": _again,
            "send": self._send,
            "new": self._new,
            "call": self._call,
            "refute": _refute,
            "fail": self._fail,
            "FAILURES": (Failed, ZeroDivisionError, RecursionError),
        }
        functions = {name: f"f{i}" for i, name in enumerate(graph.functions)}
        methods = {name for class_ in graph.classes for name in class_.methods}
        functions |= {f"method {name}": f"m{i}" for i, name in enumerate(sorted(methods))}
        names = self._names = Names(scope, functions)
        for name in methods:
            scope[functions[f"method {name}"]] = name
        for name, function in graph.functions.items():
            if isinstance(function, Definition):
                formals, line = definition_function(graph, names, function.parameters, function.body)
                scope[functions[name]] = _make(scope, f"def f({', '.join(formals)}):\n    {line}\n")
            else:
                scope[functions[name]] = function
        self._sync: dict[tuple[int, str], Callable[..., Any]] = {}
        self._init: list[Callable[..., Any] | None] = []
        for c, class_ in enumerate(graph.classes):
            self._init.append(self._method(names, scope, c, (), class_.init) if class_.init else None)
            for name, number in class_.methods.items():
                method = graph.methods[number]
                if not method.releases:
                    code = graph.points[method.entry].code
                    self._sync[c, name] = self._method(names, scope, c, method.parameters, code)
        self._steps: list[Callable[..., int]] = []
        self._compiled: list[Compiled] = []
        self._ready: list[Callable[..., bool] | None] = []
        self._guards: list[Segment] = []
        self._lines: dict[Callable[..., Any], list[Place | None]] = {}
        for number, point in enumerate(graph.points):
            compiled = step_function(graph, names, number) if number >= FIRST_POINT else Compiled([], [], [])
            step = _make(scope, "def f(s, b, pid, me, T):\n" + "\n".join(compiled.lines or ["    pass"]) + "\n")
            self._steps.append(step)
            self._compiled.append(compiled)
            if number >= FIRST_POINT and point.kind in ("await", "get"):
                lines, guard = ready_function(graph, names, number)
                self._ready.append(_make(scope, "def f(s, b, me, T):\n" + "\n".join(lines) + "\n"))
                self._guards.append(guard)
            else:
                self._ready.append(None)
                self._guards.append(Segment(frozenset(), frozenset()))

    def _method(
        self, names: Names, scope: dict[str, Any], class_: int, parameters: Sequence[Any], code: Any
    ) -> Callable[..., Any]:
        formals, compiled = method_function(self.graph, names, class_, parameters, code, len(self._segments))
        self._segments += compiled.segments
        head = ", ".join(["s", "b", "pid", "me", "T", *formals])
        return _make(scope, f"def f({head}):\n" + "\n".join(compiled.lines) + "\n")

    # Called by generated code

    def _child(self, s: list[Any], b: int, pid: Pid, template: int, values: list[Any]) -> Pid:
        child = pid.child(s[b + 1])
        s[b + 1] += 1
        grown = s[0] = s[0].with_process(child, template, self._layouts)
        base = grown.by_pid[child].base  # a child sorts after its parent, so b stays where it is
        s[base:base] = values
        return child

    def _class_of(self, s: list[Any], ref: Pid | None) -> int:
        if ref is None:
            raise Failed("a call on null")
        return int(s[0].by_pid[ref].template) - self._class_template

    def _send(self, s: list[Any], b: int, pid: Pid, name: str, ref: Pid | None, args: list[Any]) -> Pid:
        number = self._methods[self._class_of(s, ref)][name]
        method = self.graph.methods[number]
        missing = len(method.variables) - len(args)
        return self._child(s, b, pid, number, [method.entry, 0, ref, None, *args, *([None] * missing)])

    def _new(self, s: list[Any], b: int, pid: Pid, number: int, args: list[Any], maker: Pid | None) -> Pid:
        class_ = self.graph.classes[number]
        group = None if maker is None else s[s[0].by_pid[maker].base + 2]
        missing = len(class_.fields) - len(args)
        frame = [ENDED, 0, group, None, *args, *([None] * missing)]
        ref = self._child(s, b, pid, self._class_template + number, frame)
        if group is None:
            s[s[0].by_pid[ref].base + 2] = ref
        init = self._init[number]
        if init is not None:
            init(s, b, pid, ref, [])  # nobody else can touch what is being made
        if class_.runs:
            self._send(s, b, pid, "run", ref, [])
        return ref

    def _call(
        self, s: list[Any], b: int, pid: Pid, trail: list[Any], name: str, ref: Pid | None, args: list[Any]
    ) -> Any:
        function = self._sync.get((self._class_of(s, ref), name))
        if function is None:
            place = self.graph.methods[self._methods[self._class_of(s, ref)][name]].place
            raise InputError(
                f"a synchronous call of `{name}`, which may wait, on another object of the same group is outside "
                "the subset",
                place=place,
            )
        return function(s, b, pid, ref, trail, *args)

    def _fail(self, s: list[Any], b: int, trail: list[Any], problem: Exception) -> None:
        """A task stops where it failed; what it did before stays done."""
        kind: FailureKind = problem.kind if isinstance(problem, Failed) else "error"
        line = problem.__traceback__.tb_lineno if problem.__traceback__ else 0
        places = self._compiled[s[b]].places
        place = places[line - 2] if 2 <= line < len(places) + 2 else None
        message = str(problem)
        if isinstance(problem, ZeroDivisionError):
            message = "division by zero"
        elif isinstance(problem, RecursionError):
            message = "functions call each other too deep"
        trail.append(Failure(kind, message, place))
        s[b] = FAILED_ASSERTION if kind == "assertion" else FAILED_ERROR

    # The transition system

    def _actions_of(self, state: Sequence[Any], process: Process, found: list[Any]) -> None:
        b = process.base
        point, me = state[b], state[b + 2]
        group = state[state[0].by_pid[me].base + 2]
        uses_get = self.graph.uses_get
        kind = self.graph.points[point].kind
        trail: list[Any] = []
        failure: Failure | None = None
        holds = True
        if uses_get and kind != "get":
            holds = state[state[0].by_pid[group].base + 3] is None
        ready = self._ready[point]
        if ready is not None and holds:
            try:
                holds = ready(state, b, me, trail)
            except (Failed, ZeroDivisionError, RecursionError) as problem:
                failure = Failure("error", str(problem), self.graph.points[point].place)
        elif ready is not None:
            self._look_at_guard(ready, state, b, me, trail)
        compiled = self._compiled[point]
        key: Hashable
        if not holds or failure is not None:
            key = (point, me, group, failure, *trail)
        elif compiled.simple and not trail:
            key = (point, me, group, state[b + 1] if compiled.children else 0)
        else:
            key = self._foreseen(state, process, trail)
        action = process.known.get(key)
        if action is None:
            action = process.known[key] = self._action(process, key, holds, failure, trail)
        found.append(action)

    def _look_at_guard(
        self, ready: Callable[..., bool], state: Sequence[Any], b: int, me: Pid, trail: list[Any]
    ) -> None:
        """Note the futures that a guard looks at, whatever else keeps the task waiting."""
        with suppress(Failed, ZeroDivisionError, RecursionError):
            ready(state, b, me, trail)

    def _foreseen(self, state: Sequence[Any], process: Process, waited: list[Any]) -> Hashable:
        """What a step will do, found by taking it in a copy of the state."""
        slots = list(state)
        return self._take(slots, process, waited)

    def _take(self, s: list[Any], process: Process, waited: list[Any]) -> Hashable:
        """Take a step in place; the answer determines its event."""
        b, pid = process.base, process.pid
        point, before, me = s[b], s[b + 1], s[b + 2]
        group = s[s[0].by_pid[me].base + 2]
        trail = list(waited)
        parts = self._steps[point](s, b, pid, me, trail)
        return (point, me, group, parts, s[b], before, s[b + 1], frozenset(trail), tuple(waited))

    def apply(self, s: list[Any], action: Action) -> Event:
        assert action.enabled and isinstance(action, StepAction), "Porcini bug: fired what is not enabled"
        process = s[0].by_pid[action.pid]
        if action.failure is not None:
            s[process.base] = FAILED_ERROR
            assert action.event is not None
            return action.event
        trail: list[Any] = []
        b = process.base
        before = s[b + 1]
        ready = self._ready[s[b]]
        if ready is not None:
            ready(s, b, s[b + 2], trail)
        if self._compiled[s[b]].simple and not trail:
            done: list[Any] = []
            self._steps[s[b]](s, b, process.pid, s[b + 2], done)
            if not done:
                assert action.event is not None
                return action.event
            # It failed on the way: which step that was is known by now.
            me = s[b + 2]
            group = s[s[0].by_pid[me].base + 2]
            parts = (1 << len(self._compiled[action.point].segments)) - 1
            key: Hashable = (action.point, me, group, parts, s[b], before, s[b + 1], frozenset(done), ())
        else:
            key = self._take(s, process, trail)
        known = process.known.get(key)
        if known is None:
            known = process.known[key] = self._action(process, key, True, None, trail)
        assert isinstance(known.event, Event)
        return known.event

    # What is made once

    def _action(
        self,
        process: Process,
        key: Any,
        holds: bool,
        failure: Failure | None,
        waited: Sequence[Any],
    ) -> StepAction:
        point, me, group = key[:3]
        pid = process.pid
        guard = self._guard_reads(point, me, group, waited)
        shifting = self._shifts(point)
        if not holds:
            label = self._label(group, point, point, me, "waits")
            return StepAction(pid, 0, label, Footprint(guard), False, guard, shifting, point=point, event=None)
        if failure is not None:
            label = self._label(group, point, FAILED_ERROR, me, f"fails: {failure.message}")
            event = Event(pid, 0, label, Footprint(guard), (), failure, guard, shifting)
            return StepAction(
                pid, 0, label, Footprint(guard), True, guard, shifting, point=point, event=event, failure=failure
            )
        compiled = self._compiled[point]
        if len(key) == 4:  # simple: everything is known
            parts, end, before, after = -1, self._end_of(point), key[3], key[3] + compiled.children
            trail: frozenset[Any] = frozenset()
        else:
            parts, end, before, after, trail = key[3:8]
        reads, writes = set(guard), set[Location]()
        for k, segment in enumerate(compiled.segments):
            if parts >> k & 1:
                self._add(segment, me, reads, writes)
        failures = [item for item in trail if isinstance(item, Failure)]
        for item in trail:
            if isinstance(item, Pid):
                reads.add(_future(item))
            elif not isinstance(item, Failure):
                ref, number = item
                self._add(self._segments[number], ref, reads, writes)
        graph = self.graph
        if graph.uses_get:
            end_kind = graph.points[end].kind if end >= FIRST_POINT else "start"
            if "get" in (graph.points[point].kind, end_kind):
                writes.add(_lock_of(group))
        if end == ENDED and graph.uses_futures:
            writes.add(_future(pid))
        foot = Footprint(frozenset(reads), frozenset(writes))
        decides = guard if compiled.simple else guard | foot.reads
        spawned = tuple(pid.child(k) for k in range(before, after))
        failed = failures[0] if failures else None
        label = self._label(group, point, end, me, f"fails: {failed.message}" if failed else "")
        event = Event(pid, 0, label, foot, spawned, failed, decides, shifting)
        looks = any(isinstance(item, Pid) and item.parent != pid for item in trail)
        return StepAction(
            pid, 0, label, foot, True, decides, shifting, point=point, event=event, looks_around=looks
        )

    def _shifts(self, point: int) -> bool:
        """May what decides about a step be found by following references?"""
        return self._compiled[point].shifting or self.waits_at(point)

    def _end_of(self, point: int) -> int:
        last = self.graph.points[point].code[-1]
        return getattr(last, "point", ENDED)

    def _add(self, segment: Segment, ref: Pid, reads: set[Location], writes: set[Location]) -> None:
        reads.update(_field(ref, name) for name in segment.reads)
        writes.update(_field(ref, name) for name in segment.writes)

    def _guard_reads(self, point: int, me: Pid, group: Pid, waited: Sequence[Any]) -> frozenset[Location]:
        reads = {_field(me, name) for name in self._guards[point].reads}
        reads.update(_future(item) for item in waited if isinstance(item, Pid))
        if self.graph.uses_get and self.graph.points[point].kind != "get":
            reads.add(_lock_of(group))
        return frozenset(reads)

    def _label(self, group: Pid, start: int, end: int, me: Pid, note: str) -> StepLabel:
        point = self.graph.points[start]
        method = self.graph.methods[point.method]
        name = "main" if point.method == 0 else f"{me}.{method.name}"
        text = name if point.kind == "start" else f"{name} from {point.text}"
        if note:
            text += f" {note}"
        elif end >= FIRST_POINT:
            text += f" until {self.graph.points[end].text}"
        return StepLabel(text, group, start, end)

    # Actors: what a search by actors asks for

    def actor_of_step(self, step: Action | Event) -> Pid:
        """The group in which a step runs, named by the object that it began with."""
        assert isinstance(step.label, StepLabel)
        return step.label.actor

    def same_queue(self, a: Action | Event, b: Action | Event) -> bool:
        """Do two steps start tasks of one actor?"""
        one, two = a.label, b.label
        assert isinstance(one, StepLabel) and isinstance(two, StepLabel)
        starts = self.graph.points[one.start].kind == self.graph.points[two.start].kind == "start"
        return starts and one.actor == two.actor

    def is_object(self, state: Sequence[Any], pid: Pid) -> bool:
        return bool(state[0].by_pid[pid].template >= self._class_template)

    def class_of(self, state: Sequence[Any], ref: Pid) -> int:
        return int(state[0].by_pid[ref].template) - self._class_template

    def group_of(self, state: Sequence[Any], ref: Pid) -> Pid:
        return state[state[0].by_pid[ref].base + 2]  # type: ignore[no-any-return]

    def members(self, state: Sequence[Any], group: Pid) -> list[Pid]:
        """The objects of a group."""
        if not self._makes_local:
            return [group]
        return [ref for ref, _, process in self.objects(state) if state[process.base + 2] == group]

    def fields_of(self, state: Sequence[Any], ref: Pid) -> Sequence[Any]:
        process = state[0].by_pid[ref]
        first = process.base + OBJECT_FRAME
        return state[first : first + len(self.graph.classes[process.template - self._class_template].fields)]

    def variables_of(self, state: Sequence[Any], task: Process) -> Sequence[Any]:
        first = task.base + TASK_FRAME
        return state[first : first + len(self.graph.methods[task.template].variables)]

    def result_of(self, state: Sequence[Any], task: Pid) -> Any:
        """The value of a future; None if it is not there yet."""
        return state[state[0].by_pid[task].base + 3]

    def waits_for_future(self, state: Sequence[Any], task: Process) -> bool:
        """Does a task stand where others may let it go on?"""
        return self.waits_at(state[task.base])

    def waits_at(self, point: int) -> bool:
        """Does the guard of a point look at futures?"""
        guard = self.graph.points[point].guard
        return any(isinstance(node, Apply) and node.function == RESOLVED for node in nodes(guard))

    def independent_tasks(self, first: Event, second: Action) -> bool:
        """Is it the same to do the second before the first, whatever other actors do between?

        P4, Theorem 2: by the fields that occur in their methods. Not for tasks that have begun already, nor where
        the second looks at a future that others may resolve.
        """
        assert isinstance(second, StepAction) and isinstance(first.label, StepLabel)
        one, two = self.graph.points[first.label.start], self.graph.points[second.point]
        if one.kind != "start" or two.kind != "start" or not second.enabled or second.looks_around:
            return False
        if first.footprint.conflicts(second.footprint):
            return False
        return self.apart(self.graph.methods[one.method].entry, self.graph.methods[two.method].entry)

    def apart(self, a: int, b: int) -> bool:
        """Do two tasks of one object that stand at some points share no field that one of them may yet write?

        A task that may block in `get` keeps the others from running, whatever fields it uses.
        """
        known = self._apart.get((a, b))
        if known is None:
            codes = [list(inside(self.graph.points[point].code)) for point in (a, b)]
            x, y = map(Segment.of, codes)
            shared = x.reads & y.writes or x.writes & y.reads or x.writes & y.writes
            blocking = any(isinstance(op, Get | Call) for code in codes for op in code)
            known = self._apart[a, b] = not shared and not blocking
        return known

    def may_call(self, state: Sequence[Any], task: Process, site: CallSite) -> bool:
        """Could a task that has not begun reach a call, by the conditions that it stands under?"""
        if self.graph.points[state[task.base]].kind != "start" or not site.tests:
            return True
        test = self._site_tests.get(site)
        if test is None:
            names = self._names
            lines = test_function(self.graph, names, task.template, conj(*site.tests))
            test = self._site_tests[site] = _make(names.scope, "def f(s, b, me, T):\n" + "\n".join(lines) + "\n")
        try:
            return bool(test(state, task.base, state[task.base + 2], []))
        except Exception:  # a condition over what the task has not computed yet says nothing
            return True

    # Looking at states

    def objects(self, state: Sequence[Any]) -> Iterator[tuple[Pid, int, Process]]:
        """The objects there are, with their classes."""
        for process in state[0].processes:
            if process.template >= self._class_template:
                yield process.pid, process.template - self._class_template, process

    def observe(self, state: Sequence[Any]) -> dict[str, Observed]:
        """The fields of every object, and where unfinished tasks stand."""
        fields, tasks = self._seen_in(state[0])
        show = self.graph.show
        seen = {name: show(state[slot]) for name, slot in fields}
        for process in tasks:
            point = state[process.base]
            if point != ENDED:
                seen[str(process.pid)] = self._standing(process, point)
        return seen

    def _seen_in(self, layout: Layout) -> tuple[list[tuple[str, int]], list[Process]]:
        """The fields that a layout has, by name and slot, and its tasks."""
        known = self._names_of.get(layout)
        if known is None:
            fields: list[tuple[str, int]] = []
            tasks: list[Process] = []
            for process in layout.processes:
                if process.template < self._class_template:
                    tasks.append(process)
                    continue
                class_ = self.graph.classes[process.template - self._class_template]
                for k, v in enumerate(class_.fields):
                    fields.append((f"{process.pid}.{v.name[1:]}", process.base + OBJECT_FRAME + k))
            known = self._names_of[layout] = fields, tasks
        return known

    def _standing(self, process: Process, point: int) -> str:
        method = self.graph.methods[process.template]
        name = f"{self.graph.classes[method.class_].name}.{method.name}" if process.template else "main"
        if point < FIRST_POINT:
            return f"{name} failed"
        return f"{name} at {self.graph.points[point].text}"

    def final(self, state: Sequence[Any]) -> Final:
        tasks = self._seen_in(state[0])[1]
        points = [state[process.base] for process in tasks]
        waiting = tuple(self._waiting(state, p) for p in tasks if state[p.base] >= FIRST_POINT)
        kind: Kind = "terminated"
        if FAILED_ERROR in points:
            kind = "error"
        elif FAILED_ASSERTION in points:
            kind = "assertion"
        elif waiting:
            kind = "deadlock"
        return Final(kind, self.observe(state), waiting)

    def _waiting(self, state: Sequence[Any], process: Process) -> Waiting:
        """What an unfinished task waits for, and whether it keeps its actor to itself meanwhile."""
        b = process.base
        point, me = self.graph.points[state[b]], state[b + 2]
        group = self.group_of(state, me)
        holder = state[state[0].by_pid[group].base + 3]
        if point.kind != "get" and holder is not None:
            return Waiting(process.pid, f"{group} to be free", {}, point.place, (holder,))
        trail: list[Any] = []
        ready = self._ready[state[b]]
        if ready is not None:
            self._look_at_guard(ready, state, b, me, trail)
        fields = [v.name for v in self.graph.classes[self.class_of(state, me)].fields]
        first = state[0].by_pid[me].base + OBJECT_FRAME
        values: dict[str, Observed] = {
            name[1:]: self.graph.show(state[first + fields.index(name)])
            for name in sorted(self._guards[state[b]].reads)
        }
        futures = tuple(f for f in trail if isinstance(f, Pid) and not _resolved(state, [], f))
        guard = " and ".join(f"the future of {future}" for future in futures) or show(point.guard)
        holds = str(group) if point.kind == "get" else None
        return Waiting(process.pid, guard, values, point.place, futures, holds)


def _make(scope: dict[str, Any], text: str) -> Callable[..., Any]:
    local: dict[str, Any] = {}
    exec(compile(text, "<porcini>", "exec"), scope, local)  # our own text: see `step_code`
    made = local["f"]
    assert callable(made)
    return made  # type: ignore[no-any-return]


def _field(ref: Pid, name: str) -> Location:
    return Location(f"{ref}.{name[1:]}")


def _future(task: Pid) -> Location:
    return Location(str(task))


def _lock_of(group: Pid) -> Location:
    return Location(f"{group}!")


def _resolved(s: Sequence[Any], trail: list[Any], future: Pid | None) -> bool:
    if future is None:
        raise Failed("waits for a future that is null")
    trail.append(future)
    return bool(s[s[0].by_pid[future].base] == ENDED)


def _value(s: Sequence[Any], future: Pid) -> Any:
    return s[s[0].by_pid[future].base + 3]


def _same_group(s: Sequence[Any], me: Pid, other: Pid | None) -> bool:
    if other is None:
        raise Failed("a call on null")
    by_pid = s[0].by_pid
    return bool(s[by_pid[me].base + 2] == s[by_pid[other].base + 2])


def _lock(s: list[Any], me: Pid, holder: Pid | None) -> None:
    by_pid = s[0].by_pid
    s[by_pid[s[by_pid[me].base + 2]].base + 3] = holder


def _again(count: int) -> int:
    if count >= MOST_ITERATIONS:
        raise LimitHit(f"the limit of {MOST_ITERATIONS:,} iterations of a loop within one step")
    return count + 1


def _refute(text: str) -> None:
    raise Refuted(text)
