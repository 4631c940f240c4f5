"""Names that are the same in every run: processes, shared places, and labels of steps.

Runs are made by the thousand and thrown away, and each makes the same processes in the same way; so names are kept
in a tree that all runs of a program share.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from porcini.core.events import Action
from porcini.core.footprints import OPAQUE, Location
from porcini.core.pids import ROOT, Pid


class Spot(NamedTuple):
    """A line of source, and the function that it is in."""

    path: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{Path(self.path).name}:{self.line}"


class StepLabel(NamedTuple):
    """A step: whose it is, the line where it began, and the line where it stopped to wait or how it ended."""

    name: str
    began: Spot | None
    stopped: Spot | None
    end: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.stopped or self.end}"


class Name:
    """A process's name, with those of its children and of the futures that it makes, in order."""

    __slots__ = (
        "_actions",
        "_children",
        "_of_children",
        "_places",
        "cancelling",
        "handle",
        "pid",
        "position",
        "state",
        "text",
    )

    def __init__(self, pid: Pid, of_children: Pid | None = None) -> None:
        self.pid = pid
        self._of_children = of_children or pid
        self.text = str(pid)
        self.state = Location(f"task {self.text}")
        self.cancelling = Location(f"task {self.text}.cancel")
        self.position = frozenset({self.cancelling})
        self.handle = Location(f"handle {self.text}")
        self._children: list[Name] = []
        self._places: list[Location] = []
        self._actions: dict[tuple[str, int], Action] = {}

    def child(self, number: int) -> Name:
        children = self._children
        while number >= len(children):
            children.append(Name(self._of_children.child(len(children))))
        return children[number]

    def place(self, number: int) -> Location:
        """The name of the number-th future that the process makes."""
        places = self._places
        while number >= len(places):
            places.append(Location(f"future {self.text}~{len(places)}"))
        return places[number]

    def action(self, title: str, choice: int = 0) -> Action:
        """What the process may do next: go on. Nobody knows before what that will touch."""
        action = self._actions.get((title, choice))
        if action is None:
            action = self._actions[title, choice] = Action(self.pid, choice, title, OPAQUE)
        return action


MAIN = ROOT
CLOCK = Pid((1,))
"""The process that moves time; processes of a program are 0 and what it makes, so 1 is free."""
