"""Errors that a user reads: one line with a place, the source line, a caret, a hint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import combining, east_asian_width


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a text; lines and columns count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class Line(NamedTuple):
    """A line of a file, and the function that contains it."""

    path: str
    line: int
    function: str


class InternalError(Exception):
    """A bug in Porcini: something that a theorem promises, or that must be true, is false.

    Nothing that a program does may raise it, and no answer is given when it is raised: a wrong one would be worse
    than none. The message is one line that says what is false.
    """


class LimitHit(Exception):
    """A bound was reached before the work was done; the message says which."""


_WIDEST = 160


class InputError(Exception):
    """Bad input. The message names what is wrong; `str` adds the place, the line and a caret."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        place: Place | None = None,
        source: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.place = place
        self.source = source
        self.hint = hint

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.file, self.place) if part is not None)
        head = f"{where}: error: {self.message}" if where else f"error: {self.message}"
        if self.hint:
            head += f" ({self.hint})"
        return "\n".join([head, *self._excerpt()])

    def _excerpt(self) -> list[str]:
        if self.place is None or not self.source:
            return []
        lines = [line.rstrip("\r") for line in self.source.split("\n")]
        if not 0 < self.place.line <= len(lines):
            return []
        line, column = lines[self.place.line - 1], self.place.column
        if column > _WIDEST - 20:  # a caret that is off the screen helps nobody
            cut = column - _WIDEST // 2
            line, column = "..." + line[cut:], column - cut + 3
        if len(line) > _WIDEST:
            line = line[: _WIDEST - 3] + "..."
        shown = "".join(c if c.isprintable() else " " if c == "\t" else "?" for c in line)
        return ["  " + shown, "  " + " " * _width(shown[: column - 1]) + "^"]


def _width(text: str) -> int:
    """How many columns a text takes on a terminal."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


class ScheduleError(InputError):
    """A schedule that does not fit the program; `step` counts from 1."""

    def __init__(
        self,
        message: str,
        *,
        step: int | None = None,
        file: str | None = None,
        place: Place | None = None,
        source: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, file=file, place=place, source=source, hint=hint)
        self.step = step
