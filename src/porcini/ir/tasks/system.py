"""Running objects and tasks: a system of processes with frames whose steps are macro-steps.

Objects have frames too, among those of the tasks: their fields are slots, and `layout.by_pid` finds them by
reference. References are pids: objects and tasks are named after their creators, so they are the same in every
schedule of a class.

Locations are fields (`0.1.balance`), futures (`0.2`, the task that resolves it) and, if the program ever blocks
in `get`, the lock of a group (`0.1!`). Sending adds a task to an unordered bag and touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from porcini.core.errors import InputError, InternalError
from porcini.core.events import Action, Event, Failure, FailureKind, Label
from porcini.core.footprints import Location
from porcini.core.pids import Pid
from porcini.core.systems import (
    Final,
    Kind,
    Lookahead,
    Observed,
    Run,
    StateGraph,
    StepSource,
    SystemGraph,
    Value,
    Waiting,
    Watched,
)
from porcini.core.traces import Trace
from porcini.ir.analysis.numbering import ENDED, FAILED_ASSERTION, FAILED_ERROR, FIRST_POINT, Numbering
from porcini.ir.evaluation import defined, evaluate
from porcini.ir.expr import Expr, conj
from porcini.ir.flat.frames import FrameSystem, Layout, Layouts, Process, State
from porcini.ir.objects import MAIN, MAIN_OBJECT, Definition, ObjectProposition
from porcini.ir.program import Program, conjuncts
from porcini.ir.symbolic.formulas import LabelledRun
from porcini.ir.tasks.code import (
    OBJECT_FRAME,
    TASK_FRAME,
    Compiled,
    Names,
    Segment,
    definition_function,
    may_fail_while_waiting,
    method_function,
    ready_function,
    step_function,
    test_function,
)
from porcini.ir.tasks.events import StepAction, StepEvents, StepLabel, Taken, Where, field_of, future, lock
from porcini.ir.tasks.failures import FAILURES, Failed, Refuted, again, message_of, too_deep, waits_inside
from porcini.ir.tasks.flow import StepFlow
from porcini.ir.tasks.labels import StepLabels
from porcini.ir.text import show

_NAMES_MATTER = (
    "references are written or put in order, so that what is done may depend on their names: no two states are one"
)


class StepSystem(FrameSystem):
    """A compiled program of objects and tasks."""

    def __init__(self, program: Program) -> None:
        numbering = self.numbering = Numbering(program)
        self.program = program
        self.class_template = len(program.templates)
        self._variables = [len(method.variables) for method in program.templates]
        sizes = [TASK_FRAME + variables for variables in self._variables]
        sizes += [OBJECT_FRAME + len(class_.fields) for class_ in program.classes]
        self.layouts = Layouts(1, sizes)
        self._methods = [class_.methods for class_ in program.classes]
        self._segments: list[Segment] = []
        self._compile()
        self._events = StepEvents(numbering, self._compiled, self._guards, self._segments)
        self._holds = [point.kind == "get" for point in numbering.points]
        self._parameters = [
            len(numbering.template_at(number).parameters) if point.kind == "start" else 0
            for number, point in enumerate(numbering.points)
        ]
        layout = self.layouts.empty.with_process(MAIN, 0, self.layouts)
        layout = layout.with_process(MAIN_OBJECT, self.class_template, self.layouts)
        task = [numbering.entries[0], 0, MAIN_OBJECT, None, *([None] * self._variables[0])]
        self._conditions: dict[int, list[tuple[Callable[..., bool], frozenset[str], bool]]] = {}
        self._notes: tuple[str, ...] = ()
        self._watched: frozenset[Pid] = frozenset()
        """The objects that a formula refers to."""
        self._initial: State = (layout, *task, ENDED, 0, MAIN_OBJECT, None)

    # Compiling

    def _compile(self) -> None:
        numbering = self.numbering
        scope: dict[str, Any] = {
            "__builtins__": {},
            "resolved": _resolved,
            "same_group": _same_group,
            "value": _value,
            "lock": _lock,
            "again": again,
            "send": self._send,
            "new": self._new,
            "call": self._call,
            "refute": _refute,
            "fail": self._fail,
            "FAILURES": FAILURES,
        }
        functions = {name: f"f{i}" for i, name in enumerate(self.program.library.functions)}
        methods = {name for class_ in self.program.classes for name in class_.methods}
        functions |= {f"method {name}": f"m{i}" for i, name in enumerate(sorted(methods))}
        names = self._names = Names(scope, functions)
        for name in methods:
            scope[functions[f"method {name}"]] = name
        for name, function in self.program.library.functions.items():
            if isinstance(function, Definition):
                formals, line = definition_function(numbering, names, function.parameters, function.body)
                scope[functions[name]] = _make(scope, f"def f({', '.join(formals)}):\n    {line}\n")
            else:
                scope[functions[name]] = function
        self._sync: dict[tuple[int, str], Callable[..., Any]] = {}
        self._init: list[Callable[..., Any] | None] = []
        for c, class_ in enumerate(self.program.classes):
            self._init.append(self._method(names, scope, c, (), class_.init) if class_.init else None)
            for name, number in class_.methods.items():
                method = self.program.templates[number]
                if not method.releases:
                    code = numbering.points[numbering.entries[number]].code
                    self._sync[c, name] = self._method(names, scope, c, [v.var for v in method.parameters], code)
        self._steps: list[Callable[..., int]] = []
        self._compiled: list[Compiled] = []
        self._ready: list[Callable[..., bool] | None] = []
        self._guards: list[Segment] = []
        for number, point in enumerate(numbering.points):
            compiled = step_function(numbering, names, number) if number >= FIRST_POINT else Compiled([], [], [])
            step = _make(scope, "def f(s, b, pid, me, T):\n" + "\n".join(compiled.lines or ["    pass"]) + "\n")
            self._steps.append(step)
            self._compiled.append(compiled)
            if number >= FIRST_POINT and point.kind in ("await", "get"):
                lines, guard = ready_function(numbering, names, number)
                self._ready.append(_make(scope, "def f(s, b, me, T):\n" + "\n".join(lines) + "\n"))
                self._guards.append(guard)
            else:
                self._ready.append(None)
                self._guards.append(Segment(frozenset(), frozenset()))

    def _method(
        self, names: Names, scope: dict[str, Any], class_: int, parameters: Sequence[Any], code: Any
    ) -> Callable[..., Any]:
        formals, compiled = method_function(self.numbering, names, class_, parameters, code, len(self._segments))
        self._segments += compiled.segments
        head = ", ".join(["s", "b", "pid", "me", "T", *formals])
        return _make(scope, f"def f({head}):\n" + "\n".join(compiled.lines) + "\n")

    # These are called by generated code

    def _child(self, s: list[Any], b: int, pid: Pid, template: int, values: list[Any]) -> Pid:
        child = pid.child(s[b + 1])
        s[b + 1] += 1
        grown = s[0] = s[0].with_process(child, template, self.layouts)
        base = grown.by_pid[child].base  # a child sorts after its parent, so b does not change
        s[base:base] = values
        return child

    def _class_of(self, s: list[Any], ref: Pid | None) -> int:
        if ref is None:
            raise Failed("a call on null")
        return int(s[0].by_pid[ref].template) - self.class_template

    def _send(self, s: list[Any], b: int, pid: Pid, name: str, ref: Pid | None, args: list[Any]) -> Pid:
        number = self._methods[self._class_of(s, ref)][name]
        missing = self._variables[number] - len(args)
        entry = self.numbering.entries[number]
        return self._child(s, b, pid, number, [entry, 0, ref, None, *args, *([None] * missing)])

    def _new(self, s: list[Any], b: int, pid: Pid, number: int, args: list[Any], maker: Pid | None) -> Pid:
        class_ = self.program.classes[number]
        group = None if maker is None else s[s[0].by_pid[maker].base + 2]
        missing = len(class_.fields) - len(args)
        frame = [ENDED, 0, group, None, *args, *([None] * missing)]
        ref = self._child(s, b, pid, self.class_template + number, frame)
        if group is None:
            s[s[0].by_pid[ref].base + 2] = ref
        init = self._init[number]
        if init is not None:
            init(s, b, pid, ref, [])  # nobody else can access the new object yet
        if class_.runs:
            self._send(s, b, pid, "run", ref, [])
        return ref

    def _call(
        self, s: list[Any], b: int, pid: Pid, trail: list[Any], name: str, ref: Pid | None, args: list[Any]
    ) -> Any:
        function = self._sync.get((self._class_of(s, ref), name))
        if function is None:
            raise waits_inside(self.program.templates[self._methods[self._class_of(s, ref)][name]])
        return function(s, b, pid, ref, trail, *args)

    def _fail(self, s: list[Any], b: int, trail: list[Any], problem: Exception) -> None:
        """Stop a task where it failed; what it did before is not undone."""
        kind: FailureKind = problem.kind if isinstance(problem, Failed) else "error"
        line = problem.__traceback__.tb_lineno if problem.__traceback__ else 0
        places = self._compiled[s[b]].places
        place = places[line - 2] if 2 <= line < len(places) + 2 else None
        trail.append(Failure(kind, message_of(problem), place))
        s[b] = FAILED_ASSERTION if kind == "assertion" else FAILED_ERROR

    # The transition system

    def _actions_of(self, state: Sequence[Any], process: Process, found: list[Any]) -> None:
        b = process.base
        point, me = state[b], state[b + 2]
        by_pid = state[0].by_pid
        group = state[by_pid[me].base + 2]
        trail: list[Any] = []
        failure: Failure | None = None
        free = not self.program.uses_get or self._holds[point] or state[by_pid[group].base + 3] is None
        holds = free
        ready = self._ready[point]
        if ready is not None:
            try:
                holds = ready(state, b, me, trail) and free
            except FAILURES as problem:
                failure = Failure("error", message_of(problem), self.numbering.points[point].place)
            except RecursionError:
                raise too_deep() from None
        at = Where(point, me, group, self._arguments(state, process), tuple(trail))
        key: Hashable
        if failure is not None and free:
            key = at, failure
        elif not holds:
            key = at
        else:
            key = self._foresee(state, process, at)
        action = process.actions_by_key.get(key)
        if action is None:
            if failure is not None and free:
                action = self._events.failing_action(process.pid, at, failure)
            elif isinstance(key, Taken):
                action = self._events.enabled_action(process.pid, key)
            else:
                action = self._events.blocked_action(process.pid, at)
            process.actions_by_key[key] = action
        found.append(action)

    def _arguments(self, state: Sequence[Any], process: Process) -> tuple[Any, ...]:
        """The arguments of a task that has not begun."""
        count = self._parameters[state[process.base]]
        if not count:
            return ()
        first = process.base + TASK_FRAME
        return tuple(state[first : first + count])

    def _foresee(self, state: Sequence[Any], process: Process, at: Where) -> Taken:
        """What a step will do. If that is not the same in every state, it is taken in a copy of this state."""
        compiled = self._compiled[at.point]
        if compiled.simple:
            before = state[process.base + 1]
            return Taken(at, -1, compiled.end, before, before + compiled.children, frozenset(at.waited))
        return self._take(list(state), process, at)

    def _take(self, s: list[Any], process: Process, at: Where) -> Taken:
        """Take a step in place; the result determines its event."""
        b = process.base
        before = s[b + 1]
        trail = list(at.waited)
        try:
            segments = self._steps[at.point](s, b, process.pid, at.me, trail)
        except RecursionError:
            raise too_deep() from None
        return Taken(at, segments, s[b], before, s[b + 1], frozenset(trail))

    def apply(self, s: list[Any], action: Action) -> Event:
        if not action.enabled or not isinstance(action, StepAction):
            raise InternalError(f"a step of {action.pid} was taken that is not enabled")
        process = s[0].by_pid[action.pid]
        b = process.base
        assert action.event is not None
        if action.failure is not None:
            s[b] = FAILED_ERROR
            return action.event
        foreseen = action.taken
        assert foreseen is not None
        at = foreseen.where
        if self._compiled[at.point].simple:
            failed: list[Any] = []
            try:
                self._steps[at.point](s, b, process.pid, at.me, failed)
            except RecursionError:
                raise too_deep() from None
            if not failed:
                return action.event
            taken = Taken(at, -1, s[b], foreseen.before, s[b + 1], frozenset(failed))
        else:
            taken = self._take(s, process, at)
            if taken == foreseen:
                return action.event
        known = process.actions_by_key.get(taken)
        if known is None:
            known = process.actions_by_key[taken] = self._events.enabled_action(process.pid, taken)
        event = known.event
        assert isinstance(event, Event)
        return event

    # Looking at states

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions of the program, compiled."""
        return {name: self._names.scope[self._names.functions[name]] for name in self.program.library.functions}

    def label_run(self, trace: Trace, after: Run) -> LabelledRun:
        """A recorded run as formulas (`ir.symbolic.formulas.FormulaSystem`)."""
        return self._labels.label_run(trace, after)

    @cached_property
    def _labels(self) -> StepLabels:
        return StepLabels.of_given_inputs(self.numbering, self.functions)

    def evaluates(self, method: int, test: Expr) -> Callable[..., bool]:
        """A function that says whether a condition holds for a task of a method, at its point."""
        lines = test_function(self.numbering, self._names, method, test)
        return _make(self._names.scope, "def f(s, b, me, T):\n" + "\n".join(lines) + "\n")

    def is_object(self, state: Sequence[Any], pid: Pid) -> bool:
        return bool(state[0].by_pid[pid].template >= self.class_template)

    def class_of(self, state: Sequence[Any], ref: Pid) -> int:
        return int(state[0].by_pid[ref].template) - self.class_template

    def group_of(self, state: Sequence[Any], ref: Pid) -> Pid:
        return state[state[0].by_pid[ref].base + 2]  # type: ignore[no-any-return]

    def objects(self, state: Sequence[Any]) -> Iterator[tuple[Pid, int, Process]]:
        """All objects, with their classes."""
        for process in state[0].processes:
            if process.template >= self.class_template:
                yield process.pid, process.template - self.class_template, process

    def observe(self, state: Sequence[Any]) -> dict[str, Observed]:
        """The fields of every object, and the points of unfinished tasks."""
        fields, tasks = self._fields_and_tasks(state[0])
        show = self.program.library.values.show
        seen = {name: show(state[slot]) for name, slot in fields}
        for process in tasks:
            if state[process.base] != ENDED:
                seen[str(process.pid)] = self._standing(process, state[process.base])
        return seen

    def variables(self, run: Any) -> dict[str, Observed]:
        """The fields of every object."""
        show = self.program.library.values.show
        return {name: show(run.slots[slot]) for name, slot in self._fields_and_tasks(run.slots[0])[0]}

    def source_of(self, label: Label) -> StepSource:
        assert isinstance(label, StepLabel)
        point = self.numbering.points[label.start]
        return StepSource(point.place, self.numbering.task_name(self.numbering.template_of[label.start]))

    def values(self, run: Any, locations: Iterable[Location]) -> dict[Location, Observed]:
        """The values of fields; futures and locks are locations without a value to show."""
        slots = dict(self._fields_and_tasks(run.slots[0])[0])
        return {
            place: self.program.library.values.show(run.slots[slots[place]])
            for place in locations
            if place in slots
        }

    def _fields_and_tasks(self, layout: Layout) -> tuple[list[tuple[str, int]], list[Process]]:
        """The fields of a layout, by name and slot, and its tasks."""
        known: tuple[list[tuple[str, int]], list[Process]] | None = layout.notes
        if known is None:
            fields: list[tuple[str, int]] = []
            tasks: list[Process] = []
            for process in layout.processes:
                if process.template < self.class_template:
                    tasks.append(process)
                    continue
                class_ = self.program.classes[process.template - self.class_template]
                for k, v in enumerate(class_.fields):
                    fields.append((f"{process.pid}.{v.name[1:]}", process.base + OBJECT_FRAME + k))
            known = layout.notes = fields, tasks
        return known

    def _name(self, process: Process) -> str:
        return self.numbering.task_name(process.template)

    def _standing(self, process: Process, point: int) -> str:
        name = self._name(process)
        if point < FIRST_POINT:
            return f"{name} failed"
        return f"{name} at {self.numbering.points[point].text}"

    def state_graph(self, *, exact: bool = True) -> StateGraph[Any]:
        """States are merged only in programs that may create tasks or objects for ever: all others have finitely
        many names, and exact steps cost less."""
        if exact or not self.flow.may_go_on:
            return SystemGraph(self)
        if self.program.library.names_matter:
            self._notes = (_NAMES_MATTER,)
            return SystemGraph(self)
        from porcini.ir.tasks.canonical_graph import CanonicalGraph  # which takes steps of this system

        return CanonicalGraph(self, self._watched)

    @cached_property
    def lookahead(self) -> Lookahead[State]:
        from porcini.ir.tasks.lookahead import StepLookahead  # which looks at states of this system

        return StepLookahead(self)

    def unmet_conditions(self, state: Sequence[Any], action: Action) -> Sequence[frozenset[Location]]:
        """The conditions are that its group is free, and the conjuncts of its guard, as long as those before them
        cannot fail: a guard that fails enables its task, which then fails."""
        process = state[0].by_pid[action.pid]
        b = process.base
        point, me = state[b], state[b + 2]
        group = self.group_of(state, me)
        found: list[frozenset[Location]] = []
        if not self._holds[point] and state[state[0].by_pid[group].base + 3] is not None:
            found.append(frozenset({lock(group)}))
        for holds, fields, may_fail in self._conditions_at(point):
            trail: list[Any] = []
            try:
                if not holds(state, b, me, trail):
                    found.append(frozenset({field_of(me, name) for name in fields} | set(map(future, trail))))
            except (*FAILURES, RecursionError):  # one that those before it keep from being evaluated
                break
            if may_fail:
                break
        return found or (action.footprint.reads,)

    def _conditions_at(self, point: int) -> list[tuple[Callable[..., bool], frozenset[str], bool]]:
        """The conjuncts of the guard of a point: for each its test, the fields that it reads, and whether it may
        fail."""
        known = self._conditions.get(point)
        if known is None:
            template = self.numbering.template_of[point]
            known = self._conditions[point] = [
                (
                    self.evaluates(template, part),
                    Segment.of_guard(part).reads,
                    may_fail_while_waiting(part, self.numbering),
                )
                for part in conjuncts(self.numbering.points[point].guard)
            ]
        return known

    @cached_property
    def flow(self) -> StepFlow:
        return StepFlow(self.numbering)

    def runtime_notes(self) -> tuple[str, ...]:
        return self._notes

    def watching(self, propositions: Sequence[ObjectProposition]) -> Watched[State]:
        """A formula begins after the first step of main, before which nothing else can happen: so the objects that
        this step creates exist from the start."""
        seen = [(ref, field_of(ref, name)) for each in propositions for _, ref, name in each.fields]
        self._watched = frozenset(ref for ref, _ in seen)
        self._events.watched = {ref: frozenset(at for other, at in seen if other == ref) for ref, _ in seen}

        def letter(state: State) -> int:
            seen = self.fire(state, self.actions(state)[0])[0] if state == self._initial else state
            return sum(1 << number for number, each in enumerate(propositions) if self._holds_in(each, seen))

        return Watched(letter, frozenset(location for _, location in seen))

    def _holds_in(self, proposition: ObjectProposition, state: Sequence[Any]) -> bool:
        store: dict[str, Value] = {}
        for variable, ref, field in proposition.fields:
            if ref not in state[0].by_pid or not self.is_object(state, ref):
                return False
            names = [v.name for v in self.program.classes[self.class_of(state, ref)].fields]
            if field not in names:
                return False
            store[variable.name] = state[state[0].by_pid[ref].base + OBJECT_FRAME + names.index(field)]
        test = proposition.test  # without a value, for example because it divides by zero, it does not hold
        return None not in store.values() and bool(evaluate(conj(defined(test), test), store))

    def final(self, state: Sequence[Any]) -> Final:
        unfinished = [process for process in self._fields_and_tasks(state[0])[1] if state[process.base] != ENDED]
        if not unfinished:
            return Final("terminated", self.observe(state))
        points = [state[process.base] for process in unfinished]
        waiting = tuple(self._waiting(state, p) for p in unfinished if state[p.base] >= FIRST_POINT)
        kind: Kind = "deadlock"
        if FAILED_ERROR in points:
            kind = "error"
        elif FAILED_ASSERTION in points:
            kind = "assertion"
        return Final(kind, self.observe(state), waiting)

    def _waiting(self, state: Sequence[Any], process: Process) -> Waiting:
        """What an unfinished task waits for, and whether it blocks its actor meanwhile."""
        b = process.base
        point, me = self.numbering.points[state[b]], state[b + 2]
        group = self.group_of(state, me)
        holder = state[state[0].by_pid[group].base + 3]
        if point.kind != "get" and holder is not None:
            guard = f"{_group_name(group)} to be free, held by {holder}"
            return Waiting(process.pid, guard, {}, point.place, (holder,), None, self._name(process))
        trail: list[Any] = []
        ready = self._ready[state[b]]
        if ready is not None:
            with suppress(*FAILURES):
                ready(state, b, me, trail)
        fields = [v.name for v in self.program.classes[self.class_of(state, me)].fields]
        first = state[0].by_pid[me].base + OBJECT_FRAME
        values: dict[str, Observed] = {
            name[1:]: self.program.library.values.show(state[first + fields.index(name)])
            for name in sorted(self._guards[state[b]].reads)
        }
        futures = tuple(f for f in trail if isinstance(f, Pid) and not _resolved(state, [], f))
        guard = " and ".join(f"the future of {future}" for future in futures) or show(point.guard)
        holds = _group_name(group) if point.kind == "get" else None
        return Waiting(process.pid, guard, values, point.place, futures, holds, self._name(process))


def _group_name(group: Pid) -> str:
    return "the group of main" if group == MAIN_OBJECT else str(group)


def _make(scope: dict[str, Any], text: str) -> Callable[..., Any]:
    local: dict[str, Any] = {}
    try:
        code = compile(text, "<porcini>", "exec")  # our own text: see `code`
    except (SyntaxError, RecursionError, MemoryError):  # Python's limits: 100 blocks, 20 loops, 200 brackets
        raise InputError("statements or expressions are nested too deep to be compiled") from None
    exec(code, scope, local)
    made = local["f"]
    assert callable(made)
    return made  # type: ignore[no-any-return]


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


def _refute(text: str) -> None:
    raise Refuted(text)
