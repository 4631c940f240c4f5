"""A judge for the parallel language of P3 (`.par`), written from docs/par.md: programs and their steps.

Assignments and the decisions of `if` and `while` are steps; starting and ending a `||` takes none. What follows a
`||` comes after the last steps of its branches: the last step of a process writes that it has ended, and the first
step after the `||` reads that.

How processes are named goes beyond what docs/par.md says, and is as Porcini has it. Everything that can be started
without a step is started at once, and numbered in the order of the text: a branch that begins with a step is one
process; a branch that begins with a `||` is first what goes on after it, if anything does, and then its branches.
What a step starts are children of its process, and that process itself is what goes on. A branch without steps is
no process, and a `||` with one other branch is that branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from conformance.expressions import Binary, Const, Expression, Illegal, Unary, Var, names, simpler
from conformance.oracle import Outcome, Pid, Step
from conformance.trees import located, replaced


@dataclass(frozen=True, slots=True)
class Skip:
    pass


@dataclass(frozen=True, slots=True)
class Assign:
    target: Var
    expression: Expression


@dataclass(frozen=True, slots=True)
class If:
    condition: Expression
    then: Block
    otherwise: Block


@dataclass(frozen=True, slots=True)
class While:
    condition: Expression
    body: Block


@dataclass(frozen=True, slots=True)
class Parallel:
    branches: tuple[Block, ...]


Statement = Skip | Assign | If | While | Parallel
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """The value of a variable, should it be an input."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class Program:
    body: Block
    given: tuple[Given, ...] = ()

    def text(self) -> str:
        return block_text(self.body, alone=True) + "\n"

    def inputs(self) -> dict[str, int]:
        """The variables that may be read before they are written, with what is given for them, or 0."""
        given = {each.name: each.value for each in self.given}
        found: set[str] = set()
        _written(self.body, frozenset(), found)
        return {name: given.get(name, 0) for name in sorted(found)}

    def machine(self) -> ParMachine:
        return ParMachine(self)

    def smaller(self) -> Iterator[Program]:
        """Programs with less in them, the boldest cuts first."""
        for path, each in sorted(located(self), key=lambda found: len(found[0])):
            for less in _less(each):
                program = replaced(self, path, less)
                if is_legal(program):
                    yield program


def block_text(block: Block, *, alone: bool = False) -> str:
    """`alone`: a `||` needs no parentheses around it."""
    if alone and len(block) == 1 and isinstance(block[0], Parallel):
        return "\n|| ".join(block_text(branch) for branch in block[0].branches)
    return "; ".join(map(_text, block)) or "skip"


def _text(statement: Statement) -> str:
    match statement:
        case Skip():
            return "skip"
        case Assign(target, expression):
            return f"{target.name} := {expression.text()}"
        case If(condition, then, otherwise):
            branches = f"{{ {block_text(then, alone=True)} }} {{ {block_text(otherwise, alone=True)} }}"
            return f"if {condition.text()} {branches}"
        case While(condition, body):
            return f"while {condition.text()} {{ {block_text(body, alone=True)} }}"
        case Parallel(branches):
            return f"({' || '.join(map(block_text, branches))})"


def _written(block: Block, before: frozenset[str], inputs: set[str]) -> frozenset[str]:
    """What has been written for certain after a block; what may be read before goes to `inputs`."""
    for statement in block:
        match statement:
            case Assign(target, expression):
                inputs |= names(expression) - before
                before |= {target.name}
            case If(condition, then, otherwise):
                inputs |= names(condition) - before
                before = _written(then, before, inputs) & _written(otherwise, before, inputs)
            case While(condition, body):
                inputs |= names(condition) - before
                _written(body, before, inputs)
            case Parallel(branches):
                before = before.union(*(_written(branch, before, inputs) for branch in branches))
    return before


# What programs mean


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """What a process still has to do. Equal ones are the same."""

    first: Statement
    then: Rest | None


class Process(NamedTuple):
    pid: Pid
    rest: Rest | None
    waits: frozenset[Pid]
    """Processes that must have ended before this one goes on."""
    children: int


class State(NamedTuple):
    values: tuple[int, ...]
    processes: tuple[Process, ...]
    ended: frozenset[Pid]


class Effect(NamedTuple):
    """What a process does next, whatever the others are about to do."""

    values: tuple[int, ...]
    left: tuple[Process, ...]
    """The process itself, and those that it started."""
    reads: frozenset[str]
    writes: frozenset[str]


class _Values:
    """The values of variables; all of them are shared."""

    def __init__(self, values: dict[str, int]) -> None:
        self.values = values

    def __getitem__(self, name: str) -> int:
        return self.values[name]

    def shared(self, name: str) -> bool:
        return True


