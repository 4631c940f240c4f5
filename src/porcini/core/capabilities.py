"""What can be asked of a program; and where something cannot, why, in one sentence.

Engines and commands say what they need, languages say what their programs lack. Nobody else decides which of them
go together: the table that `porcini languages` prints is made of the same facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from porcini.core.errors import InputError

Capability = Literal[
    "states",  # states can be kept, compared and gone back to
    "reduction",  # what a process may still do is known: ample and stubborn sets
    "propositions",  # formulas can speak of states
    "commuting",  # a solver can tell whether two steps commute
    "formulas",  # each step is a guard and assignments
    "symbolic",  # the same, with inputs that are not known
    "actors",  # processes are tasks of actors
    "theory",  # the program is a rewrite theory
]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What programs of a language can be asked; `lacks` has a reason for each thing that they cannot."""

    programs: str
    """What they are called: `.gcl programs`."""
    lacks: Mapping[Capability, str] = field(default_factory=dict)
    interpreter: str | None = None
    """Who runs them, if it is somebody else's interpreter: commands then do it in a sealed child."""

    @classmethod
    def providing(cls, programs: str, *provided: Capability) -> Capabilities:
        """For a language that provides little: these capabilities, and no others."""
        reason = "their language does not provide what this needs"
        return cls(programs, {each: reason for each in CAPABILITIES if each not in provided})

    def __contains__(self, capability: Capability) -> bool:
        return capability not in self.lacks

    def missing(self, needs: Iterable[Capability]) -> str | None:
        """Why something that needs all of these is not possible; None if it is."""
        return next((self.lacks[need] for need in needs if need in self.lacks), None)

    def require(self, who: str, needs: Iterable[Capability], file: str) -> None:
        """Refuse what is not possible: `who` is the engine or command that has these needs."""
        reason = self.missing(needs)
        if reason is not None:
            raise InputError(f"{who} is not for {self.programs}: {reason}", file=file)
