"""Concolic labels: what a step did, as a guarded straight line of assignments.

P0's Def. 4: a label has the guards that led to this very step, and the assignments and spawns that it made;
`condition` says exactly when the step happens in this way. Private variables are the locations `pid.name`, which
only their process touches (P0, erratum 4): so weakest preconditions stay exact under permutation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from porcini.core.errors import Place
from porcini.core.events import Failure, FailureKind
from porcini.core.footprints import Footprint
from porcini.core.pids import Pid
from porcini.ir.analysis import footprint
from porcini.ir.analysis.footprint import Touched
from porcini.ir.evaluation import defined
from porcini.ir.expr import (
    FALSE,
    TRUE,
    ZERO,
    Binary,
    Expr,
    Junction,
    Select,
    Var,
    conj,
    free,
    nodes,
    not_,
    select,
    store,
    substitute,
    var,
)
from porcini.ir.operations import Assert, Assign, Forget, Op, Spawn, defined_op, reads_of
from porcini.ir.program import Choice, Edge
from porcini.ir.text import show

CanMove = Callable[[Callable[[str], Any]], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """One step of one process. Labels are interned, and compared by identity.

    `guards` are those of all edges that the process could have taken there, in the order in which they are tried,
    and `taken` is the position of the one that it took: where another guard holds, the process does something else
    (P0, section 8). `line` is what it then did, in order, up to the operation that `stopped` it, if one did.
    """

    pid: Pid
    text: str
    guards: tuple[Expr, ...]
    taken: int
    line: tuple[Assign | Assert, ...]
    touched: Touched
    spawned: tuple[Pid, ...] = ()
    stopped: Op | None = None
    failure: Failure | None = None
    choices: tuple[int, ...] = ()
    """If the process may have several choices: for each guard, the choice that it enables."""
    family: Footprint | None = None
    """In that case also: all that the process might touch there by any choice, and what decides between them."""
    can_move: CanMove | None = None
    """Could the process move at all, given the values of variables? This is for guards that do not determine
    it."""
    place: Place | None = None
    """Its place in the source."""
    whole: Label | None = None
    """For a step that failed: the label of the same step if it had come to its end."""

    def __str__(self) -> str:
        return self.text

    @property
    def effects(self) -> tuple[Assign, ...]:
        return tuple(op for op in self.line if isinstance(op, Assign))


BLOCKED, UNDEFINED = -1, -2
"""Values of `taken` for a process that waits, and for one that stopped because a guard has no value."""


@lru_cache(maxsize=1 << 14)
def condition(label: Label) -> Expr:
    """The exact condition under which this step happens, over the state before it, including errors and
    assertions."""
    if label.taken == BLOCKED:
        return FALSE
    if label.taken == UNDEFINED:
        return not_(conj(*map(defined, label.guards)))
    need: Expr = TRUE
    if isinstance(label.stopped, Assert) and label.failure and label.failure.kind == "assertion":
        need = conj(defined(label.stopped.test), not_(label.stopped.test))
    elif label.stopped is not None:
        need = not_(defined_op(label.stopped))
    each_defined = (part for op in label.line for part in (Assert(defined_op(op)), op))
    # Siblings share the decisions that led here, so the edge's own guard determines whether all can be evaluated.
    guard = label.guards[label.taken]
    return conj(defined(guard), guard, before(each_defined, need))


def of_process(expr: Expr, pid: Pid) -> Expr:
    """The same expression with private variables named after their process."""
    private = {v: var(f"{pid}{v.name}", v.type) for v in free(expr) if v.private}
    return substitute(expr, private) if private else expr


def before(line: Iterable[Op], post: Expr) -> Expr:
    """Weakest precondition of assignments and assertions in a row: `post[value/target]`, and the assertions.

    It is found on the way forwards: on the way back, every assignment would go through all that comes after it.
    """
    values: dict[Var, Expr] = {}
    needs: list[Expr] = []
    for op in line:
        match op:
            case Assert(test=test):
                needs.append(substitute(test, values))
            case Assign(target=Select(array=Var() as array, index=index), value=value):
                at, value = substitute(index, values), substitute(value, values)
                values[array] = store(values.get(array, array), at, value)
            case Assign(target=Var() as target, value=value):
                values[target] = substitute(value, values)
            case _:
                raise AssertionError(f"neither an assignment nor an assertion: {op!r}")
    return conj(*needs, substitute(post, values))


def label_of(choice: Choice, taken: int, pid: Pid, children: int) -> Label:
    """The label of an edge taken to its end by a process that has spawned `children` so far."""
    edge = choice.edges[taken]
    line, spawned = _line(edge.block, pid, children)
    touched = _touched(footprint.of_edge(edge), pid)
    text, guards = _text(edge, spawned), _guards(choice, pid)
    return Label(pid, text, guards, taken, line, touched, spawned, place=edge.place)


def label_of_failure(
    choice: Choice, taken: int, children: int, position: int, kind: FailureKind, whole: Label
) -> Label:
    """The label of an edge whose block stopped at an operation, by an assertion or a run-time error. `whole` is
    that of the edge taken to its end."""
    pid = whole.pid
    edge = choice.edges[taken]
    op = edge.block[position]
    if kind == "assertion":
        assert isinstance(op, Assert)
        message, suffix = f"assertion {show(op.test)} failed", " fails"
    else:
        target = (op.target,) if isinstance(op, Assign) else ()
        message, suffix = _error_message(*reads_of(op), *target), " (error)"
    line, spawned = _line(edge.block[:position], pid, children)
    return Label(
        pid,
        _text(edge, spawned) + suffix,
        _guards(choice, pid),
        taken,
        line,
        _touched(footprint.of_edge(edge), pid),
        spawned,
        _op_of_process(op, pid),
        Failure(kind, message, edge.place),
        place=edge.place,
        whole=whole,
    )


def ways_to_end(label: Label) -> Iterator[Label]:
    """All that may become of a step that takes the same edge: it comes to its end, or stops at an operation."""
    whole = label.whole or label
    yield whole
    for position, op in enumerate(whole.line):
        stops: list[FailureKind] = []
        if defined_op(op) is not TRUE:
            stops.append("error")
        if isinstance(op, Assert) and op.test is not TRUE:
            stops.append("assertion")
        for kind in stops:
            failure = Failure(kind, whole.text, whole.place)
            yield replace(whole, line=whole.line[:position], stopped=op, failure=failure)


def label_of_guard_error(choice: Choice, pid: Pid) -> Label:
    """The label of a process that stops because a guard cannot be evaluated."""
    place = choice.edges[0].place
    failure = Failure("error", _error_message(*(edge.guard for edge in choice.edges)), place)
    touched = _touched(footprint.of_guards(choice), pid)
    text = f"{show(choice.waits_for)} |> error"
    return Label(pid, text, _guards(choice, pid), UNDEFINED, (), touched, failure=failure, place=place)


def waiting_label(choice: Choice, pid: Pid) -> Label:
    """The label of a blocked process: what it waits for, without an effect."""
    touched = _touched(footprint.of_guards(choice), pid)
    return Label(
        pid, f"{show(_without_bookkeeping(choice.waits_for))} |> ...", _guards(choice, pid), BLOCKED, (), touched
    )


def _guards(choice: Choice, pid: Pid) -> tuple[Expr, ...]:
    return tuple(of_process(edge.guard, pid) for edge in choice.edges)


def _line(block: tuple[Op, ...], pid: Pid, children: int) -> tuple[tuple[Assign | Assert, ...], tuple[Pid, ...]]:
    """What a block does, as assignments and assertions over named locations, and the processes that it spawns."""
    line: list[Assign | Assert] = []
    spawned: list[Pid] = []
    for op in block:
        if isinstance(op, Forget):
            for variable in op.variables:
                nothing = FALSE if variable.type == "bool" else ZERO
                line.append(Assign(var(f"{pid}{variable.name}", variable.type), nothing, silent=True))
            continue
        if not isinstance(op, Spawn):
            made = _op_of_process(op, pid)
            assert isinstance(made, Assign | Assert)
            line.append(made)
            continue
        child = pid.child(children + len(spawned))
        spawned.append(child)
        for variable, value in op.copies:
            target = var(f"{child}{variable.name}", variable.type)
            line.append(Assign(target, of_process(value, pid), silent=True))
    return tuple(line), tuple(spawned)


def _op_of_process(op: Op, pid: Pid) -> Op:
    match op:
        case Assign(target=Select() as target):
            cell = select(of_process(target.array, pid), of_process(target.index, pid))
            return Assign(cell, of_process(op.value, pid), op.silent)
        case Assign(target=Var() as target):
            named = of_process(target, pid)
            assert isinstance(named, Var)
            return Assign(named, of_process(op.value, pid), op.silent)
        case Assert(test=test):
            return Assert(of_process(test, pid))
        case Spawn(template=template, copies=copies):
            return Spawn(template, tuple((v, of_process(value, pid)) for v, value in copies))
    raise AssertionError(f"not an operation: {op!r}")


def _touched(touched: Touched, pid: Pid) -> Touched:
    def named(cells: tuple[Select, ...]) -> tuple[Select, ...]:
        return tuple(c for c in (of_process(c, pid) for c in cells) if isinstance(c, Select))

    return Touched(touched.fixed, named(touched.read_cells), named(touched.written_cells))


def _text(edge: Edge, spawned: tuple[Pid, ...]) -> str:
    children = iter(spawned)
    parts: list[str] = []
    for op in edge.block:
        match op:
            case Assign(silent=False, target=target, value=value):
                parts.append(f"{show(target)} := {show(value)}")
            case Spawn(silent=silent):
                child = next(children, "")
                parts += [] if silent else [f"spawn({child})"]
            case Assert(test=test):
                parts.append(f"assert {show(test)}")
    body = "; ".join(parts) or "skip"
    guard = _without_bookkeeping(edge.guard)
    return body if guard is TRUE else f"{show(guard)} |> {body}"


def _without_bookkeeping(guard: Expr) -> Expr:
    """A guard without the language's own book-keeping: variables with a `#` that all processes share."""
    parts = guard.children if isinstance(guard, Junction) and guard.op == "and" else (guard,)
    return conj(*(p for p in parts if not free(p) or not all("#" in v.name and not v.private for v in free(p))))


def _error_message(*exprs: Expr) -> str:
    found = {
        "division by zero" if isinstance(node, Binary) else "index out of range"
        for expr in exprs
        for node in nodes(expr)
        if isinstance(node, Select) or (isinstance(node, Binary) and node.op in ("/", "%"))
    }
    return " or ".join(sorted(found))
