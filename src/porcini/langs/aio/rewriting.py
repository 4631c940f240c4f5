"""Rewrites a module so that its functions log what they read and write.

`o.a` becomes `(log((o, 12)) or o).a`: 12 is the number of the site, and `log`, the `append` of a deque, gives
None. The operation itself stays in place, so order, exceptions and frames are the program's own. Where `o` is
more than a name it is kept in a variable of the function, `(log((t := f(), 12)) or t).a`; where the language
allows no such variable (in comprehensions and class bodies) a function does the same. In a loop that nothing
suspends, an object that stays the same is logged once. All names that are added begin with `@`, which no
program can use; they are found in the module's globals (see `hook`). Code at the level of modules and classes
is left alone: it runs before any step, and what it leaves behind is named by `Recorder.learn`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

from porcini.langs.aio.expressions import Expressions, called, depth, name_node
from porcini.langs.aio.scopes import Comprehension, Scope, Scopes, suspends
from porcini.langs.aio.sites import Kind


def rewrite(
    tree: ast.Module, filename: str, module: str, static_cells: bool = False
) -> tuple[ast.Module, set[str]]:
    """The tree, rewritten in place, and the globals that its functions rebind.

    With `static_cells`, closure variables are named by their function instead of by its activation: for functions
    that exist already, and whose closures cannot get another cell.
    """
    scopes = Scopes(tree)
    rewriter = _Rewriter(scopes, filename, module, static_cells)
    tree = ast.fix_missing_locations(rewriter.visit(tree))
    return tree, scopes.written_globals


class _Rewriter(Expressions):
    """Rewrites scopes and statements."""

    # Scopes ---------------------------------------------------------------------------------------------------

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
        """They are called. The last one gets what was made just now."""
        visited: list[ast.expr] = [self.visit(part) for part in node.decorator_list]
        if not self.live:
            return visited
        hooks = ["@call"] * (len(visited) - 1) + ["@call_decorator"]
        return [
            ast.copy_location(called(hook, part, self._site(Kind.READ, "", part)), part)
            for hook, part in zip(hooks, visited, strict=False)
        ]

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.decorator_list = self._decorators(node)
        self._defaults(node.args)
        outer, live, loops = self.scope, self.live, self.loops
        self.scope, self.live, self.loops = self.scopes.of[node], True, []
        body = self._block(node.body)
        if node.name == "__del__" and self.classes:
            note = ast.Expr(called("@log_finaliser", self._site(Kind.READ, "", node)))
            body.insert(0, ast.copy_location(note, node.body[0]))
        if self.scope.token and not self.static_cells:
            first = int(ast.get_docstring(node, clean=False) is not None)
            start = ast.Assign([name_node(self.scope.token, ast.Store())], called("@create_token"))
            body.insert(
                first, ast.copy_location(start, node.body[first] if first < len(node.body) else node.body[0])
            )
        node.body = body
        self.scope, self.live, self.loops = outer, live, loops
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._defaults(node.args)
        outer, live, loops = self.scope, self.live, self.loops
        self.scope, self.live, self.loops = self.scopes.of[node], True, []
        node.body = self.visit(node.body)
        if self.scope.token and not self.static_cells:
            created = ast.NamedExpr(name_node(self.scope.token, ast.Store()), called("@create_token"))
            node.body = ast.Subscript(ast.Tuple([created, node.body], ast.Load()), ast.Constant(1), ast.Load())
        self.scope, self.live, self.loops = outer, live, loops
        return node

    def _defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(part) for part in arguments.defaults]
        arguments.kw_defaults = [part and self.visit(part) for part in arguments.kw_defaults]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = self._decorators(node)
        node.bases = [self.visit(part) for part in node.bases]
        node.keywords = [self.visit(part) for part in node.keywords]
        if self.live and node.bases:
            bases = called("@check_bases", ast.Tuple(node.bases, ast.Load()), self._site(Kind.READ, "", node))
            node.bases = [ast.copy_location(ast.Starred(bases, ast.Load()), node.bases[0])]
        for keyword in node.keywords if self.live else ():
            if keyword.arg == "metaclass":
                keyword.value = called("@check_metaclass", keyword.value, self._site(Kind.READ, "", node))
        outer = self.scope
        self.scope = self.scopes.of[node]
        self.classes.append(node.name)
        node.body = self._block(node.body)
        self.classes.pop()
        self.scope = outer
        return node

    def _comprehension(self, node: Comprehension) -> ast.AST:
        lazily = isinstance(node, ast.GeneratorExp) or suspends(node)
        outer, inner = self.scope, self.scopes.of[node]
        # No variables can be kept anywhere in a comprehension, not even in what its first loop goes over.
        first = node.generators[0]
        kept_out = Scope(node, outer)
        self.scope = kept_out
        first.iter = self._comprehended(first, lazily)
        self.scope = inner
        for generator in node.generators:
            if generator is not first:
                generator.iter = self._comprehended(generator, lazily)
            generator.target = self.visit(generator.target)
            generator.ifs = [self._truth(test) for test in generator.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self.scope = outer
        created = "@register_generator" if isinstance(node, ast.GeneratorExp) else "@register_new"
        return ast.copy_location(called(created, node), node) if self.live else node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _comprehended(self, generator: ast.comprehension, lazily: bool) -> ast.expr:
        if not self.live:
            visited: ast.expr = self.visit(generator.iter)
            return visited
        if generator.is_async:
            return called(
                "@watch_async_iterable", self.visit(generator.iter), self._site(Kind.READ, "", generator.iter)
            )
        return self._iterated(generator.iter, generator.target, lazily)

    # Statements -----------------------------------------------------------------------------------------------

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = self._block(node.body)
        return node

    def _block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in statements:
            bound = self._bound(statement) if self.live else []
            visited = self.visit(statement)
            result.extend(visited if isinstance(visited, list) else [visited])
            result.extend(self._stores(bound, statement))
        return result

    def _stores(self, names: Iterable[str], node: ast.AST) -> list[ast.stmt]:
        """Log that shared variables were bound: after the binding, which may have been suspended before."""
        logs: list[ast.stmt] = []
        for name in names:
            variable = self._variable(name)
            if variable is not None:
                entry = ast.Tuple([name_node(variable[0]), self._site(Kind.WRITE, variable[1], node)], ast.Load())
                logs.append(ast.copy_location(ast.Expr(called("@log", entry)), node))
        return logs

    def _bound(self, statement: ast.stmt) -> list[str]:
        """Names that a simple statement binds."""
        match statement:
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                return [name for target in targets for name in _names(target)]
            case ast.AugAssign() if _counts(statement):
                return []  # said before
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                return list(_names(target))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                return [name]
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                return [alias.asname or alias.name.partition(".")[0] for alias in aliases]
            case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
                return [handler.name for handler in handlers if handler.name]
        return []

    def _body(self, statements: list[ast.stmt], bound: Iterable[str], node: ast.AST) -> list[ast.stmt]:
        return [*self._stores(bound, node), *self._block(statements)]

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
            if variable is not None and _counts(node):
                number = self._site(Kind.UPDATE, variable[1], node)
                count = called("@log_addition_to_variable", name_node(variable[0]), number, name_node(target.id))
                before.append(ast.copy_location(ast.Expr(count), node))
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
            node.target = self._attribute(target, Kind.UPDATE, counts=_counts(node))
            node.value = self._operand(node.value, consumed)
        else:
            assert isinstance(target, ast.Subscript)
            if suspends(node.value):
                return self._subscript_in_place(node, target)
            changed = self._subscript(target, "count" if _counts(node) else "update")
            assert isinstance(changed, ast.Subscript)
            node.target = changed
            node.value = self._operand(node.value, consumed)
        return [*before, node] if before else node

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

    def _for(self, node: ast.For | ast.AsyncFor) -> ast.stmt | list[ast.stmt]:
        with self._looping(node) as loop:
            self._for_parts(node)
        return self._with_flags(node, loop)

    def _for_parts(self, node: ast.For | ast.AsyncFor) -> None:
        bound = list(_names(node.target))
        if not self.live:
            node.iter = self.visit(node.iter)
        elif isinstance(node, ast.AsyncFor):
            node.iter = ast.copy_location(
                called("@watch_async_iterable", self.visit(node.iter), self._site(Kind.READ, "", node)), node.iter
            )
        else:
            node.iter = self._iterated(node.iter, node.target, any(map(suspends, node.body)))
        node.target = self.visit(node.target)
        node.body = self._body(node.body, bound if self.live else [], node)
        node.orelse = self._block(node.orelse)

    visit_For = visit_AsyncFor = _for

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        with self._looping(node) as loop:
            node.test = self._truth(node.test)
            node.body = self._block(node.body)
            node.orelse = self._block(node.orelse)
        return self._with_flags(node, loop)

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self._truth(node.test)
        node.body = self._block(node.body)
        node.orelse = self._block(node.orelse)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.test = self._truth(node.test)
        node.msg = node.msg and self.visit(node.msg)
        return node

    def _with(self, node: ast.With | ast.AsyncWith) -> ast.AST:
        bound: list[str] = []
        for each in node.items:
            function = "@watch_manager" if isinstance(node, ast.With) else "@watch_async_manager"
            again = ast.Constant(not isinstance(each.context_expr, ast.Call))
            manager = self.visit(each.context_expr)
            if self.live:
                number = self._site(Kind.READ, "", manager)
                manager = ast.copy_location(called(function, manager, number, again), manager)
            each.context_expr = manager
            if each.optional_vars is not None:
                bound.extend(_names(each.optional_vars))
                each.optional_vars = self.visit(each.optional_vars)
        node.body = self._body(node.body, bound if self.live else [], node)
        return node

    visit_With = visit_AsyncWith = _with

    def _try(self, node: ast.Try | ast.TryStar) -> ast.AST:
        node.body = self._block(node.body)
        for handler in node.handlers:
            handler.type = handler.type and self.visit(handler.type)
            handler.body = self._body(handler.body, [handler.name] if handler.name and self.live else [], handler)
        node.orelse = self._block(node.orelse)
        node.finalbody = self._block(node.finalbody)
        return node

    visit_Try = visit_TryStar = _try

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        attributes = {
            name for part in ast.walk(node) if isinstance(part, ast.MatchClass) for name in part.kwd_attrs
        }
        values = [
            copy.deepcopy(part)
            for case in node.cases
            for part in ast.walk(case.pattern)
            if isinstance(part, ast.Attribute) and self.live
        ]
        subject = self.visit(node.subject)
        if self.live:
            names = ast.Tuple([ast.Constant(name) for name in sorted(attributes)], ast.Load())
            subject = ast.copy_location(
                called("@read_match_subject", subject, self._site(Kind.READ, "", node), names), subject
            )
        node.subject = subject
        for case in node.cases:
            bound = [n for part in ast.walk(case.pattern) for n in _captures(part)]
            if case.guard is not None:
                case.guard = self._truth(case.guard)
            case.body = self._body(case.body, bound if self.live else [], case.pattern)
        return [*map(self._looked_at, values), node] if values else node

    def _looked_at(self, value: ast.expr) -> ast.stmt:
        """`case A.b:` reads A.b, perhaps: so it is read before."""
        look = ast.copy_location(ast.Expr(self.visit(value)), value)
        handler = ast.ExceptHandler(name_node("@failure"), None, [ast.Pass()])
        return ast.copy_location(ast.Try([look], [handler], [], []), value)


def _counts(node: ast.AugAssign) -> bool:
    """`x += 1`: whatever the order of such steps, the sum is the same."""
    constant = isinstance(node.value, ast.Constant) and type(node.value.value) is int
    return constant and isinstance(node.op, ast.Add | ast.Sub)


def _consuming(node: ast.AugAssign) -> str:
    return "@read_merged" if isinstance(node.op, ast.BitOr) else "@read_right_side"


def _names(target: ast.AST) -> Iterable[str]:
    """The names that a target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _names(element)
    elif isinstance(target, ast.Starred):
        yield from _names(target.value)


def _captures(pattern: ast.AST) -> Iterable[str]:
    name = getattr(pattern, "rest" if isinstance(pattern, ast.MatchMapping) else "name", None)
    if isinstance(pattern, ast.MatchAs | ast.MatchStar | ast.MatchMapping) and name:
        yield name
