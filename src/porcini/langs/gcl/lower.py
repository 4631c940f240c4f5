"""GCL to points and edges: P0's rules turned into edges.

    lower        one template for the initial process, one per procedure, one per `spawn(g)`
    _sequence    statements from the last to the first, each knowing where it continues
    _before      a guarded statement: where a process stands before it, and its edges from there
    _first       a simple statement: the edges of its first event

A nested guard is conjoined to the guards of what it guards (NESTEDGUARD), so it belongs to the first event
only. The else branch of a nested choice is guarded by `e1 and not e2` (erratum 3), and leaving a loop is an
edge `not e |> skip` that reads the loop's guard (erratum 2). `skip` alone, scopes and the end of a process
make no edge. Locals are private variables of their template (erratum 4); outside its scope a local holds
its initial value, so that states differ only where the program can tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from porcini.core.errors import InputError, Place
from porcini.core.systems import Value
from porcini.ir import expr as ir
from porcini.ir.evaluation import default
from porcini.ir.expr import TRUE, ArrayType, Expr, Var
from porcini.ir.operations import Assert, Assign, Op, Spawn, variable_of
from porcini.ir.program import Edge, Point, Program, Template, Variable
from porcini.langs.gcl import syntax as ast
from porcini.langs.gcl.names import Frame, Names, close, error, lvalue, typed


@dataclass(slots=True, eq=False)
class Stand:
    """A place where a process may stand; it becomes a control point when an edge leads there."""

    template: int
    place: Place | None = None
    edges: list[Edge] = field(default_factory=list)
    point: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class After:
    """How a statement goes on: to a place, doing something silently on the way."""

    stand: Stand
    silent: tuple[Op, ...] = ()


_END = 0
"""The first point of every template: nothing comes after it."""


def lower(program: ast.Program, file: str, source: str) -> Program:
    """A GCL program as points and edges, or an `InputError` with its place."""
    try:
        return _Lowering(program).lowered()
    except InputError as problem:
        raise InputError(
            problem.message, file=file, place=problem.place, source=source, hint=problem.hint
        ) from None


class _Lowering:
    def __init__(self, program: ast.Program) -> None:
        self.program = program
        self.stands: list[list[Stand]] = []
        """For each template, its points by number."""
        self.frames: list[Frame] = []
        self.entries: list[tuple[str, int]] = []
        self.errors: list[InputError] = []
        self.globals = self._globals()
        self.procedures: dict[str, int] = {}

    def _globals(self) -> Names:
        names = Names(Frame(-1))
        for binding in self.program.bindings:
            if binding.name in names.own:
                raise error(f"`{binding.name}` is bound twice", binding.place)
            names.own[binding.name] = ir.var(binding.name, binding.type)
        return names

    def lowered(self) -> Program:
        main = self._new_template("main")
        for procedure in self.program.procedures:
            if procedure.name in self.procedures:
                raise error(f"procedure `{procedure.name}` is defined twice", procedure.place)
            self.procedures[procedure.name] = self._new_template(procedure.name)
        for procedure in self.program.procedures:
            self._template(self.procedures[procedure.name], procedure.body, self.globals)
        self._template(main, self.program.body, self.globals)
        if self.errors:
            raise min(self.errors, key=lambda problem: problem.place or Place(0, 0))
        variables = [Variable(b.name, b.type, b.value) for b in self.program.bindings]
        templates = [
            Template(name, None, list(map(self._point, stands)), entry, _END, frame.variables)
            for (name, entry), frame, stands in zip(self.entries, self.frames, self.stands, strict=True)
        ]
        return Program(variables, templates)

    # Templates and points

    def _new_template(self, name: str) -> int:
        number = len(self.frames)
        self.frames.append(Frame(number))
        self.entries.append((name, _END))
        self.stands.append([Stand(number, point=_END)])
        return number

    def _template(self, number: int, body: ast.Statements, around: Names) -> None:
        end = After(self.stands[number][_END])
        start = self._sequence(body, Names(self.frames[number], around), end)
        self.entries[number] = (self.entries[number][0], self._number(start.stand))

    def _number(self, stand: Stand) -> int:
        if stand.point is None:
            mine = self.stands[stand.template]
            stand.point = len(mine)
            mine.append(stand)
        return stand.point

    def _point(self, stand: Stand) -> Point:
        frame = self.frames[stand.template]
        edges = [replace(edge, block=self._tidy(edge, frame)) for edge in stand.edges]
        return Point(stand.place, edges)

    def _tidy(self, edge: Edge, frame: Frame) -> tuple[Op, ...]:
        """Drop resets of locals that nothing writes; at the end, reset the copies of the spawner's."""
        block = tuple(
            op
            for op in edge.block
            if not (isinstance(op, Assign) and op.silent) or variable_of(op.target) in frame.written
        )
        if edge.target == _END:
            block += tuple(op for copy in frame.copies for op in _reset(copy, default(copy.type)))
        return block

    # Statements

    def _sequence(self, statements: ast.Statements, names: Names, after: After) -> After:
        """The last statement first; of several errors, the first in the text is reported in the end."""
        for statement in reversed(statements):
            try:
                after = self._before(statement, names, after)
            except InputError as problem:
                self.errors.append(problem)
        return after

    def _before(self, statement: ast.Statement, names: Names, after: After) -> After:
        if isinstance(statement, ast.Silent):
            return after
        if isinstance(statement, ast.Scope):
            return self._scope(statement, names, after)
        guard = typed(statement.guard, "bool", names)
        stand = Stand(names.frame.template, statement.place)
        match statement:
            case ast.Guarded(body=body):
                stand.edges = _guarded(guard, self._first(body, names, after))
            case ast.Conditional(then=then, other=other):
                yes, no = self._first(then, names, after), self._first(other, names, after)
                stand.edges = _guarded(guard, yes) + _guarded(ir.not_(guard), no)
            case ast.Loop(body=body):
                again = self._first(body, names, After(stand))
                leave = self._event((), statement.place, after)
                stand.edges = _guarded(guard, again) + _guarded(ir.not_(guard), leave)
        return After(stand)

    def _scope(self, scope: ast.Scope, names: Names, after: After) -> After:
        inner = names.open(scope.bindings)
        resets = tuple(
            op for b in scope.bindings if b.value is not None for op in _reset(inner.own[b.name], b.value)
        )
        leaving = After(after.stand, resets + after.silent)
        entering = self._sequence(scope.body, inner, leaving)
        return after if entering is leaving else entering

    def _first(self, simple: ast.Simple, names: Names, after: After) -> list[Edge]:
        match simple:
            case ast.Nested(body=body):
                entering = self._sequence(body, names, after)
                return self._event((), simple.place, after) if entering is after else entering.stand.edges
            case ast.Skip():
                return self._event((), simple.place, after)
            case ast.Assignment(target=target, value=value):
                to = lvalue(target, names)
                op = Assign(to, typed(value, to.type, names))
                names.frame.written.add(variable_of(to))
                return self._event((op,), simple.place, after)
            case ast.Assertion(test=test):
                return self._event((Assert(typed(test, "bool", names)),), simple.place, after)
            case ast.Call(name=name):
                if name not in self.procedures:
                    hint = close(name, set(self.procedures))
                    raise error(f"unknown procedure `{name}`", simple.place, hint)
                return self._event((Spawn(self.procedures[name]),), simple.place, after)
            case ast.SpawnBody(body=body):
                number = self._new_template("spawn")
                self._template(number, body, names)
                copies = tuple(self.frames[number].copies.items())
                return self._event((Spawn(number, copies),), simple.place, after)

    def _event(self, block: tuple[Op, ...], place: Place, after: After) -> list[Edge]:
        return [Edge(TRUE, block + after.silent, self._number(after.stand), place)]


def _guarded(guard: Expr, edges: list[Edge]) -> list[Edge]:
    return [replace(edge, guard=ir.conj(guard, edge.guard)) for edge in edges]


def _reset(variable: Var, value: Value) -> list[Op]:
    """Silent assignments that give a variable its initial value again."""
    if not isinstance(variable.type, ArrayType):
        assert not isinstance(value, tuple)
        return [Assign(variable, ir.const(value), silent=True)]
    values = value if isinstance(value, tuple) else (value,) * variable.type.size
    return [Assign(ir.select(variable, ir.const(i)), ir.const(v), silent=True) for i, v in enumerate(values)]
