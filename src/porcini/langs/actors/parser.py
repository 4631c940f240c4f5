"""Text to abstract syntax, by an LALR parser that builds bottom-up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError
from lark.tree import Meta

from porcini.core.errors import InputError, Place
from porcini.langs.actors import syntax as ast

T = TypeVar("T")

OUTSIDE = {
    "delta": "deltas and product lines",
    "product": "deltas and product lines",
    "productline": "deltas and product lines",
    "features": "deltas and product lines",
    "root": "feature models",
    "try": "exceptions",
    "throw": "exceptions",
    "exception": "exceptions",
    "die": "exceptions",
    "duration": "time",
    "stateupdate": "deltas",
    "movecogto": "deployment components",
    "trait": "traits",
    "uses": "traits",
    "now": "time",
    "timeValue": "time",
    "deadline": "time",
    "thisDC": "deployment components",
    "DeploymentComponent": "deployment components",
    "CloudProvider": "deployment components",
    "random": "random numbers",
    "currentms": "time",
    "Time": "time",
    "Duration": "time",
    "DC": "deployment components",
    "original": "deltas",
    "recover": "exceptions",
    "filter": "functions as parameters",
    "foldl": "functions as parameters",
    "foldr": "functions as parameters",
    "Exception": "exceptions",
    "Float": "floating point numbers",
}
"""What ABS has and this subset has not, by the word that gives it away."""


def outside(word: str) -> str | None:
    """What to say about a word of ABS that is not known here."""
    return f"`{word}` is outside the subset of ABS that Porcini runs: {OUTSIDE[word]}" if word in OUTSIDE else None


def _items(children: Sequence[Any], kind: type[T]) -> tuple[T, ...]:
    return tuple(child for child in children if isinstance(child, kind))


def _at(token: Token) -> Place:
    return Place(token.line or 1, token.column or 1)


class _Annotation:
    """Parsed and forgotten."""


class _Args(tuple[Any, ...]):
    """A parenthesised list, told apart from its neighbours by its type."""


@v_args(meta=True)
class _Builder(Transformer[Token, Any]):
    """One method per rule of the grammar."""

    def __default__(self, data: str, children: list[Any], meta: Meta) -> Any:
        raise AssertionError(f"no rule for {data}")

    # Declarations

    def program(self, meta: Meta, parts: list[Any]) -> ast.Program:
        mains = [block for _, block in parts if block is not None]
        if len(mains) > 1:
            raise InputError("a second main block", place=mains[1].place)
        return ast.Program(tuple(d for decls, _ in parts for d in decls), mains[0] if mains else None)

    def module(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[-1]

    def unit(self, meta: Meta, parts: list[Any]) -> Any:
        blocks = _items(parts, ast.Block)
        declared = tuple(p for p in parts if not isinstance(p, ast.Block))
        return declared, blocks[0] if blocks else None

    def decl(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[-1]

    def export(self, meta: Meta, parts: list[Any]) -> _Annotation:
        return _Annotation()

    import_ = names = annotation = remark = export

    def argument(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[-1]

    def qualified(self, meta: Meta, parts: list[Token]) -> Token:
        """The last name; modules are one name space here."""
        return parts[-1].update(value=parts[-1].value) if len(parts) == 1 else parts[-1]

    def synonym(self, meta: Meta, parts: list[Any]) -> ast.Synonym:
        return ast.Synonym(_at(parts[0]), str(parts[0]), parts[1])

    def data(self, meta: Meta, parts: list[Any]) -> ast.Data:
        parameters = next(iter(_items(parts, _Args)), ())
        return ast.Data(_at(parts[0]), str(parts[0]), tuple(parameters), _items(parts, ast.Constructor))

    def constructor(self, meta: Meta, parts: list[Any]) -> ast.Constructor:
        return ast.Constructor(
            _at(parts[0]), str(parts[0]), tuple(t for t, _ in parts[1:]), tuple(name for _, name in parts[1:])
        )

    def slot(self, meta: Meta, parts: list[Any]) -> tuple[ast.Type, str | None]:
        return parts[0], str(parts[1]) if len(parts) > 1 else None

    def parameters(self, meta: Meta, parts: list[Token]) -> _Args:
        return _Args(str(part) for part in parts if part.type == "UNAME")

    def function(self, meta: Meta, parts: list[Any]) -> ast.Function:
        result, name, *rest = parts
        parameters = rest.pop(0) if len(rest) == 3 else ()
        return ast.Function(_at(name), str(name), tuple(parameters), rest[0], result, rest[1])

    def builtin(self, meta: Meta, parts: list[Any]) -> ast.Builtin:
        return ast.Builtin(Place(meta.line, meta.column))

    def interface(self, meta: Meta, parts: list[Any]) -> ast.Interface:
        names = _items(parts, Token)
        return ast.Interface(
            _at(names[0]), str(names[0]), tuple(map(str, names[1:])), _items(parts, ast.Signature)
        )

    def signature(self, meta: Meta, parts: list[Any]) -> ast.Signature:
        result, name, formals = parts[-3:]
        return ast.Signature(_at(name), str(name), formals, result)

    def class_(self, meta: Meta, parts: list[Any]) -> ast.Class:
        formals = next((p for p in parts if type(p) is tuple), ())
        blocks = _items(parts, ast.Block)
        return ast.Class(
            _at(parts[0]),
            str(parts[0]),
            formals,
            tuple(next(iter(_items(parts, _Args)), ())),
            _items(parts, ast.Field),
            blocks[0] if blocks else None,
            _items(parts, ast.Method),
        )

    def implements(self, meta: Meta, parts: list[Token]) -> _Args:
        return _Args(map(str, parts))

    def field(self, meta: Meta, parts: list[Any]) -> ast.Field:
        parts = [p for p in parts if not isinstance(p, _Annotation)]
        return ast.Field(_at(parts[1]), parts[0], str(parts[1]), parts[2] if len(parts) > 2 else None)

    def method(self, meta: Meta, parts: list[Any]) -> ast.Method:
        result, name, formals, body = parts[-4:]
        return ast.Method(_at(name), str(name), formals, result, body)

    def formals(self, meta: Meta, parts: list[Any]) -> tuple[ast.Formal, ...]:
        return tuple(parts)

    def formal(self, meta: Meta, parts: list[Any]) -> ast.Formal:
        return ast.Formal(_at(parts[-1]), parts[-2], str(parts[-1]))

    def type(self, meta: Meta, parts: list[Any]) -> ast.Type:
        return ast.Type(_at(parts[0]), str(parts[0]), _items(parts, ast.Type))

    # Statements

    def block(self, meta: Meta, parts: list[Any]) -> ast.Block:
        return ast.Block(_at(parts[0]), tuple(parts[1:]))

    def stmt(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[-1]

    def declare(self, meta: Meta, parts: list[Any]) -> ast.Declare:
        return ast.Declare(_at(parts[1]), parts[0], str(parts[1]), parts[2] if len(parts) > 2 else None)

    def assign(self, meta: Meta, parts: list[Any]) -> ast.Assign:
        return ast.Assign(parts[0].place, parts[0], parts[2])

    def evaluate(self, meta: Meta, parts: list[Any]) -> ast.Evaluate:
        return ast.Evaluate(parts[0].place, parts[0])

    def do(self, meta: Meta, parts: list[Any]) -> ast.Do:
        return ast.Do(parts[0].place, parts[0])

    def await_(self, meta: Meta, parts: list[Any]) -> ast.Await:
        futures, conditions = parts[1]
        return ast.Await(_at(parts[0]), futures, conditions)

    def guard(self, meta: Meta, parts: list[Any]) -> Any:
        return tuple(e for is_future, e in parts if is_future), tuple(e for is_future, e in parts if not is_future)

    def future(self, meta: Meta, parts: list[Any]) -> Any:
        return True, parts[0]

    def condition(self, meta: Meta, parts: list[Any]) -> Any:
        return False, parts[0]

    def suspend(self, meta: Meta, parts: list[Any]) -> ast.Suspend:
        return ast.Suspend(_at(parts[0]))

    def return_(self, meta: Meta, parts: list[Any]) -> ast.Return:
        return ast.Return(_at(parts[0]), parts[1] if len(parts) > 1 else None)

    def skip(self, meta: Meta, parts: list[Any]) -> ast.Skip:
        return ast.Skip(_at(parts[0]))

    def assert_(self, meta: Meta, parts: list[Any]) -> ast.Assert:
        return ast.Assert(_at(parts[0]), parts[1])

    def if_(self, meta: Meta, parts: list[Any]) -> ast.If:
        place = _at(parts[0])
        other = _block(parts[4]) if len(parts) > 3 else ast.Block(place, ())
        return ast.If(place, parts[1], _block(parts[2]), other)

    def while_(self, meta: Meta, parts: list[Any]) -> ast.While:
        return ast.While(_at(parts[0]), parts[1], _block(parts[2]))

    def foreach(self, meta: Meta, parts: list[Any]) -> ast.Foreach:
        word, *names, _, items, body = parts
        index = str(names[1]) if len(names) > 1 else None
        return ast.Foreach(_at(word), str(names[0]), index, items, _block(body))

    def switch(self, meta: Meta, parts: list[Any]) -> ast.Switch:
        return ast.Switch(_at(parts[0]), parts[1], tuple(parts[2:]))

    def arm(self, meta: Meta, parts: list[Any]) -> tuple[ast.Pattern, ast.Block]:
        return parts[0], _block(parts[2])

    # Effects

    def new(self, meta: Meta, parts: list[Any]) -> ast.New:
        _, *group, name, args = parts
        return ast.New(_at(name), str(name), args, group[0] if group else "")

    def group(self, meta: Meta, parts: list[Token]) -> str:
        return str(parts[0])

    def send(self, meta: Meta, parts: list[Any]) -> ast.Send:
        return ast.Send(_at(parts[1]), parts[0], str(parts[1]), parts[2])

    def call(self, meta: Meta, parts: list[Any]) -> ast.Call:
        return ast.Call(_at(parts[1]), parts[0], str(parts[1]), parts[2])

    def call_this(self, meta: Meta, parts: list[Any]) -> ast.Call:
        return ast.Call(_at(parts[1]), ast.This(_at(parts[0])), str(parts[1]), parts[2])

    def get(self, meta: Meta, parts: list[Any]) -> ast.Get:
        return ast.Get(_at(parts[1]), parts[0])

    def await_call(self, meta: Meta, parts: list[Any]) -> ast.AwaitCall:
        return ast.AwaitCall(_at(parts[0]), ast.Send(_at(parts[2]), parts[1], str(parts[2]), parts[3]))

    # Expressions

    def conditional(self, meta: Meta, parts: list[Any]) -> ast.Conditional:
        return ast.Conditional(_at(parts[0]), parts[1], parts[2], parts[4])

    def case(self, meta: Meta, parts: list[Any]) -> ast.Case:
        return ast.Case(_at(parts[0]), parts[1], parts[2])

    def branches(self, meta: Meta, parts: list[Any]) -> Any:
        return tuple(parts)

    def branch(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[0], parts[2]

    def let(self, meta: Meta, parts: list[Any]) -> ast.Expression:
        word, *bounds, _, body = parts
        for type_, name, value in reversed(bounds):
            body = ast.Let(_at(word), type_, name, value, body)
        return body  # type: ignore[no-any-return]

    def bound(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[0], str(parts[1]), parts[-1]

    def binder(self, meta: Meta, parts: list[Token]) -> ast.Binder:
        return ast.Binder(_at(parts[0]), str(parts[0]))

    def anything(self, meta: Meta, parts: list[Token]) -> ast.Binder:
        return ast.Binder(Place(meta.line, meta.column), None)

    def number_pattern(self, meta: Meta, parts: list[Token]) -> ast.Fixed:
        value = _number(parts[-1])
        return ast.Fixed(_at(parts[0]), -value if len(parts) > 1 else value)

    def string_pattern(self, meta: Meta, parts: list[Token]) -> ast.Fixed:
        return ast.Fixed(_at(parts[0]), _string(parts[0]))

    def constructor_pattern(self, meta: Meta, parts: list[Any]) -> ast.Deconstruct:
        return ast.Deconstruct(_at(parts[0]), str(parts[0]), tuple(parts[1:]))

    def operation(self, meta: Meta, parts: list[Any]) -> ast.Operation:
        left, op, right = parts
        return ast.Operation(_at(op), str(op), (left, right))

    def negation(self, meta: Meta, parts: list[Any]) -> ast.Operation | ast.Number:
        op, arg = parts
        if op == "-" and isinstance(arg, ast.Number):
            return ast.Number(_at(op), -arg.value)
        return ast.Operation(_at(op), "-" if op == "-" else "!", (arg,))

    def number(self, meta: Meta, parts: list[Token]) -> ast.Number:
        return ast.Number(_at(parts[0]), _number(parts[0]))

    def string(self, meta: Meta, parts: list[Token]) -> ast.Text:
        return ast.Text(_at(parts[0]), _string(parts[0]))

    def this(self, meta: Meta, parts: list[Token]) -> ast.This:
        return ast.This(_at(parts[0]))

    def null(self, meta: Meta, parts: list[Token]) -> ast.Null:
        return ast.Null(_at(parts[0]))

    def variable(self, meta: Meta, parts: list[Token]) -> ast.Variable:
        return ast.Variable(_at(parts[0]), str(parts[0]))

    def field_of_this(self, meta: Meta, parts: list[Token]) -> ast.Variable:
        return ast.Variable(_at(parts[1]), str(parts[1]), of_this=True)

    def apply(self, meta: Meta, parts: list[Any]) -> ast.Apply:
        return ast.Apply(_at(parts[0]), str(parts[0]), parts[1])

    def collection(self, meta: Meta, parts: list[Any]) -> ast.Collection:
        return ast.Collection(_at(parts[0]), str(parts[0]), parts[1])

    def construct(self, meta: Meta, parts: list[Any]) -> ast.Construct:
        return ast.Construct(_at(parts[0]), str(parts[0]), parts[1] if len(parts) > 1 else ())

    def args(self, meta: Meta, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)


def _block(statement: ast.Statement) -> ast.Block:
    return statement if isinstance(statement, ast.Block) else ast.Block(statement.place, (statement,))


_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\t": "\t", "\\n": "\n", "\\r": "\r"}


def _string(token: Token) -> str:
    def escaped(found: re.Match[str]) -> str:
        if found[0] not in _ESCAPES:
            raise InputError(f"unknown escape `{found[0]}` in a string", place=_at(token))
        return _ESCAPES[found[0]]

    return re.sub(r"\\.", escaped, str(token)[1:-1], flags=re.DOTALL)


_MOST_DIGITS = 1000


def _number(token: Token) -> int:
    if len(token) > _MOST_DIGITS:
        raise InputError(f"a number of {len(token)} digits", place=_at(token), hint=f"at most {_MOST_DIGITS}")
    return int(token)


@cache
def _parser() -> Lark:
    grammar = resources.files(__package__).joinpath("abs.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start="program", propagate_positions=True, maybe_placeholders=False)


def parse(source: str, file: str) -> ast.Program:
    """Parse a program. Whatever is wrong with the text is an `InputError` with its place."""
    if not source.strip():
        raise InputError("the file is empty", file=file, hint="a program is its declarations, then a main block")
    try:
        program = _Builder().transform(_parser().parse(source))
        assert isinstance(program, ast.Program)
        return program
    except UnexpectedInput as problem:
        raise _syntax_error(problem, source, file) from None
    except (InputError, VisitError) as problem:
        cause = problem.orig_exc if isinstance(problem, VisitError) else problem
        if isinstance(cause, InputError):
            message = str(cause.args[0])
            raise InputError(message, file=file, place=cause.place, source=source, hint=cause.hint) from None
        if isinstance(cause, RecursionError):
            raise InputError("nested too deep", file=file) from None
        raise
    except RecursionError:
        raise InputError("nested too deep", file=file) from None


_OPERATORS = frozenset("+-*/%<>") | {"==", "!=", "<=", ">=", "&&", "||"}


def _syntax_error(problem: UnexpectedInput, source: str, file: str) -> InputError:
    place = Place(max(problem.line, 1), max(problem.column, 1))
    if isinstance(problem, UnexpectedCharacters):
        found = problem.char
        text = repr(found) if found.isprintable() else f"character U+{ord(found):04X}"
        rest = source.split("\n")[place.line - 1][place.column - 1 :]
        hint = None
        if rest.startswith(('"', "/*")):
            text = "text that is not closed" if found == '"' else "comment that is not closed"
        elif rest.startswith(":="):
            hint = "an assignment is `x = e`"
        return InputError(f"unexpected {text}", file=file, place=place, source=source, hint=hint)
    assert isinstance(problem, UnexpectedToken)
    word = str(problem.token)
    if problem.token.type == "$END":
        lines = source.rstrip().splitlines()
        return InputError(
            "unexpected end of file", file=file, place=Place(len(lines), len(lines[-1]) + 1), source=source
        )
    previous = str(problem.token_history[-1]) if problem.token_history else ""
    for clue, place_of in ((word, problem.token), (previous, problem.token_history and problem.token_history[-1])):
        message = outside(clue)
        if message and isinstance(place_of, Token):
            return InputError(message, file=file, place=_at(place_of), source=source)
    hint = {
        "!": "a call is a statement or the right-hand side of one: `Fut<T> f = o!m();`",
        ".": "a synchronous call or `.get` is a statement or the right-hand side of one",
        ":": "an assignment is `x = e`",
    }.get(word)
    if word in _OPERATORS and previous in ("get", ")"):
        hint = "a call or `.get` stands alone on its right-hand side"
    elif problem.token.type == "NUMBER" and previous == ".":
        hint = "numbers with a decimal point are outside the subset"
    return InputError(f"unexpected {word!r}", file=file, place=place, source=source, hint=hint)
