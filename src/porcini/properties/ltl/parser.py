"""Reads formulas: the symbols of SPIN, the usual letters, words, and the symbols of the papers.

From the loosest: `<->`; `->`, to the right; `||`; `&&`; `U W V R M`, to the left; `! X [] <>`. So `a U b U c` is
`(a U b) U c`, as SPIN and NuSMV read it (Spot reads `a U (b U c)`). With `spin`, all is as in SPIN's `ltl` blocks:
`->` and `<->` bind alike and to the left; letters and words that SPIN does not reserve are names; `!x == 1` is one
atom, for Promela's `!` binds tighter than `==`.

An atom is what stands between these operators: text of the host language, of which only words, numbers, strings,
brackets and signs are known here. A parenthesis belongs to an atom if it comes after part of one (`len(q) < 2`) or
if the atom goes on behind it (`(x + 1) * 2 == y`); otherwise it groups formulas. A name that is reserved here is
the host's after one of its operators, or before one that cannot begin an operand: `x == F`, `F == x`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

from porcini.core.errors import InputError, Place
from porcini.properties.ltl.formula import (
    FALSE,
    TRUE,
    And,
    Atom,
    Formula,
    Next,
    Not,
    Or,
    Release,
    Until,
    always,
    eventually,
    iff,
    implies,
    parts,
    strong_release,
    weak_until,
)

_CONSTANTS = {"true": TRUE, "false": FALSE, "True": TRUE, "False": FALSE}

_UNARY: dict[str, Callable[[Formula], Formula]] = {
    **dict.fromkeys(("!", "¬", "not"), Not),
    **dict.fromkeys(("X", "○", "◯", "next"), Next),
    **dict.fromkeys(("[]", "G", "□", "◻", "always"), always),
    **dict.fromkeys(("<>", "F", "◇", "◊", "♢", "eventually"), eventually),
    "GF": lambda p: always(eventually(p)),
    "FG": lambda p: eventually(always(p)),
}

_IFF, _IMPLIES, _OR, _AND, _UNTIL = range(5)

_BINARY: dict[str, tuple[int, Callable[[Formula, Formula], Formula]]] = {
    **dict.fromkeys(("<->", "↔", "⇔", "equivalent"), (_IFF, iff)),
    **dict.fromkeys(("->", "→", "⇒", "implies"), (_IMPLIES, implies)),
    **dict.fromkeys(("||", "\\/", "∨", "or"), (_OR, Or)),
    **dict.fromkeys(("&&", "/\\", "∧", "and"), (_AND, And)),
    **dict.fromkeys(("U", "until", "stronguntil"), (_UNTIL, Until)),
    **dict.fromkeys(("W", "weakuntil"), (_UNTIL, weak_until)),
    **dict.fromkeys(("V", "R", "release"), (_UNTIL, Release)),
    "M": (_UNTIL, strong_release),
}

_NOT_IN_SPIN = {"G", "F", "GF", "FG", "R", "M", "not", "and", "or", "True", "False"}
_NEGATIONS = ("!", "¬", "not")
_TEMPORAL_SIGNS = ("[]", "<>", "□", "◻", "◇", "◊", "♢", "○", "◯")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_MAY_BEGIN = {"-", "+", "~", "(", "[", "{"}
"""Signs of the host language that can begin an operand, so that a name before them may be an operator."""

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<word>[^\W\d]\w*)
      | (?P<literal>\d+(?:\.\d+)?\w*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)'|'\w[\w-]*)
      | (?P<sign><->|\[\]|<>|->|&&|\|\||/\\|\\/|<<|>>|<=|>=|==|!=|::|\.\.|.)""",
    re.VERBOSE | re.DOTALL,
)

_DEEPEST, _LARGEST = 100, 5000


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # word, literal, sign, end
    text: str
    at: int  # where it begins in the text
    end: int


def parse(
    text: str,
    *,
    file: str | None = None,
    start: Place | None = None,
    source: str | None = None,
    spin: bool = False,
) -> Formula:
    """Parse a formula. If the text is part of a file, `start` is the place at which it begins there, and `source`
    is the whole file.
    """
    return _Parser(text, file, start or Place(1, 1), text if source is None else source, spin).formula()


