"""The parallel language to program graphs: assignments and guards are events, all else is silent.

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
from porcini.ir.frames import ENDED, FIRST_POINT
from porcini.ir.graph import Assign, Edge, Graph, Op, Point, Spawn, Template, Variable
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


def lower(program: ast.Statement) -> Graph:
    """The program graph. Hidden variables are called `done#1`, `done#2`, ...; no name of a program has a `#`."""
    lowering = _Lowering()
    first = lowering.before(program, End(None))
    variables = variables_of(program) + tuple(Variable(flag.name, "bool", False) for flag in lowering.flags)
    return _graph(first.processes, variables) if isinstance(first, Onward) else _graph((), variables)


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


def _graph(processes: tuple[Stand, ...], variables: tuple[Variable, ...]) -> Graph:
    """The templates and points of all that can be reached from the first processes."""
    if not processes:
        nowhere = (Point(0, ()),) * FIRST_POINT
        return Graph(variables, (Template("main", ENDED),), nowhere)
    templates = {stand: number for number, stand in enumerate(processes)}
    points = {stand: FIRST_POINT + number for number, stand in enumerate(processes)}
    owners = dict(templates)
    found = list(processes)
    for stand in found:  # grows
        for event in stand.all_events():
            for next_ in event.after.processes:
                if next_ is not event.after.stand and next_ not in templates:
                    templates[next_] = len(templates)
                if next_ not in points:
                    points[next_] = FIRST_POINT + len(found)
                    owners[next_] = templates.get(next_, owners[stand])
                    found.append(next_)

    def edge(stand: Stand, event: Happening) -> Edge:
        after = event.after
        spawns = tuple(Spawn(templates[started], silent=True) for started in after.started)
        target = ENDED if after.stand is None else points[after.stand]
        guard = ir.conj(stand.waits_for, event.guard)
        return Edge(guard, event.block + after.silent + spawns, target, stand.place)

    return Graph(
        variables,
        tuple(Template("branch", points[stand]) for stand in templates),
        (Point(0, ()),) * FIRST_POINT
        + tuple(
            Point(owners[stand], tuple(edge(stand, event) for event in stand.all_events()), stand.place)
            for stand in found
        ),
        tuple(range(len(processes))),
    )
