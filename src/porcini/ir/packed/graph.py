"""The states of a packed program as engines search them (`core.systems.StateGraph`)."""

from __future__ import annotations

from porcini.core.events import Event
from porcini.core.systems import Final
from porcini.ir.packed.space import Space
from porcini.ir.packed.view import PackedView


class PackedGraph:
    """With `inside`, the states inside atomic sequences are states too."""

    def __init__(self, view: PackedView, *, inside: bool = False) -> None:
        self.view = view
        self.space = Space(view.system, inside=inside)
        self.successors = self.space.successors
        self.failures = self.space.failures

    def initial(self) -> int:
        return self.space.initial()

    def way(self, state: int, after: int) -> list[Event]:
        events: list[Event] = []
        for step in self.space.way(state, after):
            events.append(self.view.event(state, step))
            state = step.after
        return events

    def final(self, state: int) -> Final:
        return self.view.final(state)