class _Parser:
    def __init__(self, text: str, file: str | None, start: Place, source: str, spin: bool) -> None:
        self._text, self._file, self._start, self._source, self._spin = text, file, start, source, spin
        self._tokens: list[_Token] = []
        for found in _TOKEN.finditer(text):
            if found.lastgroup != "space":
                self._tokens.append(_Token(found.lastgroup or "", found.group(), found.start(), found.end()))
        self._tokens.append(_Token("end", "", len(text), len(text)))
        self._next = 0
        self._depth = 0
        unknown = _NOT_IN_SPIN if spin else set()
        self._constants = {word: value for word, value in _CONSTANTS.items() if word not in unknown}
        self._unary = {word: make for word, make in _UNARY.items() if word not in unknown}
        self._binary = {word: make for word, make in _BINARY.items() if word not in unknown}
        if spin:
            alike = {word: (_IFF, make) for word, (level, make) in _BINARY.items() if level == _IMPLIES}
            self._binary.update(alike)

    def formula(self) -> Formula:
        made = self._level(_IFF)
        token = self._tokens[self._next]
        if token.kind != "end":
            if token.text in (")", "]", "}"):
                self._fail(f"this {token.text!r} closes nothing", token)
            self._fail(f"expected an operator, found {token.text!r}", token)
        self._check_size(made)
        return made

    # Formulas

    def _level(self, loosest: int) -> Formula:
        left = self._operand()
        while (token := self._tokens[self._next]).text in self._binary:
            level, make = self._binary[token.text]
            if level < loosest:
                break
            self._next += 1
            to_the_right = level == _IMPLIES
            left = make(left, self._nested(level if to_the_right else level + 1))
        return left

    def _operand(self) -> Formula:
        token = self._tokens[self._next]
        after = self._tokens[min(self._next + 1, len(self._tokens) - 1)]
        before_sign = after.kind == "sign" and self._goes_on(after) and after.text not in _MAY_BEGIN
        is_name = token.kind == "word" and before_sign
        if token.text in self._unary and not is_name:
            if self._spin and token.text == "!" and self._is_comparison():
                return self._atom()
            self._next += 1
            return self._unary[token.text](self._nested(None))
        if token.text in self._constants and not self._goes_on(after):
            self._next += 1
            return self._constants[token.text]
        if token.text == "(":
            closing = self._closing(self._next)
            if not self._goes_on(self._tokens[closing + 1]):
                self._next += 1
                made = self._nested(_IFF)
                if self._next != closing:
                    found = self._tokens[self._next]
                    self._fail(f"expected an operator, found {found.text!r}", found)
                self._next += 1
                return made
        if token.text in self._binary and not is_name:
            self._fail(f"expected a formula, found {token.text!r}", token)
        return self._atom()

    def _nested(self, level: int | None) -> Formula:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail("the formula is nested too deeply", self._tokens[self._next])
        made = self._operand() if level is None else self._level(level)
        self._depth -= 1
        return made

    # Atoms

    def _reserved(self, token: _Token) -> bool:
        return token.text in self._unary or token.text in self._binary

    def _goes_on(self, token: _Token) -> bool:
        """Does this token continue an atom that has begun?"""
        return token.kind != "end" and token.text not in (")", "]", "}", ",", ";") and not self._reserved(token)

    def _is_comparison(self) -> bool:
        """Is the `!` here followed by an expression with an operator of the host language in it?"""
        at = self._next
        while self._tokens[at].text == "!":
            at += 1
        end = self._atom_end(at)
        if self._tokens[at].text == "(" and not self._goes_on(self._tokens[self._closing(at) + 1]):
            return False
        depth = 0
        for token in self._tokens[at:end]:
            depth += (token.text in _CLOSING) - (token.text in _CLOSING.values())
            if depth == 0 and token.kind == "sign" and token.text not in (")", "]", "}", ".", "@", ":"):
                return True
        return False

    def _atom(self) -> Formula:
        first, end = self._next, self._atom_end(self._next)
        if end == first:
            token = self._tokens[first]
            self._fail(f"expected a formula, found {token.text!r}" if token.text else "expected a formula", token)
        pieces = self._tokens[first:end]
        for token in pieces:
            if token.text in _TEMPORAL_SIGNS:
                message = f"{token.text!r} within an expression"
                self._fail(message, token, "temporal operators stand outside of atoms")
        self._next = end
        text = pieces[0].text
        for before, token in pairwise(pieces):  # white space counts as one blank
            text += " " * (before.end < token.at) + token.text
        return Atom(text, self._place(pieces[0].at))

    def _atom_end(self, first: int) -> int:
        """The position after the last token of the atom that begins here."""
        at, operand_due = first, True
        while True:
            token = self._tokens[at]
            taken = self._goes_on(token) or (operand_due and (token.kind == "word" or token.text in _NEGATIONS))
            if token.text in _CLOSING:
                at, operand_due = self._closing(at) + 1, False
            elif taken:
                at, operand_due = at + 1, token.kind == "sign" or (operand_due and token.text == "not")
            elif operand_due and at > first:
                found = f"found {token.text!r}" if token.text else "found the end"
                self._fail(f"expected an operand after {self._tokens[at - 1].text!r}, {found}", token)
            else:
                return at

    def _closing(self, opening: int) -> int:
        """The position of the bracket that closes the one here."""
        waiting: list[int] = []
        for at in range(opening, len(self._tokens)):
            token = self._tokens[at]
            if token.text in _CLOSING:
                waiting.append(at)
            elif token.text in _CLOSING.values():
                if _CLOSING[self._tokens[waiting[-1]].text] != token.text:
                    self._fail(f"{token.text!r} does not close {self._tokens[waiting[-1]].text!r}", token)
                waiting.pop()
                if not waiting:
                    return at
        token = self._tokens[waiting[-1]]
        return self._fail(f"{token.text!r} is never closed", token)

    # Places and errors

    def _place(self, at: int) -> Place:
        before = self._text[:at].split("\n")
        if len(before) == 1:
            return Place(self._start.line, self._start.column + at)
        return Place(self._start.line + len(before) - 1, len(before[-1]) + 1)

    def _fail(self, message: str, token: _Token, hint: str | None = None) -> NoReturn:
        raise InputError(message, file=self._file, place=self._place(token.at), source=self._source, hint=hint)

    def _check_size(self, formula: Formula) -> None:
        """Limit the size: later phases recurse through formulas, and `<->` doubles its operands."""
        sizes: dict[int, tuple[int, int]] = {}  # the size and depth of each object
        waiting = [formula]
        while waiting:
            f = waiting[-1]
            missing = [part for part in parts(f) if id(part) not in sizes]
            waiting.extend(missing)
            if not missing:
                waiting.pop()
                below = [sizes[id(part)] for part in parts(f)]
                deepest = max((depth for _, depth in below), default=0)
                sizes[id(f)] = 1 + sum(size for size, _ in below), 1 + deepest
        size, depth = sizes[id(formula)]
        if size > _LARGEST or depth > 2 * _DEEPEST:
            self._fail("the formula is too large", self._tokens[0])
