"""Programs of guarded commands (`.gcl`) as trees: statements, their text, and what can be taken away from them.

Written from the grammar in docs/design.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from conformance.expressions import (
    TRUE,
    Binary,
    Cell,
    Const,
    Expression,
    Illegal,
    Target,
    Unary,
    Value,
    Var,
    simpler,
)


@dataclass(frozen=True, slots=True)
class Skip:
    pass


@dataclass(frozen=True, slots=True)
class Assign:
    target: Target
    expression: Expression


@dataclass(frozen=True, slots=True)
class Spawn:
    body: Block


@dataclass(frozen=True, slots=True)
class Call:
    procedure: str


@dataclass(frozen=True, slots=True)
class Assert:
    condition: Expression


@dataclass(frozen=True, slots=True)
class Nested:
    """`(g)`."""

    body: Block


@dataclass(frozen=True, slots=True)
class When:
    """`guard |> action`."""

    guard: Expression
    action: Action


@dataclass(frozen=True, slots=True)
class Choose:
    """`then <| condition |> otherwise`."""

    then: Action
    condition: Expression
    otherwise: Action


@dataclass(frozen=True, slots=True)
class While:
    """`condition |>* action`."""

    condition: Expression
    action: Action


@dataclass(frozen=True, slots=True)
class Binding:
    """A name and its first value; an input is shown as `?`, and its value is given from outside."""

    name: str
    value: Value
    is_input: bool = False

    def text(self) -> str:
        if self.is_input:
            return f"{self.name} |-> {'?bool' if isinstance(self.value, bool) else '?'}"
        if isinstance(self.value, tuple):
            return f"{self.name} |-> [{', '.join(Const(each).text() for each in self.value)}]"
        return f"{self.name} |-> {Const(self.value).text()}"

    @property
    def type(self) -> str:
        return f"{type(self.value[0]).__name__}[]" if isinstance(self.value, tuple) else type(self.value).__name__


@dataclass(frozen=True, slots=True)
class Scope:
    bindings: tuple[Binding, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Procedure:
    name: str
    body: Block


Action = Assign | Spawn | Call | Assert | Nested | Skip
Statement = When | Choose | While | Scope | Skip
Block = tuple[Statement, ...]


def block_text(block: Block, separator: str = "; ") -> str:
    return separator.join(map(_text, block)) or "skip"


def _text(node: Statement | Action) -> str:
    match node:
        case Skip():
            return "skip"
        case Assign(target, expression):
            return f"{target.text()} := {expression.text()}"
        case Spawn(body):
            return f"spawn({block_text(body)})"
        case Call(procedure):
            return f"{procedure}()"
        case Assert(condition):
            return f"assert {condition.text()}"
        case Nested(body):
            return f"({block_text(body)})"
        case When(guard, action):
            return f"{guard.text()} |> {_text(action)}"
        case Choose(then, condition, otherwise):
            return f"{_text(then)} <| {condition.text()} |> {_text(otherwise)}"
        case While(condition, action):
            return f"{condition.text()} |>* {_text(action)}"
        case Scope(bindings, body):
            return f"{{{', '.join(each.text() for each in bindings)}, {block_text(body)}}}"


def has_steps(block: Block) -> bool:
    """Does a block take any step?"""
    return any(has_steps(each.body) if isinstance(each, Scope) else not isinstance(each, Skip) for each in block)


# Which programs mean something, and what can be taken away from them


def check(node: object, types: Mapping[str, str], procedures: set[str]) -> None:
    """Raise `Illegal` unless names are known, and values are of the right type."""
    match node:
        case tuple():
            for each in node:
                check(each, types, procedures)
        case Scope(bindings, body):
            if not bindings:
                raise Illegal("a scope without names")
            check(body, {**types, **{each.name: each.type for each in bindings}}, procedures)
        case Spawn(body) | Nested(body):
            check(body, types, procedures)
        case When(condition, action) | While(condition, action):
            check((Assert(condition), action), types, procedures)
        case Choose(then, condition, otherwise):
            check((Assert(condition), then, otherwise), types, procedures)
        case Assert(condition):
            if condition.type(types) != "bool":
                raise Illegal(condition.text())
        case Assign(target, expression):
            if not isinstance(target, Target) or target.type(types) != expression.type(types):
                raise Illegal(target.text())
        case Call(procedure):
            if procedure not in procedures:
                raise Illegal(procedure)


def less(node: object) -> Iterator[object]:
    """What may stand in the place of a part."""
    match node:
        case tuple():
            yield from (node[:place] + node[place + 1 :] for place in range(len(node)) if _droppable(node[place]))
            for place, each in enumerate(node):
                if isinstance(each, Scope) or (isinstance(each, When) and isinstance(each.action, Nested)):
                    inner = each.body if isinstance(each, Scope) else each.action.body
                    yield (*node[:place], *inner, *node[place + 1 :])
        case When(guard, action):
            if guard != TRUE:
                yield When(TRUE, action)
        case Choose(then, condition, otherwise):
            yield from (When(condition, then), When(condition, otherwise), When(TRUE, then), When(TRUE, otherwise))
        case While(condition, action):
            yield from (When(condition, action), When(TRUE, action))
        case Assert() | Assign() | Call() | Nested() | Spawn():
            yield Skip()
        case Binding(name, value, True):
            yield Binding(name, value)
        case Binary() | Cell() | Const() | Unary() | Var():
            yield from simpler(node)


def _droppable(node: object) -> bool:
    return isinstance(node, When | Choose | While | Scope | Skip | Procedure | Binding)
