"""Expressions, with names resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from porcini.core.errors import Place
from porcini.ir import expr as ir
from porcini.ir.expr import Expr, Var, free, number_of, truth_of
from porcini.ir.operations import Target, variable_of
from porcini.ir.packed.code import Constants
from porcini.ir.program import Variable
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.names import Record, Scalar, Scope, Symbol, Types, problem, scalars
from porcini.langs.promela.ranges import fitted

_ARITHMETIC: dict[str, ir.BinaryOp] = {
    **{op: op for op in ("+", "-", "*", "<<", ">>", "&", "^", "|", "<", "<=", ">", ">=", "==", "!=")},
    "/": "quot",
    "%": "rem",
}


@dataclass(slots=True)
class World:
    """What is known of the whole program while its parts are lowered."""

    mtypes: dict[str, int]
    templates: dict[str, int]
    types: Types
    locals: list[Scope] = field(default_factory=list)
    """For each template, all names of its body."""
    several: set[int] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)
    alone: dict[int, int] = field(default_factory=dict)
    """The numbers of processes that are the only ones of their templates, now and for ever."""
    labels_wanted: list[tuple[int, str, Place]] = field(default_factory=list)
    asked_labels: frozenset[str] = frozenset()
    """Labels that the model asks for: a jump there is a place to stand."""
    passed_labels: set[tuple[str, str]] = field(default_factory=set)
    sees_who_can_move: bool = False
    """Does a claim or a formula ask whether somebody can move? Then private steps can be seen."""
    """Processes and labels where nobody ever stands: on a jump that is passed over."""
    kinds: dict[str, str] = field(default_factory=dict)
    """For each name of an mtype the set that it is in: `mtype`, `mtype:fruit`."""
    last: Variable | None = None
    """Who did the last step, where the model wants to know it."""
    priorities: Variable | None = None
    """The priority of each process, where some process has one."""

    @property
    def declared(self) -> dict[Var, Variable]:
        return self.types.declared

    def constant(self, expr: Expr) -> int | None:
        """The value of an expression that is the same in every state, as far as is known yet."""
        return Constants(None, {}, self.declared).of(expr)


@dataclass(frozen=True, slots=True)
class Expressions:
    """Lowers expressions in one scope; `process` where there is a `_pid`. In Promela truth values are numbers, in
    our expressions they are not: called, it gives a number, `condition` a truth value."""

    world: World
    scope: Scope
    process: bool = True
    outside: str = ""

    def __call__(self, expr: ast.Expr) -> Expr:
        return fitted(self.uncut(expr), self.world.declared)

    def uncut(self, expr: ast.Expr) -> Expr:
        """A number that may have too many bits, for what cuts it anyway."""
        return number_of(self._lowered(expr))

    def condition(self, expr: ast.Expr) -> Expr:
        found = self._lowered(expr)
        return found if found.type == "bool" else truth_of(fitted(found, self.world.declared))

    def _lowered(self, expr: ast.Expr) -> Expr:
        match expr:
            case ast.Number(value=value):
                return ir.const(value)
            case ast.Ref():
                return self._value(expr)
            case ast.Unary(op="!", operand=operand):
                return ir.not_(self.condition(operand))
            case ast.Unary(op="~", operand=operand):
                return ir.binary("-", ir.neg(self.uncut(operand)), ir.ONE)  # in two's complement
            case ast.Unary(operand=operand):
                return ir.neg(self.uncut(operand))
            case ast.Binary(op="&&", left=left, right=right):
                return ir.conj(self.condition(left), self.condition(right))
            case ast.Binary(op="||", left=left, right=right):
                return ir.disj(self.condition(left), self.condition(right))
            case ast.Binary(op="+" | "-" | "*" | "&" | "|" | "^" as op, left=left, right=right):
                return ir.binary(_ARITHMETIC[op], self.uncut(left), self.uncut(right))
            case ast.Binary(op=op, left=left, right=right):
                return ir.binary(_ARITHMETIC[op], self(left), self(right))
            case ast.Conditional(test=test, then=then, otherwise=otherwise):
                return ir.ite(self.condition(test), self(then), self(otherwise))
            case ast.Asked(what=what, channel=channel):
                return ir.of_channel(what, self.channel(channel))
            case ast.Poll(channel=channel, args=args, anywhere=anywhere):
                wanted = tuple(self.pattern(arg)[0] for arg in self.message(args))
                return ir.poll(self.channel(channel), wanted, anywhere)
            case ast.AtLabel(proctype=proctype, index=index, label=label, place=place):
                template = self._template(proctype, place)
                self.world.labels_wanted.append((template, label, place))
                return ir.stands_at(template, self._pid(template, index), label)
            case ast.Remote(proctype=proctype, index=index, variable=variable, place=place):
                return self._remote(proctype, index, variable, place)
            case ast.Timeout():
                return ir.TIMEOUT
            case ast.NoProgress(place=place) | ast.Enabled(place=place) if self.process:
                name = "np_" if isinstance(expr, ast.NoProgress) else "enabled"
                raise problem(f"`{name}` is for claims and formulas", place)
            case ast.NoProgress():
                self.world.sees_who_can_move = True
                return ir.NO_PROGRESS
            case ast.Enabled(pid=pid):
                self.world.sees_who_can_move = True
                return ir.enabled(self(pid))
            case ast.Priority(pid=pid):
                return self._priority(self(pid))
            case ast.Run(place=place):
                raise problem("`run` can only be a statement of its own, or be assigned", place)
            case ast.Eval(place=place):
                raise problem("`eval` is for the arguments of a receive", place)

    def _value(self, ref: ast.Ref) -> Expr:
        if ref.name == "_pid":
            if not self.process:
                raise problem("there is no `_pid` outside processes", ref.place)
            return ir.OWN_NUMBER
        if ref.name == "_nr_pr":
            return ir.POPULATION
        if ref.name == "_priority" and self.scope.find(ref.name) is None:
            if not self.process:
                raise problem("there is no `_priority` outside processes", ref.place, "get_priority(pid)")
            return self._priority(ir.OWN_NUMBER)
        if ref.name == "_last" and self.world.last is not None:
            return self.world.last.var
        if ref.name == "_":
            raise problem("`_` can be written only, not read", ref.place)
        if ref.name in self.world.mtypes and self.scope.find(ref.name) is None:
            return ir.const(self.world.mtypes[ref.name])
        return self.load(ref)

    def _priority(self, pid: Expr) -> Expr:
        """The priority of a process; 0 if there is no process with this number."""
        if self.world.priorities is None:  # nobody has one in the model: a formula asks from outside
            return ir.ONE
        return ir.ite(exists(pid), ir.select(self.world.priorities.var, pid), ir.ZERO)

    def load(self, ref: ast.Ref) -> Target:
        """A variable or a cell."""
        symbol = self.scope.find(ref.name)
        if symbol is None:
            near = get_close_matches(ref.name, sorted(self.scope.known() | set(self.world.mtypes)), 1)
            hint = f"did you mean `{near[0]}`?" if near else None
            raise problem(f"undeclared variable: {ref.name}", ref.place, hint)
        scalar, index = self._cell(symbol, ref, self)
        return scalar.variable.var if index is None else ir.select(scalar.variable.var, index)

    def declared(self, ref: ast.Ref) -> Scalar | None:
        """What a name was declared as, if it is a plain variable."""
        symbol = self.scope.find(ref.name)
        while isinstance(symbol, Record) and ref.field is not None:
            ref = ref.field
            symbol = symbol.members.get(ref.name)
        return symbol if isinstance(symbol, Scalar) else None

    def message(self, args: Sequence[ast.Expr]) -> tuple[ast.Expr, ...]:
        """The values that arguments stand for: a record is all its fields, as SPIN has it."""
        return tuple(part for arg in args for part in (self._parts(arg) if isinstance(arg, ast.Ref) else (arg,)))

    def _parts(self, ref: ast.Ref) -> Iterator[ast.Ref]:
        symbol, part, arrays = self.scope.find(ref.name), ref, 0
        while isinstance(symbol, Record) and part.field is not None:
            arrays += symbol.array
            part = part.field
            symbol = symbol.members.get(part.name)
        if not isinstance(symbol, Record):
            yield ref
            return
        for name, member in symbol.members.items():
            yield from _leaves(member, _with_field(ref, name), arrays + symbol.array)

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
        at: Expr = ir.ZERO
        for index, size in zip(indices, symbol.sizes, strict=True):
            at = ir.binary("+", ir.binary("*", at, ir.const(size)), ir.checked(index, size))
        return symbol, at

    def channel(self, ref: ast.Ref) -> Expr:
        found = self.load(ref)
        if self.world.declared[variable_of(found)].bounded.kind != "chan":
            raise problem(f"`{ref.name}` is not a channel", ref.place)
        return found

    def check_mtype(self, target: Target, value: ast.Expr) -> None:
        """What is assigned to a variable of a named set must be in this set. SPIN looks at names alone, too."""
        kind = self.world.declared[variable_of(target)].bounded.kind
        if not kind.startswith("mtype:") or not isinstance(value, ast.Ref) or self.scope.find(value.name):
            return
        if self.world.kinds.get(value.name, kind) != kind:
            raise problem(f"`{value.name}` is not in `{kind}`", value.place)

    def pattern(self, arg: ast.Expr) -> tuple[Expr | None, Target | None]:
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
                known = None if free(expr) else self.world.constant(expr)
                if known is None:
                    raise problem(
                        "a receive wants variables and constants; put an expression into `eval`", _place(arg)
                    )
                return ir.const(known), None

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
        return ir.const(self.world.alone.get(template, -1))

    def _remote(self, proctype: str, index: ast.Expr | None, variable: ast.Ref, place: Place) -> Expr:
        template = self._template(proctype, place)
        symbol = self.world.locals[template].names.get(variable.name)  # not a shared one
        if symbol is None:
            raise problem(f"proctype {proctype} has no variable `{variable.name}`", place)
        scalar, at = self._cell(symbol, variable, self)
        scalar.variable.remote = True
        return ir.peek(template, self._pid(template, index), scalar.variable.var, at)


def exists(pid: Expr) -> Expr:
    """Is there a process with this number?"""
    return ir.conj(ir.binary("<=", ir.ZERO, pid), ir.binary("<", pid, ir.POPULATION))


def _leaves(symbol: Symbol, ref: ast.Ref, arrays: int) -> Iterator[ast.Ref]:
    """References to all that a member of a record is made of; so many arrays are around it."""
    sizes = next(scalars(symbol)).sizes
    array = symbol.array if isinstance(symbol, Record) else len(sizes) > arrays
    for each in [_with_index(ref, cell) for cell in range(sizes[arrays])] if array else [ref]:
        if isinstance(symbol, Scalar):
            yield each
        else:
            for name, member in symbol.members.items():
                yield from _leaves(member, _with_field(each, name), arrays + array)


def _with_field(ref: ast.Ref, name: str) -> ast.Ref:
    return replace(ref, field=ast.Ref(ref.place, name) if ref.field is None else _with_field(ref.field, name))


def _with_index(ref: ast.Ref, cell: int) -> ast.Ref:
    if ref.field is not None:
        return replace(ref, field=_with_index(ref.field, cell))
    return replace(ref, index=ast.Number(ref.place, cell))


def _place(expr: ast.Expr) -> Place:
    return expr.place
