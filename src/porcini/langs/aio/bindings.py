"""How simple statements that bind names are rewritten; see `rewriting` for the whole.

A write to a variable that others may see is logged in the step in which it happens, whatever comes of the rest of
the statement: `x = o.a = v` has bound `x` when `o.a` fails, and `del x, y` has unbound it when there is no `y`. So
the log comes after everything that may suspend, and before the first name is bound or unbound. Only where a single
name is bound, with nothing left to go wrong, it comes behind.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from porcini.langs.aio.expressions import Expressions, called, depth, name_node
from porcini.langs.aio.scopes import suspends
from porcini.langs.aio.sites import Kind


class Bindings(Expressions):
    """Rewrites simple statements."""

    def _block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in statements:
            before, after = _logged_around(statement) if self.live else ((), ())
            result.extend(self._stores(before, statement))
            visited = self.visit(statement)
            result.extend(visited if isinstance(visited, list) else [visited])
            result.extend(self._stores(after, statement))
        return result

    def _stores(self, names: Iterable[str], node: ast.AST) -> list[ast.stmt]:
        """Statements that log that shared variables are bound."""
        return [ast.copy_location(ast.Expr(log), node) for log in self._store_logs(names, node)]

    def _store_logs(self, names: Iterable[str], node: ast.AST) -> Iterator[ast.expr]:
        for name in names:
            variable = self._variable(name)
            if variable is not None:
                entry = ast.Tuple([name_node(variable[0]), self._site(Kind.WRITE, variable[1], node)], ast.Load())
                yield ast.copy_location(called("@log", entry), node)

    def _stored(self, value: ast.expr, targets: Iterable[ast.expr], node: ast.AST) -> ast.expr:
        """A value that is about to be bound to targets, after what is bound there has been logged."""
        logs = list(self._store_logs([name for target in targets for name in names_in(target)], node))
        if not logs:
            return value
        return ast.copy_location(
            ast.Subscript(ast.Tuple([value, *logs], ast.Load()), ast.Constant(0), ast.Load()), value
        )

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        unpacked = max((t for t in node.targets if isinstance(t, ast.Tuple | ast.List)), key=depth, default=None)
        sliced = [t for t in node.targets if isinstance(t, ast.Subscript) and isinstance(t.slice, ast.Slice)]
        if self.live and unpacked is not None:
            node.value = self._taken_apart(node, unpacked)
        elif self.live and sliced and len(node.targets) == 1:
            node.value = self._operand(node.value, "@read_right_side")
            sliced[0].consumed = True  # type: ignore[attr-defined]
        else:
            node.value = self.visit(node.value)
        if self.live and not _binds_one_name(node):
            node.value = self._stored(node.value, node.targets, node)
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def _taken_apart(self, node: ast.Assign, target: ast.expr) -> ast.expr:
        """`(a, b), c = v`. With a second target, `x = a, b = v`, the value itself is kept, so it must stay."""
        number = self._site(Kind.READ, "", node)
        if len(node.targets) > 1:
            return ast.copy_location(called("@read_captured", self.visit(node.value), number), node.value)
        deep = depth(target) - 1
        if not deep:
            return self._iterated(node.value, None, False)
        apart = called("@unpack", self.visit(node.value), number, ast.Constant(deep))
        return ast.copy_location(apart, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = node.value and self.visit(node.value)
        node.target = self.visit(node.target)
        if self.live and not self.scope.is_function and self.scopes.evaluates_annotations:
            node.annotation = self.visit(node.annotation)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        if not self.live:
            return self.generic_visit(node)
        constant = isinstance(node.value, ast.Constant | ast.JoinedStr)
        target = node.target
        before: list[ast.stmt] = []
        consumed = _consuming(node)
        if isinstance(target, ast.Name):
            variable = self._variable(target.id)
            if variable is not None and counts(node):
                number = self._site(Kind.UPDATE, variable[1], node)
                before.append(self._counted(node, name_node(variable[0]), number, target.id))
            elif variable is not None:
                entry = ast.Tuple([name_node(variable[0]), self._site(Kind.READ, variable[1], node)], ast.Load())
                before.append(ast.copy_location(ast.Expr(called("@log", entry)), node))
            if not constant:
                change = called("@update_in_place", name_node(target.id), self._site(Kind.UPDATE, "", node))
                before.append(ast.copy_location(ast.Expr(change), node))
            node.value = self._operand(node.value, consumed)
            if suspends(node.value) and not constant:
                self._after_suspension(node, target)
        elif isinstance(target, ast.Attribute):
            if not constant and self._temporaries():
                return self._attribute_in_place(node, target)
            node.target = self._attribute(target, Kind.UPDATE, counts=counts(node))
            node.value = self._operand(node.value, consumed)
        else:
            assert isinstance(target, ast.Subscript)
            if suspends(node.value):
                return self._subscript_in_place(node, target)
            changed = self._subscript(target, "count" if counts(node) else "update")
            assert isinstance(changed, ast.Subscript)
            node.target = changed
            node.value = self._operand(node.value, consumed)
        return [*before, node] if before else node

    def _counted(self, node: ast.AugAssign, owner: ast.Name, number: ast.Constant, name: str) -> ast.stmt:
        """`x += 1` is about to happen; if x is not bound, it has looked."""
        count = called("@log_addition_to_variable", owner, number, name_node(name))
        looked = called("@log", ast.Tuple([name_node(owner.id), number], ast.Load()))
        unbound = ast.ExceptHandler(name_node("@unbound"), None, [ast.Expr(looked)])
        return ast.copy_location(ast.Try([ast.Expr(count)], [unbound], [], []), node)

    def _after_suspension(self, node: ast.AugAssign, target: ast.Name) -> None:
        """`x += await f()`: the change happens in the step in which f has answered."""
        kept = ast.NamedExpr(name_node("@value", ast.Store()), node.value)
        change = called("@update_in_place", name_node(target.id), self._site(Kind.UPDATE, "", node))
        node.value = ast.Subscript(ast.Tuple([kept, change], ast.Load()), ast.Constant(0), ast.Load())

    def _attribute_in_place(self, node: ast.AugAssign, target: ast.Attribute) -> list[ast.stmt]:
        """`o.a += v`: a mutable `o.a` is changed itself, so it must be seen, between the load and the store."""
        kept = self._temporary()
        hold = ast.Assign([name_node(kept, ast.Store())], self.visit(target.value))
        name = self._mangled(target.attr)
        load = self._logged(name_node(kept), self._site(Kind.READ, name, target), "@log_access")
        loaded = ast.Attribute(load, target.attr, ast.Load())
        value = self._operand(node.value, _consuming(node))
        number = self._site(Kind.UPDATE, "", node)
        change = called(
            f"@i{type(node.op).__name__}",
            ast.Starred(called("@update_attribute", loaded, value, number), ast.Load()),
        )
        held = self._logged(name_node(kept), self._site(Kind.WRITE, name, target), "@log_access")
        store = ast.Assign([ast.Attribute(held, target.attr, ast.Store())], change)
        return [ast.copy_location(hold, node), ast.copy_location(store, node)]

    def _subscript_in_place(self, node: ast.AugAssign, target: ast.Subscript) -> list[ast.stmt]:
        """`o[k] += await f()`: read in one step, written in another."""
        kept, key = self._temporary(), self._temporary()
        holds: list[ast.stmt] = [
            ast.Assign([name_node(kept, ast.Store())], self.visit(target.value)),
            ast.Assign([name_node(key, ast.Store())], self.visit(target.slice)),
        ]
        number = self._site(Kind.UPDATE, "", node)
        loaded = ast.Subscript(
            called("@get_item", name_node(kept), name_node(key), number), name_node(key), ast.Load()
        )
        operands = called("@update_attribute", loaded, self._operand(node.value, _consuming(node)), number)
        change = called(f"@i{type(node.op).__name__}", ast.Starred(operands, ast.Load()))
        stored = ast.Subscript(
            called("@set_item", name_node(kept), name_node(key), number), name_node(key), ast.Store()
        )
        return [ast.copy_location(part, node) for part in (*holds, ast.Assign([stored], change))]

    def visit_Import(self, node: ast.Import) -> ast.AST | list[ast.stmt]:
        """`import m` in a function looks for `m`."""
        if not self.live:
            return node
        names = [ast.Constant(alias.name) for alias in node.names]
        read = ast.Expr(called("@read_modules", self._site(Kind.READ, "", node), *names))
        return [ast.copy_location(read, node), node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        """`from m import x` in a function reads `m.x`."""
        if not self.live:
            return node
        names = ast.Tuple([ast.Constant(alias.name) for alias in node.names], ast.Load())
        origin = [ast.Constant(node.module or ""), ast.Constant(node.level), ast.Constant(self.module)]
        read = ast.Expr(called("@read_imported", *origin, names, self._site(Kind.READ, "", node)))
        return [node, ast.copy_location(read, node)]

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        node.targets = [self.visit(target) for target in node.targets]
        return node


def counts(node: ast.AugAssign) -> bool:
    """`x += 1`: whatever the order of such steps, the sum is the same."""
    constant = isinstance(node.value, ast.Constant) and type(node.value.value) is int
    return constant and isinstance(node.op, ast.Add | ast.Sub)


def _consuming(node: ast.AugAssign) -> str:
    return "@read_merged" if isinstance(node.op, ast.BitOr) else "@read_right_side"


def names_in(target: ast.AST) -> Iterator[str]:
    """The names that a target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from names_in(element)
    elif isinstance(target, ast.Starred):
        yield from names_in(target.value)


def _binds_one_name(node: ast.Assign) -> bool:
    return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)


Names = Sequence[str]


def _logged_around(statement: ast.stmt) -> tuple[Names, Names]:
    """The names that a simple statement binds, as far as they are logged before it, and behind it."""
    match statement:
        case ast.Assign(targets=targets):
            names = [name for target in targets for name in names_in(target)]
            return (), names if _binds_one_name(statement) or any(map(suspends, targets)) else ()
        case ast.Delete(targets=targets):
            names = [name for target in targets for name in names_in(target)]
            return names, names if suspends(statement) else ()
        case ast.AugAssign() if counts(statement):
            return (), ()  # said by itself
        case ast.AnnAssign(value=None):
            return (), ()
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return (), list(names_in(target))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (), [name]
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [alias.asname or alias.name.partition(".")[0] for alias in aliases], ()
    if type(statement).__name__ == "TypeAlias":  # since 3.12
        return (), list(names_in(statement.name))  # type: ignore[attr-defined]
    return (), ()
