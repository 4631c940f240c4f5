"""A reader of GCL text, by the grammar in docs/design.md: it gives the judge's trees."""

from __future__ import annotations

from conformance.expressions import Cell, Const, Value, Var
from conformance.gcl import tree as gcl
from conformance.gcl.program import Program
from conformance.reading import Misread, Reader


def parse(text: str) -> Program:
    """Read a program. Inputs are 1 or true."""
    reader = _GclReader(text, or_sign="||")
    program = reader.program()
    if reader.ahead():
        raise Misread(f"{reader.ahead()} is left over")
    return program


class _GclReader(Reader):
    def program(self) -> Program:
        bindings = self.bindings()
        procedures = []
        while self.ahead() == "proc":
            self.take()
            name = self.name()
            self.expect("{")
            procedures.append(gcl.Procedure(name, self.block()))
            self.expect("}")
        return Program(bindings, tuple(procedures), self.block())

    def bindings(self) -> tuple[gcl.Binding, ...]:
        found = []
        while self.ahead(1) == "|->":
            name = self.name()
            self.expect("|->")
            if self.accept("?"):
                found.append(gcl.Binding(name, True if self.accept("bool") else 1, is_input=True))
            else:
                found.append(gcl.Binding(name, self.value()))
            self.expect(",")
        return tuple(found)

    def value(self) -> Value:
        if not self.accept("["):
            negative = self.accept("-")
            literal = self.expression()
            assert isinstance(literal, Const)
            return -literal.number if negative else literal.number
        values = [self.value()]
        while self.accept(","):
            values.append(self.value())
        self.expect("]")
        return tuple(values)

    def block(self) -> gcl.Block:
        statements = [self.statement()]
        while self.accept(";"):
            statements.append(self.statement())
        return tuple(statements)

    def statement(self) -> gcl.Statement:
        if self.accept("{"):
            scope = gcl.Scope(self.bindings(), self.block())
            self.expect("}")
            return scope
        if self.ahead() == "skip" and self.ahead(1) != "<|":
            self.take()
            return gcl.Skip()
        start = self.place
        try:
            return self.guarded()
        except Misread:  # a parenthesis may begin an expression, or a statement
            self.place = start
            return self.choice()

    def guarded(self) -> gcl.Statement:
        condition = self.expression()
        if self.accept("|>*"):
            return gcl.While(condition, self.action())
        self.expect("|>")
        return gcl.When(condition, self.action())

    def choice(self) -> gcl.Statement:
        then = self.action()
        self.expect("<|")
        condition = self.expression()
        self.expect("|>")
        return gcl.Choose(then, condition, self.action())

    def action(self) -> gcl.Action:
        if self.accept("skip"):
            return gcl.Skip()
        if self.accept("assert"):
            return gcl.Assert(self.expression())
        if self.accept("("):
            return gcl.Nested(self.closed_block())
        if self.ahead() == "spawn" and self.ahead(1) == "(":
            self.place += 2
            return gcl.Spawn(self.closed_block())
        if self.ahead(1) == "(":
            name = self.name()
            self.expect("(")
            self.expect(")")
            return gcl.Call(name)
        target = self.expression()
        if not isinstance(target, Var | Cell):
            raise Misread("a variable or a cell expected")
        self.expect(":=")
        return gcl.Assign(target, self.expression())

    def closed_block(self) -> gcl.Block:
        block = self.block()
        self.expect(")")
        return block
