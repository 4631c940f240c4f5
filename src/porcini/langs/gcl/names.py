"""Names and types: what a name means where it stands, and GCL expressions as typed expressions."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches

from porcini.core.errors import InputError, Place
from porcini.core.systems import Value
from porcini.ir import expr as ir
from porcini.ir.evaluation import default
from porcini.ir.expr import ArrayType, Expr, Type, Var
from porcini.ir.program import Variable
from porcini.langs.gcl import syntax as ast


def error(message: str, place: Place, hint: str | None = None) -> InputError:
    return InputError(message, place=place, hint=hint)


@dataclass(slots=True)
class Frame:
    """The private variables of a template under construction."""

    template: int
    variables: list[Variable] = field(default_factory=list)
    copies: dict[Var, Var] = field(default_factory=dict)  # ours -> the spawner's
    written: set[Var] = field(default_factory=set)
    _count: dict[str, int] = field(default_factory=dict)

    def declare(self, name: str, type_: Type, value: Value) -> Var:
        """A private variable; a name that is declared again gets a number."""
        self._count[name] = count = self._count.get(name, 0) + 1
        variable = Variable(f".{name}" if count == 1 else f".{name}#{count}", type_, value)
        self.variables.append(variable)
        return variable.var


@dataclass(slots=True)
class Names:
    """A scope. `around` is the scope that it opens in, or the one that it was spawned from."""

    frame: Frame
    around: Names | None = None
    own: dict[str, Var] = field(default_factory=dict)

    def find(self, name: str) -> Var | None:
        if name in self.own:
            return self.own[name]
        found = self.around.find(name) if self.around else None
        if found is None or not found.private or self.around is None or self.around.frame is self.frame:
            return found
        # A local of the spawner: the new process gets a copy, made when it is spawned.
        copy = self.frame.declare(name, found.type, _initial(found.type))
        self.frame.copies[copy] = found
        self.own[name] = copy
        return copy

    def known(self) -> set[str]:
        return self.own.keys() | (self.around.known() if self.around else set())

    def resolve(self, name: str, place: Place) -> Var:
        found = self.find(name)
        if found is None:
            raise error(f"unknown name `{name}`", place, close(name, self.known()))
        return found

    def open(self, bindings: tuple[ast.Binding, ...]) -> Names:
        """A scope within this one, with its locals declared in the frame."""
        inner = Names(self.frame, self)
        for binding in bindings:
            if binding.name in inner.own:
                raise error(f"`{binding.name}` is bound twice in one scope", binding.place)
            if binding.value is None:
                raise error("an input must be bound at the start of the program", binding.place)
            inner.own[binding.name] = self.frame.declare(binding.name, binding.type, binding.value)
        return inner


def close(name: str, known: set[str]) -> str | None:
    similar = get_close_matches(name, known, n=1)
    return f"did you mean `{similar[0]}`?" if similar else None


def _initial(type_: Type) -> Value:
    blank = default(type_)
    return (blank,) * type_.size if isinstance(type_, ArrayType) else blank


_SPOKEN = {"int": "a number", "bool": "a boolean"}


def typed(node: ast.Expression, wanted: Type, names: Names) -> Expr:
    """An expression of the type that is wanted here."""
    made = expression(node, names)
    if made.type != wanted:
        raise error(f"expected {_SPOKEN[str(wanted)]}, found {_SPOKEN[str(made.type)]}", node.place)
    return made


def expression(node: ast.Expression, names: Names) -> Expr:
    match node:
        case ast.Literal(value=value):
            return ir.const(value)
        case ast.Name():
            return lvalue(node, names)
        case ast.Unary(op="not", arg=arg):
            return ir.not_(typed(arg, "bool", names))
        case ast.Unary(arg=arg):
            return ir.neg(typed(arg, "int", names))
        case ast.Operation(op="and", args=args):
            return ir.conj(*(typed(arg, "bool", names) for arg in args))
        case ast.Operation(op="or", args=args):
            return ir.disj(*(typed(arg, "bool", names) for arg in args))
        case ast.Operation(op="==" | "!=" as op, args=(left, right)):
            first = expression(left, names)
            return ir.binary(op, first, typed(right, first.type, names))
        case ast.Operation(op=op, args=(left, right)):
            return ir.binary(op, typed(left, "int", names), typed(right, "int", names))  # type: ignore[arg-type]
        case ast.Cases(cases=cases, other=other):
            found = expression(other, names)
            for test, then in reversed(cases):
                found = ir.ite(typed(test, "bool", names), typed(then, found.type, names), found)
            return found
    raise AssertionError(f"not an expression: {node!r}")


def lvalue(node: ast.Name, names: Names) -> Var | ir.Select:
    """A variable or a cell: what can be read and assigned to."""
    variable = names.resolve(node.name, node.place)
    if isinstance(variable.type, ArrayType):
        if node.index is None:
            raise error(f"`{node.name}` is an array", node.place, f"a cell is `{node.name}[i]`")
        return ir.select(variable, typed(node.index, "int", names))
    if node.index is not None:
        raise error(f"`{node.name}` is not an array", node.place)
    return variable
