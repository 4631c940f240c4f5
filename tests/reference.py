"""P0's rules, followed to the letter on the syntax tree: what the compiled program graphs must equal.

A process is what it has still to do, its local scopes and the number of its children. Nothing is shared with
the lowering, the expressions or the interpreter; only the parser is.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

from porcini.langs.gcl import syntax as ast
from porcini.langs.gcl.parser import parse

LEAVE = "leave scope"
OPS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Failed(Exception):
    """A run-time error or a failed assertion."""


@dataclass(frozen=True)
class Process:
    todo: tuple
    scopes: tuple = ()
    children: int = 0
    failed: str | None = None


class Reference:
    """Explores all interleavings of a program by the rules of Fig. 2 and section 6, errata applied."""

    def __init__(self, source: str) -> None:
        self.program = parse(source, "reference")
        self.bodies = {p.name: p.body for p in self.program.procedures}

    def outcomes(self, most: int) -> set | None:
        """The set of (kind, globals), or None if there are more interleavings than `most`."""
        start = ({b.name: b.value for b in self.program.bindings}, {(0,): Process(self.program.body)})
        todo, found, runs = [start], set(), 0
        while todo:
            store, processes = todo.pop()
            successors = [after for pid in processes if (after := self.step(store, processes, pid))]
            if successors:
                todo += successors
                continue
            runs += 1
            if runs > most:
                return None
            found.add((self.kind(processes), tuple(sorted(store.items()))))
        return found

    def kind(self, processes: dict) -> str:
        failures = {p.failed for p in processes.values()}
        for kind in ("error", "assertion"):
            if kind in failures:
                return kind
        done = all(not self.enter(p.todo, p.scopes)[0] for p in processes.values())
        return "terminated" if done else "deadlock"

    def step(self, store: dict, processes: dict, pid: tuple) -> tuple | None:
        process = processes[pid]
        if process.failed:
            return None
        todo, scopes = self.enter(process.todo, process.scopes)
        if not todo:
            return None
        try:
            done = self.fire(todo[0], todo[1:], scopes, store)
        except Failed as failure:
            return store, processes | {pid: replace(process, failed=str(failure))}
        if done is None:
            return None
        rest, scopes, store, spawned = done
        after = processes | {pid: Process(rest, scopes, process.children + (spawned is not None))}
        if spawned is not None:
            after[(*pid, process.children)] = spawned
        return store, after

    def enter(self, todo: tuple, scopes: tuple) -> tuple:
        """Take the silent steps: skip, opening a scope, leaving one."""
        while todo and not isinstance(todo[0], ast.Guarded | ast.Conditional | ast.Loop):
            head, todo = todo[0], todo[1:]
            if head == LEAVE:
                scopes = scopes[1:]
            elif isinstance(head, ast.Scope):
                scopes = ({b.name: b.value for b in head.bindings}, *scopes)
                todo = (*head.body, LEAVE, *todo)
        return todo, scopes

    def fire(self, head, rest: tuple, scopes: tuple, store: dict) -> tuple | None:
        holds = self.value(head.guard, scopes, store)
        match head:
            case ast.Guarded(body=body):
                return self.do(body, rest, scopes, store) if holds else None
            case ast.Conditional(then=then, other=other):
                return self.do(then if holds else other, rest, scopes, store)
            case ast.Loop(body=body):
                return self.do(body, (head, *rest), scopes, store) if holds else (rest, scopes, store, None)

    def do(self, simple, rest: tuple, scopes: tuple, store: dict) -> tuple | None:
        match simple:
            case ast.Skip():
                return rest, scopes, store, None
            case ast.Assertion(test=test):
                if not self.value(test, scopes, store):
                    raise Failed("assertion")
                return rest, scopes, store, None
            case ast.Assignment(target=target, value=value):
                new = self.value(value, scopes, store)
                return rest, *self.assign(target, new, scopes, store), None
            case ast.SpawnBody(body=body):
                return rest, scopes, store, Process(body, scopes)
            case ast.Call(name=name):
                return rest, scopes, store, Process(self.bodies[name])
            case ast.Nested(body=body):
                todo, inner = self.enter(body, scopes)
                if not todo:
                    return rest, scopes, store, None
                return self.fire(todo[0], (*todo[1:], *rest), inner, store)

    def assign(self, target, new, scopes: tuple, store: dict) -> tuple:
        depth, scope = next((d, s) for d, s in enumerate((*scopes, store)) if target.name in s)
        if target.index is not None:
            i = self.index(target, scopes, store, scope[target.name])
            cells = scope[target.name]
            new = (*cells[:i], new, *cells[i + 1 :])
        changed = scope | {target.name: new}
        if depth == len(scopes):
            return scopes, changed
        return (*scopes[:depth], changed, *scopes[depth + 1 :]), store

    def index(self, node, scopes: tuple, store: dict, cells: tuple) -> int:
        i = self.value(node.index, scopes, store)
        if not 0 <= i < len(cells):
            raise Failed("error")
        return i

    def value(self, node, scopes: tuple, store: dict):
        match node:
            case ast.Literal(value=value):
                return value
            case ast.Name(name=name, index=index):
                found = next(scope[name] for scope in (*scopes, store) if name in scope)
                return found if index is None else found[self.index(node, scopes, store, found)]
            case ast.Unary(op="not", arg=arg):
                return not self.value(arg, scopes, store)
            case ast.Unary(arg=arg):
                return -self.value(arg, scopes, store)
            case ast.Operation(op="and", args=args):
                return all(self.value(arg, scopes, store) for arg in args)
            case ast.Operation(op="or", args=args):
                return any(self.value(arg, scopes, store) for arg in args)
            case ast.Operation(op=op, args=(left, right)):
                a, b = self.value(left, scopes, store), self.value(right, scopes, store)
                if op in "/%" and b == 0:
                    raise Failed("error")
                return OPS[op](a, b)
