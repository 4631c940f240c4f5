"""Whose variable is a name? Which closure variables can two processes share, and which globals are ever rebound?

List, set and dict comprehensions run at once, within the function around them, and capture nothing. A variable
that an inner function, lambda or generator expression uses is shared, unless it cannot change any more once it is
captured: a parameter that is never rebound, or a name bound once, before the first function that captures it,
outside loops.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Position = tuple[int, int]


TOKEN = "\U0010ffff@cells"
"""The variable for the closure variables of a function. It sorts last, so `f.__closure__[0]` is what it was."""


def is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


class Scope:
    """A module, a class, a function or a comprehension: the names that it binds and those that it uses."""

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.parameters: set[str] = set()
        self.bindings: dict[str, list[tuple[Position, bool]]] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.used: set[str] = set()
        self.captured: dict[str, Position] = {}
        self.rebound: set[str] = set()
        self.token = ""
        name = getattr(node, "name", "<lambda>" if isinstance(node, ast.Lambda) else "")
        outer = parent.qualname if parent is not None else ""
        if parent is not None and is_function(parent.node) and name:
            outer += ".<locals>"
        self.qualname: str = f"{outer}.{name}" if outer and name else outer or name

    @property
    def is_function(self) -> bool:
        return is_function(self.node)

    @property
    def at_once(self) -> bool:
        """Runs where it stands, within the scope around it."""
        return isinstance(self.node, ast.ListComp | ast.SetComp | ast.DictComp)

    def bind(self, name: str, node: ast.AST, in_loop: bool) -> None:
        self.bindings.setdefault(name, []).append(((node.lineno, node.col_offset), in_loop))  # type: ignore[attr-defined]

    def owner(self, name: str) -> Scope | None:
        """The function or comprehension whose variable this is; None for a global or a builtin."""
        scope: Scope | None = self
        if name in self.globals:
            return None
        if name not in self.nonlocals and (name in self.bindings or name in self.parameters):
            return self if not isinstance(self.node, ast.Module) else None
        scope = self.parent
        while scope is not None:
            if isinstance(scope.node, ast.Module) or name in scope.globals:
                return None
            mine = name in scope.bindings or name in scope.parameters
            if mine and not isinstance(scope.node, ast.ClassDef) and name not in scope.nonlocals:
                return scope
            scope = scope.parent
        return None

    def is_shared(self, name: str) -> bool:
        """May this variable of mine change after an inner function has captured it?"""
        if name not in self.captured:
            return False
        if name in self.rebound:
            return True
        bindings = self.bindings.get(name, [])
        if name in self.parameters or not bindings:
            return bool(bindings)
        return len(bindings) > 1 or bindings[0][1] or bindings[0][0] > self.captured[name]


class Scopes(ast.NodeVisitor):
    """The scopes of a module, by their nodes."""

    def __init__(self, tree: ast.Module) -> None:
        self.of: dict[ast.AST, Scope] = {}
        self.module = self.current = self.of[tree] = Scope(tree, None)
        self.loops = 0
        self.evaluates_annotations = sys.version_info < (3, 14) and not _wants_texts(tree)
        for statement in tree.body:
            self.visit(statement)
        self._link()
        self.written_globals = {name for scope in self.of.values() for name in scope.globals}

    def _link(self) -> None:
        """Find captures, and who rebinds the variables of others."""
        number = 0
        for scope in self.of.values():
            for name in scope.used | scope.nonlocals:
                owner = scope.owner(name)
                if owner is None or owner is scope:
                    continue
                if name in scope.nonlocals and name in scope.bindings:
                    owner.rebound.add(name)
                inner, outermost = scope, None
                while inner is not owner:
                    if not inner.at_once:
                        outermost = inner
                    assert inner.parent is not None
                    inner = inner.parent
                if outermost is not None:
                    position = (outermost.node.lineno, outermost.node.col_offset)  # type: ignore[attr-defined]
                    owner.captured[name] = min(position, owner.captured.get(name, position))
        for scope in self.of.values():
            if scope.is_function and any(map(scope.is_shared, list(scope.captured))):
                number += 1
                scope.token = f"{TOKEN}{number}"

    def _enter(self, node: ast.AST, body: Iterator[ast.AST]) -> Scope:
        outer, loops = self.current, self.loops
        scope = self.current = self.of[node] = Scope(node, outer)
        self.loops = 0
        arguments = getattr(node, "args", None)
        if isinstance(arguments, ast.arguments):
            scope.parameters = {argument.arg for argument in parameters_of(arguments)}
        for part in body:
            self.visit(part)
        self.current, self.loops = outer, loops
        return scope

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.current.bind(node.name, node, self.loops > 0)
        for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        if self.evaluates_annotations:
            for part in filter(None, (*(each.annotation for each in parameters_of(node.args)), node.returns)):
                self.visit(part)
        self._enter(node, iter(node.body))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        self._enter(node, iter((node.body,)))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.current.bind(node.name, node, self.loops > 0)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self._enter(node, iter(node.body))

    def _comprehension(self, node: Comprehension) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        value = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        rest = [part for g in others for part in (g.target, g.iter, *g.ifs)]
        self._enter(node, iter((first.target, *first.ifs, *rest, *value)))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        scope, lazy = self.current, self.loops > 0
        while isinstance(scope.node, Comprehension):
            scope.used.add(node.target.id)
            lazy = True
            assert scope.parent is not None
            scope = scope.parent
        scope.bind(node.target.id, node, lazy)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.current.used.add(node.id)
        else:
            self.current.used.add(node.id)
            self.current.bind(node.id, node, self.loops > 0 or isinstance(node.ctx, ast.Del))

    def visit_Global(self, node: ast.Global) -> None:
        self.current.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.current.nonlocals.update(node.names)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.current.bind(alias.asname or alias.name.partition(".")[0], node, self.loops > 0)

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.current.bind(node.name, node, True)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.current.bind(node.name, node, self.loops > 0)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.current.bind(node.rest, node, self.loops > 0)
        self.generic_visit(node)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1

    visit_For = visit_AsyncFor = visit_While = _loop


def _wants_texts(tree: ast.Module) -> bool:
    """Are annotations not evaluated? (`from __future__ import annotations`)"""
    return any(
        isinstance(part, ast.ImportFrom)
        and part.module == "__future__"
        and any(alias.name == "annotations" for alias in part.names)
        for part in tree.body
    )


def parameters_of(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters, of every kind."""
    every = (*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg)
    return [argument for argument in every if argument is not None]


def suspends(node: ast.AST) -> bool:
    """Can the frame that runs this be suspended within it?"""
    if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.AsyncFor | ast.AsyncWith):
        return True
    if isinstance(node, ast.comprehension) and node.is_async:
        return True
    if is_function(node) or isinstance(node, ast.ClassDef | ast.GeneratorExp):
        return False
    return any(map(suspends, ast.iter_child_nodes(node)))
