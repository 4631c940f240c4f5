"""Files of modules, read before Maude reads them: a model is data, and Maude's interpreter runs commands.

`ls ; touch FILE` at the top of a file is a command for the shell, `load` opens any path, `quit` ends the
process. So a file is cut into *pieces* here, each a module or a view with nothing after it, and only pieces are
handed over; `load` is followed by us, below the folder of the model; whatever else stands there is refused, with
its line.

It is Maude's lexer that decides where a module ends, and ours could be wrong about it. Maude leaves a module at an
end keyword and at nothing else (`modules.yy`), so a piece must not have such a word in it before its last one,
inside of what token or string ever. What Maude has skipped as a comment is not handed over at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porcini.core.errors import InputError, Place

LIBRARY = ("model-checker", "linear", "machine-int", "smt", "term-order")
"""Files of Maude's own that hold nothing but modules. Its others are about files, processes, sockets and time."""

_HEADS = {"fmod", "mod", "smod", "omod", "fth", "th", "sth", "oth", "view"}
_LOADS = {"load", "sload", "in"}
_ENDS = r"end(?:th|fth|sth|oth|m|fm|sm|om|o|v|sv)|jbo"
_END = re.compile(_ENDS)
_END_INSIDE = re.compile(rf"(?<![A-Za-z0-9])(?:{_ENDS})(?![A-Za-z0-9])")

# As in Maude's `lexer.ll`, where control characters end whatever they stand in.
_STRING = r'"(?:[^\x00-\x1f\x7f"\\]|\\[^\x00-\x1f\x7f]|\\\n|\t)*+"'
_NORMAL = rf'(?:[^\x00-\x1f\x7f ()\[\]{{}},`_"]|{_STRING})'
_IDENTIFIER = re.compile(rf"(?:_|`[()\[\]{{}},]|{_NORMAL}(?:`{_NORMAL})*+)++")
_COMMENT = re.compile(r"(?:\*\*\*|---)[^ \t\n\r\f]*")
_BLANK = re.compile(r"[ \t\r\n\f]*")
_FILE_NAME = re.compile(r'[ \t]*(?:"([^"\t\n\r\f]*)|((?:[^"\\ \t\n\r\f]|\\.)+))[^\n\f]*')


@dataclass(frozen=True, slots=True)
class Piece:
    """A module or a view, without its comments."""

    file: Path
    line: int
    name: str
    text: str

    @property
    def in_its_lines(self) -> str:
        """The same, on the lines on which it is written."""
        return "\n" * (self.line - 1) + self.text + "\n"


@dataclass(frozen=True, slots=True)
class Library:
    """A file that comes with Maude."""

    name: str


def read_pieces(path: Path) -> list[Piece | Library]:
    """The pieces of a file and of all that it loads, in the order in which Maude would read them."""
    path = path.resolve()
    return list(_pieces_of(path, path.parent, set()))


def cut(text: str, file: Path) -> list[Piece]:
    """The pieces of a text that loads nothing."""
    found = list(_Reader(text, file).items())
    pieces = [each for each in found if isinstance(each, Piece)]
    if len(pieces) < len(found):
        raise InputError("a text that loads others", file=str(file))
    return pieces


