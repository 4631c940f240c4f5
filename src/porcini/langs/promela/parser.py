"""Text to abstract syntax, by an LALR parser over the words that are left when macros and inlines are expanded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedToken, VisitError
from lark.lexer import Lexer

from porcini.core.errors import InputError, Place
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.builder import Builder, check_depth
from porcini.langs.promela.inlines import PROCTYPE, Inlines, tokens
from porcini.langs.promela.preprocess import Preprocessor
from porcini.langs.promela.words import Word, wrong
from porcini.langs.promela.words import words as split


class _Ready(Lexer):
    """The words are tokens already."""

    def __init__(self, conf: Any) -> None:
        pass

    def lex(self, data: Any) -> Iterator[Token]:  # type: ignore[override]
        yield from data


@cache
def _parser() -> Lark:
    grammar = resources.files(__package__).joinpath("promela.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, parser="lalr", lexer=_Ready, start=["program", "expression"], propagate_positions=True,
        maybe_placeholders=False,
    )  # fmt: skip


def parse(
    source: str,
    file: str = "<text>",
    include: Callable[[str], str] | None = None,
    defines: Mapping[str, str] | None = None,
) -> ast.Program:
    """Parse a program. Whatever is wrong with the text is an `InputError` with its place; `defines` are macros."""
    if not source.strip():
        raise InputError("the file is empty", file=file, hint="a program is its proctypes, or an `init`")
    try:
        preprocessor = preprocessed(source, include, defines)
        asked = frozenset(label.text for at, label in pairwise(preprocessor.out) if at.text == "@")
        inlines = Inlines(preprocessor)
        stream = inlines.top(preprocessor.out)
        proctypes = {word.text for before, word in pairwise(stream) if before.text in PROCTYPE}
        program = _build(stream, proctypes, "program", source)
        assert isinstance(program, ast.Program)
        return replace(
            program,
            formulas=tuple(inlines.formulas),
            independent=tuple(preprocessor.independent),
            asked_labels=asked,
            words=frozenset(word.text for word in preprocessor.out),
        )
    except InputError as problem:
        raise InputError(
            problem.message, file=file, place=problem.place, source=source, hint=problem.hint
        ) from None


def preprocessed(
    source: str, include: Callable[[str], str] | None = None, defines: Mapping[str, str] | None = None
) -> Preprocessor:
    """A program without its macros and includes: the words that are left are the preprocessor's `out`."""
    preprocessor = Preprocessor(include)
    for name, value in (defines or {}).items():
        preprocessor.file(f"#define {name} {value}")
    preprocessor.file(source)
    return preprocessor


def parse_expression(
    text: str, place: Place, mtypes: Iterable[str] = (), proctypes: Iterable[str] | None = None
) -> ast.Expr:
    """Parse an expression alone, such as an atom of a formula; `place` is where its text begins.

    `mtypes` makes no difference, as their names stay references. Without `proctypes`, `p:x` is taken for a
    remote reference wherever it can be one.
    """
    stream = [
        word._replace(place=_moved(word.place, place))
        for word in split(text)
        if word.kind not in ("NEWLINE", "NOTE")
    ]
    if not stream:
        raise InputError("an expression is missing", place=place)
    result: ast.Expr = _build(stream, None if proctypes is None else frozenset(proctypes), "expression", None)
    return result


def _moved(place: Place, base: Place) -> Place:
    column = place.column + base.column - 1 if place.line == 1 else place.column
    return Place(place.line + base.line - 1, column)


def _build(stream: list[Word], proctypes: Collection[str] | None, start: str, source: str | None) -> Any:
    ready: Any = tokens(stream, proctypes, alone=start == "expression")
    try:
        result = Builder(visit_tokens=False).transform(_parser().parse(ready, start=start))
        check_depth(result)
        return result
    except UnexpectedToken as problem:
        raise _syntax_error(problem, stream, source) from None
    except (InputError, VisitError) as problem:
        cause = problem.orig_exc if isinstance(problem, VisitError) else problem
        if not isinstance(cause, InputError):
            raise
        origin = next((w.origin for w in stream if w.origin and w.place == cause.place), "")
        if origin and "(in the included" not in cause.message:
            message = f"{cause.message} (in the included {origin.rsplit(':', 1)[0]})"
            raise InputError(message, place=cause.place, hint=cause.hint) from None
        raise cause from None


def _syntax_error(problem: UnexpectedToken, stream: list[Word], source: str | None) -> InputError:
    if problem.token.type == "$END":
        if source is None:
            last = stream[-1]
            return wrong(last, f"syntax error, the expression ends after {last.text!r}")
        lines = source.rstrip().splitlines()
        hint = "is a `}` missing?" if "RBRACE" in problem.accepts or "SEP" in problem.accepts else None
        return InputError(
            "syntax error, saw the end of the file", place=Place(len(lines), len(lines[-1]) + 1), hint=hint
        )
    at = problem.token.start_pos or 0
    word, before = stream[at], stream[at - 1] if at else None
    dangling = at > 1 and stream[at - 2].text in _WANTING
    return wrong(word, f"syntax error, saw {_shown(word)}", _hint(word, before, problem.accepts, dangling))


_WANTING = frozenset("+ - * / % << >> < <= > >= == != & ^ | && || ! ~ = ? ?? !! ,".split())  # noqa: SIM905
"""After these, something must come."""


def _shown(word: Word) -> str:
    return word.text if word.kind in ("STRING", "CHAR") else f"'{word.text}'"


def _hint(word: Word, before: Word | None, accepts: Collection[str], dangling: bool) -> str | None:
    if word.text == "(" and before is not None and before.kind == "NAME":
        return f"no inline `{before.text}` is known here" if before.text.isidentifier() else None
    if word.text == "}" and before is not None and before.text in ("{", ";", "->") and not dangling:
        return "a block needs a statement, such as `skip`"
    if word.text == "=" and "EQUAL" in accepts:
        return "a comparison is `==`"
    if word.text == "!!" and "BANG" in accepts:
        return "`!!` is a sorted send; write `! !`"
    if word.text in ("inline", "ltl"):
        return f"`{word.text}` stands outside proctypes"
    if "SEP" in accepts and (word.kind != "OP" or word.text == "{"):
        return "is a `;` missing before it?"
    return None
