"""When a step happens and what it does, as text that can be written and read again without the program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Formula:
    """A step happens where its `guard` holds, and then does what `do` says: assignments and assertions, one after
    the other. If the step fails, the last of these cannot be done; if there are none, a guard has no value.

    `otherwise` are the guards of the other steps that the process could have taken instead.
    """

    guard: str
    otherwise: tuple[str, ...] = ()
    do: tuple[str, ...] = ()

    @property
    def guards(self) -> tuple[str, ...]:
        return (self.guard, *self.otherwise)
