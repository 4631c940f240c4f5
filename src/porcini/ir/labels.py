"""Concolic labels: what a step of a program graph did, as a guarded straight line of assignments.

P0's Def. 4, for every program graph: a label holds the exact condition under which its process takes this
very step, and the assignments and spawns that it makes. Private variables are the locations `pid.name`,
which only their process touches (P0, erratum 4): weakest preconditions stay exact under permutation.
"""

from __future__ import annotations

from dataclasses import dataclass

from porcini.core.events import Failure, FailureKind
from porcini.core.pids import Pid
from porcini.ir import footprint
from porcini.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    Expr,
    Select,
    Var,
    conj,
    defined,
    free,
    nodes,
    not_,
    select,
    store,
    substitute,
    var,
)
from porcini.ir.footprint import Touched
from porcini.ir.graph import Assert, Assign, Choice, Edge, Graph, Op, Spawn, defined_op, reads_of
from porcini.ir.text import show


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """One step of one process. Labels are made once and compared by identity.

    `condition` says exactly when the step happens as it did, `enabled` when the process can move at all:
    where only the latter holds, the process does something else (P0, section 8).
    """

    pid: Pid
    text: str
    condition: Expr
    enabled: Expr
    effects: tuple[Assign, ...]
    touched: Touched
    spawned: tuple[Pid, ...] = ()
    failure: Failure | None = None

    def __str__(self) -> str:
        return self.text


def of_process(expr: Expr, pid: Pid) -> Expr:
    """The same expression with private variables named after their process."""
    private = {v: var(f"{pid}{v.name}", v.type) for v in free(expr) if v.private}
    return substitute(expr, private) if private else expr


def before(assign: Assign, post: Expr) -> Expr:
    """Weakest precondition of an assignment: `post[value/target]`."""
    match assign.target:
        case Select(array=Var() as array, index=index):
            return substitute(post, {array: store(array, index, assign.value)})
        case Var() as target:
            return substitute(post, {target: assign.value})
    raise AssertionError(f"not a target: {assign.target!r}")


def label_of(graph: Graph, choice: Choice, edge: Edge, pid: Pid, children: int) -> Label:
    """The label of an edge taken to its end by a process that has spawned `children` so far."""
    return _label(graph, choice, edge, pid, children, edge.block, TRUE, None)


def label_of_failure(
    graph: Graph, choice: Choice, edge: Edge, pid: Pid, children: int, position: int, kind: FailureKind
) -> Label:
    """The label of an edge whose block stopped at an operation, by an assertion or a run-time error."""
    op = edge.block[position]
    if kind == "assertion":
        assert isinstance(op, Assert)
        reason, message = conj(defined(op.test), not_(op.test)), f"assertion {show(op.test)} failed"
    else:
        target = (op.target,) if isinstance(op, Assign) else ()
        reason, message = not_(defined_op(op)), _error_message(*reads_of(op), *target)
    failure = Failure(kind, message, edge.place)
    return _label(graph, choice, edge, pid, children, edge.block[:position], reason, failure)


def label_of_guard_error(choice: Choice, pid: Pid) -> Label:
    """The label of a process that stops because a guard cannot be evaluated."""
    guards = [edge.guard for edge in choice.edges]
    failure = Failure("error", _error_message(*guards), choice.edges[0].place)
    return Label(
        pid,
        f"{show(choice.waits_for)} |> error",
        of_process(not_(choice.defined), pid),
        of_process(choice.enabled, pid),
        (),
        _touched(footprint.of_guards(choice), pid),
        (),
        failure,
    )


def waiting_label(choice: Choice, pid: Pid) -> Label:
    """The label of a blocked process: what it waits for, and nothing done."""
    enabled = of_process(choice.enabled, pid)
    return Label(
        pid,
        f"{show(choice.waits_for)} |> ...",
        FALSE,
        enabled,
        (),
        _touched(footprint.of_guards(choice), pid),
    )


def _label(
    graph: Graph,
    choice: Choice,
    edge: Edge,
    pid: Pid,
    children: int,
    block: tuple[Op, ...],
    reason: Expr,
    failure: Failure | None,
) -> Label:
    effects: list[Assign] = []
    spawned: list[Pid] = []
    need = of_process(reason, pid)
    for op in block:
        match op:
            case Assign(target=target, value=value, silent=silent):
                effects.append(Assign(_target(target, pid), of_process(value, pid), silent))
            case Spawn(copies=copies):
                child = pid.child(children + len(spawned))
                spawned.append(child)
                values = dict(copies)
                for variable in graph.templates[op.template].variables:
                    if variable.var in values:
                        target = var(f"{child}{variable.name}", variable.type)
                        effects.append(Assign(target, of_process(values[variable.var], pid), silent=True))
    for op in reversed(block):  # exact over any straight line: conditions move back through assignments
        if isinstance(op, Assign):
            need = before(Assign(_target(op.target, pid), of_process(op.value, pid)), need)
        if isinstance(op, Assert):
            need = conj(of_process(op.test, pid), need)
        need = conj(of_process(defined_op(op), pid), need)
    # Siblings share the decisions that led here, so the edge's own guard says all about being evaluated.
    guard = of_process(conj(defined(edge.guard), edge.guard), pid)
    return Label(
        pid,
        _text(edge, tuple(spawned), failure),
        conj(guard, need),
        of_process(choice.enabled, pid),
        tuple(effects),
        _touched(footprint.of_edge(edge), pid),
        tuple(spawned),
        failure,
    )


def _touched(touched: Touched, pid: Pid) -> Touched:
    def named(cells: tuple[Select, ...]) -> tuple[Select, ...]:
        renamed = (of_process(c, pid) for c in cells)
        return tuple(c for c in renamed if isinstance(c, Select))

    return Touched(touched.fixed, named(touched.read_cells), named(touched.written_cells))


def _target(target: Var | Select, pid: Pid) -> Var | Select:
    if isinstance(target, Var):
        named = of_process(target, pid)
    else:
        named = select(of_process(target.array, pid), of_process(target.index, pid))
    assert isinstance(named, Var | Select)
    return named


def _text(edge: Edge, spawned: tuple[Pid, ...], failure: Failure | None) -> str:
    children = iter(spawned)
    parts: list[str] = []
    for op in edge.block:
        match op:
            case Assign(silent=False, target=target, value=value):
                parts.append(f"{show(target)} := {show(value)}")
            case Spawn():
                parts.append(f"spawn({next(children, '')})")
            case Assert(test=test):
                parts.append(f"assert {show(test)}")
    body = "; ".join(parts) or "skip"
    if failure:
        body += " fails" if failure.kind == "assertion" else " (error)"
    return body if edge.guard is TRUE else f"{show(edge.guard)} |> {body}"


def _error_message(*exprs: Expr) -> str:
    found = {
        "division by zero" if isinstance(node, Binary) else "index out of range"
        for expr in exprs
        for node in nodes(expr)
        if isinstance(node, Select) or (isinstance(node, Binary) and node.op in ("/", "%"))
    }
    return " or ".join(sorted(found))
