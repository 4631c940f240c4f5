"""Two runs of real code side by side: who moved when, to which line, and the values of conflicting accesses.

Where there is little room they come one below the other, and what they have in common comes once.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from porcini.core.explanations import Lane, LaneStep, Touch
from porcini.core.origins import origin_of
from porcini.core.reports import Outcome
from porcini.formats.sources import source_at

_CREATED = re.compile(r"<[\d.]+#\d+/\d+>")
_BETWEEN = "   "
_NARROWEST, _WIDEST, _IN_A_PIPE = 40, 200, 160
_SIDE_BY_SIDE = 110
_CONTEXT = 3
_MOST_STEPS = 40
_MOST_TOUCHES = 6
_LONGEST_ENDING = 80
_DEEPEST = 3
_ARGUMENT = re.compile(r"^[\w.]*\barguments\.")
"""The prefix of the recorder's names for the arguments of the function that is explored."""
_PARTS = {"[#]": " (keys, length)", "[=]": " (all of it)"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of text: its kind (title, step, touch, rest, passes, fails), and whether runs differ from here
    on."""

    kind: str
    cells: tuple[str, ...]
    parts: bool = False

    def __str__(self) -> str:
        return f"{'>' if self.parts else ' '} {_BETWEEN.join(self.cells)}".rstrip()


def show_lanes(lanes: Sequence[Lane]) -> str:
    """One or two runs as text; `>` marks the first step in which they differ. Lines fit a terminal."""
    return "\n".join(map(str, rows_of(lanes)))


def rows_of(lanes: Sequence[Lane], columns: int | None = None) -> list[Row]:
    """The lines of one or two runs, cut to what fits in so many columns."""
    room = min(max(_NARROWEST, columns or columns_here()), _WIDEST) - 2
    part = _parting(lanes) if len(lanes) > 1 else -1
    if len(lanes) > 1 and room + 2 < _SIDE_BY_SIDE:
        rows = _below_each_other(lanes, part)
    else:
        rows = _side_by_side(lanes, part)
    return _fit_rows(rows, len(lanes), room)


def columns_here() -> int:
    """The width of the terminal, of COLUMNS, or a default for pipes."""
    return shutil.get_terminal_size((_IN_A_PIPE, 24)).columns


def _side_by_side(lanes: Sequence[Lane], part: int) -> list[Row]:
    longest = max(len(lane.steps) for lane in lanes)
    first = max(0, part - _CONTEXT) if len(lanes) > 1 else max(0, longest - _MOST_STEPS)
    last = min(longest, first + _MOST_STEPS)
    lines = _Lines(lanes)
    columns = [_column(lane, first, last, lines) for lane in lanes]
    rows = [Row("title", tuple(lane.title for lane in lanes))] if any(lane.title for lane in lanes) else []
    rows += _left_out(first, "in common" if len(lanes) > 1 else "before")
    for i, blocks in enumerate(zip(*columns, strict=True), first):
        for k, cells in enumerate(zip_longest(*blocks, fillvalue="")):
            rows.append(Row("step" if k == 0 else "touch", cells, i == part and k == 0))
    rows += _left_out(longest - last, "more")
    if any(lane.ending for lane in lanes):
        rows.append(Row("passes" if lanes[0].passes else "fails", tuple(lane.ending for lane in lanes)))
    return rows


def _below_each_other(lanes: Sequence[Lane], part: int) -> list[Row]:
    first = max(0, part - _CONTEXT)
    lines = _Lines(lanes)
    rows: list[Row] = []
    if part:
        rows.append(Row("title", ("both orders",)))
        rows += _left_out(first, "in common")
        rows += _blocks(lanes[0], first, part, lines)
    for lane in lanes:
        last = min(len(lane.steps), part + _MOST_STEPS)
        rows.append(Row("title", (lane.title,)))
        rows += _blocks(lane, part, last, lines, parts=True)
        rows += _left_out(len(lane.steps) - last, "more")
        rows.append(Row("passes" if lane.passes else "fails", (lane.ending,)))
    return rows


def _blocks(lane: Lane, first: int, last: int, lines: _Lines, parts: bool = False) -> list[Row]:
    return [
        Row("step" if k == 0 else "touch", (cell,), parts and i == k == 0)
        for i, block in enumerate(_column(lane, first, last, lines))
        for k, cell in enumerate(block)
    ]


def _left_out(number: int, how: str) -> list[Row]:
    if number <= 0:
        return []
    steps = f"step{'' if number == 1 else 's'}"
    text = f"{number:,} more {steps}" if how == "more" else f"{number:,} {steps} {how}"
    return [Row("rest", (f"... {text}",))]


def _fit_rows(rows: Sequence[Row], number: int, room: int) -> list[Row]:
    """Fit rows into columns: a column that needs less space leaves more to the other."""
    widths = [room]
    pairs = [row.cells for row in rows if len(row.cells) > 1]
    if number > 1 and pairs:
        one, two = (max(len(cells[k]) for cells in pairs) for k in (0, 1))
        half = room - len(_BETWEEN)
        left = min(one, max(half // 2, half - two))
        widths = [left, half - left]
    found = []
    for row in rows:
        sizes = widths if len(row.cells) == len(widths) else [room]
        cells = tuple(_fit(cell, size) for cell, size in zip(row.cells, sizes, strict=True))
        found.append(Row(row.kind, cells, row.parts))
    return found


def _fit(cell: str, width: int) -> str:
    return cell.ljust(width) if len(cell) <= width else f"{cell[: width - 1]}…"


def _parting(lanes: Sequence[Lane]) -> int:
    pairs = zip(lanes[0].steps, lanes[1].steps, strict=False)
    shortest = min(len(lane.steps) for lane in lanes)
    return next((i for i, (a, b) in enumerate(pairs) if (a.pid, a.fault) != (b.pid, b.fault)), shortest)


def _column(lane: Lane, first: int, last: int, lines: _Lines) -> list[list[str]]:
    """The lines of each step."""
    pids = max((len(str(step.pid)) for step in lane.steps), default=0)
    names = max((len(step.name) for step in lane.steps), default=0)
    verbs = max((len(touch.verb) for step in lane.steps for touch in step.touches), default=0)
    return [
        _block(lane.steps[i], pids, names, verbs, lines) if i < len(lane.steps) else [""]
        for i in range(first, last)
    ]


def _block(step: LaneStep, pids: int, names: int, verbs: int, lines: _Lines) -> list[str]:
    where = f"to {lines.show(step.path, step.line)}" if step.path else step.end
    indent = " " * (pids + 4)
    block = [f"{step.pid!s:{pids}}  {step.name:{names}}  {where}"]
    block += [f"{indent}{touch.verb:{verbs}} {_touched(touch, lines)}" for touch in step.touches[:_MOST_TOUCHES]]
    if len(step.touches) > _MOST_TOUCHES:
        block.append(f"{indent}and {len(step.touches) - _MOST_TOUCHES} more")
    return block


def _touched(touch: Touch, lines: _Lines) -> str:
    equals = " " if touch.verb == "finds" else " = "
    value = f"{equals}{touch.value}" if touch.value else ""
    return f"{touch.location}{value}" + (f"   {lines.show(touch.file, touch.line)}" if touch.file else "")


class _Lines:
    """Lines of source; the file with most of them is named once, and lines of the library have no text."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        files = Counter(step.path for lane in lanes for step in lane.steps if step.path)
        self.main = files.most_common(1)[0][0] if files else None
        self.named = False

    def show(self, path: str, line: int) -> str:
        if origin_of(path) == "python":
            return f"({Path(path).name}:{line})"
        file = "" if path == self.main and self.named else Path(path).name
        self.named = self.named or path == self.main
        return f"{file}:{line}  {source_at(path, line)}".rstrip()


# Names and endings --------------------------------------------------------------------------------------------


def ending(outcome: Outcome) -> str:
    """How a run ended, in a few words."""
    if outcome.kind == "deadlock":
        return "deadlock"
    value = next(iter(outcome.state.values()), "")
    text = cut(str(value))
    return f"returns {text}" if outcome.kind == "terminated" else text


def cut(text: str) -> str:
    """The first line of a text, shortened if it is too long."""
    line = text.partition("\n")[0]
    return f"{line[: _LONGEST_ENDING - 1]}…" if len(line) > _LONGEST_ENDING else line


def short_names(locations: Iterable[str], known_as: Mapping[str, str] | None = None) -> dict[str, str]:
    """Names without the place where the object was created; several objects of a kind are numbered in order of
    appearance. `known_as` gives objects that are attributes of others a better name."""
    names = {name: _attribute_name(name, known_as or {}) for name in locations}
    kinds: dict[str, list[str]] = {}
    for name in names.values():
        for made in _CREATED.finditer(name):
            numbers = kinds.setdefault(name[: made.start()], [])
            if made.group() not in numbers:
                numbers.append(made.group())

    def number(made: re.Match[str]) -> str:
        numbers = kinds.get(made.string[: made.start()], [])
        return f"#{numbers.index(made.group()) + 1}" if len(numbers) > 1 else ""

    return {name: _readable(_CREATED.sub(number, known)) for name, known in names.items()}


def _attribute_name(name: str, known_as: Mapping[str, str]) -> str:
    """`Lock<0#0/2>._locked` as `Account<0#0/1>.lock._locked`."""
    for _ in range(_DEEPEST):
        made = _CREATED.search(name)
        better = known_as.get(name[: made.end()]) if made else None
        if made is None or better is None:
            break
        name = better + name[made.end() :]
    return name


def _readable(location: str) -> str:
    for suffix, text in _PARTS.items():
        if location.endswith(suffix):
            location = location.removesuffix(suffix) + text
    return _ARGUMENT.sub("", location).removeprefix("?").removeprefix("builtins.")
