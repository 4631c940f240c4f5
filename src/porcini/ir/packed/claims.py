"""Never claims: processes that only test, and take a step whenever the system does (`engines.product.Claim`).

A claim that reaches its end, or visits an `accept` label infinitely often, has observed what must never happen.
Labels of the model itself define claims as well: acceptance cycles, and cycles without progress.
"""

from __future__ import annotations

from collections.abc import Sequence

from porcini.ir.packed.code import Coder, Constants
from porcini.ir.packed.layout import RunError
from porcini.ir.packed.system import PackedSystem
from porcini.ir.program import Template

_ACCEPTING = 1


class NeverClaim:
    """A never claim over the states of a system; its only mark is for acceptance."""

    acceptance = 1

    def __init__(self, system: PackedSystem, template: Template) -> None:
        self.system, self.template = system, template
        self.initial = template.entry
        channels = {channel.id: channel for channel in system.layout.shared_channels}
        coder = Coder(system.layout, 0, Constants(None, system.inputs, system.layout.declared), system, channels)
        self._edges = [
            [([coder.function(guard) for guard in edge.guards], edge) for edge in point.edges]
            for point in template.points
        ]

    def moves(self, here: int, state: int) -> Sequence[tuple[int, int]]:
        if here == self.template.end:
            return [(here, _ACCEPTING)]
        accepts = any(label.startswith("accept") for label in self.template.points[here].labels)
        marks = _ACCEPTING if accepts else 0
        able = [edge for guards, edge in self._edges[here] if not edge.otherwise and self._true(guards, state)]
        able = able or [edge for _, edge in self._edges[here] if edge.otherwise]
        found: list[tuple[int, int]] = []
        for edge in able:
            if edge.atomic or edge.d_step:  # inside `atomic` the claim moves on in the same state
                found += [(there, marks | more) for there, more in self.moves(edge.target, state)]
            else:
                found.append((edge.target, marks))
        return found

    def _true(self, guards: Sequence[object], state: int) -> bool:
        try:
            return all(guard(state) for guard in guards)  # type: ignore[operator]
        except RunError as problem:
            self.system.notes[f"a claim could not be evaluated, and counts as false: {problem}"] = None
            return False


class _LabelClaim:
    """A claim about infinite runs that labels define; its only mark is for acceptance."""

    initial, acceptance = 0, 1

    def __init__(self, system: PackedSystem, label: str) -> None:
        self.system, self.label = system, label

    def is_labelled(self, state: int) -> bool:
        """Does some process stand at a label of this kind?"""
        return any(
            label.startswith(self.label)
            for process in self.system.present(state).members
            for label in process.at(state).point.labels
        )


class AcceptanceCycles(_LabelClaim):
    """Runs on which some process is at an `accept` label infinitely often."""

    def __init__(self, system: PackedSystem) -> None:
        super().__init__(system, "accept")

    def moves(self, here: int, state: int) -> Sequence[tuple[int, int]]:
        return [(0, _ACCEPTING if self.is_labelled(state) else 0)]


class NonProgressCycles(_LabelClaim):
    """Runs on which from some point on (state 1) no process is at a `progress` label."""

    def __init__(self, system: PackedSystem) -> None:
        super().__init__(system, "progress")

    def moves(self, here: int, state: int) -> Sequence[tuple[int, int]]:
        if self.is_labelled(state):
            return [(0, 0)] if here == 0 else []
        return [(0, 0), (1, 0)] if here == 0 else [(1, _ACCEPTING)]
