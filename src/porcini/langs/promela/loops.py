"""Loops that stand for others: `for`, and `select`, written with `do` as SPIN writes them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count

from porcini.ir.program import Template
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.expressions import Expressions, World
from porcini.langs.promela.names import Record, Scope, problem


@dataclass(frozen=True, slots=True)
class Loops:
    """Rewrites the loops of one process, which may get variables by it."""

    world: World
    template: Template
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def expand_for(self, loop: ast.For, scope: Scope) -> ast.Statement:
        """As SPIN has it: `i = low; do :: i <= high -> body; i++ :: else -> break od`."""
        at = loop.place
        if loop.array is not None:
            symbol = Expressions(self.world, scope).declared(loop.array)
            if symbol is not None and symbol.channel and isinstance(scope.find(loop.variable.name), Record):
                return self._over_messages(loop, loop.array, scope)
            if symbol is None or not symbol.sizes:
                raise problem(f"`{loop.array.name}` is not an array", loop.array.place)
            low: ast.Expr = ast.Number(at, 0)
            high: ast.Expr = ast.Number(at, symbol.sizes[-1] - 1)
        else:
            assert loop.low is not None and loop.high is not None
            low, high = loop.low, loop.high
        test = ast.Binary(at, "<=", loop.variable, high)
        return _counting(loop.variable, low, test, loop.body.statements)

    def _over_messages(self, loop: ast.For, channel: ast.Ref, scope: Scope) -> ast.Statement:
        """`for (m in c)`: each message is received and sent again, as often as there are messages."""
        at, name = loop.place, f"for#{next(self._numbers)}"
        scope.names[name], made = self.world.types.declare(ast.Variable(at, "byte", name), local=True)
        self.template.variables += made
        counter = ast.Ref(at, name)
        test = ast.Binary(at, "<", counter, ast.Asked(at, "len", channel))
        rotate = (ast.Receive(at, channel, (loop.variable,)), ast.Send(at, channel, (loop.variable,)))
        return _counting(counter, ast.Number(at, 0), test, (*rotate, *loop.body.statements))

    def move_label(self, statement: ast.Labelled, scope: Scope) -> ast.Statement | None:
        """A label on a `for` or a `select`: in SPIN it is on the loop, after its first step."""
        match statement.body:
            case ast.For() as loop:
                made = self.expand_for(loop, scope)
            case ast.Select() as select:
                made = expand_select(select)
            case ast.Labelled() as inner:
                made = self.move_label(inner, scope) or inner
            case _:
                return None
        if not isinstance(made, ast.Block):
            return None
        first, loop_ = made.statements
        return replace(made, statements=(first, replace(statement, body=loop_)))


def _counting(counter: ast.Ref, low: ast.Expr, test: ast.Expr, body: tuple[ast.Statement, ...]) -> ast.Statement:
    at = counter.place
    onward = ast.Assign(at, counter, ast.Binary(at, "+", counter, ast.Number(at, 1)))
    again = ast.Block(at, (ast.Condition(at, test), *body, onward))
    stop = ast.Block(at, (ast.Else(at), ast.Break(at)))
    return ast.Block(at, (ast.Assign(at, counter, low), ast.Choose(at, (again, stop), True, True)))


def expand_select(select: ast.Select) -> ast.Block:
    """A loop that counts up. To stop is its first option, which is the one that a `d_step` takes. (Numbers as they
    stand were replaced before: `inlines`.)"""
    at, variable = select.place, select.variable
    one = ast.Number(at, 1)
    test = ast.Condition(at, ast.Binary(at, "<", variable, select.high))
    onward = ast.Assign(at, variable, ast.Binary(at, "+", variable, one))
    choose = ast.Choose(at, (ast.Block(at, (ast.Break(at),)), ast.Block(at, (test, onward))), True)
    return ast.Block(at, (ast.Assign(at, variable, select.low), choose))
