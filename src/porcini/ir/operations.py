"""What edges do: the operations of their blocks, and communication.

A block is a sequence of operations that are carried out as one step. Most edges have a few assignments. Blocks of
tasks are whole stretches of code, with branches, loops and calls, and with places where the step may end before
the block does: at an `Await` whose guard does not hold, at a `Get` of an unresolved future, at a `Suspend`, and at
a `Return`. Where it ends is found by running it; otherwise it ends at the target of its edge.

Objects form groups (an actor is a group of one), and the tasks of a group take turns. A task that waits at a `Get`
blocks its group. A future is the task that will resolve it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porcini.core.errors import Place
from porcini.ir.evaluation import defined
from porcini.ir.expr import Expr, Select, Var, conj

Target = Var | Select
"""What can be assigned to."""


@dataclass(frozen=True, slots=True)
class Assign:
    """`target := value`. Silent assignments are book-keeping, for example at the end of a scope, and are not
    shown."""

    target: Target
    value: Expr
    silent: bool = False
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a process; `copies` gives private variables of the new process their values, evaluated in this one.
    Its number is stored `into` a variable, if that is given."""

    template: int
    copies: tuple[tuple[Var, Expr], ...] = ()
    silent: bool = False
    into: Target | None = None


@dataclass(frozen=True, slots=True)
class Assert:
    """If the test does not hold, the process stops here and the run's kind is `assertion`."""

    test: Expr
    text: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Print:
    """It has no effect on the state."""

    text: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Forget:
    """These variables will be assigned before they are read again: their values make no difference."""

    variables: tuple[Var, ...]


@dataclass(frozen=True, slots=True)
class Exit:
    """The process disappears, and its number is free."""


# Operations of tasks


@dataclass(frozen=True, slots=True)
class If:
    test: Expr
    then: Block
    other: Block
    place: Place


@dataclass(frozen=True, slots=True)
class While:
    test: Expr
    body: Block
    place: Place


@dataclass(frozen=True, slots=True)
class Post:
    """Create a task on the receiver; `target` gets its future. `classes` are those that the receiver may have."""

    target: Var | None
    receiver: Expr
    method: str
    args: tuple[Expr, ...]
    place: Place
    classes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class New:
    """Create an object; `local` puts it into the group of its creator."""

    target: Var | None
    class_: int
    args: tuple[Expr, ...]
    local: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """Run a method synchronously, on an object of the same group; the method must not release the group."""

    target: Var | None
    receiver: Expr
    method: str
    args: tuple[Expr, ...]
    place: Place
    classes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Return:
    """The task ends, and its future gets a value."""

    value: Expr
    place: Place


@dataclass(frozen=True, slots=True)
class Await:
    """Go on if the guard holds; otherwise wait at a point until it does."""

    guard: Expr
    point: int
    place: Place


@dataclass(frozen=True, slots=True)
class Get:
    """Read the value of a future; if it is not resolved yet, wait at a point and block the group."""

    target: Var | None
    future: Expr
    point: int
    place: Place


@dataclass(frozen=True, slots=True)
class Suspend:
    """Stop at a point unconditionally."""

    point: int
    place: Place


Plain = Assign | Spawn | Assert | Print | Forget | Exit
"""The operations of blocks that have no branches."""
TaskOp = Assign | Assert | Forget | If | While | Post | New | Call | Return | Await | Get | Suspend
"""The operations of tasks."""
Op = Plain | TaskOp
Block = tuple[Op, ...]


def inside(block: Block) -> Iterator[Op]:
    """Every operation of a block, in order, including nested ones."""
    for op in block:
        yield op
        match op:
            case If(then=then, other=other):
                yield from inside(then)
                yield from inside(other)
            case While(body=body):
                yield from inside(body)


def place_of(op: Op) -> Place | None:
    """The place of an operation in the source, if that is kept."""
    return None if isinstance(op, Spawn | Print | Forget | Exit) else op.place


# Communication


@dataclass(frozen=True, slots=True)
class Send:
    """Append a message, or insert it where it belongs by its value (`ordered`)."""

    channel: Expr
    values: tuple[Expr, ...]
    ordered: bool = False
    in_d_step: bool = False
    """Is it inside a `d_step`? Then a rendezvous is an error: a `d_step` does not wait."""


@dataclass(frozen=True, slots=True)
class Receive:
    """Take the first message, or the first that matches (`anywhere`); `keep` leaves it in the channel. Each field
    of the message must be equal to its `pattern`, is stored `into` a variable, or may be anything."""

    channel: Expr
    pattern: tuple[Expr | None, ...]
    into: tuple[Target | None, ...]
    anywhere: bool = False
    keep: bool = False


# What operations evaluate and assign


def reads_of(op: Op) -> tuple[Expr, ...]:
    """The expressions that an operation itself evaluates, without nested operations, but with the index of a cell
    that it assigns to."""
    match op:
        case Assign(target=Select(index=index), value=value):
            return (index, value)
        case Assign(value=value) | Return(value=value):
            return (value,)
        case Assert(test=test) | If(test=test) | While(test=test):
            return (test,)
        case Spawn(copies=copies, into=into):
            cell = (into.index,) if isinstance(into, Select) else ()
            return (*(value for _, value in copies), *cell)
        case Post(receiver=receiver, args=args) | Call(receiver=receiver, args=args):
            return (receiver, *args)
        case Print(args=args) | New(args=args):
            return args
        case Await(guard=guard):
            return (guard,)
        case Get(future=future):
            return (future,)
        case Forget() | Exit() | Suspend():
            return ()


def targets_of_op(op: Op) -> tuple[Target, ...]:
    """The variables and cells that an operation itself assigns to."""
    match op:
        case Assign(target=target):
            return (target,)
        case Spawn(into=into):
            return () if into is None else (into,)
        case Forget(variables=variables):
            return variables
        case Post(target=given) | New(target=given) | Call(target=given) | Get(target=given):
            return () if given is None else (given,)
        case _:
            return ()


def reads_of_talk(talk: Send | Receive | None) -> tuple[Expr, ...]:
    match talk:
        case Send(channel=channel, values=values):
            return (channel, *values)
        case Receive(channel=channel, pattern=pattern, into=into):
            wanted = (part for part in pattern if part is not None)
            return (channel, *wanted, *(target.index for target in into if isinstance(target, Select)))
        case None:
            return ()


def loads(expr: Expr) -> Iterator[Target]:
    """The variables and cells that an expression may read, the outermost first."""
    if isinstance(expr, Var):
        yield expr
    elif isinstance(expr, Select):
        yield expr
        yield from loads(expr.index)
    else:
        for child in expr.children:
            yield from loads(child)


def variable_of(target: Target) -> Var:
    found = target if isinstance(target, Var) else target.array
    assert isinstance(found, Var)
    return found


def defined_op(op: Op) -> Expr:
    """The condition under which an operation can be carried out without a run-time error."""
    needed = [defined(expr) for expr in reads_of(op)]
    if isinstance(op, Assign) and isinstance(op.target, Select):
        needed.append(defined(op.target))
    return conj(*needed)
