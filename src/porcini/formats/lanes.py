"""Two runs of real code side by side: who went when, to which line, and the values that they fought over."""

from __future__ import annotations

import linecache
import re
import shutil
import sysconfig
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from porcini.core.pids import Pid

_LIBRARY = sysconfig.get_path("stdlib")
_CREATED = re.compile(r"<[\d.]+#\d+/\d+>")
_BETWEEN = "   "
_NARROWEST, _IN_A_PIPE = 40, 160
_CONTEXT = 3
_MOST_STEPS = 40
_MOST_TOUCHES = 6
_PARTS = {"[#]": " (keys, length)", "[=]": " (all of it)"}


@dataclass(frozen=True, slots=True)
class Touch:
    """A read or a write of something that another step writes or reads."""

    verb: str
    location: str
    value: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class LaneStep:
    """One step: whose it is, where it stopped to wait, or how it ended."""

    pid: Pid
    name: str
    path: str | None
    line: int
    end: str
    touches: tuple[Touch, ...] = ()


@dataclass(frozen=True, slots=True)
class Lane:
    title: str
    steps: tuple[LaneStep, ...]
    ending: str


def show_lanes(lanes: Sequence[Lane]) -> str:
    """One or two runs as text; `>` marks the step where two of them part. Lines fit a terminal."""
    part = _parting(lanes) if len(lanes) > 1 else -1
    first = max(0, part - _CONTEXT)
    last = max(len(lane.steps) for lane in lanes)
    last = min(last, first + _MOST_STEPS)
    short = _short_names([touch.location for lane in lanes for step in lane.steps for touch in step.touches])
    lines = _Lines(lanes)
    columns = [_column(lane, first, last, short, lines) for lane in lanes]
    rows: list[tuple[str, ...]] = [tuple(lane.title for lane in lanes)]
    marks = [" "]
    if first:
        rows.append((f"... {_steps(first)} in common",))
        marks.append(" ")
    for i, blocks in enumerate(zip(*columns, strict=True), first):
        for k, row in enumerate(zip_longest(*blocks, fillvalue="")):
            rows.append(row)
            marks.append(">" if i == part and k == 0 else " ")
    left_out = max(len(lane.steps) for lane in lanes) - last
    if left_out > 0:
        rows.append((f"... {_steps(left_out, 'more ')}",))
        marks.append(" ")
    rows.append(tuple(lane.ending for lane in lanes))
    marks.append(" ")
    widths = _widths(rows, len(lanes))
    return "\n".join(f"{mark} {_joined(row, widths)}".rstrip() for mark, row in zip(marks, rows, strict=True))


def _steps(number: int, more: str = "") -> str:
    return f"{number:,} {more}step{'' if number == 1 else 's'}"


def _widths(rows: Sequence[Sequence[str]], number: int) -> list[int]:
    """Of one or two columns, so that lines fit the terminal: a column that needs less leaves more to the other."""
    all_of_it = max(_NARROWEST, shutil.get_terminal_size((_IN_A_PIPE, 24)).columns - 2)
    if number == 1:
        return [all_of_it]
    room = all_of_it - len(_BETWEEN)
    one, two = (max(len(row[k]) for row in rows if len(row) > 1) for k in (0, 1))
    left = min(one, max(room // 2, room - two))
    return [left, room - left]


def _joined(row: Sequence[str], widths: Sequence[int]) -> str:
    if len(row) < len(widths):
        return row[0]
    return _BETWEEN.join(_fitted(cell, width) for cell, width in zip(row, widths, strict=True))


def _fitted(cell: str, width: int) -> str:
    return cell.ljust(width) if len(cell) <= width else f"{cell[: width - 1]}…"


def _parting(lanes: Sequence[Lane]) -> int:
    pairs = zip(lanes[0].steps, lanes[1].steps, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a.pid != b.pid), min(len(lane.steps) for lane in lanes))


def _column(lane: Lane, first: int, last: int, short: dict[str, str], lines: _Lines) -> list[list[str]]:
    pids = max(len(str(step.pid)) for step in lane.steps)
    names = max(len(step.name) for step in lane.steps)
    blocks = []
    for i in range(first, last):
        if i >= len(lane.steps):
            blocks.append([""])
            continue
        step = lane.steps[i]
        where = f"to {lines.show(step.path, step.line)}" if step.path else step.end
        block = [f"{step.pid!s:{pids}}  {step.name:{names}}  {where}"]
        indent = " " * (pids + 4)
        for touch in step.touches[:_MOST_TOUCHES]:
            value = f" = {touch.value}" if touch.value else ""
            block.append(
                f"{indent}{touch.verb:6} {short[touch.location]}{value}   {lines.show(touch.file, touch.line)}"
            )
        if len(step.touches) > _MOST_TOUCHES:
            block.append(f"{indent}and {len(step.touches) - _MOST_TOUCHES} more")
        blocks.append(block)
    return blocks


class _Lines:
    """Lines of source; the file that most of them are in is named once, and the library's come without text."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        files = Counter(step.path for lane in lanes for step in lane.steps if step.path)
        self.main = files.most_common(1)[0][0] if files else None
        self.named = False

    def show(self, path: str, line: int) -> str:
        if path.startswith(_LIBRARY) and "site-packages" not in path:
            return f"({Path(path).name}:{line})"
        file = "" if path == self.main and self.named else Path(path).name
        self.named = self.named or path == self.main
        return f"{file}:{line}  {linecache.getline(path, line).strip()}".rstrip()


def _short_names(locations: Iterable[str]) -> dict[str, str]:
    """Names without where the object was created; several objects of a kind are numbered as they come."""
    names = list(dict.fromkeys(locations))
    kinds: dict[str, list[str]] = {}
    for name in names:
        for made in _CREATED.finditer(name):
            numbers = kinds.setdefault(name[: made.start()], [])
            if made.group() not in numbers:
                numbers.append(made.group())

    def number(made: re.Match[str]) -> str:
        numbers = kinds.get(made.string[: made.start()], [])
        return f"#{numbers.index(made.group()) + 1}" if len(numbers) > 1 else ""

    return {name: _readable(_CREATED.sub(number, name)) for name in names}


def _readable(location: str) -> str:
    for suffix, text in _PARTS.items():
        if location.endswith(suffix):
            location = location.removesuffix(suffix) + text
    return location.removeprefix("?").removeprefix("builtins.")
