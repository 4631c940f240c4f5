"""What each command needs of a program: asked where it is done, and for the table of languages (`matrix`)."""

from __future__ import annotations

from porcini.core.capabilities import Capability
from porcini.subjects import Subject

COMMANDS: dict[str, tuple[Capability, ...]] = {
    "run": (),
    "replay": (),
    "explore": (),
    "explore --independence semantic": ("commuting",),
    "check": ("states",),
    "check --reduction ample": ("states", "reduction"),
    "check --reduction stubborn": ("states", "reduction"),
    "check --ltl": ("states", "propositions"),
    "check --ltl --fairness weak": ("states", "propositions"),
    "check --search PATTERN": ("theory",),
    "check --check-annotations": ("theory",),
    "symbolic": ("symbolic",),
    "permute": ("formulas",),
    "transform": ("theory",),
}


def require(command: str, subject: Subject) -> None:
    """Refuse what is not possible."""
    subject.capabilities.require(f"`{command}`", COMMANDS[command], subject.file)
