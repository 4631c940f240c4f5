"""Text to abstract syntax, by an LALR parser that builds bottom-up: no depth of nesting overflows it."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from porcini.core.errors import InputError, Place
from porcini.ir import expr as ir
from porcini.ir.expr import Const, Expr, ScalarType
from porcini.langs.par import syntax as ast
from porcini.langs.par.syntax import Expression

DEEPEST_EXPRESSION = 90
"""Python refuses source with 200 nested brackets."""
DEEPEST_STATEMENT = 100
LONGEST_NUMBER = 4000
"""Python refuses to read integers of more than 4,300 digits."""

_OPERATORS = {"≠": "!=", "≤": "<=", "≥": ">=", "−": "-"}
_SPOKEN = {"int": "a number", "bool": "a boolean"}


def _at(token: Token) -> Place:
    return Place(token.line or 1, token.column or 1)


def _typed(node: Expression, wanted: ScalarType) -> Expr:
    """An expression of the type that is wanted here."""
    found = node.expr.type
    if found != wanted:
        hint = "a variable is a number; a test is `x != 0`" if isinstance(node.expr, ir.Var) else None
        message = f"expected {_SPOKEN[wanted]}, found {_SPOKEN[str(found)]}"
        raise InputError(message, place=node.place, hint=hint)
    return node.expr


def _made(place: Place, expr: Expr) -> Expression:
    if expr.depth > DEEPEST_EXPRESSION:
        raise InputError(f"expression nested more than {DEEPEST_EXPRESSION} deep", place=place)
    return Expression(place, expr)


def _bounded(statement: ast.Statement) -> ast.Statement:
    if statement.depth > DEEPEST_STATEMENT:
        raise InputError(f"statement nested more than {DEEPEST_STATEMENT} deep", place=statement.place)
    return statement


@v_args(inline=True)
class _Builder(Transformer[Token, ast.Statement]):
    def program(self, body: ast.Statement) -> ast.Statement:
        return body

    # Statements

    def parallel(self, *parts: ast.Statement) -> ast.Statement:
        return _bounded(ast.composed(ast.Parallel, parts))

    def sequence(self, *parts: ast.Statement | Token) -> ast.Statement:
        statements = (part for part in parts if not isinstance(part, Token))
        return _bounded(ast.composed(ast.Sequence, statements))

    def assign(self, name: Token, sign: Token, value: Expression) -> ast.Statement:
        return ast.Assignment(_at(name), 1, ir.var(str(name), "int"), _typed(value, "int"))

    def skip(self, word: Token) -> ast.Statement:
        return ast.Skip(_at(word))

    def conditional(
        self, word: Token, guard: Expression, _1: Token, then: ast.Statement, _2: Token, other: ast.Statement
    ) -> ast.Statement:
        depth = 1 + max(then.depth, other.depth)
        return _bounded(ast.Conditional(_at(word), depth, _typed(guard, "bool"), then, other))

    def loop(self, word: Token, guard: Expression, brace: Token, body: ast.Statement) -> ast.Statement:
        return _bounded(ast.Loop(_at(word), 1 + body.depth, _typed(guard, "bool"), body))

    # Expressions

    def disjunction(self, *args: Expression) -> Expression:
        return _made(args[0].place, ir.disj(*(_typed(arg, "bool") for arg in args)))

    def conjunction(self, *args: Expression) -> Expression:
        return _made(args[0].place, ir.conj(*(_typed(arg, "bool") for arg in args)))

    def negation(self, word: Token, arg: Expression) -> Expression:
        return _made(_at(word), ir.not_(_typed(arg, "bool")))

    def negative(self, sign: Token, arg: Expression) -> Expression:
        number = _typed(arg, "int")
        return _made(_at(sign), ir.const(-number.value) if isinstance(number, Const) else ir.neg(number))

    def comparison(self, left: Expression, op: Token, right: Expression) -> Expression:
        sign = _OPERATORS.get(op, str(op))
        wanted = left.expr.type if sign in ("==", "!=") else "int"
        assert wanted == "int" or wanted == "bool"
        return _made(left.place, ir.binary(sign, _typed(left, wanted), _typed(right, wanted)))  # type: ignore[arg-type]

    def arithmetic(self, left: Expression, op: Token, right: Expression) -> Expression:
        sign = _OPERATORS.get(op, str(op))
        return _made(left.place, ir.binary(sign, _typed(left, "int"), _typed(right, "int")))  # type: ignore[arg-type]

    def number(self, token: Token) -> Expression:
        if len(token) > LONGEST_NUMBER:
            raise InputError(f"number of {len(token)} digits; the limit is {LONGEST_NUMBER}", place=_at(token))
        return Expression(_at(token), ir.const(int(token)))

    def constant(self, token: Token) -> Expression:
        return Expression(_at(token), ir.const(token.type == "TRUE"))

    def variable(self, name: Token) -> Expression:
        return Expression(_at(name), ir.var(str(name), "int"))

    def parens(self, paren: Token, inner: Expression) -> Expression:
        return Expression(_at(paren), inner.expr)


@cache
def _parser() -> Lark:
    grammar = resources.files(__package__).joinpath("par.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start="program", propagate_positions=True, transformer=_Builder())


def parse(source: str, file: str) -> ast.Statement:
    """Parse a program. Whatever is wrong with the text is an `InputError` with its place."""
    try:
        tree: Any = _parser().parse(source)
    except UnexpectedInput as problem:
        raise _syntax_error(problem, source, file) from None
    except (InputError, VisitError) as problem:
        cause = problem.orig_exc if isinstance(problem, VisitError) else problem
        if isinstance(cause, InputError):
            raise InputError(cause.message, file=file, place=cause.place, source=source, hint=cause.hint) from None
        raise
    assert isinstance(tree, ast.Statement)
    return tree


# What a person would call the tokens that the parser knows by number.
_SPELLED = {
    "_PAR": "||",
    "_ELSE": "else",
    "ASSIGN": ":=",
    "NAME": "a name",
    "NUMBER": "a number",
    "SEMICOLON": ";",
    "RPAR": ")",
    "RBRACE": "}",
    "OPEN": "(",
    "OPEN_BLOCK": "{",
}
_HINTS = {
    "'='": "an assignment is `x := e`, a comparison `==`",
    "'|'": "statements in parallel are `s || s`; or is `or` or `∨`",
    "'&'": "and is `and`, `&&` or `∧`",
    "'/'": "there is no division; a comment is `//`",
    "'%'": "there is no division",
}


def _syntax_error(problem: UnexpectedInput, source: str, file: str) -> InputError:
    if not source.strip():
        return InputError("the file is empty", file=file, hint="a program that does nothing is `skip`")
    place = Place(max(problem.line, 1), max(problem.column, 1))
    if isinstance(problem, UnexpectedCharacters):
        found = problem.char
        found = repr(found) if found.isprintable() else f"character U+{ord(found):04X}"
        return InputError(f"unexpected {found}", file=file, place=place, source=source, hint=_HINTS.get(found))
    assert isinstance(problem, UnexpectedToken)
    token = problem.token
    if token.type == "$END":
        lines = source.rstrip().splitlines()
        place = Place(len(lines), len(lines[-1]) + 1)
        found = "end of file"
    else:
        found = repr(str(token))
    hint = _hint(token, set(problem.accepts or ()))
    return InputError(f"unexpected {found}", file=file, place=place, source=source, hint=hint)


def _hint(token: Token, expected: set[str]) -> str | None:
    if "_ELSE" in expected:
        return "`if` has two branches: `if b {s} {s}`; one that does nothing is `{skip}`"
    if "SKIP" in expected and token.type in ("$END", "RBRACE", "RPAR"):
        return "a statement that does nothing is `skip`"
    if token.type == "_PAR":
        return "`||` is for statements; or is `or` or `∨`"
    wanted = sorted(_SPELLED[name] for name in expected if name in _SPELLED)
    return f"expected {' or '.join(wanted)}" if 0 < len(wanted) <= 4 else None
