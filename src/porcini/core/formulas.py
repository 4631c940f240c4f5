"""When a step happens and what it does, as text that can be written and read again without the program."""

from __future__ import annotations

from dataclasses import dataclass

from porcini.core.footprints import Footprint


@dataclass(frozen=True, slots=True)
class Formula:
    """A step happens where its `guard` holds, and then does what `do` says: assignments and assertions, one after
    the other. If the step fails, the last of these cannot be done; if there are none, a guard has no value. But
    where `fails_after` is set, all of them are done, and the guard and the assertions say when the step fails.

    `otherwise` are the guards of the other steps that the process could have taken instead. If it may have several
    choices, `choices` are those that the guards enable, beginning with that of `guard`, and `family` is all that
    the process might touch there.
    """

    guard: str
    otherwise: tuple[str, ...] = ()
    do: tuple[str, ...] = ()
    fails_after: bool = False
    choices: tuple[int, ...] = ()
    family: Footprint | None = None

    @property
    def guards(self) -> tuple[str, ...]:
        return (self.guard, *self.otherwise)
