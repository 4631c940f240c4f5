"""Expressions, with names resolved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches

from porcini.core.errors import Place
from porcini.ir.packed.code import Constants
from porcini.ir.packed.program import (
    Apply,
    Ask,
    At,
    Const,
    Expr,
    Load,
    Peek,
    Poll,
    Population,
    Quiet,
    Self,
    Var,
    walk,
)
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.names import Record, Scalar, Scope, Symbol, problem

NO_PROCESS = Constants(None, {})


@dataclass(slots=True)
class World:
    """What is known of the whole program while its parts are lowered."""

    mtypes: dict[str, int]
    templates: dict[str, int]
    locals: list[Scope] = field(default_factory=list)
    """For each template, all names of its body."""
    several: set[int] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)
    alone: dict[int, int] = field(default_factory=dict)
    """The numbers of processes that are the only ones of their templates, now and for ever."""
    labels_wanted: list[tuple[int, str, Place]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Expressions:
    """Lowers expressions in one scope; `process` where there is a `_pid`."""

    world: World
    scope: Scope
    process: bool = True
    outside: str = ""

    def __call__(self, expr: ast.Expr) -> Expr:
        match expr:
            case ast.Number(value=value):
                return Const(value)
            case ast.Ref():
                return self._value(expr)
            case ast.Unary(op=op, operand=operand):
                return Apply("neg" if op == "-" else op, (self(operand),))
            case ast.Binary(op=op, left=left, right=right):
                return Apply(op, (self(left), self(right)))
            case ast.Conditional(test=test, then=then, otherwise=otherwise):
                return Apply("?:", (self(test), self(then), self(otherwise)))
            case ast.Asked(what=what, channel=channel):
                return Ask(what, self.channel(channel))
            case ast.Poll(channel=channel, args=args, anywhere=anywhere):
                return Poll(self.channel(channel), tuple(self.pattern(arg)[0] for arg in args), anywhere)
            case ast.AtLabel(proctype=proctype, index=index, label=label, place=place):
                template = self._template(proctype, place)
                self.world.labels_wanted.append((template, label, place))
                return At(template, self._pid(template, index), label)
            case ast.Remote(proctype=proctype, index=index, variable=variable, place=place):
                return self._remote(proctype, index, variable, place)
            case ast.Timeout():
                return Quiet()
            case ast.Run(place=place):
                raise problem("`run` can only be a statement of its own, or be assigned", place)
            case ast.Eval(place=place):
                raise problem("`eval` is for the arguments of a receive", place)

    def _value(self, ref: ast.Ref) -> Expr:
        if ref.name == "_pid":
            if not self.process:
                raise problem("there is no `_pid` outside processes", ref.place)
            return Self()
        if ref.name == "_nr_pr":
            return Population()
        if ref.name == "_":
            raise problem("`_` can be written only, not read", ref.place)
        if ref.name in self.world.mtypes and self.scope.find(ref.name) is None:
            return Const(self.world.mtypes[ref.name])
        return self.load(ref)

    def load(self, ref: ast.Ref) -> Load:
        """A variable or a cell."""
        symbol = self.scope.find(ref.name)
        if symbol is None:
            near = get_close_matches(ref.name, sorted(self.scope.known() | set(self.world.mtypes)), 1)
            hint = f"did you mean `{near[0]}`?" if near else None
            raise problem(f"undeclared variable: {ref.name}", ref.place, hint)
        scalar, index = self._cell(symbol, ref, self)
        return Load(scalar.var, index)

    def declared(self, ref: ast.Ref) -> Scalar | None:
        """What a name was declared as, if it is a plain variable."""
        symbol = self.scope.find(ref.name)
        while isinstance(symbol, Record) and ref.field is not None:
            ref = ref.field
            symbol = symbol.members.get(ref.name)
        return symbol if isinstance(symbol, Scalar) else None

    def _cell(self, symbol: Symbol, ref: ast.Ref, lower: Callable[[ast.Expr], Expr]) -> tuple[Scalar, Expr | None]:
        indices: list[Expr] = []
        name, part = ref.name, ref
        while True:
            array = symbol.array if isinstance(symbol, Record) else len(symbol.sizes) > len(indices)
            if array:
                if part.index is None:
                    raise problem(f"array `{name}` is used without an index", part.place)
                indices.append(lower(part.index))
            elif part.index is not None:
                raise problem(f"`{name}` is not an array", part.place)
            if isinstance(symbol, Scalar):
                if part.field is not None:
                    raise problem(f"`{name}` has no fields", part.place)
                break
            if part.field is None:
                raise problem(f"`{name}` is a {symbol.type}: one of its fields is wanted", part.place)
            part = part.field
            if part.name not in symbol.members:
                known = ", ".join(symbol.members)
                raise problem(f"typedef {symbol.type} has no field `{part.name}`", part.place, f"known: {known}")
            name = f"{name}.{part.name}"
            symbol = symbol.members[part.name]
        if not indices:
            return symbol, None
        if len(indices) == 1:
            return symbol, indices[0]
        at: Expr = Const(0)
        for index, size in zip(indices, symbol.sizes, strict=True):
            at = Apply("+", (Apply("*", (at, Const(size))), Apply("check", (index, Const(size)))))
        return symbol, at

    def channel(self, ref: ast.Ref) -> Expr:
        load = self.load(ref)
        if load.var.kind != "chan":
            raise problem(f"`{ref.name}` is not a channel", ref.place)
        return load

    def pattern(self, arg: ast.Expr) -> tuple[Expr | None, Load | None]:
        """An argument of a receive: what it must match, or where it goes."""
        match arg:
            case ast.Eval(operand=operand):
                return self(operand), None
            case ast.Ref(name="_"):
                return None, None
            case ast.Ref(name=name) if name in self.world.mtypes and self.scope.find(name) is None:
                return self(arg), None
            case ast.Ref(name="_pid"):
                return self(arg), None
            case ast.Ref():
                return None, self.load(arg)
            case _:
                expr = self(arg)
                known = None if reads(expr) else NO_PROCESS.of(expr)
                if known is None:
                    raise problem(
                        "a receive wants variables and constants; put an expression into `eval`", _place(arg)
                    )
                return Const(known), None

    def _template(self, name: str, place: Place) -> int:
        if name not in self.world.templates:
            raise problem(f"no proctype `{name}`", place, f"known: {', '.join(self.world.templates)}")
        return self.world.templates[name]

    def _pid(self, template: int, index: ast.Expr | None) -> Expr:
        if index is not None:
            return self(index)
        if template in self.world.several:
            name = next(name for name, number in self.world.templates.items() if number == template)
            self.world.notes[f"there are several {name}: without a number, the first one is meant"] = None
        return Const(self.world.alone.get(template, -1))

    def _remote(self, proctype: str, index: ast.Expr | None, variable: ast.Ref, place: Place) -> Expr:
        template = self._template(proctype, place)
        symbol = self.world.locals[template].find(variable.name)
        if symbol is None:
            raise problem(f"proctype {proctype} has no variable `{variable.name}`", place)
        scalar, at = self._cell(symbol, variable, self)
        scalar.var.remote = True
        return Peek(template, self._pid(template, index), scalar.var, at)


def reads(expr: Expr) -> set[Var]:
    """The variables that an expression looks at."""
    return {part.var for part in walk(expr) if isinstance(part, Load)}


def constant(expr: Expr, place: Place) -> int:
    value = NO_PROCESS.of(expr)
    if value is None:
        raise problem("a constant is wanted here", place)
    return value


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a conjunction, in order; none for what is always true."""
    if isinstance(expr, Apply) and expr.op == "&&":
        return tuple(part for arg in expr.args for part in conjuncts(arg))
    if isinstance(expr, Const) and expr.value:
        return ()
    return (expr,)


def _place(expr: ast.Expr) -> Place:
    return expr.place
