"""Objects and tasks: points between which a task takes macro-steps.

A task is a process: one method running on one object. It stands at a point, and goes on from there in one step
to the next place where it lets go: an `Await` whose guard does not hold, a `Stand`, a `Get` of a future that is
not there yet, or its end. So the code of a point is structured, with everything that may follow it, and where the
step ends is found by running it.

Objects form groups (an actor is a group of one); tasks of a group take turns. A task that stands at a `Get`
keeps its group to itself. A future is the task that will resolve it: its reference is the task's pid.

Variables are the task's own (`.x`) or fields of its object (`@f`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from porcini.core.errors import Place
from porcini.core.pids import Pid
from porcini.core.systems import Observed, Value
from porcini.ir.expr import TRUE, DataType, Expr, ScalarType, Type, Var, const


@dataclass(frozen=True, slots=True)
class Set:
    target: Var
    value: Expr
    place: Place


@dataclass(frozen=True, slots=True)
class If:
    test: Expr
    then: Code
    other: Code
    place: Place


@dataclass(frozen=True, slots=True)
class While:
    test: Expr
    body: Code
    place: Place


@dataclass(frozen=True, slots=True)
class Send:
    """Make a task of the receiver; `target` gets its future. `classes` are those the receiver may have."""

    target: Var | None
    receiver: Expr
    method: str
    args: tuple[Expr, ...]
    place: Place
    classes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class New:
    """Make an object; `local` puts it into the group of its maker."""

    target: Var | None
    class_: int
    args: tuple[Expr, ...]
    local: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """Run a method that never lets go, here and now, on an object of the same group."""

    target: Var | None
    receiver: Expr
    method: str
    args: tuple[Expr, ...]
    place: Place
    classes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    test: Expr
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Return:
    value: Expr | None
    place: Place


@dataclass(frozen=True, slots=True)
class Await:
    """Go on if the guard holds, else stand at a point until it does."""

    guard: Expr
    point: int
    place: Place


@dataclass(frozen=True, slots=True)
class Get:
    """Take the value of a future; if it is not there yet, stand at a point and keep the group."""

    target: Var | None
    future: Expr
    point: int
    place: Place


@dataclass(frozen=True, slots=True)
class Stand:
    """Let go, whatever holds."""

    point: int
    place: Place


MAIN, MAIN_OBJECT = Pid((0,)), Pid((1,))
"""The task of the main block, and the object that it runs on."""

Op = Set | If | While | Send | New | Call | Check | Return | Await | Get | Stand
Code = tuple[Op, ...]

RESOLVED, VALUE, SAME_GROUP = "resolved?", "value of", "same group?"
"""Functions of expressions that look at the state: is a task done, what did it return (it is known to be done), is
an object in the group of this one.
"""

Standing = Literal["start", "await", "get", "suspend"]


@dataclass(slots=True)
class Point:
    """Where a task can stand: what it waits for there, and all that it may do next."""

    method: int
    kind: Standing
    code: Code = ()
    guard: Expr = TRUE
    place: Place | None = None
    text: str = ""


@dataclass(slots=True)
class Method:
    """A method of a class, with its parameters among its variables; `releases` if it may let go."""

    name: str
    class_: int
    parameters: tuple[Var, ...]
    variables: tuple[Var, ...] = ()
    entry: int = 0
    releases: bool = False
    place: Place | None = None
    calls: tuple[CallSite, ...] = ()
    result: Type = field(default_factory=lambda: DataType("Unit"))


@dataclass(frozen=True, slots=True)
class CallSite:
    """A method that another one may call, and under how many conditions the call stands."""

    class_: int
    method: str
    depth: int
    tests: tuple[Expr, ...] = ()


@dataclass(slots=True)
class ObjectClass:
    """A class: `fields` include its parameters, which come first; `methods` by name, as numbers."""

    name: str
    fields: tuple[Var, ...]
    parameters: int
    methods: dict[str, int] = field(default_factory=dict)
    init: Code = ()
    init_variables: tuple[Var, ...] = ()
    runs: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A function of the language, as an expression over its parameters."""

    parameters: tuple[Var, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class ObjectProposition:
    """A condition over fields of some objects; each is a variable in it. It does not hold while one of the objects
    is not there."""

    test: Expr
    fields: tuple[tuple[Var, Pid, str], ...]


@dataclass(frozen=True, slots=True)
class Values:
    """What can be done with a value of the language, whatever it is."""

    show: Callable[[Any], Observed]
    """As reports show it."""
    rank: Callable[[Any], Any]
    """A key that puts any values of one type in an order that is the same in every run."""
    renamed: Callable[[Any, Callable[[Pid], Any]], Any]
    """The value with other names for the references in it, or other values in their place."""


@dataclass(slots=True)
class StepGraph:
    """A whole program. Class 0 is that of the main block's own object, method 0 the main block."""

    classes: list[ObjectClass]
    methods: list[Method]
    points: list[Point]
    functions: Mapping[str, Callable[..., Any] | Definition]
    values: Values
    """How values of the language are shown, ordered and renamed."""
    total: frozenset[str] = frozenset()
    """Functions that never fail."""
    theory: dict[str, str] = field(default_factory=dict)
    """Functions that the solver knows, by its name for them."""
    inputs: dict[str, ScalarType] = field(default_factory=dict)
    """Functions without parameters, whose values can be given from outside."""
    uses_futures: bool = False
    uses_get: bool = False
    arithmetic: dict[str, Definition] = field(default_factory=dict)
    """What some functions are on numbers, as expressions."""
    names_matter: bool = False
    """May it do something else where objects and futures have other names? It may compare them, but what it does
    must not depend on their order, nor on how they are written."""
    notes: tuple[str, ...] = ()
    """What a user should know about how the program was read."""

    def task_name(self, method: int) -> str:
        """What a task is called that runs a method."""
        found = self.methods[method]
        return f"{self.classes[found.class_].name}.{found.name}" if method else "main"

    def with_inputs(self, values: Mapping[str, Value]) -> StepGraph:
        """The same program with other values for some of its inputs."""
        given = {name: Definition((), const(value)) for name, value in values.items() if isinstance(value, int)}
        return replace(self, functions={**self.functions, **given})


def inside(code: Code) -> Iterator[Op]:
    """Every operation of some code, in order, with those of its parts."""
    for op in code:
        yield op
        match op:
            case If(then=then, other=other):
                yield from inside(then)
                yield from inside(other)
            case While(body=body):
                yield from inside(body)


def expressions(op: Op) -> tuple[Expr, ...]:
    """What an operation itself evaluates, without its parts."""
    match op:
        case Set(value=value):
            return (value,)
        case If(test=test) | While(test=test) | Check(test=test):
            return (test,)
        case Send(receiver=receiver, args=args) | Call(receiver=receiver, args=args):
            return (receiver, *args)
        case New(args=args):
            return args
        case Return(value=result):
            return () if result is None else (result,)
        case Await(guard=guard):
            return (guard,)
        case Get(future=future):
            return (future,)
        case Stand():
            return ()


def collect_references(value: Any, found: set[Pid]) -> None:
    """Add the references in a value, however deep."""
    if type(value) is Pid:
        found.add(value)
    elif isinstance(value, tuple | frozenset):
        for part in value:
            collect_references(part, found)


def target_of(op: Op) -> Var | None:
    """The variable that an operation assigns, if any."""
    return op.target if isinstance(op, Set | Send | New | Call | Get) else None
