"""Abstract syntax of the ABS subset. Every node has its place in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from porcini.core.errors import Place


@dataclass(frozen=True, slots=True)
class Node:
    place: Place


@dataclass(frozen=True, slots=True)
class Type(Node):
    name: str
    args: tuple[Type, ...] = ()


# Expressions without effects


@dataclass(frozen=True, slots=True)
class Number(Node):
    value: int


@dataclass(frozen=True, slots=True)
class Text(Node):
    value: str


@dataclass(frozen=True, slots=True)
class This(Node):
    pass


@dataclass(frozen=True, slots=True)
class Null(Node):
    pass


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A local variable, parameter or field; `of_this` if it was written `this.name`."""

    name: str
    of_this: bool = False


@dataclass(frozen=True, slots=True)
class Construct(Node):
    name: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Apply(Node):
    function: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Collection(Node):
    """`list[..]`, `set[..]` or `map[..]`."""

    kind: str
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Operation(Node):
    op: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    test: Expression
    then: Expression
    other: Expression


@dataclass(frozen=True, slots=True)
class Let(Node):
    type: Type
    name: str
    value: Expression
    body: Expression


@dataclass(frozen=True, slots=True)
class Case(Node):
    subject: Expression
    branches: tuple[tuple[Pattern, Expression], ...]


@dataclass(frozen=True, slots=True)
class Builtin(Node):
    """The body of a function of the library that is not written in ABS."""


Expression = (
    Builtin
    | Number
    | Text
    | This
    | Null
    | Variable
    | Construct
    | Apply
    | Collection
    | Operation
    | Conditional
    | Let
    | Case
)


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """Matches anything; a name that is in scope already matches its value."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Fixed(Node):
    value: int | str


@dataclass(frozen=True, slots=True)
class Deconstruct(Node):
    name: str
    args: tuple[Pattern, ...]


Pattern = Binder | Fixed | Deconstruct

# Right-hand sides with effects


@dataclass(frozen=True, slots=True)
class New(Node):
    class_: str
    args: tuple[Expression, ...]
    group: str
    """`local`, `cog` or nothing: into whose group the object goes."""


@dataclass(frozen=True, slots=True)
class Send(Node):
    receiver: Expression
    method: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    receiver: Expression
    method: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Get(Node):
    future: Expression


@dataclass(frozen=True, slots=True)
class AwaitCall(Node):
    send: Send


Effect = New | Send | Call | Get | AwaitCall
Rhs = Expression | Effect

# Statements


@dataclass(frozen=True, slots=True)
class Declare(Node):
    type: Type
    name: str
    value: Rhs | None


@dataclass(frozen=True, slots=True)
class Assign(Node):
    target: Variable
    value: Rhs


@dataclass(frozen=True, slots=True)
class Do(Node):
    effect: Effect


@dataclass(frozen=True, slots=True)
class Evaluate(Node):
    """An expression as a statement, such as `println("x");`."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Await(Node):
    """All of these futures resolved, and all of these conditions true."""

    futures: tuple[Expression, ...]
    conditions: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Suspend(Node):
    pass


@dataclass(frozen=True, slots=True)
class Return(Node):
    value: Rhs | None


@dataclass(frozen=True, slots=True)
class Skip(Node):
    pass


@dataclass(frozen=True, slots=True)
class Assert(Node):
    test: Expression


@dataclass(frozen=True, slots=True)
class If(Node):
    test: Expression
    then: Block
    other: Block


@dataclass(frozen=True, slots=True)
class While(Node):
    test: Expression
    body: Block


@dataclass(frozen=True, slots=True)
class Foreach(Node):
    name: str
    index: str | None
    items: Expression
    body: Block


@dataclass(frozen=True, slots=True)
class Switch(Node):
    subject: Expression
    arms: tuple[tuple[Pattern, Block], ...]


@dataclass(frozen=True, slots=True)
class Block(Node):
    body: tuple[Statement, ...]


Statement = (
    Declare
    | Assign
    | Do
    | Evaluate
    | Await
    | Suspend
    | Return
    | Skip
    | Assert
    | If
    | While
    | Foreach
    | Switch
    | Block
)

# Declarations


@dataclass(frozen=True, slots=True)
class Formal(Node):
    type: Type
    name: str


@dataclass(frozen=True, slots=True)
class Synonym(Node):
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Constructor(Node):
    """`names` are the functions that pick the parts, where they have names."""

    name: str
    types: tuple[Type, ...]
    names: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Data(Node):
    name: str
    parameters: tuple[str, ...]
    constructors: tuple[Constructor, ...]


@dataclass(frozen=True, slots=True)
class Function(Node):
    name: str
    parameters: tuple[str, ...]
    formals: tuple[Formal, ...]
    type: Type
    body: Expression


@dataclass(frozen=True, slots=True)
class Signature(Node):
    name: str
    formals: tuple[Formal, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Interface(Node):
    name: str
    extends: tuple[str, ...]
    methods: tuple[Signature, ...]


@dataclass(frozen=True, slots=True)
class Field(Node):
    type: Type
    name: str
    value: Expression | None


@dataclass(frozen=True, slots=True)
class Method(Node):
    name: str
    formals: tuple[Formal, ...]
    type: Type
    body: Block


@dataclass(frozen=True, slots=True)
class Class(Node):
    name: str
    formals: tuple[Formal, ...]
    implements: tuple[str, ...]
    fields: tuple[Field, ...]
    init: Block | None
    methods: tuple[Method, ...]

    @property
    def declared(self) -> list[Formal | Field]:
        """All fields: the parameters come first."""
        return [*self.formals, *self.fields]


Declaration = Synonym | Data | Function | Interface | Class


@dataclass(frozen=True, slots=True)
class Program:
    declarations: tuple[Declaration, ...]
    main: Block | None


def nodes(part: object) -> Iterator[Node]:
    """Every node of a part of a program."""
    if isinstance(part, Node):
        yield part
    if isinstance(part, tuple):
        for item in part:
            yield from nodes(item)
    elif isinstance(part, Node | Program):
        for field in fields(part):
            yield from nodes(getattr(part, field.name))
