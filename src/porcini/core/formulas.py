"""When a step happens and what it does, as text that can be written down and read again without the program."""

from __future__ import annotations

from dataclasses import dataclass

AT_GUARD = -1


@dataclass(frozen=True, slots=True)
class Formula:
    """A step happens where its `guard` holds, and then does what `do` says: assignments and assertions, one after
    the other.

    `otherwise` are the guards of the other ways that its process had. A step that fails has `stopped_at`: the
    position in `do` of what cannot be done, or `AT_GUARD` if it is a guard that has no value.
    """

    guard: str
    otherwise: tuple[str, ...] = ()
    do: tuple[str, ...] = ()
    stopped_at: int | None = None

    @property
    def guards(self) -> tuple[str, ...]:
        return (self.guard, *self.otherwise)
