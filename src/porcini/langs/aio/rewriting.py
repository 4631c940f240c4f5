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
from collections.abc import Iterable, Iterator

from porcini.langs.aio import trusted
from porcini.langs.aio.bindings import Bindings, names_in
from porcini.langs.aio.expressions import called, name_node
from porcini.langs.aio.scopes import Comprehension, Scope, Scopes, parameters_of, suspends
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


class _Rewriter(Bindings):
    """Rewrites scopes and compound statements."""

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
        self._annotations(node)
        outer, live, loops = self.scope, self.live, self.loops
        self.scope, self.live, self.loops = self.scopes.of[node], True, []
        body = self._block(node.body)
        if node.name == "__del__" and self.classes and self._is_of_concern(".".join(self.classes)):
            note = ast.Expr(called("@log_finaliser", self._site(Kind.READ, "", node)))
            body.insert(0, ast.copy_location(note, node.body[0]))
        for start in self._beginning(node):
            first = int(ast.get_docstring(node, clean=False) is not None)
            body.insert(
                first, ast.copy_location(start, node.body[first] if first < len(node.body) else node.body[0])
            )
        node.body = body
        self.scope, self.live, self.loops = outer, live, loops
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def _beginning(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.stmt]:
        """What a function does first: the dict of its `**` parameter is new, and so are its variables."""
        if node.args.kwarg is not None:
            yield ast.Expr(called("@register_new", name_node(node.args.kwarg.arg)))
        if self.scope.token and not self.static_cells:
            yield ast.Assign([name_node(self.scope.token, ast.Store())], called("@create_token"))

    def _is_of_concern(self, owner: str) -> bool:
        """Does the finaliser of a class do more than to warn?"""
        return f"{self.module}.{owner}" not in trusted.WARNING_FINALISERS

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

    def _annotations(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """They are evaluated with the definition, unless they are texts or have a scope of their own."""
        if not self.live or not self.scopes.evaluates_annotations or getattr(node, "type_params", None):
            return
        for argument in parameters_of(node.args):
            argument.annotation = argument.annotation and self.visit(argument.annotation)
        node.returns = node.returns and self.visit(node.returns)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = self._decorators(node)
        outer = self.scope
        if getattr(node, "type_params", None):  # no variables can be kept beside them
            self.scope = Scope(node, outer)
        node.bases = [self.visit(part) for part in node.bases]
        node.keywords = [self.visit(part) for part in node.keywords]
        if self.live and node.bases:
            bases = called("@check_bases", ast.Tuple(node.bases, ast.Load()), self._site(Kind.READ, "", node))
            node.bases = [ast.copy_location(ast.Starred(bases, ast.Load()), node.bases[0])]
        for keyword in node.keywords if self.live else ():
            if keyword.arg == "metaclass":
                keyword.value = called("@check_metaclass", keyword.value, self._site(Kind.READ, "", node))
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

    def _body(self, statements: list[ast.stmt], bound: Iterable[str], node: ast.AST) -> list[ast.stmt]:
        return [*self._stores(bound, node), *self._block(statements)]

    def _bound_first(self, target: ast.expr, body: list[ast.stmt]) -> tuple[ast.expr, list[ast.stmt]]:
        """`for a, o.b in ...:` as `for t in ...: a, o.b = t`, and `with` likewise: what binds several names may
        fail on the way, and an assignment knows how to log that."""
        shared = self._temporaries() and any(self._variable(name) for name in names_in(target))
        if isinstance(target, ast.Name) or not self.live or not shared:
            return target, body
        kept = self._temporary()
        assignment = ast.copy_location(ast.Assign([target], name_node(kept)), target)
        return ast.copy_location(name_node(kept, ast.Store()), target), [assignment, *body]

    def _for(self, node: ast.For | ast.AsyncFor) -> ast.stmt | list[ast.stmt]:
        with self._looping(node) as loop:
            self._for_parts(node)
        return self._with_flags(node, loop)

    def _for_parts(self, node: ast.For | ast.AsyncFor) -> None:
        node.target, node.body = self._bound_first(node.target, node.body)
        bound = list(names_in(node.target))
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
        first, *others = node.items
        if others and self.live:  # what the first one binds is seen while the others are entered
            node.items = [first]
            node.body = [ast.copy_location(type(node)(others, node.body), node)]
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
                target, node.body = self._bound_first(each.optional_vars, node.body)
                bound.extend(names_in(target))
                each.optional_vars = self.visit(target)
        node.body = self._body(node.body, bound if self.live else [], node)
        return node

    visit_With = visit_AsyncWith = _with

    def _try(self, node: ast.Try | ast.TryStar) -> ast.AST:
        node.body = self._block(node.body)
        for handler in node.handlers:
            handler.type = handler.type and self.visit(handler.type)
            logs = self._stores([handler.name] if handler.name and self.live else [], handler)
            handler.body = self._block(handler.body)
            if logs:  # the name is bound here, and unbound when the handler is left
                again = self._stores([handler.name or ""], handler)
                handler.body = [*logs, ast.copy_location(ast.Try(handler.body, [], [], again), handler.body[0])]
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
                case.guard = self._guard(case.guard, bound)
                bound = []
            case.body = self._body(case.body, bound if self.live else [], case.pattern)
        return [*map(self._looked_at, values), node] if values else node

    def _guard(self, guard: ast.expr, bound: Iterable[str]) -> ast.expr:
        """What a pattern captures is bound before its guard is asked."""
        test = self._truth(guard)
        logs = list(self._store_logs(bound, guard)) if self.live else []
        return ast.copy_location(ast.BoolOp(ast.Or(), [*logs, test]), guard) if logs else test

    def _looked_at(self, value: ast.expr) -> ast.stmt:
        """`case A.b:` reads A.b, perhaps: so it is read before."""
        look = ast.copy_location(ast.Expr(self.visit(value)), value)
        handler = ast.ExceptHandler(name_node("@failure"), None, [ast.Pass()])
        return ast.copy_location(ast.Try([look], [handler], [], []), value)


def _captures(pattern: ast.AST) -> Iterable[str]:
    name = getattr(pattern, "rest" if isinstance(pattern, ast.MatchMapping) else "name", None)
    if isinstance(pattern, ast.MatchAs | ast.MatchStar | ast.MatchMapping) and name:
        yield name
