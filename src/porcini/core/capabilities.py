"""What a program can be asked, and for everything else the reason why not, in one sentence.

Engines and commands state what they need; languages state what their programs lack. Nothing else decides which of
them go together: the table that `porcini languages` prints is built from the same facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from porcini.core.errors import InputError

Capability = Literal[
    "states",  # states can be stored, compared and returned to
    "reduction",  # what a process may still do is known, as ample and stubborn sets need
    "propositions",  # formulas can refer to states
    "commuting",  # a solver can tell whether two steps commute
    "formulas",  # each step is a guard and assignments
    "symbolic",  # the same, with symbolic inputs
    "actors",  # processes are tasks of actors
    "theory",  # the program is a rewrite theory
]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What programs of a language can be asked; `lacks` gives the reason for each missing capability."""

    programs: str
    """What they are called: `.gcl programs`."""
    lacks: Mapping[Capability, str] = field(default_factory=dict)
    interpreter: str | None = None
    """The foreign interpreter that runs them, if there is one: commands then run it in a sealed child."""

    @classmethod
    def providing(cls, programs: str, *provided: Capability) -> Capabilities:
        """The capabilities of a language that provides only these."""
        reason = "their language does not provide what this needs"
        return cls(programs, {each: reason for each in CAPABILITIES if each not in provided})

    def __contains__(self, capability: Capability) -> bool:
        return capability not in self.lacks

    def missing(self, needs: Iterable[Capability]) -> str | None:
        """Why something with these needs is impossible; None if it is possible."""
        return next((self.lacks[need] for need in needs if need in self.lacks), None)

    def require(self, who: str, needs: Iterable[Capability], file: str) -> None:
        """Raise an `InputError` unless all needs are met; `who` is the engine or command that has them."""
        reason = self.missing(needs)
        if reason is not None:
            raise InputError(f"{who} is not for {self.programs}: {reason}", file=file)
