"""The graph of states of a packed program, as engines search it (`core.systems.StateGraph`)."""

from __future__ import annotations

from collections.abc import Sequence

from porcini.core.events import Event
from porcini.core.systems import Final
from porcini.ir.packed.layout import HOLDER
from porcini.ir.packed.processes import Process
from porcini.ir.packed.runs import Names
from porcini.ir.packed.space import MacroMove, Space
from porcini.ir.packed.view import PackedView


class PackedGraph:
    """States between steps; an atomic sequence is one step."""

    exact = True

    def __init__(self, view: PackedView) -> None:
        self.view = view
        self.space = Space(view.system)
        self.successors = self.space.successors
        self.failures = self.space.failures

    def initial(self) -> int:
        return self.space.initial()

    def events_between(self, state: int, after: int) -> list[Event]:
        """As events of the original program. Private steps that were merged with one after which somebody else has
        the turn, as after a rendezvous into an atomic sequence, come when the turn is free again."""
        events: list[Event] = []
        delayed: list[Event] = []
        for step in self.space.steps_between(state, after):
            events.append(self.view.event(state, step))
            private = self.view.private_steps(step, events[-1])
            (delayed if step.after & HOLDER else events).extend(private)
            state = step.after
        return events + delayed

    def with_run_names(self, events: Sequence[Event]) -> Sequence[Event]:
        names = Names(len(self.space.system.program.initial))
        return [names.rename(event) for event in events]

    def successors_by_process(self, state: int) -> list[tuple[int, int, int]]:
        """The successors of a state, each with the process whose step it is, and all that move in it. In a
        rendezvous the step is the sender's, and the receiver moves, too, as in SPIN."""
        space = self.space
        present = space.present(state)
        found = [
            (process.slot, self.movers(state, process, move), state + move.change)
            for process in present.members
            for move in space.moves(state, present, process)
        ]
        if not found and space.system.uses_timeout:
            for process in present.members:
                found += [
                    (process.slot, self.movers(state, process, move), state + move.change)
                    for move in space.quiet_moves(state, present, process)
                ]
        return found

    def movers(self, state: int, process: Process, move: MacroMove) -> int:
        """The processes that move in a step of one of them, as bits by their numbers."""
        movers = 1 << process.slot | (0 if move.partner is None else 1 << move.partner.slot)
        edges = [code.edge for code in (move.code, move.partner_code) if code is not None]
        if any(edge.atomic for edge in edges):  # others may be met on the way
            for step in self.space.steps_between(state, state + move.change):
                movers |= 1 << step.process.slot | (0 if step.partner is None else 1 << step.partner.slot)
        return movers

    def state_after(self, events: Sequence[Event]) -> int:
        run = self.view.start()
        for event in events:
            run.step(next(action for action in run.actions() if action.move == event.move and action.enabled))
        return run.state

    def final(self, state: int) -> Final:
        return self.view.final(state)

    def final_of_run(self, state: int, events: Sequence[Event]) -> Final:
        return self.final(state)
