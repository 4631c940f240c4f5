"""May a step of a program fail? What is not known to have a value may have none.

A search that looks for failures takes care that nothing is left out for ever (`engines.graph`), and need not where
nothing can fail: so this must never say no where a step can fail.
"""

from __future__ import annotations

from collections.abc import Mapping

from porcini.ir.expr import Checked, Const, Expr, OfChannel, Peek, Poll, Select, Var, is_partial, nodes
from porcini.ir.operations import Assert, Receive, Send, Spawn, Target, variable_of
from porcini.ir.program import Edge, Program, Template, Variable, expressions, targets_of


class Failing:
    """The edges of one template."""

    def __init__(self, program: Program, template: Template, declared: Mapping[Var, Variable]) -> None:
        self.template, self.declared = template, declared
        channels = [*program.channels, *(each for kind in program.templates for each in kind.channels)]
        self._meets = any(channel.capacity == 0 for channel in channels)
        self._own = {(var.name, cell) for var, cell in template.channel_cells}

    def template_may_fail(self) -> bool:
        return self._expr(self.template.provided) or any(map(self._edge, self.template.edges))

    def _edge(self, edge: Edge) -> bool:
        """May an edge stop its process? By an assertion, an index, a division, a channel, one process too many."""
        if any(isinstance(op, Assert | Spawn) for op in edge.block) or edge.d_step:
            return True
        if any(map(self._expr, expressions(edge))) or any(map(self._cell, targets_of(edge))):
            return True
        if edge.talk is None:
            return False
        if isinstance(edge.talk, Send) and edge.talk.in_d_step:
            return True
        if isinstance(edge.talk, Receive) and edge.talk.keep and self._meets:
            return True
        return not self._is_there(edge.talk.channel)

    def _expr(self, expr: Expr) -> bool:
        """May an expression have no value?"""
        return any(map(self._node, nodes(expr)))

    def _node(self, node: Expr) -> bool:
        match node:
            case Select():
                return self._cell(node)
            case Peek(variable=variable, index=index):
                return index is not None and not _within(index, self.declared[variable])
            case OfChannel(channel=channel):
                return not self._is_there(channel)
            case Poll(channel=channel):
                return self._meets or not self._is_there(channel)
            case Checked():
                return True
            case _:
                return is_partial(node)

    def _cell(self, cell: Target) -> bool:
        """May it be a cell that is not there?"""
        if not isinstance(cell, Select):
            return False
        return not _within(cell.index, self.declared[variable_of(cell)]) or self._expr(cell.index)

    def _is_there(self, channel: Expr) -> bool:
        """Is it a channel for sure: a variable that had one from the start, and that nobody assigns to?"""
        if not isinstance(channel, Var | Select):
            return False
        var = self.declared[variable_of(channel)]
        if not var.constant:
            return False
        if var.local:
            return all((var.name, cell) in self._own for cell in range(var.size))
        return all(var.initial)


def _within(index: Expr, var: Variable) -> bool:
    return isinstance(index, Const) and 0 <= index.value < var.size


def may_fail(program: Program, declared: Mapping[Var, Variable]) -> bool:
    return any(Failing(program, template, declared).template_may_fail() for template in program.templates)
