"""What happened in runs of real code, in lines of source; computed only for the runs that a report shows."""

from __future__ import annotations

from dataclasses import dataclass

from porcini.core.errors import Line
from porcini.core.pids import Pid
from porcini.core.systems import Waiting


@dataclass(frozen=True, slots=True)
class Touch:
    """An access to something that other steps touch as well. It has no line where the code is not the user's."""

    verb: str
    location: str
    value: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class LaneStep:
    """One step: which process took it, and where it stopped to wait or how it ended."""

    pid: Pid
    name: str
    path: str | None
    line: int
    end: str
    touches: tuple[Touch, ...] = ()
    fault: str = ""
    """What went wrong in it because the search chose so."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A run, step by step."""

    title: str
    steps: tuple[LaneStep, ...]
    ending: str
    passes: bool = False


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception, and the lines of the user's code in its traceback, the outermost first."""

    text: str
    stack: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """One or two runs side by side, why they end badly, and command lines that replay them."""

    lanes: tuple[Lane, ...] = ()
    raised: tuple[Raised, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    again: tuple[str, ...] = ()
