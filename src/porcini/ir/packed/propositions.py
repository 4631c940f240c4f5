"""Propositions over states: which of them hold, and what they read."""

from __future__ import annotations

from collections.abc import Sequence

from porcini.core.systems import LetterPart
from porcini.ir.expr import Expr
from porcini.ir.packed.code import Coder, Constants
from porcini.ir.packed.layout import RunError
from porcini.ir.packed.system import PackedSystem
from porcini.ir.packed.touch import EVERYTHING, NOTHING, Toucher


class Propositions:
    """Propositions, evaluated once for each value of the bits that they read."""

    def __init__(self, system: PackedSystem, exprs: Sequence[Expr]) -> None:
        self.system = system
        constants = Constants(None, system.inputs, system.layout.declared)
        channels = {channel.id: channel for channel in system.layout.shared_channels}
        coder = Coder(system.layout, 0, constants, system, channels)
        toucher = Toucher(system.layout, 0, constants, channels, system.resources, channels.get)
        self._functions = [coder.function(expr) for expr in exprs]
        self._touches = [toucher.expr(expr) for expr in exprs]
        touch = NOTHING
        for each in self._touches:
            touch |= each
        self._mask = touch.bits
        self.visible = touch.reads | touch.wide
        """The resources that can change a proposition when they are written."""
        self._letters: dict[int, int] = {}

    @property
    def parts(self) -> Sequence[LetterPart[int]] | None:
        """The propositions one by one; None if one of them depends on the whole state."""
        if any(touch.bits == EVERYTHING for touch in self._touches):
            return None
        return [
            LetterPart(1 << number, touch.bits, lambda s, number=number: self.letter(s) >> number & 1)  # type: ignore[misc]
            for number, touch in enumerate(self._touches)
        ]

    def letter(self, s: int) -> int:
        """The propositions that hold in a state, as bits."""
        view = s & self._mask
        found = self._letters.get(view)
        if found is None:
            found = 0
            for number, function in enumerate(self._functions):
                try:
                    if function(s):
                        found |= 1 << number
                except RunError as problem:
                    self.system.notes[f"a proposition could not be evaluated, and counts as false: {problem}"] = (
                        None
                    )
            self._letters[view] = found
        return found
