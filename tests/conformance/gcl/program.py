"""A judge for guarded commands (`.gcl`), written from docs/gcl.md and docs/design.md: programs and their steps.

A program is a tree: `Program` with its bindings, procedures and a block of statements. `text` is its source,
`machine` its semantics for `conformance.oracle`, `smaller` what is left when something is taken away.

What a step is:

    e |> s, s <| e |> s, e |>* s    one step each, that of `s` included; leaving a loop is one, too
    e |> (g)                        the guard belongs to the first step of `g`; if `g` has none it is one itself
    skip                            no step, nor are opening and leaving a scope and the end of a process

A step reads all variables of its guard and of its action, and writes what it assigns. Locals are private.

Two things are not in the documents, and are as Porcini has them. A run in which a process failed is of kind
`error` or, if there were failed assertions only, `assertion`, whether or not others still wait. An action that
fails touches the same as one that does not; a guard that fails reads the same as one that holds, and its action
touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from conformance.expressions import Cell, Expression, Failure, Illegal, Target, Value, Var
from conformance.gcl.tree import (
    Action,
    Assert,
    Assign,
    Binding,
    Block,
    Call,
    Choose,
    Nested,
    Procedure,
    Scope,
    Skip,
    Spawn,
    Statement,
    When,
    While,
    block_text,
    check,
    has_steps,
    less,
)
from conformance.oracle import Outcome, Pid, Step, TooMany
from conformance.trees import located, replaced


@dataclass(frozen=True, slots=True)
class Program:
    bindings: tuple[Binding, ...]
    procedures: tuple[Procedure, ...]
    body: Block

    def text(self) -> str:
        lines = [", ".join(each.text() for each in self.bindings) + ","] if self.bindings else []
        lines += [f"proc {each.name} {{ {block_text(each.body)} }}" for each in self.procedures]
        return "\n".join([*lines, block_text(self.body, ";\n")]) + "\n"

    def inputs(self) -> dict[str, Value]:
        return {each.name: each.value for each in self.bindings if each.is_input}

    def machine(self) -> GclMachine:
        return GclMachine(self)

    def smaller(self) -> Iterator[Program]:
        """Programs with less in them, the boldest cuts first."""
        for path, each in sorted(located(self), key=lambda found: len(found[0])):
            for instead in less(each):
                program = replaced(self, path, instead)
                if is_legal(program):
                    yield program


def is_legal(program: Program) -> bool:
    """Are names known, and values of the right type?"""
    types = {each.name: each.type for each in program.bindings}
    procedures = {each.name for each in program.procedures}
    try:
        for body in (program.body, *(each.body for each in program.procedures)):
            check(body, types, procedures)
    except Illegal:
        return False
    return True


# What programs mean


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """What a process still has to do: a statement (None: leave a scope), then more. Equal ones are the same."""

    first: Statement | None
    then: Rest | None


Scopes = tuple[tuple[tuple[str, Value], ...], ...]
"""The locals of a process with their values, the innermost scope last."""


class Process(NamedTuple):
    pid: Pid
    rest: Rest
    scopes: Scopes
    children: int


class State(NamedTuple):
    values: tuple[Value, ...]
    processes: tuple[Process, ...]
    failure: str


MOST_PROCESSES = 40
"""A program that has more at a time, or more generations of them, makes them without end."""
_GRAVITY = ("", "assertion", "error")
"""What the failure of a process makes of a run; the gravest one counts, and comes last here."""


class Wrong(Exception):
    """A failed assertion."""


class Effect(NamedTuple):
    """What a process does next, whatever the others are about to do."""

    values: tuple[Value, ...]
    left: tuple[Process, ...]
    """The process itself, unless it has ended, and the one that it made."""
    failure: str
    reads: frozenset[str]
    writes: frozenset[str]
    spawned: tuple[Pid, ...]


class GclMachine:
    """The steps of a program. What was worked out once is remembered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = tuple(each.name for each in program.bindings)
        self.procedures = {each.name: each.body for each in program.procedures}
        self._rests: dict[tuple[int, Rest | None], Rest] = {}
        self._steps: dict[State, list[Step]] = {}
        self._effects: dict[tuple[Process, tuple[Value, ...]], Effect | None] = {}

    def initial(self) -> State:
        rest, scopes = self.settled(self.before(self.program.body, None), ())
        processes = (Process((0,), rest, scopes, 0),) if rest else ()
        return State(tuple(each.value for each in self.program.bindings), processes, "")

    def steps(self, state: State) -> Sequence[Step]:
        found = self._steps.get(state)
        if found is None:
            tried = (self._step(state, place) for place in range(len(state.processes)))
            found = self._steps[state] = [step for step in tried if step]
        return found

    def _step(self, state: State, place: int) -> Step | None:
        process = state.processes[place]
        key = process, state.values
        if key not in self._effects:
            self._effects[key] = _Attempt(self, state.values, process).effect()
        effect = self._effects[key]
        if effect is None:
            return None
        processes = (*state.processes[:place], *effect.left, *state.processes[place + 1 :])
        if effect.spawned:
            processes = tuple(sorted(processes))
            if max(len(processes), len(process.pid)) > MOST_PROCESSES:
                raise TooMany
        failure = max(state.failure, effect.failure, key=_GRAVITY.index) if effect.failure else state.failure
        after = State(effect.values, processes, failure)
        return Step(process.pid, after, effect.reads, effect.writes, effect.spawned)

    def outcome(self, state: State) -> Outcome:
        kind = state.failure or ("deadlock" if state.processes else "terminated")
        return kind, tuple(sorted(zip(self.names, state.values, strict=True)))

    def before(self, block: Sequence[Statement | None], rest: Rest | None) -> Rest | None:
        """A block, and then the rest."""
        for statement in reversed(block):
            key = id(statement), rest
            if key not in self._rests:
                self._rests[key] = Rest(statement, rest)
            rest = self._rests[key]
        return rest

    def settled(self, rest: Rest | None, scopes: Scopes) -> tuple[Rest | None, Scopes]:
        """Do what takes no step."""
        while rest:
            match rest.first:
                case None:
                    rest, scopes = rest.then, scopes[:-1]
                case Skip():
                    rest = rest.then
                case Scope(bindings, body):
                    scopes = (*scopes, tuple((each.name, each.value) for each in bindings))
                    rest = self.before((*body, None), rest.then)
                case _:
                    break
        return rest, scopes


