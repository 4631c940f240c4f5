"""What each command needs of a program, for the commands themselves and for the table of languages (`matrix`)."""

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
    """Raise an `InputError` unless a subject has what a command needs."""
    subject.capabilities.require(f"`{command}`", COMMANDS[command], subject.file)
