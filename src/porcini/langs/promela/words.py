"""Promela's text to words, each with the place in the file that a reader would look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from porcini.core.errors import InputError, Place


class Word(NamedTuple):
    """One token. `kind` is NAME, NUMBER, REAL, CHAR, STRING, OP, NEWLINE, NOTE (a `//@` comment) or BAD."""

    kind: str
    text: str
    place: Place
    origin: str = ""
    """`file:line` for a word of an included file."""
    glued: bool = False
    """No space before it: that is what tells `#define f(x)` from `#define f (x)`."""
    fresh: bool = False
    """The first of its line: SPIN separates statements by lines, too."""
    hidden: frozenset[str] = frozenset()
    """The macros that this word came from, which it does not mean again."""


def wrong(word: Word, message: str, hint: str | None = None) -> InputError:
    """An error at a word, which says so when the word is in an included file."""
    inside = f" (in the included {word.origin})" if word.origin else ""
    return InputError(message + inside, place=word.place, hint=hint)


# Words

_WORD = re.compile(
    r"""
    (?P<SPACE>[ \t\r\f\v]+ | \\[ \t]*\r?\n)
  | (?P<NEWLINE>\n)
  | (?P<COMMENT>/\*[\s\S]*?\*/ | //(?:\\\r?\n | [^\n])* | \*/)
  | (?P<UNCLOSED>/\*)
  | (?P<NAME>[A-Za-z_]\w*)
  | (?P<REAL>\d+\.\d+)
  | (?P<NUMBER>\d+)
  | (?P<STRING>"(?:\\.|[^"\\\n])*")
  | (?P<CHAR>'(?:\\.|[^'\\\n])')
  | (?P<OP><-> | << | >> | <= | >= | <> | == | != | !! | \?\? | -> | --> | -- | \+\+ | && | \|\| | \[\] | \.\. | ::
         | /\\ | \\/ | \#\# | [-+*/%<>=!&|^~?:;,.(){}\[\]@\#])
  | (?P<BAD>.)
    """,
    re.VERBOSE | re.ASCII,
)


def words(text: str, at: Place | None = None, name: str = "") -> Iterator[Word]:
    """The words of a text, newlines among them. `at` and `name` are given for an included file."""
    line, start, glued, fresh = 1, 0, False, True
    for found in _WORD.finditer(text):
        kind, lexeme = str(found.lastgroup), found.group()
        shown = "->" if lexeme == "-->" else lexeme  # as SPIN reads it
        place = at or Place(line, found.start() - start + 1)
        word = Word(kind, shown, place, f"{name}:{line}" if name else "", glued, fresh)
        if kind == "UNCLOSED":
            raise wrong(word, "comment that is not closed")
        glued = kind not in ("SPACE", "COMMENT", "NEWLINE")
        if glued or kind == "NEWLINE":
            fresh = not glued
            yield word
        elif lexeme.startswith("//@"):
            yield word._replace(kind="NOTE")
        if "\n" in lexeme:
            line += lexeme.count("\n")
            start = found.start() + lexeme.rindex("\n") + 1


def lines(stream: Iterable[Word]) -> Iterator[list[Word]]:
    line: list[Word] = []
    for word in stream:
        if word.kind == "NEWLINE":
            yield line
            line = []
        else:
            line.append(word)
    yield line


def bad(word: Word) -> InputError:
    """What to say of a word that is none."""
    if word.text in "\"'":
        return wrong(word, "text that is not closed" if word.text == '"' else "character that is not closed")
    shown = repr(word.text) if word.text.isprintable() else f"U+{ord(word.text):04X}"
    return wrong(word, f"syntax error, saw the character {shown}")
