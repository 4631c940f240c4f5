"""Text to abstract syntax, by an LALR parser that builds bottom-up: no depth of nesting overflows it."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, cast

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from porcini.core.errors import InputError, Place
from porcini.ir.expr import ArrayType
from porcini.ir.source import DEEPEST
from porcini.langs.gcl import syntax as ast

DEEPEST_STATEMENT = 100
LONGEST_NUMBER = 4000
"""Python refuses to read integers of more than 4,300 digits."""

_OPERATORS = {"≠": "!=", "≤": "<=", "≥": ">=", "−": "-"}


class _TooDeep(Exception):
    def __init__(self, what: str, limit: int, place: Place) -> None:
        super().__init__(f"{what} nested more than {limit} deep")
        self.place = place


def _depth(what: str, limit: int, place: Place, *parts: ast.Node) -> int:
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > limit:
        raise _TooDeep(what, limit, place)
    return depth


def _expression_depth(place: Place, *parts: ast.Node) -> int:
    return _depth("expression", DEEPEST, place, *parts)


def _statement_depth(place: Place, *bodies: ast.Node | ast.Statements) -> int:
    parts = [part for body in bodies for part in (body if isinstance(body, tuple) else (body,))]
    return _depth("statement", DEEPEST_STATEMENT, place, *parts)


def _at(token: Token) -> Place:
    return Place(token.line or 1, token.column or 1)


def _number(token: Token) -> int:
    if len(token) > LONGEST_NUMBER:
        raise InputError(f"number of {len(token)} digits; the limit is {LONGEST_NUMBER}", place=_at(token))
    return int(token)


@v_args(inline=True)
class _Builder(Transformer[Token, ast.Program]):
    # Programs

    def program(self, *parts: Any) -> ast.Program:
        *heads, body = parts
        bindings = tuple(head for head in heads if isinstance(head, ast.Binding))
        procedures = tuple(head for head in heads if isinstance(head, ast.Procedure))
        return ast.Program(bindings, procedures, body)

    def procedure(self, name: Token, brace: Token, body: ast.Statements) -> ast.Procedure:
        return ast.Procedure(_at(name), _statement_depth(_at(name), body), str(name), body)

    def binding(self, name: Token, initial: Any) -> ast.Binding:
        type_, value = initial
        return ast.Binding(_at(name), 1, str(name), type_, value)

    def scalar(self, *tokens: Token) -> tuple[Any, Any]:
        last = tokens[-1]
        if last.type != "NUMBER":
            return "bool", last.type == "TRUE"
        return "int", _number(last) * (-1 if len(tokens) == 2 else 1)

    def array(self, bracket: Token, *cells: tuple[Any, Any]) -> tuple[Any, Any]:
        if not cells:
            raise InputError("an array needs at least one cell", place=_at(bracket))
        if len({type_ for type_, _ in cells}) > 1:
            raise InputError("an array holds numbers or booleans, not both", place=_at(bracket))
        return ArrayType(cells[0][0], len(cells)), tuple(value for _, value in cells)

    def input(self, mark: Token, bool_: Token | None = None) -> tuple[Any, Any]:
        return "bool" if bool_ else "int", None

    def statements(self, *statements: ast.Statement) -> ast.Statements:
        return statements

    # Guarded statements

    def silent(self, word: Token) -> ast.Silent:
        return ast.Silent(_at(word), 1)

    def guarded(self, guard: ast.Expression, body: ast.Simple) -> ast.Guarded:
        return ast.Guarded(guard.place, _statement_depth(guard.place, body), guard, body)

    def choice(self, then: ast.Simple, guard: ast.Expression, other: ast.Simple) -> ast.Conditional:
        depth = _statement_depth(then.place, then, other)
        return ast.Conditional(then.place, depth, guard, then, other)

    def loop(self, guard: ast.Expression, body: ast.Simple) -> ast.Loop:
        return ast.Loop(guard.place, _statement_depth(guard.place, body), guard, body)

    def scope(self, brace: Token, *parts: Any) -> ast.Scope:
        *bindings, body = parts
        return ast.Scope(_at(brace), _statement_depth(_at(brace), body), tuple(bindings), body)

    # Simple statements

    def assign(self, target: ast.Name, sign: Token, value: ast.Expression) -> ast.Assignment:
        return ast.Assignment(target.place, 1, target, value)

    def spawn(self, word: Token, paren: Token, body: ast.Statements) -> ast.SpawnBody:
        return ast.SpawnBody(_at(word), _statement_depth(_at(word), body), body)

    def call(self, name: Token, parens: Token) -> ast.Call:
        return ast.Call(_at(name), 1, str(name))

    def skip(self, word: Token) -> ast.Skip:
        return ast.Skip(_at(word), 1)

    def assertion(self, word: Token, test: ast.Expression) -> ast.Assertion:
        return ast.Assertion(_at(word), 1, test)

    def nested(self, paren: Token, body: ast.Statements) -> ast.Nested:
        return ast.Nested(_at(paren), _statement_depth(_at(paren), body), body)

    # Expressions

    def disjunction(self, *args: ast.Expression) -> ast.Expression:
        return ast.Operation(args[0].place, _expression_depth(args[0].place, *args), "or", args)

    def conjunction(self, *args: ast.Expression) -> ast.Expression:
        return ast.Operation(args[0].place, _expression_depth(args[0].place, *args), "and", args)

    def negation(self, word: Token, arg: ast.Expression) -> ast.Expression:
        return ast.Unary(_at(word), _expression_depth(_at(word), arg), "not", arg)

    def negative(self, sign: Token, arg: ast.Expression) -> ast.Expression:
        if isinstance(arg, ast.Literal) and not isinstance(arg.value, bool):
            return ast.Literal(_at(sign), 1, -arg.value)
        return ast.Unary(_at(sign), _expression_depth(_at(sign), arg), "-", arg)

    def arithmetic(self, left: ast.Expression, op: Token, right: ast.Expression) -> ast.Expression:
        depth = _expression_depth(_at(op), left, right)
        return ast.Operation(left.place, depth, _OPERATORS.get(op, str(op)), (left, right))

    comparison = arithmetic

    def number(self, token: Token) -> ast.Expression:
        return ast.Literal(_at(token), 1, _number(token))

    def constant(self, token: Token) -> ast.Expression:
        return ast.Literal(_at(token), 1, token.type == "TRUE")

    def value(self, name: ast.Name) -> ast.Expression:
        return name

    def parens(self, paren: Token, inner: ast.Expression) -> ast.Expression:
        return inner

    def conditional(
        self, paren: Token, test: ast.Expression, mark: Token, then: ast.Expression, other: ast.Expression
    ) -> ast.Expression:
        """A chain of conditions is one node, so that it may be long."""
        chained = other if isinstance(other, ast.Cases) else None
        cases = ((test, then), *(chained.cases if chained else ()))
        last = chained.other if chained else other
        parts = [part for case in cases for part in case]
        return ast.Cases(_at(paren), _expression_depth(_at(paren), *parts, last), cases, last)

    def lvalue(self, name: Token, bracket: Token | None = None, index: ast.Expression | None = None) -> ast.Name:
        depth = _expression_depth(_at(name), index) if index else 1
        return ast.Name(_at(name), depth, name.strip("`"), index)


_QUOTED = """
%override NAME: /(?!(skip|spawn|assert|proc|and|or|not|[Tt]rue|[Ff]alse)\\b)[^\\W\\d]\\w*|`[^`]+`/
%extend atom: OPEN expr QUESTION expr ":" expr ")" -> conditional
"""
"""Where expressions are not written by authors of GCL, but are formulas: names may stand in backquotes, because
they may be no names of GCL, and there is a conditional."""


@cache
def _parser(quoted: bool = False) -> Lark:
    grammar = resources.files(__package__).joinpath("gcl.lark").read_text(encoding="utf-8")
    return Lark(
        grammar + _QUOTED * quoted,
        parser="lalr",
        start=["program", "expr", "simple"],
        propagate_positions=True,
        transformer=_Builder(),
    )


def parse(source: str, file: str) -> ast.Program:
    """Parse a program. Whatever is wrong with the text is an `InputError` with its place."""
    if not source.strip():
        raise InputError("the file is empty", file=file, hint="a program is its bindings, then a statement")
    try:
        tree = _parser().parse(source, start="program")
        assert isinstance(tree, ast.Program)
        return tree
    except UnexpectedInput as problem:
        raise _syntax_error(problem, source, file) from None
    except (InputError, _TooDeep, VisitError) as problem:
        cause = problem.orig_exc if isinstance(problem, VisitError) else problem
        if isinstance(cause, InputError | _TooDeep):
            raise InputError(str(cause.args[0]), file=file, place=cause.place, source=source) from None
        raise


def parse_expression(text: str, place: Place, *, quoted: bool = False) -> ast.Expression:
    """Parse an expression alone, such as an atom of a formula; `place` is where it begins. If names may be
    `quoted`, what stands in backquotes is one."""
    return cast(ast.Expression, _parse_alone("expr", text, place, quoted))


def parse_simple(text: str, place: Place, *, quoted: bool = False) -> ast.Simple:
    """The same for a statement without a guard."""
    return cast(ast.Simple, _parse_alone("simple", text, place, quoted))


def _parse_alone(start: str, text: str, place: Place, quoted: bool) -> Any:
    try:
        return _parser(quoted).parse(text, start=start)
    except UnexpectedInput as problem:
        found = _syntax_error(problem, text, "")
        raise InputError(found.message, place=place, hint=found.hint) from None
    except (InputError, _TooDeep, VisitError) as problem:
        cause = problem.orig_exc if isinstance(problem, VisitError) else problem
        raise InputError(str(cause.args[0]), place=place) from None


# What a person would call the tokens that the parser knows by number.
_SPELLED = {
    "_MAPSTO": "|->",
    "_LOOP": "|>*",
    "_GUARD": "|>",
    "_ELSE": "<|",
    "ASSIGN": ":=",
    "NAME": "a name",
    "NUMBER": "a number",
    "CALL": "()",
    "SEMICOLON": ";",
    "COMMA": ",",
    "RPAR": ")",
    "RBRACE": "}",
    "RSQB": "]",
    "OPEN": "(",
    "OPEN_ARRAY": "[",
    "OPEN_SCOPE": "{",
}


def _syntax_error(problem: UnexpectedInput, source: str, file: str) -> InputError:
    place = Place(max(problem.line, 1), max(problem.column, 1))
    expected = problem.accepts if isinstance(problem, UnexpectedToken) else None
    if isinstance(problem, UnexpectedCharacters):
        found = problem.char
        found = repr(found) if found.isprintable() else f"character U+{ord(found):04X}"
        return InputError(f"unexpected {found}", file=file, place=place, source=source, hint=_hint(found))
    assert isinstance(problem, UnexpectedToken)
    if problem.token.type == "$END":
        lines = source.rstrip().splitlines()
        place = Place(len(lines), len(lines[-1]) + 1)
        found = "end of file"
    else:
        found = repr(str(problem.token))
    if expected == {"_ELSE"}:
        guard = "a statement needs a guard: `True |> x := 1`"
        return InputError(f"unexpected {found}", file=file, place=place, source=source, hint=guard)
    wanted = sorted(_SPELLED[name] for name in expected or () if name in _SPELLED)
    hint = f"expected {' or '.join(wanted)}" if 0 < len(wanted) <= 4 else None
    return InputError(f"unexpected {found}", file=file, place=place, source=source, hint=_hint(found) or hint)


def _hint(found: str) -> str | None:
    return {
        "'='": "an assignment is `x := e`, a comparison `==`",
        "'|'": "or is `or`, `||` or `∨`",
        "'&'": "and is `and`, `&&` or `∧`",
    }.get(found)
