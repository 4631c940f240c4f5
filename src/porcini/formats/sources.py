"""Files and lines of real code as text: relative paths, one frame per line, what a task waits for."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from porcini.core.errors import Line
from porcini.core.explanations import Raised
from porcini.core.origins import in_library, in_packages
from porcini.core.pids import Pid
from porcini.core.systems import Waiting

_MOST_FRAMES = 12
_LONGEST = 400


@lru_cache(maxsize=1024)
def _from(here: str, path: str) -> str:
    file = Path(path)
    if not file.is_absolute():
        return path
    below = in_packages(path) or in_library(path)
    if below is not None:
        return str(below)
    return str(file.relative_to(here)) if file.is_relative_to(here) else path


def short_path(path: str) -> str:
    """A path relative to the current folder, the installed packages or the standard library; otherwise
    unchanged."""
    try:
        return _from(str(Path.cwd()), path)
    except OSError:  # the current folder does not exist any more
        return path


def source_at(path: str, line: int) -> str:
    return linecache.getline(path, line).strip()


def show_stack(stack: Sequence[Line], indent: str = "    ") -> list[str]:
    """One frame per line, with its source; of very many frames only the first and the last ones."""
    if len(stack) > _MOST_FRAMES:
        half, left = _MOST_FRAMES // 2, len(stack) - _MOST_FRAMES
        return [
            *show_stack(stack[:half], indent),
            f"{indent}... {left:,} more",
            *show_stack(stack[-half:], indent),
        ]
    places = [f"{short_path(frame.path)}:{frame.line} in {_plain(frame.function)}" for frame in stack]
    width = max(map(len, places), default=0)
    return [
        f"{indent}{place:{width}}  {source_at(frame.path, frame.line)}".rstrip()
        for place, frame in zip(places, stack, strict=True)
    ]


def _plain(function: str) -> str:
    """The name of a function as its author wrote it: `g` for `f.<locals>.g`."""
    return function.rpartition("<locals>.")[2]


def show_raised(raised: Sequence[Raised]) -> Iterator[str]:
    for problem in raised:
        yield problem.text[:_LONGEST]
        yield from show_stack(problem.stack)


# Deadlocks ----------------------------------------------------------------------------------------------------


def deadlock_head(waiting: Sequence[Waiting]) -> str:
    """A deadlock in one line that can be understood by itself."""
    names = [waiting.name or str(waiting.pid) for waiting in waiting]
    if not names:
        return "Deadlock: nothing can move"
    if len(names) > 4:
        return f"Deadlock: {', '.join(names[:3])} and {len(names) - 3} more wait for ever"
    who = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"Deadlock: {who} wait{'s' if len(names) == 1 else ''} for ever"


def show_deadlock(waiting: Sequence[Waiting]) -> Iterator[str]:
    """Which tasks wait, where, for what and for whom."""
    pids = max((len(str(w.pid)) for w in waiting), default=0)
    names = {w.pid: w.name for w in waiting}
    longest = max(map(len, names.values()), default=0)
    for w in waiting:
        yield f"  {w.pid!s:{pids}}  {w.name:{longest}}  waits {_for(w, names)}"
        indent = " " * (pids + 6)
        yield from show_stack(w.stack, indent)
        frames = w.values.get("stack", ())
        if not w.stack and isinstance(frames, tuple):
            yield from (f"{indent}{frame}" for frame in frames)
    cycle = wait_cycle(waiting)
    if cycle:
        yield "  in a cycle: " + " -> ".join(f"{pid} ({names[pid]})" for pid in cycle)


def _for(waiting: Waiting, names: dict[Pid, str]) -> str:
    who = ", ".join(f"{pid} ({names[pid]})" if pid in names else str(pid) for pid in waiting.waits_for)
    if who:
        why = f", {waiting.why}" if waiting.why else ""
        return f"in {waiting.guard} for {who}{why}" if waiting.guard else f"for {who}{why}"
    why = f": {waiting.why}" if waiting.why else ""
    return f"{'for' if ' ' in waiting.guard and waiting.stack else 'in'} {waiting.guard}{why}"


def wait_cycle(waiting: Sequence[Waiting]) -> list[Pid]:
    """Processes that wait for each other in a cycle, with the first one repeated at the end; empty if there is
    none."""
    waits_for = {w.pid: w.waits_for for w in waiting}
    for start in waits_for:
        path, left = [start], [iter(waits_for[start])]
        while left:
            following = next(left[-1], None)
            if following is None:
                left.pop()
                path.pop()
            elif following == start:
                return [*path, start]
            elif following in waits_for and following not in path:
                path.append(following)
                left.append(iter(waits_for[following]))
    return []
