"""What happened in runs of real code, in lines of source; made only for the runs that a report shows."""

from __future__ import annotations

from dataclasses import dataclass

from porcini.core.errors import Line
from porcini.core.pids import Pid
from porcini.core.systems import Waiting


@dataclass(frozen=True, slots=True)
class Touch:
    """What a step did to something that other steps touch, too. Without a line where that is not the user's."""

    verb: str
    location: str
    value: str = ""
    file: str = ""
    line: int = 0


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
    """A run, step by step."""

    title: str
    steps: tuple[LaneStep, ...]
    ending: str
    passes: bool = False


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception, and the user's lines that it came through, the outermost first."""

    text: str
    stack: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """One or two runs side by side, why they end badly, and lines to paste that run them again."""

    lanes: tuple[Lane, ...] = ()
    raised: tuple[Raised, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    again: tuple[str, ...] = ()
