"""Expressions without effects: checked and lowered in one walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from porcini.core.errors import Place
from porcini.ir.expr import (
    FALSE,
    TRUE,
    DataType,
    Expr,
    Var,
    apply,
    binary,
    conj,
    const,
    datum,
    disj,
    ite,
    let,
    neg,
    not_,
    var,
)
from porcini.langs.actors import syntax as ast
from porcini.langs.actors.library import UNIT as UNIT_VALUE
from porcini.langs.actors.names import Arrow, Use, World
from porcini.langs.actors.parser import outside
from porcini.langs.actors.types import BOOL, INT, NULL, RAT, STRING, UNIT, Con, Hole, Ty, in_ir, list_of, resolve

Typed = tuple[Expr, Ty]
THIS = var(".this", DataType("this"))
_OLD_CONSTRUCTORS = {"EmptySet": "emptySet", "EmptyMap": "emptyMap", "InsertAssoc": "insert"}
"""What sets and maps were made with in older ABS; `InsertAssoc` takes the pair first."""
_ARITHMETIC = {"+", "-", "*", "%"}
_ORDER = {"<", "<=", ">", ">="}


@dataclass(slots=True)
class Scope:
    """The names that an expression can use: locals of nested blocks, then fields."""

    world: World
    class_: str | None = None
    fields: dict[str, Typed] = field(default_factory=dict)
    blocks: list[dict[str, Typed]] = field(default_factory=lambda: [{}])
    parameters: tuple[str, ...] = ()
    function: str | None = None
    """The function whose body the expression is in."""
    fresh: int = 0

    def find(self, name: str) -> Typed | None:
        for block in reversed(self.blocks):
            if name in block:
                return block[name]
        return self.fields.get(name)

    def temporary(self, type_: Ty) -> Var:
        self.fresh += 1
        return var(f".{self.fresh}", in_ir(type_))

    # Expressions

    def expr(self, node: ast.Expression, expected: Ty | None = None) -> Expr:
        """Lower an expression that must have a type."""
        lowered, type_ = self.typed(node, expected)
        if expected is not None:
            self.want(type_, expected, node.place)
        return lowered

    def want(self, actual: Ty, expected: Ty, place: Place) -> None:
        if not self.world.subtyping.fits(actual, expected):
            self.world.error(f"expected {resolve(expected)}, not {resolve(actual)}", place)

    def typed(self, node: ast.Expression, expected: Ty | None = None) -> Typed:  # noqa: RET503 (error never returns)
        """An expression and its type. What is expected settles what its parts alone would leave open."""
        match node:
            case ast.Number(value=value):
                return const(value), INT
            case ast.Text(value=text):
                return datum(text, DataType("String")), STRING
            case ast.Null():
                return datum(None, DataType("null")), NULL
            case ast.This():
                if self.class_ is None:
                    self.world.error("there is no `this` here", node.place)
                return THIS, Con(f"class {self.class_}")
            case ast.Variable():
                return self.variable(node)
            case ast.Construct(name=name, args=args):
                return self.construct(node, name, args, expected)
            case ast.Apply(function=name, args=args):
                return self.call(node, name, args, expected)
            case ast.Collection():
                return self.collection(node, expected)
            case ast.Operation():
                return self.operation(node)
            case ast.Conditional(test=test, then=then, other=other):
                condition = self.expr(test, BOOL)
                if expected is not None:
                    return ite(condition, self.expr(then, expected), self.expr(other, expected)), expected
                yes, type_ = self.typed(then)
                no, other_type = self.typed(other)
                return ite(condition, yes, no), self.join(type_, other_type, other.place)
            case ast.Let(type=written, name=name, value=value, body=body):
                type_ = self.world.type(written, self.parameters)
                bound = self.expr(value, type_)
                name_ = self.temporary(type_)
                self.blocks.append({name: (name_, type_)})
                inner, result = self.typed(body, expected)
                self.blocks.pop()
                return let(name_, bound, inner), result
            case ast.Case():
                return self.case(node, expected)
        self.world.error("only the library has functions that are built in", node.place)

    def join(self, a: Ty, b: Ty, place: Place) -> Ty:
        """The type of either of two values."""
        if self.world.subtyping.fits(b, a):
            return a if resolve(a) != NULL else b
        self.want(a, b, place)
        return b

    def variable(self, node: ast.Variable) -> Typed:
        found = self.fields.get(node.name) if node.of_this else self.find(node.name)
        if found is None:
            kind = "field" if node.of_this else "variable"
            self.world.error(f"unknown {kind} `{node.name}`", node.place)
        return found

    def arguments(self, what: str, arrow: Arrow, args: Sequence[ast.Expression], place: Place) -> tuple[Expr, ...]:
        if len(args) != len(arrow.formals):
            wanted = len(arrow.formals)
            self.world.error(f"{what} wants {wanted} argument{'' if wanted == 1 else 's'}, not {len(args)}", place)
        return tuple(self.expr(arg, formal) for arg, formal in zip(args, arrow.formals, strict=True))

    def expect(self, result: Ty, expected: Ty | None) -> None:
        """Let what is expected fill the type parameters of a result, where they are of one shape."""
        wanted, given = resolve(expected) if expected is not None else None, resolve(result)
        if isinstance(wanted, Con) and (isinstance(given, Hole) or given.name == wanted.name):
            self.world.subtyping.fits(given, wanted)

    def construct(
        self, node: ast.Expression, name: str, args: Sequence[ast.Expression], expected: Ty | None
    ) -> Typed:
        if name in _OLD_CONSTRUCTORS and name not in self.world.constructors:
            return self.call(node, _OLD_CONSTRUCTORS[name], tuple(reversed(args)), expected)
        if name not in self.world.constructors:
            hint = "an object is made with `new`" if name in self.world.classes else None
            self.world.error(f"unknown constructor `{name}`", node.place, hint)
        arrow = self.world.constructors[name].fresh()
        self.expect(arrow.result, expected)
        values = self.arguments(f"constructor `{name}`", arrow, args, node.place)
        if name in ("True", "False"):
            return (TRUE if name == "True" else FALSE), BOOL
        if name == "Unit":
            return datum(UNIT_VALUE, DataType("Unit")), UNIT
        if name == "Nil":
            return datum((), DataType("List")), arrow.result
        return apply(f"make {name}", values, in_ir(arrow.result)), arrow.result

    def call(self, node: ast.Expression, name: str, args: Sequence[ast.Expression], expected: Ty | None) -> Typed:
        if name not in self.world.functions:
            self.world.error(outside(name) or f"unknown function `{name}`", node.place)
        arrow = self.world.functions[name].fresh()
        self.expect(arrow.result, expected)
        if name == "emptySet" and not args:
            return datum(frozenset(), DataType("Set")), arrow.result
        values = self.arguments(f"function `{name}`", arrow, args, node.place)
        self.use(name, arrow.formals)
        return apply(name, values, in_ir(arrow.result)), arrow.result

    def use(self, function: str, types: tuple[Ty, ...]) -> None:
        self.world.uses.append(Use(function, types, self.function, self.parameters))

    def collection(self, node: ast.Collection, expected: Ty | None) -> Typed:
        if node.kind not in ("list", "set", "map"):
            self.world.error(f"unknown collection `{node.kind}[...]`", node.place, "list, set or map")
        item: Ty = Con("Pair", (Hole(), Hole())) if node.kind == "map" else Hole()
        whole = Con("Map", item.args) if isinstance(item, Con) else Con(node.kind.capitalize(), (item,))
        self.expect(whole, expected)
        values = [self.expr(e, item) for e in node.items]
        items = apply("list[]", tuple(values), DataType("List")) if values else datum((), DataType("List"))
        if node.kind == "list":
            return items, list_of(item)
        if node.kind == "set":
            return apply("set of list", (items,), DataType("Set")), Con("Set", (item,))
        assert isinstance(item, Con)
        return apply("map of list", (items,), DataType("Map")), Con("Map", item.args)

    def operation(self, node: ast.Operation) -> Typed:
        op = node.op
        if len(node.args) == 1:
            if op == "!":
                return not_(self.expr(node.args[0], BOOL)), BOOL
            arg, type_ = self.number(node.args[0])
            return (neg(arg), INT) if type_ == INT else (apply("rat -", (const(0), arg), DataType("Rat")), RAT)
        left, right = node.args
        if op in ("&&", "||"):
            return (conj if op == "&&" else disj)(self.expr(left, BOOL), self.expr(right, BOOL)), BOOL
        if op in ("==", "!="):
            a, a_type = self.typed(left)
            b, b_type = self.typed(right)
            if not self.world.subtyping.alike(a_type, b_type) and not self.both_references(a_type, b_type):
                self.world.error(f"cannot compare {resolve(a_type)} with {resolve(b_type)}", node.place)
            return binary("==" if op == "==" else "!=", a, b), BOOL
        a, a_type = self.typed(left)
        b, b_type = self.typed(right)
        if resolve(a_type) == STRING and resolve(b_type) == STRING and (op == "+" or op in _ORDER):
            if op == "+":
                return apply("string +", (a, b), DataType("String")), STRING
            return binary(op, a, b), BOOL  # type: ignore[arg-type]
        for type_ in (a_type, b_type):
            if not self.world.subtyping.fits(type_, RAT):
                hint = (
                    "`toString` makes text of anything" if STRING in (resolve(a_type), resolve(b_type)) else None
                )
                types = f"{resolve(a_type)} and {resolve(b_type)}"
                self.world.error(f"`{op}` is not for {types}", node.place, hint)
        whole = resolve(a_type) != RAT and resolve(b_type) != RAT
        if op in _ORDER:
            return binary(op, a, b), BOOL  # type: ignore[arg-type]
        if op == "/":
            return apply("a / b", (a, b), DataType("Rat")), RAT
        assert op in _ARITHMETIC
        if whole:
            return binary(op, a, b), INT  # type: ignore[arg-type]
        return apply(f"rat {op}", (a, b), DataType("Rat")), RAT

    def both_references(self, a: Ty, b: Ty) -> bool:
        known = self.world.subtyping.interfaces
        return all(isinstance(t := resolve(x), Con) and t.name in known for x in (a, b))

    def number(self, node: ast.Expression) -> Typed:
        value, type_ = self.typed(node)
        self.want(type_, RAT, node.place)
        return value, RAT if resolve(type_) == RAT else INT

    # Patterns

    def case(self, node: ast.Case, expected: Ty | None) -> Typed:
        subject, type_ = self.typed(node.subject)
        name = self.temporary(type_)
        result: Ty = expected if expected is not None else Hole()
        branches: list[tuple[Expr, Expr]] = []
        for pattern, body in node.branches:
            bindings: dict[str, Typed] = {}
            test = self.matches(pattern, name, type_, bindings)
            self.blocks.append(bindings)
            value, value_type = self.typed(body, expected)
            self.blocks.pop()
            result = self.join(result, value_type, body.place)
            branches.append((test, value))
        chosen = apply("no branch", (name,), in_ir(result))
        for test, value in reversed(branches):
            chosen = value if test is TRUE else ite(test, value, chosen)
        return let(name, subject, chosen), result

    def matches(self, pattern: ast.Pattern, subject: Expr, type_: Ty, bindings: dict[str, Typed]) -> Expr:
        """When a value matches a pattern; what the pattern's variables stand for is added to `bindings`."""
        match pattern:
            case ast.Binder(name=None):
                return TRUE
            case ast.Binder(name=name):
                assert name is not None
                found = bindings.get(name) or self.find(name)
                if found is not None:
                    return binary("==", found[0], subject)
                bindings[name] = subject, type_
                return TRUE
            case ast.Fixed(value=value):
                self.want(INT if isinstance(value, int) else STRING, type_, pattern.place)
                fixed = const(value) if isinstance(value, int) else datum(value, DataType("String"))
                return binary("==", subject, fixed)
            case ast.Deconstruct(name=name, args=args):
                if name not in self.world.constructors:
                    self.world.error(f"unknown constructor `{name}`", pattern.place)
                arrow = self.world.constructors[name].fresh()
                self.want(type_, arrow.result, pattern.place)
                if len(args) != len(arrow.formals):
                    self.world.error(
                        f"constructor `{name}` takes {len(arrow.formals)}, not {len(args)}", pattern.place
                    )
                if name in ("True", "False"):
                    return subject if name == "True" else not_(subject)
                test = TRUE if name == "Unit" else apply(f"is {name}", (subject,), "bool")
                tests = [test]
                for k, (arg, formal) in enumerate(zip(args, arrow.formals, strict=True)):
                    part = apply(f"part {name} {k}", (subject,), in_ir(formal))
                    tests.append(self.matches(arg, part, formal, bindings))
                return conj(*tests)
