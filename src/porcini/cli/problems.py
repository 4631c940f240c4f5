"""What a command says when it has no answer: a line for people, an object for programs, an exit status.

Bad input is 2, a limit of the machine's 3, a bug of ours 4, and so is output that cannot be written. Whatever we
did not think of is a bug of ours: it is never a traceback, unless `--debug` asks for one, and never the status 1
of a violated property.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

import porcini
from porcini.core.errors import InputError, InternalError, Place
from porcini.core.registry import plug_ins

BAD_INPUT, UNKNOWN, INTERNAL, INTERRUPTED = 2, 3, 4, 130
_Kind = Literal["usage", "input", "internal", "output", "memory", "interrupted"]


class UsageError(InputError):
    """Arguments that the command line does not take; `str` is the whole line."""

    def __init__(self, message: str, program: str) -> None:
        super().__init__(message)
        self.program = program

    def __str__(self) -> str:
        return f"{self.program}: error: {self.message} (see {self.program} --help)"


class OutputError(Exception):
    """Output that cannot be written. If its reader has gone away, nobody needs to be told why."""

    def __init__(self, problem: OSError) -> None:
        super().__init__(problem.strerror or str(problem))
        self.is_told = not isinstance(problem, BrokenPipeError)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why there is no answer: `text` is for people, the rest for programs."""

    kind: _Kind
    status: int
    text: str
    message: str
    file: str | None = None
    place: Place | None = None


def problem_of(error: BaseException) -> Problem:
    match error:
        case UsageError():
            return Problem("usage", BAD_INPUT, str(error), error.message)
        case InputError():
            message = f"{error.message} ({error.hint})" if error.hint else error.message
            return Problem("input", BAD_INPUT, str(error), message, error.file, error.place)
        case MemoryError():
            return Problem("memory", UNKNOWN, "porcini: error: out of memory", "out of memory")
        case KeyboardInterrupt():
            message = "interrupted before anything was known"
            return Problem("interrupted", INTERRUPTED, f"porcini: {message}", message)
        case OutputError():
            message = f"the output cannot be written: {error}"
            return Problem("output", INTERNAL, f"porcini: error: {message}" if error.is_told else "", message)
    what = str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
    line = next(iter(what.splitlines()), "")
    please = f"a bug in Porcini {porcini.__version__}: please report it with the program and the command"
    if (package := _plug_in(error)) is not None:
        please = f"raised in `{package}`, which is not part of Porcini"
    text = f"porcini: internal error: {line} ({please}; --debug shows where it happened)"
    return Problem("internal", INTERNAL, text, line)


def _plug_in(error: BaseException) -> str | None:
    """The package of a language, an engine or a format that is not ours, if the error comes from there."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    names = [str(frame.f_globals.get("__name__", "")).partition(".")[0] for frame in reversed(frames)]
    others = plug_ins() if len(set(names)) > 1 else set()
    nearest = next((name for name in names if name == "porcini" or name in others), "porcini")
    return None if nearest == "porcini" else nearest


def tell(error: BaseException, *, as_json: bool, debug: bool) -> int:
    """Say what went wrong, and return the exit status."""
    problem = problem_of(error)
    with suppress(OSError):
        if debug:
            traceback.print_exception(error)
        if problem.text:
            print(problem.text, file=sys.stderr, flush=True)
    if as_json and problem.kind != "output":
        place = problem.place
        told = {
            "kind": problem.kind,
            "message": problem.message,
            "file": problem.file,
            "line": place.line if place else None,
            "column": place.column if place else None,
        }
        with suppress(OSError, ValueError):
            print(json.dumps({"schema": 1, "error": told}, ensure_ascii=False), flush=True)
    return problem.status


@contextmanager
def writing() -> Iterator[None]:
    """For what prints: all of it has been written at the end, or there is an `OutputError`."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as problem:  # a full disk, or a reader who went away
        with suppress(OSError, ValueError):  # or the interpreter would try once more when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(problem) from None
