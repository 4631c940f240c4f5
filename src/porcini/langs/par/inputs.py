"""Which variables are inputs: those that may be read before they are written.

A write comes surely before a read if it does so in program order: earlier in the same sequence, before the `||`
that started the reader, in both branches of an `if`, or in any branch of a `||` that has ended.
"""

from __future__ import annotations

from porcini.ir.expr import Expr, Var, nodes
from porcini.ir.program import Variable
from porcini.langs.par import syntax as ast

Written = frozenset[Var]


def variables_of(program: ast.Statement) -> tuple[Variable, ...]:
    """The variables in the order of the text: inputs have no value, the others start at 0."""
    looked = _Looking()
    looked.through(program, frozenset())
    return tuple(Variable(v.name, "int", None if is_input else 0) for v, is_input in looked.inputs.items())


class _Looking:
    def __init__(self) -> None:
        self.inputs: dict[Var, bool] = {}

    def through(self, statement: ast.Statement, written: Written) -> Written:
        """What has surely been written after a statement, given what had been before it."""
        match statement:
            case ast.Skip():
                return written
            case ast.Assignment(target=target, value=value):
                self.inputs.setdefault(target, False)
                self._read(value, written)
                return written | {target}
            case ast.Conditional(guard=guard, then=then, other=other):
                self._read(guard, written)
                return self.through(then, written) & self.through(other, written)
            case ast.Loop(guard=guard, body=body):
                self._read(guard, written)
                self.through(body, written)
                return written
            case ast.Sequence(parts=parts):
                for part in parts:
                    written = self.through(part, written)
                return written
            case ast.Parallel(parts=parts):
                return written.union(*[self.through(part, written) for part in parts])

    def _read(self, expr: Expr, written: Written) -> None:
        for node in nodes(expr):
            if isinstance(node, Var):
                self.inputs[node] = self.inputs.get(node, False) or node not in written
