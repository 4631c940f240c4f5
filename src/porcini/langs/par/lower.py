"""The parallel language to points and edges: assignments and guards are events, all else is silent.

    lower        the processes that the program starts with, then everything that is reached from them
    before       a statement, given how it goes on: where a process stands before it, and whom it finds started
    _parallel    branches as processes of their own; what comes after them waits for all of them
    _waiting     how something goes on that must wait first

`||` is started by the event before it, or by the program, and ends without an event, too. The last event of a
branch raises the flag of its branch, and the first event after the `||` is guarded by the flags. Each branch has a
flag of its own, because branches that end in either order must stay independent, which a counter would undo. A
branch that ends in a `||` itself needs none: it has ended when the branches of that one have. Nor is a process
needed only to start others: in `(a || b); (c || d)` all four are started at once, and c and d wait for a and b.

A `||` is not started again before it has ended, so one set of flags is enough; in a loop, to start it lowers them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from porcini.core.errors import Place
from porcini.ir import expr as ir
from porcini.ir.expr import FALSE, TRUE, Expr, Var, free
from porcini.ir.operations import Assign, Op, Spawn
from porcini.ir.program import Edge, Point, Program, Template, Variable
from porcini.langs.par import syntax as ast
from porcini.langs.par.inputs import variables_of


@dataclass(slots=True, eq=False)
class Stand:
    """A place where a process stands. One that waits for a `||` goes on as `then`."""

    place: Place
    events: list[Happening] = field(default_factory=list)
    waits_for: Expr = TRUE
    then: Stand | None = None

    def all_events(self) -> list[Happening]:
        return self.events if self.then is None else self.then.events


@dataclass(frozen=True, slots=True, eq=False)
class Onward:
    """How it goes on after an event: where the process stands, whom it has started, and what was done silently."""

    stand: Stand | None
    started: tuple[Stand, ...] = ()
    silent: tuple[Op, ...] = ()

    @property
    def processes(self) -> tuple[Stand, ...]:
        return self.started if self.stand is None else (self.stand, *self.started)


@dataclass(frozen=True, slots=True, eq=False)
class Happening:
    """An event: an assignment or the outcome of a guard."""

    guard: Expr
    block: tuple[Op, ...]
    after: Onward


@dataclass(slots=True, eq=False)
class End:
    """The end of a branch, or of the program, which nobody waits for."""

    new_flag: Callable[[], Var] | None
    flag: Var | None = None
    ways: list[Expr] = field(default_factory=list)

    def reached(self) -> Onward:
        """By an event of the branch's own process."""
        if self.new_flag is None:
            return Onward(None)
        if self.flag is None:
            self.flag = self.new_flag()
            self.ways.append(self.flag)
        return Onward(None, (), (Assign(self.flag, TRUE, silent=True),))

    @property
    def ended(self) -> Expr:
        return ir.disj(*self.ways)


After = Onward | End


def lower(program: ast.Statement) -> Program:
    """Points and edges. Hidden variables are called `done#1`, `done#2`, ...; no name of a program has a `#`."""
    lowering = _Lowering()
    first = lowering.before(program, End(None))
    variables = [*variables_of(program), *(Variable(flag.name, "bool", False) for flag in lowering.flags)]
    return _program(first.processes if isinstance(first, Onward) else (), variables)


class _Lowering:
    def __init__(self) -> None:
        self.flags: list[Var] = []
        self.loops = 0

    def _new_flag(self) -> Var:
        self.flags.append(ir.var(f"done#{len(self.flags) + 1}", "bool"))
        return self.flags[-1]

    def before(self, statement: ast.Statement, after: After) -> After:
        match statement:
            case ast.Skip():
                return after
            case ast.Sequence(parts=parts):
                for part in reversed(parts):
                    after = self.before(part, after)
                return after
            case ast.Parallel(parts=parts):
                return self._parallel(parts, after)
        stand = Stand(statement.place)
        match statement:
            case ast.Assignment(target=target, value=value):
                stand.events = [Happening(TRUE, (Assign(target, value),), _onward(after))]
            case ast.Conditional(guard=guard, then=then, other=other):
                yes, no = self.before(then, after), self.before(other, after)
                stand.events = [
                    Happening(guard, (), _onward(yes)),
                    Happening(ir.not_(guard), (), _onward(no)),
                ]
            case ast.Loop(guard=guard, body=body):
                self.loops += 1
                again = self.before(body, Onward(stand))
                self.loops -= 1
                stand.events = [
                    Happening(guard, (), _onward(again)),
                    Happening(ir.not_(guard), (), _onward(after)),
                ]
        return Onward(stand)

    def _parallel(self, parts: tuple[ast.Statement, ...], after: After) -> Onward:
        nobody_waits = isinstance(after, End) and after.new_flag is None
        ends = [End(None if nobody_waits else self._new_flag) for _ in parts]
        branches = [_onward(self.before(part, end)) for part, end in zip(parts, ends, strict=True)]
        started = tuple(stand for branch in branches for stand in branch.processes)
        silent = tuple(op for branch in branches for op in branch.silent)
        ended = ir.conj(*(end.ended for end in ends))
        if isinstance(after, End):
            after.ways.append(ended)  # the `||` around this one lowers these flags
            return Onward(None, started, silent)
        lowered: tuple[Op, ...] = ()
        if self.loops:
            flags = sorted(free(ended), key=self.flags.index)
            lowered = tuple(Assign(flag, FALSE, silent=True) for flag in flags)
        later = _waiting(after, ended)
        return Onward(later.stand, started + later.started, lowered + silent + later.silent)


def _onward(after: After) -> Onward:
    return after.reached() if isinstance(after, End) else after


def _waiting(after: Onward, ended: Expr) -> Onward:
    """The same, but not before something has ended. What waits already does so for what waits now."""

    def wait(stand: Stand) -> Stand:
        if stand.waits_for is not TRUE:
            return stand
        return Stand(stand.place, waits_for=ended, then=stand)

    stand = after.stand and wait(after.stand)
    return Onward(stand, tuple(map(wait, after.started)), after.silent)


_END = 0
"""The first point of every template: nothing comes after it."""


def _program(processes: tuple[Stand, ...], variables: list[Variable]) -> Program:
    """A template for each place where a process starts, with all that is reached from there."""
    if not processes:
        return Program(variables, [Template("main", None, [Point()])])
    starts = dict.fromkeys(processes)
    numbers = {stand: number for number, stand in enumerate(starts)}
    templates: list[Template] = []
    left = list(starts)
    for start in left:  # grows
        templates.append(_template(start, numbers, left))
    return Program(variables, templates, [numbers[stand] for stand in processes])


def _template(start: Stand, numbers: dict[Stand, int], left: list[Stand]) -> Template:
    """The points that a process may come to; what it starts on the way gets a template of its own."""
    points = {start: 1}
    found = [start]
    template = Template("branch", None, [Point()], points[start], _END)
    for stand in found:  # grows
        point = Point(stand.place)
        template.points.append(point)
        for event in stand.all_events():
            for started in event.after.started:
                if started not in numbers:
                    numbers[started] = len(numbers)
                    left.append(started)
            onward = event.after.stand
            if onward is not None and onward not in points:
                points[onward] = 1 + len(found)
                found.append(onward)
            spawns = tuple(Spawn(numbers[started], silent=True) for started in event.after.started)
            guard = ir.conj(stand.waits_for, event.guard)
            block = event.block + event.after.silent + spawns
            point.edges.append(Edge(guard, block, _END if onward is None else points[onward], stand.place))
    return template