class _Attempt:
    """A process that tries to take its next step. It is the scope of the expressions that it evaluates."""

    def __init__(self, machine: GclMachine, values: tuple[Value, ...], process: Process) -> None:
        self.machine, self.process = machine, process
        self.values = dict(zip(machine.names, values, strict=True))
        self.rest: Rest | None = process.rest
        self.scopes = process.scopes
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.child: Process | None = None
        self.children = process.children
        self.guard_fails = False

    def __getitem__(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            for known, value in scope:
                if known == name:
                    return value
        return self.values[name]

    def shared(self, name: str) -> bool:
        return not any(known == name for scope in self.scopes for known, _ in scope)

    def effect(self) -> Effect | None:
        failure = ""
        try:
            if not self.happens():
                return None
            self.rest, self.scopes = self.machine.settled(self.rest, self.scopes)
        except Failure:
            self.rest, failure = None, "error"
        except Wrong:
            self.rest, failure = None, "assertion"
        pid, born = self.process.pid, self.process.children
        itself = [Process(pid, self.rest, self.scopes, self.children)] if self.rest else []
        left = (*itself, self.child) if self.child else tuple(itself)
        spawned = ((*pid, born),) if self.children > born else ()
        values = tuple(self.values[name] for name in self.machine.names)
        return Effect(values, left, failure, frozenset(self.reads), frozenset(self.writes), spawned)

    def happens(self) -> bool:
        """Go down to what the first step does, and do it; not if a guard does not hold."""
        while True:
            statement = self.rest.first
            self.rest = self.rest.then
            match statement:
                case When(guard, action):
                    if not self.holds(guard):
                        return False
                case Choose(then, condition, otherwise):
                    action = then if self.holds(condition) else otherwise
                case While(condition, body):
                    goes_on = self.holds(condition)
                    action = body if goes_on else Skip()
                    if goes_on:
                        self.rest = self.machine.before((statement,), self.rest)
            if not isinstance(action, Nested) or not has_steps(action.body):
                break
            self.rest = self.machine.before(action.body, self.rest)
            self.rest, self.scopes = self.machine.settled(self.rest, self.scopes)
        if self.guard_fails:
            raise Failure
        self.act(action)
        return True

    def holds(self, guard: Expression) -> bool:
        """Does it? One that comes after a failure is read but not evaluated."""
        self.reads |= guard.reads(self)
        try:
            return self.guard_fails or bool(guard.value(self))
        except Failure:
            self.guard_fails = True
            return True

    def act(self, action: Action) -> None:
        match action:
            case Assign(target, expression):
                self.assign(target, expression)
            case Spawn(body):
                self.spawn(body, self.scopes)
            case Call(procedure):
                self.spawn(self.machine.procedures[procedure], ())
            case Assert(condition):
                self.reads |= condition.reads(self)
                if not condition.value(self):
                    raise Wrong

    def spawn(self, body: Block, scopes: Scopes) -> None:
        rest, scopes = self.machine.settled(self.machine.before(body, None), scopes)
        if rest:
            self.child = Process((*self.process.pid, self.children), rest, scopes, 0)
        self.children += 1

    def assign(self, target: Target, expression: Expression) -> None:
        self.reads |= expression.reads(self)
        if isinstance(target, Var):
            name = location = target.name
        else:
            self.reads |= target.index.reads(self)
            name, place = target.array, target.place(self)
            location = f"{name}[{place}]"
        if self.shared(name):
            self.writes.add(location)
        value = expression.value(self)
        if isinstance(target, Cell):
            value = (*self[name][:place], value, *self[name][place + 1 :])
        self.put(name, value)

    def put(self, name: str, value: Value) -> None:
        for depth in reversed(range(len(self.scopes))):
            scope = dict(self.scopes[depth])
            if name in scope:
                scope[name] = value
                self.scopes = (*self.scopes[:depth], tuple(scope.items()), *self.scopes[depth + 1 :])
                return
        self.values[name] = value
