"""Tasks that are left running when the main task has ended, and go round for ever: tickers, heartbeats.

After the end of the main task, others go on while they are ready, since only by running them is it known what
they would have done before it. A ticker has no end. It is stopped where nothing is left to be learnt: when all
who are ready have come to the same place with the same values, and touched the same, so many times; and when
none of them reads what one of them writes, or looks at what one of them counts (`commuting`). Then the next
round finds what the last one found. What draws from a state of its own, such as an iterator or a random number
generator, may do something else each time, and is not stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any

from porcini.core.footprints import Footprint, Location
from porcini.langs.aio.processes import Process

_ENOUGH = 10
_SCALARS = (int, float, bool, str, bytes, type(None))
_OF_TASKS = ("task ", "handle ")


class Rounds:
    """What tasks have done since the main task ended."""

    def __init__(self) -> None:
        self._steps: dict[Process, Counter[Any]] = {}
        self._last: dict[Process, Any] = {}

    def note(
        self, process: Process, frames: Sequence[FrameType], foot: Footprint, looked: frozenset[Location]
    ) -> None:
        """A task has taken a step, in which it looked at some places, and is ready for another one."""
        key = self._last[process] = (tuple(map(_stands, frames)), foot, looked)
        self._steps.setdefault(process, Counter())[key] += 1

    def go_on_for_ever(self, ready: Iterable[Process]) -> bool:
        """Will all who are ready do what they did, again and again?"""
        feet: list[Footprint] = []
        looked_at: set[Location] = set()
        for process in ready:
            steps = self._steps.get(process)
            if steps is None or process.task is None or steps[self._last[process]] < _ENOUGH:
                return False
            feet += [foot for _, foot, _ in steps]
            looked_at.update(*(looked for _, _, looked in steps))
        looked_at.update(*(foot.reads - _counted(foot) for foot in feet))
        written = {_base(place) for foot in feet for place in foot.writes if not place.startswith(_OF_TASKS)}
        draws = any(place.endswith(".state") for place in written)
        return bool(feet) and not draws and written.isdisjoint(looked_at) and not any(foot.opaque for foot in feet)


def _base(place: Location) -> Location:
    """The place that an update is of."""
    return Location(place.rpartition("@")[0] or place)


def _counted(foot: Footprint) -> set[Location]:
    """The places that a step adds to. It reads them as well, by which it does not learn what is there."""
    return {_base(place) for place in foot.writes if "@" in place}


def _stands(frame: FrameType) -> tuple[Any, ...]:
    """Where a frame stands, with its own variables; those that it shares with others are in footprints."""
    code, variables = frame.f_code, frame.f_locals
    own = (variables.get(name) for name in code.co_varnames if name not in code.co_cellvars)
    return code, frame.f_lasti, *(each if isinstance(each, _SCALARS) else id(each) for each in own)
