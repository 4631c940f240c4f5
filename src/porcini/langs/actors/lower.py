"""Classes and methods to objects and tasks: statements become structured code cut at release points.

The code of a point is everything that may follow it: the rest of its block, then the loop that it stands in once
more, then what comes after that. So statements are lowered in order, and whatever follows a statement is added to
the points that were made within it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from porcini.core.errors import Place
from porcini.ir.expr import TRUE, DataType, Expr, Var, apply, binary, conj, const, datum, not_, var
from porcini.ir.objects import RESOLVED, SAME_GROUP, VALUE, CallSite, Definition, Library, ObjectClass, Values
from porcini.ir.operations import (
    Assert,
    Assign,
    Await,
    Block,
    Call,
    Get,
    If,
    New,
    Op,
    Post,
    Return,
    Suspend,
    While,
)
from porcini.ir.program import Edge, Point, Program, Standing, Template, Variable
from porcini.langs.actors import syntax as ast
from porcini.langs.actors.expressions import Scope, Typed
from porcini.langs.actors.flow import check_returns, releasing, returning_last, returns
from porcini.langs.actors.library import ARITHMETIC, THEORY, observed, rank, renamed, total
from porcini.langs.actors.library import UNIT as UNIT_VALUE
from porcini.langs.actors.names import Arrow, World, world_of
from porcini.langs.actors.parser import outside
from porcini.langs.actors.references import names_matter
from porcini.langs.actors.types import BOOL, INT, NULL, UNIT, Con, Hole, Ty, in_ir, list_of, resolve

MOST_POINTS = 2_000
_OLDER = (
    "`new cog` is of an older dialect of ABS, and the whole file is read in it: a plain `new` puts the object "
    "into the group of its maker, as `new local` does today"
)
_UNIT = datum(UNIT_VALUE, DataType("Unit"))


def lower(program: ast.Program, file: str, source: str) -> Program:
    """A checked program, as one of classes and methods."""
    world = world_of(program, file, source)
    if program.main is None:
        lines = source.rstrip().splitlines()
        world.error("there is no main block", Place(len(lines), len(lines[-1]) + 1), "`{ ... }` at the end")
    cogs = any(isinstance(node, ast.New) and node.group == "cog" for node in ast.nodes(program))
    return _Lowering(world, cogs).program(program.main)


class _Lowering:
    """The whole program. With `cogs` it is in an older dialect, in which `new cog` makes a group, and a plain
    `new` puts an object into the group of its maker.
    """

    def __init__(self, world: World, cogs: bool) -> None:
        self.world = world
        self.cogs = cogs
        self.releasing = releasing(world)
        self.class_numbers = {name: k for k, name in enumerate(world.classes, 1)}
        self.lowered = Program([], [])
        self.points = 0
        """Of all templates together."""
        if cogs:
            self.lowered.notes.append(_OLDER)

    def program(self, main: ast.Block) -> Program:
        lowered, world = self.lowered, self.world
        lowered.classes.append(ObjectClass("main", (), 0))
        lowered.templates.append(_method("main", 0, main.place))
        for class_ in world.classes.values():
            self.declare(class_)
        for class_ in world.classes.values():
            self.define(class_)
        _Body(self, lowered.templates[0], Scope(world), UNIT).finish(main, ())
        lowered.library = Library(
            functions={**world.python, **{f.name: self.function(f) for f in world.bodies.values()}},
            values=Values(observed, rank, renamed),
            total=total(world.python),
            theory=THEORY,
            arithmetic=ARITHMETIC,
            inputs={
                name: "int" if arrow.result == INT else "bool"
                for name, arrow in world.functions.items()
                if name in world.bodies and not arrow.formals and arrow.result in (INT, BOOL)
            },
            names_matter=names_matter(world),
        )
        return lowered

    def function(self, node: ast.Function) -> Definition:
        scope = Scope(self.world, parameters=node.parameters, function=node.name)
        arrow = self.world.functions[node.name]
        formals: list[Var] = []
        for formal, type_ in zip(node.formals, arrow.formals, strict=True):
            if formal.name in scope.blocks[0]:
                self.world.error(f"`{formal.name}` is declared twice", formal.place)
            v = var(f".{formal.name}", in_ir(type_))
            formals.append(v)
            scope.blocks[0][formal.name] = v, type_
        return Definition(tuple(formals), scope.expr(node.body, arrow.result))

    def declare(self, node: ast.Class) -> None:
        number = len(self.lowered.classes)
        fields = tuple(var(f"@{f.name}", in_ir(self.world.type(f.type))) for f in node.declared)
        class_ = ObjectClass(node.name, fields, len(node.formals))
        self.lowered.classes.append(class_)
        for method in node.methods:
            class_.methods[method.name] = len(self.lowered.templates)
            self.lowered.templates.append(_method(method.name, number, method.place))
        run = self.world.methods[f"class {node.name}"].get("run")
        class_.runs = run is not None and not run.formals

    def scope(self, node: ast.Class) -> Scope:
        scope = Scope(self.world, node.name)
        for f in node.declared:
            type_ = self.world.type(f.type)
            scope.fields[f.name] = var(f"@{f.name}", in_ir(type_)), type_
        return scope

    def define(self, node: ast.Class) -> None:
        number = self.class_numbers[node.name]
        class_ = self.lowered.classes[number]
        class_.init = self.initial(node, number)
        for method in node.methods:
            target = self.lowered.templates[class_.methods[method.name]]
            arrow = self.world.methods[f"class {node.name}"][method.name]
            target.releases = (node.name, method.name) in self.releasing
            body = _Body(self, target, self.scope(node), arrow.result)
            body.finish(method.body, tuple(zip(method.formals, arrow.formals, strict=True)))

    def initial(self, node: ast.Class, number: int) -> Block:
        """What is done when an object is made: its fields get their values, then the class's block runs."""
        scope = self.scope(node)
        code: list[Op] = []
        for f in node.fields:
            target, type_ = scope.fields[f.name]
            assert isinstance(target, Var)
            if f.value is not None:
                code.append(Assign(target, scope.expr(f.value, type_), place=f.place))
            elif not self.world.subtyping.fits(NULL, type_):
                self.world.error(f"field `{f.name}` of type {type_} has no initial value", f.place)
        if node.init is not None:
            body = _Body(self, _method("init", number, node.init.place), scope, UNIT)
            code += body.block(node.init)
            if len(body.points) > 1:
                self.world.error("the block that initialises an object cannot wait", node.init.place)
        return tuple(code)


