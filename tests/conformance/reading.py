"""A reader of program text: tokens, and the expressions that GCL and P3's language share.

Written by hand from the pages of the two languages, so that it shares nothing with the parsers under test.
"""

from __future__ import annotations

import re

from conformance.expressions import LEVELS, Binary, Cell, Const, Expression, Unary, Var

_TOKEN = re.compile(
    r"\s+|//[^\n]*|(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\|->|\|>\*|\|>|<\||:=|==|!=|<=|>=|&&|\|\||[-+*/%<>!=()\[\]{},;?])"
)
_UNICODE = {"↦": "|->", "▷*": "|>*", "▷": "|>", "◁": "<|", "¬": "!", "∧": "&&", "∨": " or ", "∥": "||"}
_UNICODE |= {"≤": "<=", "≥": ">=", "≠": "!="}
_SPELLINGS = {"!": "not", "&&": "and", "True": "true", "False": "false"}


class Misread(Exception):
    """The text is not a program, or the reader is wrong about it."""


class Reader:
    """The tokens of a text, and a place among them."""

    def __init__(self, text: str, *, or_sign: str | None = None) -> None:
        for symbol, ascii_text in _UNICODE.items():
            text = text.replace(symbol, ascii_text)
        self.tokens: list[str] = []
        self.place = 0
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise Misread(text[at : at + 20])
            at = found.end()
            if found.lastgroup:
                token = found[0]
                self.tokens.append("or" if token == or_sign else _SPELLINGS.get(token, token))

    def ahead(self, distance: int = 0) -> str:
        """A token that comes next; an empty one at the end."""
        place = self.place + distance
        return self.tokens[place] if place < len(self.tokens) else ""

    def accept(self, token: str) -> bool:
        if self.ahead() != token:
            return False
        self.place += 1
        return True

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise Misread(f"{token} expected before {' '.join(self.tokens[self.place : self.place + 8])}")

    def take(self) -> str:
        self.place += 1
        return self.ahead(-1)

    def name(self) -> str:
        if not re.fullmatch(r"[A-Za-z_]\w*", self.ahead()):
            raise Misread(f"a name expected before {' '.join(self.tokens[self.place : self.place + 8])}")
        return self.take()

    def expression(self, level: int = LEVELS["or"]) -> Expression:
        """An expression whose operators bind at least as tightly as `level`."""
        if level <= LEVELS["not"] and self.accept("not"):
            found: Expression = Unary("not", self.expression(LEVELS["not"]))
        else:
            found = self._operand()
        while LEVELS.get(self.ahead(), 0) >= level:
            name = self.take()
            found = Binary(name, found, self.expression(LEVELS[name] + 1))
        return found

    def _operand(self) -> Expression:
        if self.accept("("):
            found = self.expression()
            self.expect(")")
            return found
        if self.accept("-"):
            return Unary("-", self._operand())
        if self.ahead() in ("true", "false"):
            return Const(self.take() == "true")
        if self.ahead().isdigit():
            return Const(int(self.take()))
        name = self.name()
        if not self.accept("["):
            return Var(name)
        index = self.expression()
        self.expect("]")
        return Cell(name, index)
