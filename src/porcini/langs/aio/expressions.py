"""How expressions are rewritten; see `rewriting` for the whole."""

from __future__ import annotations

import ast
import builtins
import contextlib
import sys
from collections.abc import Iterator

from porcini.langs.aio.scopes import Scope, Scopes, suspends
from porcini.langs.aio.sites import Kind, site
from porcini.langs.aio.trusted import NAMESPACES

_NO_HOOK = frozenset({"super", "isinstance", "issubclass", "callable", "type", "range"})
_DIRECT = frozenset({"update", "get", "pop", "setdefault", "copy", "clear"})
"""Methods of a `__dict__` that do not give it away."""
_COMBINING = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)
"""Operators of sets."""
_PLAIN_VALUES = (ast.Constant, ast.JoinedStr, ast.Compare, ast.Lambda)


def name_node(identifier: str, ctx: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(identifier, ctx or ast.Load())


def called(identifier: str, *args: ast.expr) -> ast.Call:
    return ast.Call(name_node(identifier), list(args), [])


def _copy(node: ast.expr) -> ast.expr:
    """A second evaluation of a name or a constant."""
    if isinstance(node, ast.Name):
        return ast.copy_location(name_node(node.id), node)
    if isinstance(node, ast.UnaryOp):
        return ast.copy_location(ast.UnaryOp(node.op, _copy(node.operand)), node)
    assert isinstance(node, ast.Constant)
    return ast.copy_location(ast.Constant(node.value), node)


def depth(target: ast.expr | None) -> int:
    """How deep the items that are bound to a target are taken apart."""
    if isinstance(target, ast.Starred):
        return depth(target.value)
    if not isinstance(target, ast.Tuple | ast.List):
        return 0
    return 1 + max(map(depth, target.elts), default=0)


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


class Expressions(ast.NodeTransformer):
    """Rewrites expressions. What is `live` runs in steps: the bodies of functions."""

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

    def _logged(self, node: ast.expr, number: ast.Constant, function: str, counts: bool = False) -> ast.expr:
        """The value of `node`, after `(value, number)` has been logged, or after it was told that it `counts`."""

        def log(value: ast.expr) -> ast.expr:
            if counts:
                return called("@log_addition", value, number)
            return called("@log", ast.Tuple([value, number], ast.Load()))

        loop = self._loop_around(node)
        if loop is not None:
            assert isinstance(node, ast.Name)
            flag = self._temporary()
            loop.flags.append(flag)
            logged = ast.NamedExpr(name_node(flag, ast.Store()), ast.UnaryOp(ast.Not(), log(_copy(node))))
            first_time = ast.BoolOp(ast.And(), [logged, _copy(node)])
            return ast.copy_location(ast.IfExp(name_node(flag), node, first_time), node)
        if isinstance(node, ast.Name) and self._private(node.id):
            first: ast.expr = _copy(node)
            again: ast.expr = node
        elif self._temporaries():
            first = ast.NamedExpr(name_node("@value", ast.Store()), node)
            again = name_node("@value")
        else:
            return ast.copy_location(called(function, node, number), node)
        return ast.copy_location(ast.BoolOp(ast.Or(), [log(first), again]), node)

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
        targets: list[ast.expr] = [name_node(flag, ast.Store()) for flag in loop.flags]
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
        if isinstance(owner.node, ast.ClassDef) and name in self.scopes.written_globals:
            return "@module", name  # the body of a class finds the global one until it binds its own
        return None

    def _operand(self, node: ast.expr, hook: str = "@read_operand", *more: ast.expr) -> ast.expr:
        """A value that operators will read: `value if type(value) in plain else operand(value, site)`."""
        return self._seen_operand(self.visit(node), hook, *more)

    def _seen_operand(self, node: ast.expr, hook: str = "@read_operand", *more: ast.expr) -> ast.expr:
        """As `_operand`, of what has been rewritten."""
        if isinstance(node, _PLAIN_VALUES):
            return node
        number = self._site(Kind.VALUE, "", node)
        if isinstance(node, ast.Name) and self._private(node.id):
            first: ast.expr = _copy(node)
            again: ast.expr = node
        elif self._temporaries():
            first, again = ast.NamedExpr(name_node("@value", ast.Store()), node), name_node("@value")
        else:
            return ast.copy_location(called(hook, node, number, *more), node)
        test = ast.Compare(called("@type", first), [ast.In()], [name_node("@plain")])
        return ast.copy_location(ast.IfExp(test, again, called(hook, _copy(again), number, *more)), node)

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
        return self._logged(visited, self._site(Kind.TRUTH, "", node), "@log_access")

    def _iterated(self, node: ast.expr, target: ast.expr | None, lazily: bool) -> ast.expr:
        """What a loop, an unpacking or a star goes over."""
        if isinstance(node, ast.Tuple | ast.Constant) or (isinstance(node, ast.List) and not lazily):
            return self._display(node)
        deep = depth(target)
        function = (
            ("@unpack_suspended" if deep else "@iterate_suspended")
            if lazily
            else "@unpack"
            if deep
            else "@iterate_over"
        )
        more = [ast.Constant(deep)] if deep else []
        return ast.copy_location(called(function, self.visit(node), self._site(Kind.READ, "", node), *more), node)

    def _mapped(self, node: ast.expr) -> ast.expr:
        return ast.copy_location(called("@read_mapping", self.visit(node), self._site(Kind.READ, "", node)), node)

    def _display(self, node: ast.expr) -> ast.expr:
        """A list that is used up at once needs no name."""
        if isinstance(node, ast.List) and isinstance(node.ctx, ast.Load):
            node.elts = [self.visit(element) for element in node.elts]
            return node
        visited: ast.expr = self.visit(node)
        return visited

    # Expressions ----------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if not self.live or not isinstance(node.ctx, ast.Load):
            return node
        variable = self._variable(node.id)
        if variable is None:
            return node
        entry = ast.Tuple([name_node(variable[0]), self._site(Kind.READ, variable[1], node)], ast.Load())
        return ast.copy_location(ast.BoolOp(ast.Or(), [called("@log", entry), node]), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        node.value = self.visit(node.value)
        variable = self._variable(node.target.id) if self.live else None
        if variable is None:
            return node
        entry = ast.Tuple([name_node(variable[0]), self._site(Kind.WRITE, variable[1], node)], ast.Load())
        both = ast.Tuple([node, called("@log", entry)], ast.Load())
        return ast.copy_location(ast.Subscript(both, ast.Constant(0), ast.Load()), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not self.live:
            return self.generic_visit(node)
        return self._attribute(node, Kind.READ if isinstance(node.ctx, ast.Load) else Kind.WRITE)

    def _attribute(self, node: ast.Attribute, kind: Kind, counts: bool = False) -> ast.Attribute:
        inner = node.value
        if (
            isinstance(inner, ast.Name)
            and inner.id in self.imported
            and self.scope.owner(inner.id) is None
            and kind is Kind.READ
        ):
            return node
        if node.attr in NAMESPACES:
            number = self._site(kind, node.attr, node)
            if kind is not Kind.READ:
                node.value = called("@replace_namespace", self.visit(inner), number)
            elif node.attr == "__dict__" and hasattr(node, "direct"):
                node.value = called("@use_namespace", self.visit(inner), number)
            else:
                node.value = called("@hand_out_namespace", self.visit(inner), number, ast.Constant(node.attr))
            return node
        if node.attr in _DIRECT:
            inner.direct = True  # type: ignore[attr-defined]
        number = self._site(kind, self._mangled(node.attr), node)
        node.value = self._logged(
            self.visit(inner), number, "@log_addition_to" if counts else "@log_access", counts
        )
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not self.live:
            return self.generic_visit(node)
        return self._subscript(node, {ast.Load: "get", ast.Store: "set", ast.Del: "del"}[type(node.ctx)])

    def _subscript(self, node: ast.Subscript, access: str) -> ast.expr:
        """`obj[key]`, with the hook for what happens there (see `items.ACCESSES`); nothing is evaluated twice."""
        if access == "set" and hasattr(node, "consumed"):
            access = "set_slice"
        by_item, by_key, reads = f"@{access}_item", f"@{access}_key", access == "get"
        number = self._site(Kind.READ if reads else Kind.WRITE, "", node)
        node.value.direct = True  # type: ignore[attr-defined]
        obj, key = self.visit(node.value), self.visit(node.slice)
        if isinstance(key, ast.Slice) and reads:
            bounds = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
            return ast.copy_location(called("@read_slice", obj, called("@slice", *bounds), number), node)
        if self._simple(node.slice):
            node.value = ast.copy_location(called(by_item, obj, key, number), obj)
            node.slice = _copy(key)
        elif isinstance(obj, ast.Name) and self._private(obj.id):
            node.slice = ast.copy_location(called(by_key, _copy(obj), key, number), key)
            node.value = obj
        elif self._temporaries():
            kept = self._temporary()
            node.value = ast.copy_location(ast.NamedExpr(name_node(kept, ast.Store()), obj), obj)
            node.slice = ast.copy_location(called(by_key, name_node(kept), key, number), key)
        elif reads:
            return ast.copy_location(
                called("@getitem", ast.Starred(called("@read_item_and_key", obj, key, number), ast.Load())), node
            )
        else:
            node.value, node.slice = ast.copy_location(called("@update_whole", obj, number), obj), key
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
            keyword.value = self._mapped(keyword.value) if keyword.arg is None else self.visit(keyword.value)
            if keyword.arg == "context":
                keyword.value = called("@share_context", keyword.value, self._site(Kind.READ, "", keyword.value))
        if isinstance(function, ast.Name) and self._needs_no_hook(function.id, node.args):
            if function.id == "type" and len(node.args) == 3:
                number = self._site(Kind.READ, "", node)
                node.args[1:] = (
                    called("@check_bases", node.args[1], number),
                    called("@read_mapping", node.args[2], number),
                )
            if function.id == "range":
                node.args = [self._seen_operand(argument) for argument in node.args]
            if function.id in ("isinstance", "issubclass") and len(node.args) == 2:
                number = self._site(Kind.READ, "", node)
                node.args[1] = ast.copy_location(called("@check_class", node.args[1], number), node.args[1])
            return node
        callee = self.visit(function)
        hook = "@call_later" if late else "@call"
        node.func = ast.copy_location(called(hook, callee, self._site(Kind.READ, "", node)), function)
        return node

    def _needs_no_hook(self, name: str, args: list[ast.expr]) -> bool:
        """A call of a builtin that does nothing with its arguments that would have to be recorded."""
        return name in _NO_HOOK and self._is_builtin(name) and not any(isinstance(a, ast.Starred) for a in args)

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

    def _creation(self, node: ast.List | ast.Set | ast.Dict) -> ast.AST:
        if not self.live or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return self.generic_visit(node)
        if isinstance(node, ast.Dict):
            node.values = [
                self._mapped(value) if key is None else self.visit(value)
                for key, value in zip(node.keys, node.values, strict=True)
            ]
            node.keys = [key and self.visit(key) for key in node.keys]
        else:
            self.generic_visit(node)
        return ast.copy_location(called("@register_new", node), node)

    visit_List = visit_Set = visit_Dict = _creation

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not self.live:
            return self.generic_visit(node)
        if suspends(node.right):
            return self._suspended(node, node.left, node.op, node.right)
        if isinstance(node.op, _COMBINING) and not isinstance(node.right, ast.Constant):
            return self._combination(node)
        formats = isinstance(node.op, ast.Mod) and not isinstance(node.right, ast.Tuple)
        node.left = self._operand(node.left)
        node.right = self._operand(node.right, "@read_format_argument" if formats else "@read_operand")
        return node

    def _combination(self, node: ast.BinOp) -> ast.expr:
        """`a & b`: what b does depends on a, so a is kept."""
        if isinstance(node.left, ast.Constant) or not (
            self._temporaries() or (isinstance(node.left, ast.Name) and self._private(node.left.id))
        ):
            return self._suspended(node, node.left, node.op, node.right)
        if isinstance(node.left, ast.Name) and self._private(node.left.id):
            kept = node.left.id
            node.left = self._operand(node.left)
        else:
            kept = self._temporary()
            value = ast.NamedExpr(name_node(kept, ast.Store()), self._operand(node.left))
            node.left = ast.copy_location(value, node.left)
        node.right = self._operand(node.right, "@read_set_operand", name_node(kept))
        return node

    def _suspended(self, node: ast.expr, left: ast.expr, operator: ast.AST, right: ast.expr) -> ast.expr:
        """`left + await f()`: both are read when the operator runs, in the step in which f has answered."""
        operands = called("@read_operands", self.visit(left), self.visit(right), self._site(Kind.VALUE, "", node))
        return ast.copy_location(called(f"@{type(operator).__name__}", ast.Starred(operands, ast.Load())), node)

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
        if identity:
            return self.generic_visit(node)
        equality = all(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops)
        hook = "@compare" if equality else "@read_operand"
        node.left = self._operand(node.left, hook)
        node.comparators = [self._operand(each, hook) for each in node.comparators]
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
                ast.NamedExpr(name_node(kept, ast.Store()), self.visit(node.left)), node.left
            )
            key = name_node(kept)
        else:
            node.left = self._operand(node.left)
            hook = called("@look_up_anything", self.visit(container), number)
            node.comparators = [ast.copy_location(hook, container)]
            return node
        node.comparators = [ast.copy_location(called("@look_up", self.visit(container), key, number), container)]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = self._operand(node.value) if self.live else self.visit(node.value)
        node.format_spec = node.format_spec and self.visit(node.format_spec)
        return node

    def visit_Await(self, node: ast.Await) -> ast.AST:
        hook = "@watch_awaited" if isinstance(node.value, ast.Call) else "@watch_awaited_again"
        node.value = self.visit(node.value)
        if self.live:
            number = self._site(Kind.READ, "", node)
            free = (
                [ast.NamedExpr(name_node("@value", ast.Store()), ast.Constant(None))]
                if self._temporaries()
                else []
            )
            node.value = ast.copy_location(called(hook, node.value, number, *free), node.value)
        return node

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        node.value = self.visit(node.value)
        if self.live:
            node.value = called("@delegate", node.value, self._site(Kind.READ, "", node))
        return node