def _method(name: str, class_: int, place: Place) -> Template:
    """A method without a body; its first point is its end."""
    return Template(name, place, [Point()], class_=class_)


@dataclass(slots=True)
class _Body:
    """One method, the main block, or the block of a class."""

    whole: _Lowering
    method: Template
    scope: Scope
    result: Ty
    variables: list[Var] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    tests: list[Expr] = field(default_factory=list)
    resolved: set[Expr] = field(default_factory=set)
    """Variables whose futures are known to be resolved here."""
    inlined: tuple[str, ...] = ()
    returns: Callable[[ast.Return], list[Op]] | None = None

    @property
    def world(self) -> World:
        return self.whole.world

    @property
    def points(self) -> list[Point]:
        return self.method.points

    def finish(self, body: ast.Block, formals: Sequence[tuple[ast.Formal, Ty]]) -> None:
        for formal, type_ in formals:
            self.declare(formal.name, type_, formal.place)
        parameters = len(self.variables)
        if self.result != UNIT and not returns(body):
            message = f"method `{self.method.name}` may end without a value of type {self.result}"
            self.world.error(message, self.method.place or body.place, "end it with `return`")
        method = self.method
        method.entry = self.point("start", body.place, "its start")
        first = len(self.points)
        code = self.block(body, own_scope=False)
        end = Return(_UNIT, body.place)
        self.follow(first, len(self.points), (end,))
        self.follow(method.entry, method.entry + 1, (*code, end))
        method.variables = [Variable(v.name, v.type, None) for v in self.variables]
        method.parameters = method.variables[:parameters]
        method.result, method.calls = in_ir(self.result), tuple(self.calls)

    def point(self, kind: Standing, place: Place, text: str, guard: Expr = TRUE) -> int:
        self.whole.points += 1
        if self.whole.points > MOST_POINTS:
            self.world.error(f"more than {MOST_POINTS:,} places where a task can wait", place)
        edge = Edge(guard, (), self.method.end, place)
        self.points.append(Point(place, [edge], kind=kind, text=text))
        return len(self.points) - 1

    # Variables

    def declare(self, name: str, type_: Ty, place: Place) -> Var:
        if name in self.scope.blocks[-1]:
            self.world.error(f"`{name}` is declared twice", place)
        made = var(f".{name}#{len(self.variables)}", in_ir(type_))
        self.variables.append(made)
        self.scope.blocks[-1][name] = made, type_
        return made

    def temporary(self, type_: Ty) -> Var:
        made = var(f".#{len(self.variables)}", in_ir(type_))
        self.variables.append(made)
        return made

    @contextmanager
    def nested(self, test: Expr | None = None) -> Iterator[None]:
        """Inside a block, and perhaps under a condition: what is found out there is forgotten afterwards."""
        self.scope.blocks.append({})
        before = set(self.resolved)
        if test is not None:
            self.tests.append(test)
        yield
        if test is not None:
            self.tests.pop()
        self.resolved &= before
        self.scope.blocks.pop()

    # Statements

    def block(self, node: ast.Block, *, own_scope: bool = True) -> Block:
        """Lower statements one after the other; each one's points get the code of those after it."""
        if own_scope:
            with self.nested():
                return self.block(node, own_scope=False)
        parts: list[tuple[Block, int, int]] = []
        for statement in node.body:
            first = len(self.points)
            code = self.statement(statement)
            parts.append((code, first, len(self.points)))
        rest: Block = ()
        for code, first, last in reversed(parts):
            self.follow(first, last, rest)
            rest = code + rest
        return rest

    def follow(self, first: int, last: int, code: Block) -> None:
        """What comes after some points."""
        for point in self.points[first:last]:
            point.edges[0].block += code

    def statement(self, node: ast.Statement) -> Block:
        place = node.place
        match node:
            case ast.Declare(type=written, name=name, value=value):
                return self.declaration(self.world.type(written), name, value, place)
            case ast.Assign(target=target, value=value):
                to, type_ = self.scope.variable(target)
                if not isinstance(to, Var):
                    self.world.error(f"`{target.name}` cannot be assigned", place)
                return self.assigned(to, type_, value, place)
            case ast.Do(effect=effect):
                return self.effect(effect, None)[0]
            case ast.Evaluate(value=value):
                if not isinstance(value, ast.Apply):
                    self.world.error("this is not a statement", place)
                lowered, type_ = self.scope.typed(value)
                return (Assign(self.temporary(type_), lowered, place=place),)
            case ast.Await():
                return self.await_(node)
            case ast.Suspend():
                return (Suspend(self.point("suspend", place, f"suspend, line {place.line}"), place),)
            case ast.Return():
                return tuple(self.returns(node)) if self.returns else tuple(self.return_(node))
            case ast.Skip():
                return ()
            case ast.Assert(test=test):
                return (Assert(self.scope.expr(test, BOOL), "the assertion does not hold", place),)
            case ast.If(test=test, then=then, other=other):
                condition = self.scope.expr(test, BOOL)
                with self.nested(condition):
                    yes = self.block(then)
                with self.nested(not_(condition)):
                    no = self.block(other)
                return (If(condition, yes, no, place),)
            case ast.While(test=test, body=body):
                return self.loop(self.scope.expr(test, BOOL), lambda: self.block(body), place)
            case ast.Foreach():
                return self.foreach(node)
            case ast.Switch():
                return self.switch(node)
            case ast.Block():
                return self.block(node)
        raise AssertionError(f"not a statement: {node!r}")

    def loop(self, test: Expr, body: Callable[[], Block], place: Place) -> Block:
        first = len(self.points)
        with self.nested(test):
            self.resolved.clear()  # what holds before the loop need not hold when it comes round
            made = While(test, body(), place)
        self.follow(first, len(self.points), (made,))
        return (made,)

    def foreach(self, node: ast.Foreach) -> Block:
        items, type_ = self.scope.typed(node.items)
        item: Ty = Hole()
        if resolve(type_) == Con("Set") or getattr(resolve(type_), "name", "") == "Set":
            self.scope.want(type_, Con("Set", (item,)), node.items.place)
            items = apply("set elements", (items,), DataType("List"))
            self.scope.use("set elements", (type_,))
        else:
            self.scope.want(type_, list_of(item), node.items.place)
        left = self.temporary(list_of(item))
        index = self.temporary(Con("Int")) if node.index else None
        place = node.place

        def body() -> Block:
            each = self.declare(node.name, item, place)
            code: list[Op] = [
                Assign(each, apply("list head", (left,), each.type), place=place),
                Assign(left, apply("list tail", (left,), left.type), place=place),
            ]
            if node.index and index is not None:
                number = self.declare(node.index, Con("Int"), place)
                code += [
                    Assign(number, index, place=place),
                    Assign(index, binary("+", index, const(1)), place=place),
                ]
            return (*code, *self.block(node.body))

        test = not_(apply("is Nil", (left,), "bool"))
        start: Block = (Assign(left, items, place=place),)
        if index is not None:
            start += (Assign(index, const(0), place=place),)
        return start + self.loop(test, body, place)

    def switch(self, node: ast.Switch) -> Block:
        subject, type_ = self.scope.typed(node.subject)
        value = self.temporary(type_)
        place = node.place
        arms: list[tuple[Expr, Block]] = []
        for pattern, body in node.arms:
            bindings: dict[str, Typed] = {}
            test = self.scope.matches(pattern, value, type_, bindings)
            with self.nested(test):
                self.scope.blocks[-1].update(bindings)
                arms.append((test, self.block(body)))
        unit = self.temporary(UNIT)
        code: Block = (Assign(unit, apply("no branch", (value,), unit.type), place=place),)
        for test, body_code in reversed(arms):
            code = (If(test, body_code, code, place),)
        return (Assign(value, subject, place=place), *code)

    def declaration(self, type_: Ty, name: str, value: ast.Rhs | None, place: Place) -> Block:
        if value is None:
            if not self.world.subtyping.fits(NULL, type_):
                self.world.error(f"variable `{name}` of type {type_} has no initial value", place)
            return (Assign(self.declare(name, type_, place), datum(None, DataType("null")), place=place),)
        if not isinstance(value, ast.Effect):
            lowered = self.scope.expr(value, type_)
            return (Assign(self.declare(name, type_, place), lowered, place=place),)
        holder = self.temporary(type_)  # the name is not in scope on its own right-hand side
        code = self.assigned(holder, type_, value, place)
        if name in self.scope.blocks[-1]:
            self.world.error(f"`{name}` is declared twice", place)
        self.scope.blocks[-1][name] = holder, type_
        return code

    def assigned(self, target: Var, type_: Ty, value: ast.Rhs, place: Place) -> Block:
        self.resolved.discard(target)
        if not isinstance(value, ast.Effect):
            return (Assign(target, self.scope.expr(value, type_), place=place),)
        code, actual = self.effect(value, target)
        self.scope.want(actual, type_, value.place)
        return code

    def return_(self, node: ast.Return) -> list[Op]:
        if node.value is None:
            self.scope.want(UNIT, self.result, node.place)
            return [Return(_UNIT, node.place)]
        if isinstance(node.value, ast.Effect):
            value = self.temporary(self.result)
            return [*self.assigned(value, self.result, node.value, node.place), Return(value, node.place)]
        return [Return(self.scope.expr(node.value, self.result), node.place)]

    # Waiting

    def await_(self, node: ast.Await) -> Block:
        self.whole.lowered.uses_futures |= bool(node.futures)
        parts: list[Expr] = []
        for future in node.futures:
            value, type_ = self.scope.typed(future)
            self.scope.want(type_, Con("Fut", (Hole(),)), future.place)
            parts.append(apply(RESOLVED, (value,), "bool"))
            if isinstance(value, Var) and value.private:
                self.resolved.add(value)
        parts += [self.scope.expr(condition, BOOL) for condition in node.conditions]
        return (self.wait_for(conj(*parts), node.place),)

    def wait_for(self, guard: Expr, place: Place) -> Await:
        return Await(guard, self.point("await", place, f"await, line {place.line}", guard), place)

    def get(self, target: Var | None, future: Expr, place: Place) -> Block:
        if future in self.resolved:  # as after `await f?`
            if target is None:
                return ()
            return (Assign(target, apply(VALUE, (future,), target.type), place=place),)
        self.whole.lowered.uses_futures = self.whole.lowered.uses_get = True
        resolved = apply(RESOLVED, (future,), "bool")
        number = self.point("get", place, f"get, line {place.line}", resolved)
        made = Get(target, future, number, place)
        self.follow(number, number + 1, (made,))
        return (made,)

    # Effects

    def effect(self, node: ast.Effect, target: Var | None) -> tuple[Block, Ty]:
        place = node.place
        match node:
            case ast.New(class_=name, args=args, group=group):
                if name not in self.world.classes:
                    self.world.error(outside(name) or f"unknown class `{name}`", place)
                formals = tuple(self.world.type(f.type) for f in self.world.classes[name].formals)
                values = self.scope.arguments(f"class `{name}`", Arrow((), formals, UNIT), args, place)
                number = self.whole.class_numbers[name]
                if self.whole.world.methods[f"class {name}"].get("run"):
                    self.note_call([name], "run")
                local = group == "local" or (self.whole.cogs and not group)
                return (New(target, number, values, local, place),), Con(f"class {name}")
            case ast.Send():
                receiver, values, arrow, classes = self.message(node)
                return (Post(target, receiver, node.method, values, place, classes),), Con("Fut", (arrow.result,))
            case ast.Get(future=future):
                value, type_ = self.scope.typed(future)
                result: Ty = Hole()
                self.scope.want(type_, Con("Fut", (result,)), place)
                return self.get(target, value, place), result
            case ast.AwaitCall(send=send):
                receiver, values, arrow, classes = self.message(send)
                future_type = Con("Fut", (arrow.result,))
                holder = self.temporary(future_type)
                resolved = apply(RESOLVED, (holder,), "bool")
                self.whole.lowered.uses_futures = True
                sent = Post(holder, receiver, send.method, values, place, classes)
                first = len(self.points)
                waits = self.wait_for(resolved, place)
                self.resolved.add(holder)
                taken = self.get(target, holder, place)
                self.follow(first, first + 1, taken)
                return (sent, waits, *taken), arrow.result
            case ast.Call():
                return self.call(node, target)

    def message(self, node: ast.Send | ast.Call) -> tuple[Expr, tuple[Expr, ...], Arrow, tuple[int, ...]]:
        """The receiver and the arguments of a call, checked."""
        receiver, type_ = self.scope.typed(node.receiver)
        type_ = resolve(type_)
        if not isinstance(type_, Con) or type_.name not in self.world.methods:
            self.world.error(f"a call wants an object, not {type_}", node.place)
        methods = self.world.methods[type_.name]
        if node.method not in methods:
            what = type_.name if type_.name.startswith("class ") else f"interface {type_.name}"
            self.world.error(f"{what} has no method `{node.method}`", node.place)
        if not self.world.classes_of(type_):
            self.world.error(f"no class implements {type_}, so nobody can answer `{node.method}`", node.place)
        arrow = methods[node.method]
        values = self.scope.arguments(f"method `{node.method}`", arrow, node.args, node.place)
        classes = self.note_call(self.world.classes_of(type_), node.method)
        return receiver, values, arrow, classes

    def note_call(self, classes: Sequence[str], method: str) -> tuple[int, ...]:
        """Note a call for those who ask who may call whom; the numbers of the classes it may go to."""
        numbers = tuple(self.whole.class_numbers[name] for name in classes)
        self.calls += [CallSite(number, method, len(self.tests), tuple(self.tests)) for number in numbers]
        return numbers

    def call(self, node: ast.Call, target: Var | None) -> tuple[Block, Ty]:
        """A synchronous call: at once within the group, else like sending and getting."""
        place = node.place
        receiver, values, arrow, classes = self.message(node)
        at_once = Call(target, receiver, node.method, values, place, classes)
        if isinstance(node.receiver, ast.This):
            assert self.scope.class_ is not None
            if (self.scope.class_, node.method) in self.whole.releasing:
                return self.inline(node, values, target), arrow.result
            return (at_once,), arrow.result
        future = self.temporary(Con("Fut", (arrow.result,)))
        remote = (Post(future, receiver, node.method, values, place, classes), *self.get(target, future, place))
        return (If(apply(SAME_GROUP, (receiver,), "bool"), (at_once,), remote, place),), arrow.result

    def inline(self, node: ast.Call, values: tuple[Expr, ...], target: Var | None) -> Block:
        """A call of a method of this object that may wait: its body stands here."""
        name = node.method
        if name in self.inlined or name == self.method.name:
            self.world.error(
                f"a recursive synchronous call of `{name}`, which may wait, is outside the subset", node.place
            )
        assert self.scope.class_ is not None
        class_ = self.world.classes[self.scope.class_]
        method = next(m for m in class_.methods if m.name == name)
        body = returning_last(method.body)
        check_returns(body, self.world)
        arrow = self.world.methods[f"class {class_.name}"][name]
        outer = self.scope.blocks, self.inlined, self.returns, self.result
        self.scope.blocks, self.inlined = [{}], (*self.inlined, name)
        self.result = arrow.result

        def give(statement: ast.Return) -> list[Op]:
            if statement.value is None or target is None:
                dropped = target or self.temporary(arrow.result)
                if statement.value is None:
                    return [Assign(dropped, _UNIT, place=statement.place)]
                return list(self.assigned(dropped, arrow.result, statement.value, statement.place))
            return list(self.assigned(target, arrow.result, statement.value, statement.place))

        self.returns = give
        code: list[Op] = []
        for formal, type_, value in zip(method.formals, arrow.formals, values, strict=True):
            code.append(Assign(self.declare(formal.name, type_, formal.place), value, place=node.place))
        code += self.block(body, own_scope=False)
        self.scope.blocks, self.inlined, self.returns, self.result = outer
        return tuple(code)
