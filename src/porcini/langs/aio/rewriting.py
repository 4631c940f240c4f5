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
import builtins
import contextlib
import sys
from collections.abc import Iterable, Iterator

from porcini.langs.aio.scopes import Comprehension, Scope, Scopes, suspends
from porcini.langs.aio.sites import Kind, site

_NO_HOOK = frozenset({"super", "isinstance", "issubclass", "callable", "type", "range", "print", "locals"})
_PLAIN_VALUES = (ast.Constant, ast.JoinedStr, ast.Compare, ast.Lambda)


def instrumented(
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


def _name(identifier: str, ctx: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(identifier, ctx or ast.Load())


def _call(identifier: str, *args: ast.expr) -> ast.Call:
    return ast.Call(_name(identifier), list(args), [])


def _copy(node: ast.expr) -> ast.expr:
    """A second evaluation of a name or a constant."""
    if isinstance(node, ast.Name):
        return ast.copy_location(_name(node.id), node)
    if isinstance(node, ast.UnaryOp):
        return ast.copy_location(ast.UnaryOp(node.op, _copy(node.operand)), node)
    assert isinstance(node, ast.Constant)
    return ast.copy_location(ast.Constant(node.value), node)


class _Loop:
    """A loop that runs within one step, as nothing in it suspends: an access to one object is logged once in it.

    `bound` are the names that change in it; `flags` are variables that say whether a site has been logged.
    """

    def __init__(self, node: ast.stmt) -> None:
        self.bound = {
            name
            for part in ast.walk(node)
            for name in (
                (part.id,)
                if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
                else (getattr(part, "name", None), getattr(part, "rest", None), getattr(part, "asname", None))
            )
        }
        self.bound |= {a.name.partition(".")[0] for a in ast.walk(node) if isinstance(a, ast.alias)}
        self.flags: list[str] = []


class _Rewriter(ast.NodeTransformer):
    def __init__(self, scopes: Scopes, filename: str, module: str, static_cells: bool) -> None:
        self.scopes = scopes
        self.filename = filename
        self.module = module
        self.static_cells = static_cells
        self.scope: Scope = scopes.module
        self.live = False
        self.classes: list[str] = []
        self.kept = 0
        self.loops: list[_Loop] = []
        self.imported = {
            alias.asname or alias.name
            for node in scopes.module.node.body  # type: ignore[attr-defined]
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name in sys.stdlib_module_names
            and len(scopes.module.bindings.get(alias.asname or alias.name, ())) == 1
        }

    # Small things ---------------------------------------------------------------------------------------------

    def _site(self, kind: Kind, name: str, node: ast.AST) -> ast.Constant:
        return ast.Constant(site(kind, name, self.filename, getattr(node, "lineno", 0)))

    def _temporaries(self) -> bool:
        return self.scope.is_function

    def _temporary(self) -> str:
        self.kept += 1
        return f"@kept{self.kept}"

    def _mangled(self, name: str) -> str:
        if self.classes and name.startswith("__") and not name.endswith("__") and self.classes[-1].strip("_"):
            return f"_{self.classes[-1].lstrip('_')}{name}"
        return name

    def _logged(self, node: ast.expr, number: ast.Constant, function: str) -> ast.expr:
        """The value of `node`, after `(value, number)` has been logged."""
        loop = self._loop_around(node)
        if loop is not None:
            assert isinstance(node, ast.Name)
            flag = self._temporary()
            loop.flags.append(flag)
            entry = ast.Tuple([_copy(node), number], ast.Load())
            log = ast.NamedExpr(_name(flag, ast.Store()), ast.UnaryOp(ast.Not(), _call("@log", entry)))
            first_time = ast.BoolOp(ast.And(), [log, _copy(node)])
            return ast.copy_location(ast.IfExp(_name(flag), node, first_time), node)
        if isinstance(node, ast.Name) and self._private(node.id):
            first: ast.expr = _copy(node)
            again: ast.expr = node
        elif self._temporaries():
            first = ast.NamedExpr(_name("@value", ast.Store()), node)
            again = _name("@value")
        else:
            return ast.copy_location(_call(function, node, number), node)
        entry = ast.Tuple([first, number], ast.Load())
        return ast.copy_location(ast.BoolOp(ast.Or(), [_call("@log", entry), again]), node)

    def _loop_around(self, node: ast.expr) -> _Loop | None:
        """The outermost loop of this step in which a name stands for one object."""
        if not isinstance(node, ast.Name) or not self._temporaries() or not self._private(node.id):
            return None
        return next((loop for loop in self.loops if node.id not in loop.bound), None)

    @contextlib.contextmanager
    def _looping(self, node: ast.For | ast.AsyncFor | ast.While) -> Iterator[_Loop | None]:
        if not self.live or not self.scope.is_function or suspends(node):
            yield None
            return
        self.loops.append(_Loop(node))
        yield self.loops[-1]
        self.loops.pop()

    def _with_flags(self, node: ast.stmt, loop: _Loop | None) -> ast.stmt | list[ast.stmt]:
        """The loop, after its flags have been put down."""
        if loop is None or not loop.flags:
            return node
        targets: list[ast.expr] = [_name(flag, ast.Store()) for flag in loop.flags]
        return [ast.copy_location(ast.Assign(targets, ast.Constant(False)), node), node]

    def _private(self, name: str) -> bool:
        """A variable that may be loaded twice: its loads are not logged."""
        return self._variable(name) is None

    def _variable(self, name: str) -> tuple[str, str] | None:
        """For a variable that others may rebind: the token that stands for its owner, and its name there."""
        owner = self.scope.owner(name)
        if owner is None:
            if name in self.scopes.written_globals and (
                self.scope.is_function or name in self.scope.globals or self.live
            ):
                return "@module", name
            return None
        if owner.is_function and owner.is_shared(name):
            if self.static_cells:
                return "@module", f"{owner.qualname}.<locals>.{name}"
            return owner.token, name
        return None

    def _operand(self, node: ast.expr) -> ast.expr:
        """A value that operators will read: `value if type(value) in plain else operand(value, site)`."""
        node = self.visit(node)
        if isinstance(node, _PLAIN_VALUES):
            return node
        number = self._site(Kind.VALUE, "", node)
        if isinstance(node, ast.Name) and self._private(node.id):
            first: ast.expr = _copy(node)
            again: ast.expr = node
        elif self._temporaries():
            first, again = ast.NamedExpr(_name("@value", ast.Store()), node), _name("@value")
        else:
            return ast.copy_location(_call("@operand", node, number), node)
        test = ast.Compare(_call("@type", first), [ast.In()], [_name("@plain")])
        return ast.copy_location(ast.IfExp(test, again, _call("@operand", _copy(again), number)), node)

    def _truth(self, node: ast.expr) -> ast.expr:
        """A condition."""
        if isinstance(node, ast.BoolOp):
            return ast.copy_location(ast.BoolOp(node.op, [self._truth(value) for value in node.values]), node)
        plain = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        visited: ast.expr = self.visit(node)
        if plain or isinstance(node, _PLAIN_VALUES) or not self.live:
            return visited
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NO_HOOK:
            return visited
        return self._logged(visited, self._site(Kind.TRUTH, "", node), "@at")

    def _iterated(self, node: ast.expr, target: ast.expr | None, lazily: bool) -> ast.expr:
        """What a loop, an unpacking or a star goes over."""
        if isinstance(node, ast.Tuple | ast.Constant) or (isinstance(node, ast.List) and not lazily):
            return self._display(node)
        unpacks = isinstance(target, ast.Tuple | ast.List)
        function = ("@lazily_unpack" if unpacks else "@lazily") if lazily else "@unpack" if unpacks else "@iterate"
        return ast.copy_location(_call(function, self.visit(node), self._site(Kind.READ, "", node)), node)

    def _display(self, node: ast.expr) -> ast.expr:
        """A list that is used up at once needs no name."""
        if isinstance(node, ast.List) and isinstance(node.ctx, ast.Load):
            node.elts = [self.visit(element) for element in node.elts]
            return node
        visited: ast.expr = self.visit(node)
        return visited

    # Scopes ---------------------------------------------------------------------------------------------------

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.decorator_list = [self.visit(part) for part in node.decorator_list]
        self._defaults(node.args)
        outer, live, loops = self.scope, self.live, self.loops
        self.scope, self.live, self.loops = self.scopes.of[node], True, []
        body = self._block(node.body)
        if self.scope.token and not self.static_cells:
            first = int(ast.get_docstring(node, clean=False) is not None)
            start = ast.Assign([_name(self.scope.token, ast.Store())], _call("@token"))
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
            made = ast.NamedExpr(_name(self.scope.token, ast.Store()), _call("@token"))
            node.body = ast.Subscript(ast.Tuple([made, node.body], ast.Load()), ast.Constant(1), ast.Load())
        self.scope, self.live, self.loops = outer, live, loops
        return node

    def _defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(part) for part in arguments.defaults]
        arguments.kw_defaults = [part and self.visit(part) for part in arguments.kw_defaults]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [self.visit(part) for part in node.decorator_list]
        node.bases = [self.visit(part) for part in node.bases]
        node.keywords = [self.visit(part) for part in node.keywords]
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
        made = "@generator" if isinstance(node, ast.GeneratorExp) else "@new"
        return ast.copy_location(_call(made, node), node) if self.live else node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _comprehended(self, generator: ast.comprehension, lazily: bool) -> ast.expr:
        if not self.live:
            visited: ast.expr = self.visit(generator.iter)
            return visited
        if generator.is_async:
            return _call("@async_iterate", self.visit(generator.iter), self._site(Kind.READ, "", generator.iter))
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
                entry = ast.Tuple([_name(variable[0]), self._site(Kind.WRITE, variable[1], node)], ast.Load())
                logs.append(ast.copy_location(ast.Expr(_call("@log", entry)), node))
        return logs

    def _bound(self, statement: ast.stmt) -> list[str]:
        """Names that a simple statement binds."""
        match statement:
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                return [name for target in targets for name in _names(target)]
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
        unpacked = next((t for t in node.targets if isinstance(t, ast.Tuple | ast.List)), None)
        if self.live and unpacked is not None:
            node.value = self._iterated(node.value, None, False)
        else:
            node.value = self.visit(node.value)
        node.targets = [self.visit(target) for target in node.targets]
        return node

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
        if isinstance(target, ast.Name):
            variable = self._variable(target.id)
            if variable is not None:
                entry = ast.Tuple([_name(variable[0]), self._site(Kind.READ, variable[1], node)], ast.Load())
                before.append(ast.copy_location(ast.Expr(_call("@log", entry)), node))
            if not constant:
                change = _call("@in_place", _name(target.id), self._site(Kind.UPDATE, "", node))
                before.append(ast.copy_location(ast.Expr(change), node))
            node.value = self._operand(node.value)
            if suspends(node.value) and not constant:
                self._after_suspension(node, target)
        elif isinstance(target, ast.Attribute):
            if not constant and self._temporaries():
                return self._attribute_in_place(node, target)
            node.target = self._attribute(target, Kind.UPDATE)
            node.value = self._operand(node.value)
        else:
            assert isinstance(target, ast.Subscript)
            if suspends(node.value):
                return self._subscript_in_place(node, target)
            changed = self._subscript(target, "update")
            assert isinstance(changed, ast.Subscript)
            node.target = changed
            node.value = self._operand(node.value)
        return [*before, node] if before else node

    def _after_suspension(self, node: ast.AugAssign, target: ast.Name) -> None:
        """`x += await f()`: the change happens in the step in which f has answered."""
        kept = ast.NamedExpr(_name("@value", ast.Store()), node.value)
        change = _call("@in_place", _name(target.id), self._site(Kind.UPDATE, "", node))
        node.value = ast.Subscript(ast.Tuple([kept, change], ast.Load()), ast.Constant(0), ast.Load())

    def _attribute_in_place(self, node: ast.AugAssign, target: ast.Attribute) -> list[ast.stmt]:
        """`o.a += v`: a mutable `o.a` is changed itself, so it must be seen, between the load and the store."""
        kept = self._temporary()
        hold = ast.Assign([_name(kept, ast.Store())], self.visit(target.value))
        name = self._mangled(target.attr)
        load = self._logged(_name(kept), self._site(Kind.READ, name, target), "@at")
        loaded = ast.Attribute(load, target.attr, ast.Load())
        value = self._operand(node.value)
        number = self._site(Kind.UPDATE, "", node)
        change = _call(
            f"@i{type(node.op).__name__}", ast.Starred(_call("@changed", loaded, value, number), ast.Load())
        )
        held = self._logged(_name(kept), self._site(Kind.WRITE, name, target), "@at")
        store = ast.Assign([ast.Attribute(held, target.attr, ast.Store())], change)
        return [ast.copy_location(hold, node), ast.copy_location(store, node)]

    def _subscript_in_place(self, node: ast.AugAssign, target: ast.Subscript) -> list[ast.stmt]:
        """`o[k] += await f()`: read in one step, written in another."""
        kept, key = self._temporary(), self._temporary()
        holds: list[ast.stmt] = [
            ast.Assign([_name(kept, ast.Store())], self.visit(target.value)),
            ast.Assign([_name(key, ast.Store())], self.visit(target.slice)),
        ]
        number = self._site(Kind.UPDATE, "", node)
        loaded = ast.Subscript(_call("@item", _name(kept), _name(key), number), _name(key), ast.Load())
        operands = _call("@changed", loaded, self.visit(node.value), number)
        change = _call(f"@i{type(node.op).__name__}", ast.Starred(operands, ast.Load()))
        stored = ast.Subscript(_call("@set_item", _name(kept), _name(key), number), _name(key), ast.Store())
        return [ast.copy_location(part, node) for part in (*holds, ast.Assign([stored], change))]

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
                _call("@async_iterate", self.visit(node.iter), self._site(Kind.READ, "", node)), node.iter
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
        function = "@managed" if isinstance(node, ast.With) else "@async_managed"
        for each in node.items:
            manager = self.visit(each.context_expr)
            if self.live:
                manager = ast.copy_location(_call(function, manager, self._site(Kind.READ, "", manager)), manager)
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

    def visit_Match(self, node: ast.Match) -> ast.AST:
        attributes = {
            name for part in ast.walk(node) if isinstance(part, ast.MatchClass) for name in part.kwd_attrs
        }
        subject = self.visit(node.subject)
        if self.live:
            names = ast.Tuple([ast.Constant(name) for name in sorted(attributes)], ast.Load())
            subject = ast.copy_location(
                _call("@matched", subject, self._site(Kind.READ, "", node), names), subject
            )
        node.subject = subject
        for case in node.cases:
            bound = [n for part in ast.walk(case.pattern) for n in _captures(part)]
            if case.guard is not None:
                case.guard = self._truth(case.guard)
            case.body = self._body(case.body, bound if self.live else [], case.pattern)
        return node

    # Expressions ----------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if not self.live or not isinstance(node.ctx, ast.Load):
            return node
        variable = self._variable(node.id)
        if variable is None:
            return node
        entry = ast.Tuple([_name(variable[0]), self._site(Kind.READ, variable[1], node)], ast.Load())
        return ast.copy_location(ast.BoolOp(ast.Or(), [_call("@log", entry), node]), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        node.value = self.visit(node.value)
        variable = self._variable(node.target.id) if self.live else None
        if variable is None:
            return node
        entry = ast.Tuple([_name(variable[0]), self._site(Kind.WRITE, variable[1], node)], ast.Load())
        both = ast.Tuple([node, _call("@log", entry)], ast.Load())
        return ast.copy_location(ast.Subscript(both, ast.Constant(0), ast.Load()), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not self.live:
            return self.generic_visit(node)
        return self._attribute(node, Kind.READ if isinstance(node.ctx, ast.Load) else Kind.WRITE)

    def _attribute(self, node: ast.Attribute, kind: Kind) -> ast.Attribute:
        inner = node.value
        if (
            isinstance(inner, ast.Name)
            and inner.id in self.imported
            and self.scope.owner(inner.id) is None
            and kind is Kind.READ
        ):
            return node
        if node.attr == "__dict__":
            node.value = _call("@dict_of", self.visit(inner), self._site(kind, "__dict__", node))
            return node
        number = self._site(kind, self._mangled(node.attr), node)
        node.value = self._logged(self.visit(inner), number, "@at")
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not self.live:
            return self.generic_visit(node)
        return self._subscript(node, {ast.Load: "", ast.Store: "set", ast.Del: "del"}[type(node.ctx)])

    def _subscript(self, node: ast.Subscript, change: str) -> ast.expr:
        by_item, by_key = (f"@{change}_item", f"@{change}_key") if change else ("@item", "@key_of")
        number = self._site(Kind.READ if not change else Kind.WRITE, "", node)
        obj, key = self.visit(node.value), self.visit(node.slice)
        if self._simple(node.slice):
            node.value = ast.copy_location(_call(by_item, obj, key, number), obj)
            node.slice = _copy(key)
        elif isinstance(obj, ast.Name) and self._private(obj.id):
            node.slice = ast.copy_location(_call(by_key, _copy(obj), key, number), key)
            node.value = obj
        elif self._temporaries():
            kept = self._temporary()
            node.value = ast.copy_location(ast.NamedExpr(_name(kept, ast.Store()), obj), obj)
            node.slice = ast.copy_location(_call(by_key, _name(kept), key, number), key)
        elif not change:
            return ast.copy_location(
                _call("@getitem", ast.Starred(_call("@both", obj, key, number), ast.Load())), node
            )
        else:
            node.value, node.slice = ast.copy_location(_call("@whole_write", obj, number), obj), key
        return node

    def _simple(self, node: ast.expr) -> bool:
        """May be evaluated twice."""
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and self._private(node.id))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not self.live:
            return self.generic_visit(node)
        function = node.func
        late = any(map(suspends, [*node.args, *node.keywords]))
        node.args = [self._argument(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = (
                self._iterated(keyword.value, None, False) if keyword.arg is None else self.visit(keyword.value)
            )
        if isinstance(function, ast.Name) and function.id in _NO_HOOK and self._is_builtin(function.id):
            return node
        callee = self.visit(function)
        hook = "@later" if late else "@call"
        node.func = ast.copy_location(_call(hook, callee, self._site(Kind.READ, "", node)), function)
        return node

    def _is_builtin(self, name: str) -> bool:
        return (
            self.scope.owner(name) is None and name not in self.scopes.module.bindings and hasattr(builtins, name)
        )

    def _argument(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            node.value = self._iterated(node.value, None, False)
            return node
        visited: ast.expr = self.visit(node)
        return visited

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        if self.live and isinstance(node.ctx, ast.Load):
            node.value = self._iterated(node.value, None, False)
            return node
        return self.generic_visit(node)

    def _made(self, node: ast.List | ast.Set | ast.Dict) -> ast.AST:
        if not self.live or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return self.generic_visit(node)
        if isinstance(node, ast.Dict):
            node.values = [
                self._iterated(value, None, False) if key is None else self.visit(value)
                for key, value in zip(node.keys, node.values, strict=True)
            ]
            node.keys = [key and self.visit(key) for key in node.keys]
        else:
            self.generic_visit(node)
        return ast.copy_location(_call("@new", node), node)

    visit_List = visit_Set = visit_Dict = _made

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not self.live:
            return self.generic_visit(node)
        if suspends(node.right):
            return self._suspended(node, node.left, node.op, node.right)
        node.left, node.right = self._operand(node.left), self._operand(node.right)
        return node

    def _suspended(self, node: ast.expr, left: ast.expr, operator: ast.AST, right: ast.expr) -> ast.expr:
        """`left + await f()`: both are read when the operator runs, in the step in which f has answered."""
        operands = _call("@pair", self.visit(left), self.visit(right), self._site(Kind.VALUE, "", node))
        return ast.copy_location(_call(f"@{type(operator).__name__}", ast.Starred(operands, ast.Load())), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not self.live or isinstance(node.operand, ast.Constant):
            return node if isinstance(node.operand, ast.Constant) else self.generic_visit(node)
        node.operand = self._truth(node.operand) if isinstance(node.op, ast.Not) else self._operand(node.operand)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        if not self.live:
            return self.generic_visit(node)
        *tests, last = node.values
        node.values = [*map(self._truth, tests), self.visit(last)]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self._truth(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if not self.live:
            return self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._membership(node)
        compared = isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        if len(node.ops) == 1 and compared and suspends(node.comparators[0]):
            return self._suspended(node, node.left, node.ops[0], node.comparators[0])
        identity = all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
        read = self.visit if identity else self._operand
        node.left = read(node.left)
        node.comparators = [read(each) for each in node.comparators]
        return node

    def _membership(self, node: ast.Compare) -> ast.AST:
        container = node.comparators[0]
        number = self._site(Kind.READ, "", node)
        if isinstance(container, ast.Tuple | ast.List | ast.Set) and all(
            isinstance(e, ast.Constant) for e in container.elts
        ):
            node.left = self._operand(node.left)
            return node
        if self._simple(node.left):
            key = _copy(node.left)
        elif self._temporaries():
            kept = self._temporary()
            node.left = ast.copy_location(
                ast.NamedExpr(_name(kept, ast.Store()), self.visit(node.left)), node.left
            )
            key = _name(kept)
        else:
            node.left = self.visit(node.left)
            node.comparators = [ast.copy_location(_call("@operand", self.visit(container), number), container)]
            return node
        node.comparators = [ast.copy_location(_call("@contains", self.visit(container), key, number), container)]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = self._operand(node.value) if self.live else self.visit(node.value)
        node.format_spec = node.format_spec and self.visit(node.format_spec)
        return node

    def visit_Await(self, node: ast.Await) -> ast.AST:
        node.value = self.visit(node.value)
        if self.live:
            node.value = ast.copy_location(
                _call("@awaited", node.value, self._site(Kind.READ, "", node)), node.value
            )
        return node

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        node.value = self.visit(node.value)
        if self.live:
            node.value = _call("@delegated", node.value, self._site(Kind.READ, "", node))
        return node


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
