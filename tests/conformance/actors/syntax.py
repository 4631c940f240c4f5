"""Actor programs as trees, and how they are written in ABS.

Every simple statement takes one line of the text, because outcomes name the lines at which tasks wait. Interfaces
are not part of the tree: an interface has the methods of the classes that implement it, except `run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Type = str
"""`Int`, `Bool`, `Unit`, the name of an interface, or `Fut<..>` of one of these."""


@dataclass(frozen=True, slots=True)
class Const:
    """A number, a truth value, or null (`None`)."""

    value: int | bool | None


@dataclass(frozen=True, slots=True)
class Field:
    name: str


@dataclass(frozen=True, slots=True)
class Local:
    """A variable or a parameter of a method."""

    name: str


@dataclass(frozen=True, slots=True)
class This:
    pass


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: Expr
    right: Expr


Expr = Const | Field | Local | This | Not | Binary


@dataclass(frozen=True, slots=True)
class New:
    class_name: str
    arguments: tuple[Expr, ...] = ()
    local: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    """`target!method(..)`: gives the future of a new task."""

    target: Expr
    method: str
    arguments: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """`target.method(..)`: runs at once within a group; otherwise it sends, and blocks in `get`."""

    target: Expr
    method: str
    arguments: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class AwaitCall:
    """`await target!method(..)`: sends, waits for the result and takes it."""

    target: Expr
    method: str
    arguments: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Get:
    future: Expr


Effect = New | Send | Call | AwaitCall | Get
Right = Expr | Effect


@dataclass(frozen=True, slots=True)
class Assign:
    target: Field | Local
    value: Right


@dataclass(frozen=True, slots=True)
class Declare:
    type: Type
    name: str
    value: Right


@dataclass(frozen=True, slots=True)
class Do:
    """An effect whose result nobody wants."""

    effect: Effect


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    condition: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Await:
    """Waits until all the futures are there and the condition, if there is one, holds."""

    futures: tuple[Expr, ...] = ()
    condition: Expr | None = None


@dataclass(frozen=True, slots=True)
class Suspend:
    pass


@dataclass(frozen=True, slots=True)
class Assert:
    condition: Expr


@dataclass(frozen=True, slots=True)
class Return:
    """The last statement of a method whose result is not `Unit`."""

    value: Expr


Statement = Assign | Declare | Do | If | While | Await | Suspend | Assert | Return
Body = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    type: Type
    name: str


@dataclass(frozen=True, slots=True)
class Initialised:
    """A field and its first value, over the parameters of the class and the fields before it."""

    type: Type
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Method:
    name: str
    parameters: tuple[Variable, ...]
    body: Body
    result: Type = "Unit"


@dataclass(frozen=True, slots=True)
class Class:
    name: str
    interface: str
    parameters: tuple[Variable, ...]
    fields: tuple[Initialised, ...]
    methods: tuple[Method, ...]
    initially: Body = ()
    """The init block, which runs in the step that makes the object."""

    @property
    def all_fields(self) -> tuple[Variable | Initialised, ...]:
        return self.parameters + self.fields


def written(what: Right) -> str:
    """An expression or an effect in ABS."""
    match what:
        case Const(value):
            return "null" if value is None else str(value)
        case Field(name) | Local(name):
            return name
        case This():
            return "this"
        case Not(operand):
            return f"!({written(operand)})"
        case Binary(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"
        case New(class_name, arguments, local):
            return f"new {'local ' if local else ''}{class_name}({_listed(arguments)})"
        case Send(target, method, arguments):
            return f"{written(target)}!{method}({_listed(arguments)})"
        case Call(target, method, arguments):
            return f"{written(target)}.{method}({_listed(arguments)})"
        case AwaitCall(target, method, arguments):
            return f"await {written(target)}!{method}({_listed(arguments)})"
        case Get(future):
            return f"{written(future)}.get"


def _operand(expression: Expr) -> str:
    text = written(expression)
    return f"({text})" if isinstance(expression, Binary) else text


def _listed(expressions: Iterable[Expr]) -> str:
    return ", ".join(map(written, expressions))


def lines_of(statement: Statement) -> list[str]:
    match statement:
        case Assign(target, value):
            return [f"{target.name} = {written(value)};"]
        case Declare(type_, name, value):
            return [f"{type_} {name} = {written(value)};"]
        case Do(effect):
            return [f"{written(effect)};"]
        case If(condition, then, otherwise):
            other = ["} else {", *_block(otherwise)] if otherwise else []
            return [f"if ({written(condition)}) {{", *_block(then), *other, "}"]
        case While(condition, body):
            return [f"while ({written(condition)}) {{", *_block(body), "}"]
        case Await(futures, condition):
            guards = [f"{written(future)}?" for future in futures]
            return [f"await {' & '.join([*guards, written(condition)] if condition else guards)};"]
        case Suspend():
            return ["suspend;"]
        case Assert(condition):
            return [f"assert {written(condition)};"]
        case Return(value):
            return [f"return {written(value)};"]


def _block(body: Iterable[Statement]) -> list[str]:
    return [f"    {line}" for statement in body for line in lines_of(statement)]


def signatures(classes: Iterable[Class]) -> dict[str, dict[str, Method]]:
    """The methods of every interface."""
    found: dict[str, dict[str, Method]] = {}
    for each in classes:
        known = found.setdefault(each.interface, {})
        known.update((method.name, method) for method in each.methods if method.name != "run")
    return found


def _signature(method: Method) -> str:
    return f"{method.result} {method.name}({_variables(method.parameters)})"


def _variables(variables: Iterable[Variable]) -> str:
    return ", ".join(f"{each.type} {each.name}" for each in variables)


Place = tuple[str, str]
"""A class and a method of it; no method is the init block, and no class either is the main block."""


def layout(classes: Sequence[Class], main: Body) -> tuple[str, dict[Place, int]]:
    """The text of a program, and the line on which each of its blocks begins."""
    lines = ["module M;", "import * from ABS.StdLib;"]
    for name, methods in signatures(classes).items():
        lines.append(f"interface {name} {{ {' '.join(f'{_signature(each)};' for each in methods.values())} }}")
    begins: dict[Place, int] = {}
    for each in classes:
        parameters = f"({_variables(each.parameters)})" if each.parameters else ""
        lines.append(f"class {each.name}{parameters} implements {each.interface} {{")
        lines += [f"    {field.type} {field.name} = {written(field.value)};" for field in each.fields]
        for place, header, body in _blocks(each):
            lines.append(f"    {header}{{")
            begins[place] = len(lines) + 1
            lines += [*(f"    {line}" for line in _block(body)), "    }"]
        lines.append("}")
    begins["", ""] = len(lines) + 2
    return "\n".join([*lines, "{", *_block(main), "}", ""]), begins


def _blocks(of: Class) -> Iterator[tuple[Place, str, Body]]:
    if of.initially:
        yield (of.name, ""), "", of.initially
    for method in of.methods:
        yield (of.name, method.name), f"{_signature(method)} ", method.body
