"""Never claims (`engines.product.LetterClaim`): processes that only test, and take a step whenever the system
does.

A claim that reaches its end, or an `end` label, has observed what must never happen. So has one with which a run
goes on for ever that visits some `accept` label infinitely often: the claim's own or, as SPIN has it, that of a
process. Labels of the model define claims by themselves as well: acceptance cycles, and cycles without progress.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from porcini.core.systems import LetterPart
from porcini.ir.packed.code import Coder, Constants
from porcini.ir.packed.layout import RunError
from porcini.ir.packed.system import PackedSystem
from porcini.ir.packed.touch import EVERYTHING, NOTHING, Toucher
from porcini.ir.program import MOST_PROCESSES, Edge, Template

_ACCEPTING = 1


class NeverClaim:
    """A never claim over the states of a system; its only mark is for acceptance."""

    acceptance = 1

    def __init__(self, system: PackedSystem, template: Template) -> None:
        self.system, self.template = system, template
        self.initial, self.states = template.entry, max(template.end + 1, len(template.points))
        constants = Constants(None, system.inputs, system.layout.declared)
        channels = {channel.id: channel for channel in system.layout.shared_channels}
        coder = Coder(system.layout, 0, constants, system, channels)
        self._toucher = Toucher(system.layout, 0, constants, channels, system.resources, channels.get)
        self._edges = [
            [_ClaimEdge(edge, [coder.function(guard) for guard in edge.guards]) for edge in point.edges]
            for point in template.points
        ]
        self._accepted = AcceptanceCycles(system) if _is_labelled(system, AcceptanceCycles.label) else None

    def moves(self, here: int, state: int) -> Sequence[tuple[int, int]]:
        moves = self._moves(here, lambda edge: self._true(edge, state))
        if self._accepted is not None and self._accepted.is_labelled(state):
            return [(there, _ACCEPTING) for there, _ in moves]
        return moves

    def _moves(self, here: int, holds: Callable[[_ClaimEdge], bool]) -> list[tuple[int, int]]:
        if self._ends_at(here):
            return [(here, _ACCEPTING)]
        accepts = any(label.startswith("accept") for label in self.template.points[here].labels)
        marks = _ACCEPTING if accepts else 0
        able = [each.edge for each in self._edges[here] if not each.edge.otherwise and holds(each)]
        able = able or [each.edge for each in self._edges[here] if each.edge.otherwise]
        found: list[tuple[int, int]] = []
        for edge in able:
            if edge.atomic or edge.d_step:  # inside `atomic` the claim moves on in the same state
                found += [(there, marks | more) for there, more in self._moves(edge.target, holds)]
            else:
                found.append((edge.target, marks))
        return found

    def _ends_at(self, here: int) -> bool:
        points = self.template.points
        return here == self.template.end or any(label.startswith("end") for label in points[here].labels)

    def _true(self, each: _ClaimEdge, state: int) -> bool:
        try:
            return all(guard(state) for guard in each.guards)
        except RunError as problem:
            self.system.notes[f"a claim could not be evaluated, and counts as false: {problem}"] = None
            return False

    # By letters: each edge that may be tried at a point stands for one bit

    @property
    def lists(self) -> Sequence[Sequence[LetterPart[int]]] | None:
        found = []
        for here in range(self.states):
            parts = []
            for number, each in enumerate(self._tried_at(here)):
                bits = self._bits_of(each)
                if bits == EVERYTHING:
                    return None
                holds = partial(self._true, each)
                parts.append(LetterPart(1 << number, bits, holds))
            if self._accepted is not None:
                bit = 1 << len(parts)
                parts += [replace(part, letter=bit) for part in self._accepted.lists[0]]
            found.append(parts)
        return found

    def _bits_of(self, each: _ClaimEdge) -> int:
        touch = NOTHING
        for guard in each.edge.guards:
            touch |= self._toucher.expr(guard)
        return touch.bits

    def moves_on(self, here: int, letter: int) -> Sequence[tuple[int, int]]:
        numbers = {each: number for number, each in enumerate(self._tried_at(here))}
        moves = self._moves(here, lambda each: bool(letter >> numbers[each] & 1))
        if self._accepted is not None and letter >> len(numbers) & 1:
            return [(there, _ACCEPTING) for there, _ in moves]
        return moves

    def _tried_at(self, here: int) -> list[_ClaimEdge]:
        """The edges with guards at a point, and at those that are passed in the same state."""
        found, left, seen = list[_ClaimEdge](), [here], {here}
        for point in left:
            if self._ends_at(point):
                continue
            for each in self._edges[point]:
                if not each.edge.otherwise:
                    found.append(each)
                if (each.edge.atomic or each.edge.d_step) and each.edge.target not in seen:
                    seen.add(each.edge.target)
                    left.append(each.edge.target)
        return found


def _is_labelled(system: PackedSystem, kind: str) -> bool:
    """Has a process a label of this kind?"""
    points = (point for template in system.program.templates for point in template.points)
    return any(label.startswith(kind) for point in points for label in point.labels)


@dataclass(frozen=True, eq=False, slots=True)
class _ClaimEdge:
    edge: Edge
    guards: Sequence[Callable[[int], int]]


class _LabelClaim(ABC):
    """A claim about infinite runs that labels define; its only mark is for acceptance."""

    initial, acceptance, states = 0, 1, 1
    label: ClassVar[str]

    def __init__(self, system: PackedSystem) -> None:
        self.system = system

    def is_labelled(self, state: int) -> bool:
        """Does some process stand at a label of this kind?"""
        return any(self._has_label(process.slot, state) for process in self.system.present(state).members)

    def _has_label(self, slot: int, state: int) -> bool:
        """Does a process have this number, and stand at such a label?"""
        layout, templates = self.system.layout, self.system.program.templates
        template = layout.template_of(state, slot)
        here = layout.point_of(state, slot, template) if template >= 0 else 0
        points = templates[template].points if template >= 0 else ()
        return here < len(points) and any(label.startswith(self.label) for label in points[here].labels)

    @property
    def lists(self) -> Sequence[Sequence[LetterPart[int]]]:
        """One part for each process that there may be; the only bit of the letter says whether one has a label."""
        layout = self.system.layout
        mask = (1 << layout.template_bits + max(layout.point_bits)) - 1
        return [
            [
                LetterPart(1, mask << layout.base(slot), partial(self._has_label, slot))
                for slot in range(MOST_PROCESSES)
            ]
        ]

    def moves(self, here: int, state: int) -> Sequence[tuple[int, int]]:
        return self.moves_on(here, int(self.is_labelled(state)))

    @abstractmethod
    def moves_on(self, here: int, letter: int) -> Sequence[tuple[int, int]]: ...


class AcceptanceCycles(_LabelClaim):
    """Runs on which some process is at an `accept` label infinitely often."""

    label = "accept"

    def moves_on(self, here: int, letter: int) -> Sequence[tuple[int, int]]:
        return [(0, _ACCEPTING if letter else 0)]


class NonProgressCycles(_LabelClaim):
    """Runs on which from some point on (state 1) no process is at a `progress` label."""

    label = "progress"
    states = 2

    def moves_on(self, here: int, letter: int) -> Sequence[tuple[int, int]]:
        if letter:
            return [(0, 0)] if here == 0 else []
        return [(0, 0), (1, 0)] if here == 0 else [(1, _ACCEPTING)]