class ParMachine:
    """The steps of a program. What was worked out once is remembered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = tuple(sorted(names(program.body)))
        self._rests: dict[tuple[int, Rest | None], Rest] = {}
        self._plain: dict[int, Block] = {}
        self._steps: dict[State, list[Step]] = {}
        self._effects: dict[tuple[Process, tuple[int, ...]], Effect] = {}

    def initial(self) -> State:
        inputs = self.program.inputs()
        starting = _Starting(self, (), 0)
        starting.block(self.before(self.program.body, None), frozenset())
        return State(tuple(inputs.get(name, 0) for name in self.names), tuple(sorted(starting.made)), frozenset())

    def steps(self, state: State) -> Sequence[Step]:
        found = self._steps.get(state)
        if found is None:
            able = (each for each in state.processes if each.rest and each.waits <= state.ended)
            found = self._steps[state] = [self._step(state, process) for process in able]
        return found

    def outcome(self, state: State) -> Outcome:
        return "terminated", tuple(zip(self.names, state.values, strict=True))

    def _step(self, state: State, process: Process) -> Step:
        key = process, state.values
        if key not in self._effects:
            self._effects[key] = self._effect(process, state.values)
        effect = self._effects[key]
        reads = effect.reads
        if process.waits:
            before = (pid for pid in state.ended if any(pid[: len(each)] == each for each in process.waits))
            reads = reads.union(map(_ended, before))
        others = (each for each in state.processes if each.pid != process.pid)
        after = _swept(effect.values, [*others, *effect.left], state.ended)
        return Step(process.pid, after, reads, effect.writes, tuple(each.pid for each in effect.left[1:]))

    def _effect(self, process: Process, values: tuple[int, ...]) -> Effect:
        scope = _Values(dict(zip(self.names, values, strict=True)))
        statement, rest = process.rest.first, process.rest.then
        writes = set()
        match statement:
            case Assign(target, looked_at):
                writes.add(target.name)
                place = self.names.index(target.name)
                values = (*values[:place], looked_at.value(scope), *values[place + 1 :])
            case If(looked_at, then, otherwise):
                rest = self.before(then if looked_at.value(scope) else otherwise, rest)
            case While(looked_at, body):
                rest = self.before(body, process.rest) if looked_at.value(scope) else rest
        starting = _Starting(self, process.pid, process.children)
        rest, waits = starting.parallels(rest, frozenset())
        if rest is None and not waits:
            writes.add(_ended(process.pid))
        itself = Process(process.pid, rest, waits, starting.children)
        return Effect(values, (itself, *starting.made), frozenset(looked_at.reads(scope)), frozenset(writes))

    def before(self, block: Block, rest: Rest | None) -> Rest | None:
        """A block, and then the rest."""
        for statement in reversed(self._steps_only(block)):
            key = id(statement), rest
            if key not in self._rests:
                self._rests[key] = Rest(statement, rest)
            rest = self._rests[key]
        return rest

    def _steps_only(self, block: Block) -> Block:
        """A block without what takes no step: `skip`, and branches that are nothing or alone."""
        if id(block) not in self._plain:
            self._plain[id(block)] = _plain(block)
        return self._plain[id(block)]


def _plain(block: Block) -> Block:
    found: list[Statement] = []
    for statement in block:
        match statement:
            case Skip():
                pass
            case Parallel(branches):
                left = [branch for branch in map(_plain, branches) if branch]
                found += left[0] if len(left) == 1 else [Parallel(tuple(left))] if left else []
            case _:
                found.append(statement)
    return tuple(found)


def _ended(pid: Pid) -> str:
    return f"{'.'.join(map(str, pid))} has ended"


def _swept(values: tuple[int, ...], processes: list[Process], ended: frozenset[Pid]) -> State:
    """The state once every process has gone that has nothing left to do or to wait for."""
    while gone := {each.pid for each in processes if each.rest is None and each.waits <= ended}:
        processes = [each for each in processes if each.pid not in gone]
        ended |= gone
    return State(values, tuple(sorted(processes)), ended)


class _Starting:
    """Processes that are started at once, by a step of their parent or at the beginning."""

    def __init__(self, machine: ParMachine, parent: Pid, children: int) -> None:
        self.machine, self.parent, self.children = machine, parent, children
        self.made: list[Process] = []

    def new_pid(self) -> Pid:
        self.children += 1
        return (*self.parent, self.children - 1)

    def parallels(self, rest: Rest | None, waits: frozenset[Pid]) -> tuple[Rest | None, frozenset[Pid]]:
        """Start all `||` at the front: what comes after them, and which processes it waits for."""
        while rest and isinstance(rest.first, Parallel):
            branches = [self.machine.before(branch, None) for branch in rest.first.branches]
            waits = frozenset().union(*(self.block(branch, waits) for branch in branches))
            rest = rest.then
        return rest, waits

    def block(self, rest: Rest | None, waits: frozenset[Pid]) -> frozenset[Pid]:
        """Start a branch; it has ended when the processes have ended that are given back."""
        goes_on = rest
        while goes_on and isinstance(goes_on.first, Parallel):
            goes_on = goes_on.then
        if goes_on is None:
            return self.parallels(rest, waits)[1]
        pid = self.new_pid()
        goes_on, waits = self.parallels(rest, waits)
        self.made.append(Process(pid, goes_on, waits, 0))
        return frozenset({pid})


# Which programs mean something, and what can be taken away from them


def is_legal(program: Program) -> bool:
    """Are conditions booleans, and all else numbers?"""
    types = dict.fromkeys(names(program.body), "int")
    try:
        for _, each in located(program.body):
            match each:
                case Assign(target, expression):
                    if not isinstance(target, Var) or expression.type(types) != "int":
                        return False
                case If(condition) | While(condition):
                    if condition.type(types) != "bool":
                        return False
    except Illegal:
        return False
    return all(len(each.branches) > 1 for _, each in located(program.body) if isinstance(each, Parallel))


def _less(node: object) -> Iterator[object]:
    """What may stand in the place of a part."""
    match node:
        case tuple():
            yield from (node[:place] + node[place + 1 :] for place in range(len(node)))
            for place, each in enumerate(node):
                yield from ((*node[:place], *inner, *node[place + 1 :]) for inner in _inner_blocks(each))
        case Binary() | Const() | Unary() | Var():
            yield from simpler(node)


def _inner_blocks(node: object) -> tuple[Block, ...]:
    match node:
        case If(_, then, otherwise):
            return then, otherwise
        case While(_, body):
            return (body,)
        case Parallel(branches):
            return branches
    return ()
