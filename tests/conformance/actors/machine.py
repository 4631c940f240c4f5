"""What actor programs do: the steps of their tasks, by an interpreter that shares no code with `src`.

A step runs a task from its start, or from where it waits, to an `await` whose guard does not hold, a `suspend`, a
`get` of a future that is not there yet, a failure, or its end. A task that blocks in `get` keeps its group to
itself.

Every block of statements becomes a list of instructions (`code`); a step runs instructions from where the
task stands until one of them says why it stops. What a step touches is found on the way:

    reads    the fields that the instructions mention, short-circuits included; the futures that they look at, all
             of them for an `await` of several; the lock of the group
    writes   the fields that were assigned; the future of the task when it ends, not when it fails; the lock of
             the group, if the step begins or ends blocked in `get`

Sending and making objects touches nothing. A step that fails has touched what it did until then, and no more: a
message to null fails before what is passed is looked at. An engine whose footprints are larger may run a class
more than once, but it must run the same classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from conformance.actors.code import Code, Failed, Target, Value, compiled, evaluation
from conformance.actors.syntax import Body, Class, Field, Place
from conformance.oracle import Outcome, Pid, Step, TooMany

MAIN_GROUP: Pid = ()
LONGEST_STEP = 2_000
"""Instructions in one step, beyond which a loop is taken to be endless."""


class Object(NamedTuple):
    pid: Pid
    class_name: str
    group: Pid
    values: tuple[Value, ...]
    """In the order in which the class declares its parameters and fields."""


class Frame(NamedTuple):
    """A block that a task is in, and where it stands there."""

    this: Pid | None
    place: Place
    at: int
    variables: tuple[tuple[str, Value], ...]
    into: Target
    """Where the caller wants the result."""


class Task(NamedTuple):
    """A task that has not ended: `stage` says why it last stopped, `line` where."""

    pid: Pid
    stage: str
    line: int
    frames: tuple[Frame, ...]
    made: int
    """How many objects and tasks it has made."""


class State(NamedTuple):
    objects: tuple[Object, ...]
    tasks: tuple[Task, ...]
    results: tuple[tuple[Pid, Value], ...]
    """Of the tasks that have ended."""


def dotted(pid: Pid) -> str:
    return ".".join(map(str, pid))


def shown(value: Value) -> int | bool | str:
    """A value as outcomes have it."""
    if value is None:
        return "null"
    return dotted(value) if isinstance(value, tuple) else value


class ActorMachine:
    """The `Machine` of an actor program."""

    def __init__(self, classes: Sequence[Class], main: Body, begins: Mapping[Place, int]) -> None:
        self.classes = {each.name: each for each in classes}
        self.field_names = {each.name: tuple(field.name for field in each.all_fields) for each in classes}
        self.first_values = {
            each.name: [(field.name, evaluation(field.value)) for field in each.fields] for each in classes
        }
        self.parameters: dict[Place, tuple[str, ...]] = {}
        self.code: dict[Place, Code] = {}
        for each in classes:
            self._compile((each.name, ""), each.initially, begins)
            for method in each.methods:
                self._compile((each.name, method.name), method.body, begins)
                self.parameters[each.name, method.name] = tuple(one.name for one in method.parameters)
        self._compile(("", ""), main, begins)
        self._known: dict[State, tuple[Step, ...]] = {}

    def _compile(self, place: Place, body: Body, begins: Mapping[Place, int]) -> None:
        self.code[place] = compiled(body, begins.get(place, 0))

    def initial(self) -> State:
        main = Frame(None, ("", ""), 0, (), None)
        return State((), (Task((0,), "start", 0, (main,), 0),), ())

    def steps(self, state: State) -> tuple[Step, ...]:
        known = self._known.get(state)
        if known is None:
            known = self._known[state] = tuple(self._steps(state))
        return known

    def _steps(self, state: State) -> list[Step]:
        objects = {each.pid: each for each in state.objects}
        results = dict(state.results)
        held = {_group(task, objects) for task in state.tasks if task.stage == "get"}
        found = []
        for task in state.tasks:
            group = _group(task, objects)
            if task.stage not in FAILURES and (group not in held or task.stage == "get"):
                execution = Execution(self, objects, results, task, group)
                if execution.runs():
                    found.append(execution.step(state))
        return found

    def outcome(self, state: State) -> Outcome:
        stages = {task.stage for task in state.tasks}
        kind = next((each for each in FAILURES if each in stages), "deadlock" if stages else "terminated")
        seen = {
            f"{dotted(each.pid)}.{name}": shown(value)
            for each in state.objects
            for name, value in zip(self.field_names[each.class_name], each.values, strict=True)
        }
        seen.update((dotted(task.pid), _standing(task)) for task in state.tasks)
        return kind, frozenset(seen.items())


FAILURES = ("error", "assertion")
"""An error counts for more than a failed assertion."""


def _group(task: Task, objects: Mapping[Pid, Object]) -> Pid:
    this = task.frames[0].this
    return MAIN_GROUP if this is None else objects[this].group


def _standing(task: Task) -> str:
    class_name, method = task.frames[0].place
    name = f"{class_name}.{method}" if class_name else "main"
    if task.stage in FAILURES:
        return f"{name} failed"
    return f"{name} at its start" if task.stage == "start" else f"{name} at {task.stage}, line {task.line}"


class Execution:
    """One step of one task: instructions change it, and `step` says what has come of it."""

    def __init__(
        self,
        machine: ActorMachine,
        objects: Mapping[Pid, Object],
        results: Mapping[Pid, Value],
        task: Task,
        group: Pid,
    ) -> None:
        self.machine, self.objects, self.results, self.task, self.group = machine, objects, results, task, group
        self.new_objects: dict[Pid, tuple[str, Pid]] = {}
        self.opened: dict[Pid, dict[str, Value]] = {}
        """The fields of the objects that the step has to do with."""
        self.new_tasks: list[Task] = []
        self.made = task.made
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.outer = list(task.frames[:-1])
        """The callers of the block that runs."""
        self._enter(task.frames[-1])
        self.stage, self.line, self.ended, self.result = "", 0, False, None

    def _enter(self, frame: Frame) -> None:
        self.this, self.place, self.at, self.into = frame.this, frame.place, frame.at, frame.into
        self.code = self.machine.code[frame.place]
        self.variables = dict(frame.variables)
        self.fields = {} if frame.this is None else self.fields_of(frame.this)
        self.prefix = "" if frame.this is None else dotted(frame.this) + "."

    def _leave(self) -> Frame:
        return Frame(self.this, self.place, self.at, tuple(self.variables.items()), self.into)

    def fields_of(self, pid: Pid) -> dict[str, Value]:
        if pid not in self.opened:
            each = self.objects[pid]
            self.opened[pid] = dict(zip(self.machine.field_names[each.class_name], each.values, strict=True))
        return self.opened[pid]

    def runs(self) -> bool:
        """Run to where the step ends; false if the task still waits where it waited."""
        count = 0
        while not self.stage and not self.ended:
            count += 1
            if count > LONGEST_STEP:
                raise TooMany
            self._instruction()
        waits = self.task.stage in ("await", "get")
        return not (count == 1 and waits and self.stage == self.task.stage)

    def _instruction(self) -> None:
        if self.at == len(self.code):
            self.finish(None)
            return
        instruction = self.code[self.at]
        self.at += 1
        for name in instruction.reads:
            self.reads.add(self.prefix + name)
        try:
            self.stage = instruction.run(self) or ""
        except Failed as failure:
            self.stage = failure.kind
        if self.stage:
            self.line = instruction.line
            self.at -= self.stage in ("await", "get")

    def store(self, target: Target, value: Value) -> None:
        if isinstance(target, Field):
            self.fields[target.name] = value
            self.writes.add(self.prefix + target.name)
        elif target is not None:
            self.variables[target.name] = value

    def looked_up(self, future: Value) -> bool:
        """Look at a future: is its value there?"""
        if future is None:
            raise Failed("error")
        self.reads.add(dotted(future))
        return future in self.results

    def finish(self, value: Value) -> None:
        """The end of a block: back to the caller, or the end of the task."""
        into = self.into
        starting = self.place[0], "run"
        if not self.place[1] and starting in self.machine.code:
            self._post(self.this, starting, ())
        if not self.outer:
            self.ended, self.result = True, value
            return
        self._enter(self.outer.pop())
        self.store(into, value)

    def _named(self) -> Pid:
        self.made += 1
        return (*self.task.pid, self.made - 1)

    def make(self, class_name: str, arguments: Sequence[Value], local: bool, into: Target) -> None:
        """A new object, whose init block runs next."""
        pid = self._named()
        of = self.machine.classes[class_name]
        self.new_objects[pid] = class_name, self.group if local else pid
        values = dict(zip((each.name for each in of.parameters), arguments, strict=True))
        self.opened[pid] = values
        self.store(into, pid)
        self.outer.append(self._leave())
        self._enter(Frame(pid, (class_name, ""), 0, (), None))
        for name, first_value in self.machine.first_values[class_name]:
            values[name] = first_value(self)

    def class_of(self, target: Pid) -> tuple[str, Pid]:
        """The class and the group of an object."""
        return self.new_objects.get(target) or self.objects[target][1:3]

    def send(self, target: Pid, method: str, arguments: Sequence[Value]) -> Pid:
        class_name, _ = self.class_of(target)
        return self._post(target, (class_name, method), arguments)

    def _post(self, target: Pid, place: Place, arguments: Sequence[Value]) -> Pid:
        pid = self._named()
        frame = Frame(target, place, 0, self._passed(place, arguments), None)
        self.new_tasks.append(Task(pid, "start", 0, (frame,), 0))
        return pid

    def call(self, target: Pid, method: str, arguments: Sequence[Value], into: Target) -> None:
        """A synchronous call within the group."""
        place = self.class_of(target)[0], method
        self.outer.append(self._leave())
        self._enter(Frame(target, place, 0, self._passed(place, arguments), into))

    def _passed(self, place: Place, arguments: Sequence[Value]) -> tuple[tuple[str, Value], ...]:
        return tuple(zip(self.machine.parameters[place], arguments, strict=True))

    def step(self, state: State) -> Step:
        pid = self.task.pid
        lock = dotted(self.group) + "!"
        self.reads.add(lock)
        if "get" in (self.task.stage, self.stage):
            self.writes.add(lock)
        tasks = [each for each in state.tasks if each.pid != pid] + self.new_tasks
        results = state.results
        if self.ended:
            self.writes.add(dotted(pid))
            results = tuple(sorted((*results, (pid, self.result)), key=lambda each: each[0]))
        else:
            tasks.append(Task(pid, self.stage, self.line, (*self.outer, self._leave()), self.made))
        return Step(
            pid,
            State(self._objects(), tuple(sorted(tasks)), results),
            frozenset(self.reads),
            frozenset(self.writes),
            tuple(each.pid for each in self.new_tasks),
        )

    def _objects(self) -> tuple[Object, ...]:
        after = dict(self.objects)
        for pid, fields in self.opened.items():
            class_name, group = self.class_of(pid)
            after[pid] = Object(pid, class_name, group, tuple(fields.values()))
        return tuple(after[pid] for pid in sorted(after))
