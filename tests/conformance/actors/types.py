"""Which actor trees are programs: names that are known, types that fit, calls that Porcini's subset has.

Shrinking and random edits propose trees; `is_program` says which of them can be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from conformance.actors.syntax import (
    Assert,
    Assign,
    Await,
    AwaitCall,
    Binary,
    Body,
    Call,
    Class,
    Const,
    Declare,
    Do,
    Effect,
    Expr,
    Field,
    Get,
    If,
    Local,
    Method,
    New,
    Not,
    Return,
    Right,
    Send,
    Statement,
    Suspend,
    This,
    Type,
    Variable,
    While,
    signatures,
)
from conformance.trees import parts

NULL = "null"


class Wrong(Exception):
    """This tree is not a program."""


def require(holds: bool) -> None:
    if not holds:
        raise Wrong


@dataclass(frozen=True, slots=True)
class Scope:
    """What a statement can mention."""

    classes: dict[str, Class]
    interfaces: dict[str, dict[str, Method]]
    fields: dict[str, Type]
    variables: dict[str, Type]
    this: Type | None = None

    def within(self) -> Scope:
        """The scope of a block inside of this one."""
        return replace(self, variables=dict(self.variables))

    def declare(self, variable: Variable | Declare) -> None:
        require(variable.name not in self.fields and variable.name not in self.variables)
        self.check_type(variable.type)
        self.variables[variable.name] = variable.type

    def check_type(self, type_: Type) -> None:
        require(type_.removeprefix("Fut<").removesuffix(">") in ("Int", "Bool", "Unit", *self.interfaces))


def is_program(classes: Sequence[Class], main: Body) -> bool:
    try:
        _check_program(classes, main)
    except (Wrong, KeyError):
        return False
    return True


def _check_program(classes: Sequence[Class], main: Body) -> None:
    interfaces = signatures(classes)
    known = {each.name: each for each in classes}
    require(len(known) == len(classes))
    for each in classes:
        own = {method.name: (method.result, _types(method.parameters)) for method in each.methods}
        require(len(own) == len(each.methods) and own.pop("run", ("Unit", ())) == ("Unit", ()))
        expected = interfaces[each.interface].values()
        require(own == {method.name: (method.result, _types(method.parameters)) for method in expected})
        _check_class(each, Scope(known, interfaces, {}, {}, each.interface))
    _check_body(main, Scope(known, interfaces, {}, {}), "Unit")
    _check_calls(classes, main)


def _check_class(of: Class, scope: Scope) -> None:
    for parameter in of.parameters:
        scope.check_type(parameter.type)
        scope.fields[parameter.name] = parameter.type
    for field in of.fields:
        require(field.name not in scope.fields)
        scope.check_type(field.type)
        require(fits(type_of(field.value, scope), field.type))
        scope.fields[field.name] = field.type
    for method in of.methods:
        inner = scope.within()
        for parameter in method.parameters:
            inner.declare(parameter)
        _check_body(method.body, inner, method.result)
    _check_body(of.initially, scope.within(), "Unit")


def _types(variables: Sequence[Variable]) -> tuple[Type, ...]:
    return tuple(each.type for each in variables)


def fits(actual: Type, wanted: Type) -> bool:
    return actual == wanted or (actual == NULL and wanted not in ("Int", "Bool", "Unit"))


def type_of(value: Right, scope: Scope) -> Type:
    match value:
        case Const(None):
            return NULL
        case Const(constant):
            return "Bool" if isinstance(constant, bool) else "Int"
        case Field(name):
            return scope.fields[name]
        case Local(name):
            return scope.variables[name]
        case This():
            require(scope.this is not None)
            return scope.this or NULL
        case Not(operand):
            require(type_of(operand, scope) == "Bool")
            return "Bool"
        case Binary(operator, left, right):
            return _type_of_operation(operator, type_of(left, scope), type_of(right, scope))
        case New(class_name, arguments, _):
            of = scope.classes[class_name]
            _check_arguments(arguments, of.parameters, scope)
            return of.interface
        case Send(target, method, arguments):
            return f"Fut<{_type_of_call(target, method, arguments, scope)}>"
        case Call(target, method, arguments) | AwaitCall(target, method, arguments):
            return _type_of_call(target, method, arguments, scope)
        case Get(future):
            of_future = type_of(future, scope)
            require(of_future.startswith("Fut<"))
            return of_future[4:-1]


def _type_of_operation(operator: str, left: Type, right: Type) -> Type:
    if operator in ("==", "!="):
        require(left != right or left != NULL)
        require(fits(left, right) or fits(right, left))
        return "Bool"
    wanted = "Bool" if operator in ("&&", "||") else "Int"
    require(left == right == wanted)
    return "Int" if operator in ("+", "-", "*") else "Bool"


def _type_of_call(target: Expr, method: str, arguments: Sequence[Expr], scope: Scope) -> Type:
    called = scope.interfaces[type_of(target, scope)][method]
    _check_arguments(arguments, called.parameters, scope)
    return called.result


def _check_arguments(arguments: Sequence[Expr], parameters: Sequence[Variable], scope: Scope) -> None:
    require(len(arguments) == len(parameters))
    for argument, parameter in zip(arguments, parameters, strict=True):
        require(fits(type_of(argument, scope), parameter.type))


def _check_body(body: Body, scope: Scope, result: Type) -> None:
    """A method returns at its end, if it returns something at all."""
    if result == "Unit":
        _check_block(body, scope)
        return
    match body:
        case (*rest, Return(value)):
            _check_block(rest, scope)
            require(fits(type_of(value, scope), result))
        case _:
            raise Wrong


def _check_block(body: Sequence[Statement], scope: Scope) -> None:
    """Check the statements of a block, and declare in the scope what they declare."""
    for statement in body:
        _check_statement(statement, scope)


def _check_statement(statement: Statement, scope: Scope) -> None:
    match statement:
        case Assign(target, value):
            require(isinstance(target, Field | Local))
            require(fits(type_of(value, scope), type_of(target, scope)))
        case Declare(wanted, _, value):
            require(fits(type_of(value, scope), wanted))
            scope.declare(statement)
        case Do(effect):
            require(isinstance(effect, Effect))
            type_of(effect, scope)
        case If(condition, then, otherwise):
            _check_condition(condition, scope)
            require(bool(then))
            _check_block(then, scope.within())
            _check_block(otherwise, scope.within())
        case While(condition, body):
            _check_condition(condition, scope)
            _check_block(body, scope.within())
        case Await(futures, condition):
            require(bool(futures) or condition is not None)
            for future in futures:
                require(type_of(future, scope).startswith("Fut<"))
            _check_condition(condition or Const(True), scope)
        case Assert(condition):
            _check_condition(condition, scope)
        case Suspend():
            pass
        case Return():
            raise Wrong


def _check_condition(condition: Expr, scope: Scope) -> None:
    require(type_of(condition, scope) == "Bool")


def _check_calls(classes: Sequence[Class], main: Body) -> None:
    """No synchronous call is recursive, and one on another object than `this` is of a method that cannot wait."""
    bodies = {(method.name, each.name): method.body for each in classes for method in each.methods}
    by_name: dict[str, list[Body]] = {}
    for (name, _), body in bodies.items():
        by_name.setdefault(name, []).append(body)
    for body in (*bodies.values(), main, *(each.initially for each in classes)):
        _waits(body, by_name, ())
    for each in classes:
        require(not _waits(each.initially, by_name, ()))


def _waits(body: Body, by_name: dict[str, list[Body]], calling: tuple[str, ...]) -> bool:
    """Can a block wait? Looks into the methods that it calls synchronously."""
    waits = False
    for part in parts(body):
        match part:
            case Await() | Suspend() | AwaitCall() | Get():
                waits = True
            case Call(target, name, _):
                require(name not in calling)
                inside = [_waits(each, by_name, (*calling, name)) for each in by_name[name]]
                require(target == This() or not any(inside))
                waits = waits or target != This() or any(inside)
    return waits