def _pieces_of(path: Path, folder: Path, seen: set[Path]) -> Iterator[Piece | Library]:
    seen.add(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot be read: {problem}", file=str(path)) from None
    reader = _Reader(text, path)
    for item in reader.items():
        if isinstance(item, Piece):
            yield item
            continue
        found = _found(item, path, folder, reader)
        if isinstance(found, Library):
            yield found
        elif found not in seen:
            yield from _pieces_of(found, folder, seen)


@dataclass(frozen=True, slots=True)
class _Load:
    name: str
    at: int


def _found(wanted: _Load, path: Path, folder: Path, reader: _Reader) -> Path | Library:
    """The file that `load` means: below the folder of the model, links followed; or one of Maude's own."""
    near = path.parent / wanted.name
    for candidate in (near, near.with_name(near.name + ".maude")):
        if candidate.is_file():
            real = candidate.resolve()
            if not real.is_relative_to(folder):
                hint = "what a model loads must be below its own folder"
                raise reader.refusal(wanted.at, f"`{wanted.name}` is not below {folder}", hint)
            return real
    if wanted.name.removesuffix(".maude") in LIBRARY:
        return Library(wanted.name.removesuffix(".maude"))
    hint = f"below the folder of the model, or one of Maude's own: {', '.join(LIBRARY)}"
    raise reader.refusal(wanted.at, f"there is no file `{wanted.name}` to load", hint)


class _Reader:
    """Goes through a text by Maude's tokens."""

    def __init__(self, text: str, file: Path) -> None:
        self.text = text
        self.file = file
        self.at = 0
        self.blanked = list(text)
        """The text with spaces in place of comments."""

    def refusal(self, at: int, message: str, hint: str | None = None) -> InputError:
        line = self.text.count("\n", 0, at) + 1
        place = Place(line, at - self.text.rfind("\n", 0, at))
        return InputError(message, file=str(self.file), place=place, source=self.text, hint=hint)

    def items(self) -> Iterator[Piece | _Load]:
        while (token := self._next()) is not None:
            start = self.at - len(token)
            if token in _HEADS:
                yield self._piece(token, start)
            elif token in _LOADS:
                yield self._load(start)
            else:
                hint = "a model is made of modules and views, and may `load` others"
                raise self.refusal(start, f"`{token}` begins no module: commands are not run", hint)

    def _next(self) -> str | None:
        """The next token; comments are skipped, and blanked."""
        while True:
            blank = _BLANK.match(self.text, self.at)
            assert blank is not None
            self.at = blank.end()
            if self.at == len(self.text):
                return None
            if self.text[self.at] in "()[]{},":
                self.at += 1
                return self.text[self.at - 1]
            identifier = _IDENTIFIER.match(self.text, self.at)
            comment = _COMMENT.match(self.text, self.at)
            if comment is not None and (identifier is None or comment.end() >= identifier.end()):
                self._skip_comment(comment[0])
                continue
            if identifier is None:
                raise self.refusal(self.at, f"{self.text[self.at]!r} is not part of a token of Maude's")
            self.at = identifier.end()
            return identifier[0]

    def _skip_comment(self, opening: str) -> None:
        """To the end of the line; or of its brackets, if it begins with one: `***( ... )`."""
        start = self.at
        bracket = None if opening[3:4] == ">" else re.compile(r"[ \t\r]*\(").match(self.text, start + 3)
        end = self._closing(bracket.end()) if bracket else self.text.find("\n", start)
        self.at = end = len(self.text) if end < 0 else end
        self.blanked[start:end] = [each if each == "\n" else " " for each in self.text[start:end]]

    def _closing(self, at: int) -> int:
        depth = 1
        for number in range(at, len(self.text)):
            character = self.text[number]
            if character in "()" and self.text[number - 1] != "`":
                depth += 1 if character == "(" else -1
                if depth == 0:
                    return number + 1
        raise self.refusal(self.at, "a comment that does not end")

    def _piece(self, head: str, start: int) -> Piece:
        name = self._header(head, start)
        while (token := self._next()) is not None:
            if not _END_INSIDE.search(token):
                continue
            if not _END.fullmatch(token) or (token == "endv") != (head == "view"):
                raise self.refusal(self.at - len(token), f"`{token}` cannot stand in `{head} {name}`")
            line = self.text.count("\n", 0, start) + 1
            text = "".join(self.blanked[start : self.at]).replace("\f", " ").replace("\r", " ")
            return Piece(self.file, line, name, text)
        raise self.refusal(start, f"`{head} {name}` does not end")

    def _header(self, head: str, start: int) -> str:
        """The name of a module, with a header that Maude can read: of some others it dies."""
        name, token = self._next(), self._next()
        if name is None or name in "()[]{},." or name in _HEADS | {"is"} or _END_INSIDE.search(name):
            raise self.refusal(start, f"`{head}` without a name")
        while token is not None and token != "is" and not _END_INSIDE.search(token):
            if head != "view" and token != "{":
                break
            if head != "view":
                token = self._after_parameters(start)
                break
            token = self._next()
        if token != "is":
            raise self.refusal(start, f"`{head} {name}` without `is`")
        return name

    def _after_parameters(self, start: int) -> str | None:
        depth = 1
        while depth:
            token = self._next()
            if token is None or token == "is" or _END_INSIDE.search(token):
                raise self.refusal(start, "parameters that do not end")
            depth += (token == "{") - (token == "}")
        return self._next()

    def _load(self, start: int) -> _Load:
        name = _FILE_NAME.match(self.text, self.at)
        if name is None or not (name[1] or name[2]):
            raise self.refusal(start, "`load` without a file")
        self.at = name.end()
        return _Load(name[1] or re.sub(r"\\([ \"\\])", r"\1", name[2]), start)
