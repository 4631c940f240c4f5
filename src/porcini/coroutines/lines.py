"""Lines of the user's: of frames, of exceptions, and as errors name them."""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from porcini.core.errors import Line, Place
from porcini.core.origins import origin_of
from porcini.formats.sources import short_path


def is_users_frame(frame: FrameType) -> bool:
    """Is it neither Porcini's nor the standard library's?"""
    return origin_of(frame.f_code.co_filename) not in ("porcini", "python")


def users_lines(problem: BaseException) -> tuple[Line, ...]:
    """The user's lines that an exception came through, the outermost first."""
    return tuple(
        Line(frame.f_code.co_filename, line, frame.f_code.co_qualname)
        for frame, line in traceback.walk_tb(problem.__traceback__)
        if is_users_frame(frame)
    )


def at(path: str, line: int) -> dict[str, Any]:
    """A line of a file as errors want it: `file`, `place` and `source`."""
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        source = "".join(linecache.getlines(path))
    lines = source.split("\n")
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    place = Place(line, len(text) - len(text.lstrip()) + 1)
    return {"file": short_path(path), "place": place, "source": source or None}


def at_last(lines: tuple[Line, ...]) -> dict[str, Any]:
    """The last of some lines in the same way; nothing if there is none."""
    return at(lines[-1].path, lines[-1].line) if lines else {}
