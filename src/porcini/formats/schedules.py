"""Schedules as text that a user can read, edit and paste: `0x2 0.1x9 0.0`.

Pids in order, repeats as `xN`, `pid/choice` where a process has a choice.
"""

from __future__ import annotations

import re
from itertools import groupby

from porcini.core.errors import Place, ScheduleError
from porcini.core.events import Move, Schedule
from porcini.core.pids import Pid

_ITEM = re.compile(r"(?P<pid>[0-9]+(?:\.[0-9]+)*)(?:/(?P<choice>[0-9]+))?(?:x(?P<times>[0-9]+))?\Z")
_LONGEST = 10_000_000
_MOST_DIGITS = 9


def show_schedule(schedule: Schedule) -> str:
    """
    >>> show_schedule(parse_schedule("0 0 0.1/1 0"))
    '0x2 0.1/1 0'
    """
    items: list[str] = []
    for move, run in groupby(schedule):
        times = sum(1 for _ in run)
        choice = f"/{move.choice}" if move.choice else ""
        items.append(f"{move.pid}{choice}" + (f"x{times}" if times > 1 else ""))
    return " ".join(items)


def parse_schedule(text: str) -> Schedule:
    """Read a schedule; a text that is not a schedule is an error with its place."""
    moves: list[Move] = []
    for item in re.finditer(r"\S+", text):
        found = _ITEM.match(item.group())
        place = Place(1, item.start() + 1)
        if not found or found["times"] == "0" or _longest_number(item.group()) > _MOST_DIGITS:
            raise ScheduleError(
                f"not a step of a schedule: {item.group()[:40]!r}",
                file="<schedule>",
                place=place,
                source=" ".join(text.splitlines()),
                hint="a step is a pid such as 0.1, with /CHOICE and xTIMES if wanted",
            )
        times = int(found["times"] or 1)
        if len(moves) + times > _LONGEST:
            raise ScheduleError(f"a schedule of more than {_LONGEST} steps", file="<schedule>", place=place)
        moves += [Move(Pid.parse(found["pid"]), int(found["choice"] or 0))] * times
    return tuple(moves)


def _longest_number(text: str) -> int:
    return max(map(len, re.findall(r"[0-9]+", text)))


def locate(problem: ScheduleError, text: str) -> ScheduleError:
    """The same error with its place in the schedule's text."""
    done = 0
    column = len(text.rstrip()) + 1
    for item in re.finditer(r"\S+", text):
        found = _ITEM.match(item.group())
        done += int(found["times"] or 1) if found else 1
        if problem.step is not None and done >= problem.step:
            column = item.start() + 1
            break
    return ScheduleError(
        problem.message,
        step=problem.step,
        file="<schedule>",
        place=Place(1, column),
        source=" ".join(text.splitlines()),
        hint=problem.hint,
    )
