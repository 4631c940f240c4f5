"""Two runs of real code side by side: who went when, to which line, and the values that they fought over."""

from __future__ import annotations

import linecache
import re
import sysconfig
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from porcini.core.pids import Pid

_LIBRARY = sysconfig.get_path("stdlib")
_CREATED = re.compile(r"<[\d.]+#\d+/\d+>")
_WIDEST = 64
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
    """One or two runs as text; `>` marks the step where two of them part."""
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
        rows.append((f"... {first} steps in common",))
        marks.append(" ")
    for i, blocks in enumerate(zip(*columns, strict=True), first):
        for k, row in enumerate(zip_longest(*blocks, fillvalue="")):
            rows.append(row)
            marks.append(">" if i == part and k == 0 else " ")
    left_out = max(len(lane.steps) for lane in lanes) - last
    if left_out > 0:
        rows.append((f"... {left_out} more steps",))
        marks.append(" ")
    rows.append(tuple(lane.ending for lane in lanes))
    marks.append(" ")
    width = min(_WIDEST, max(len(row[0]) for row in rows if len(row) > 1)) if len(lanes) > 1 else 0
    return "\n".join(f"{mark} {_joined(row, width)}".rstrip() for mark, row in zip(marks, rows, strict=True))


def _joined(row: Sequence[str], width: int) -> str:
    return "   ".join([*(cell[:width].ljust(width) for cell in row[:-1]), row[-1]])


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
    """Lines of source; without the name of the file that most of them are in, and the text of the library's."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        files = Counter(step.path for lane in lanes for step in lane.steps if step.path)
        self.main = files.most_common(1)[0][0] if files else None

    def show(self, path: str, line: int) -> str:
        if path.startswith(_LIBRARY) and "site-packages" not in path:
            return f"({Path(path).name}:{line})"
        file = "" if path == self.main else Path(path).name
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
