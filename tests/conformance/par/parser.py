"""A reader of the text of the parallel language, by docs/par.md: it gives the judge's trees."""

from __future__ import annotations

from conformance.expressions import Var
from conformance.par import program as par
from conformance.reading import Misread, Reader


def parse(text: str) -> par.Program:
    reader = _ParReader(text)
    program = par.Program(reader.parallel())
    if reader.ahead():
        raise Misread(f"{reader.ahead()} is left over")
    return program


class _ParReader(Reader):
    def parallel(self) -> par.Block:
        branches = [self.sequence()]
        while self.accept("||"):
            branches.append(self.sequence())
        return (par.Parallel(tuple(branches)),) if len(branches) > 1 else branches[0]

    def sequence(self) -> par.Block:
        statements = list(self.statement())
        while self.accept(";"):
            statements += self.statement()
        return tuple(statements)

    def statement(self) -> par.Block:
        if self.accept("skip"):
            return (par.Skip(),)
        if self.accept("("):
            block = self.parallel()
            self.expect(")")
            return block
        if self.accept("if"):
            condition, then = self.expression(), self.braced()
            self.accept("else")
            return (par.If(condition, then, self.braced()),)
        if self.accept("while"):
            return (par.While(self.expression(), self.braced()),)
        target = Var(self.name())
        self.expect(":=")
        return (par.Assign(target, self.expression()),)

    def braced(self) -> par.Block:
        self.expect("{")
        block = self.parallel()
        self.expect("}")
        return block
