"""A run that was written down: what `run --trace` writes and `permute --trace` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from porcini.core.events import Event
from porcini.core.footprints import Location
from porcini.core.formulas import Formula
from porcini.core.pids import Pid
from porcini.core.systems import Kind, Observed, Waiting

Values = Mapping[Location, Any]
"""What was read or written; None for a value that is not known."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """An event with the values that it read and that it wrote; `line` is where it stands in a file."""

    event: Event
    reads: Values = field(default_factory=dict)
    writes: Values = field(default_factory=dict)
    formula: Formula | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class RecordedWait:
    """A process that was blocked at the end. The formula of its `label` has guards and does nothing."""

    waiting: Waiting
    label: str = ""
    formula: Formula | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Recording:
    """A run: who was there from the start, the steps in order, and how it ended.

    `initial` has the values before the first step, as far as they are known, and `observed` are the names in it
    that make up an outcome; None means all of them. `program` and `inputs` say what was run.
    """

    steps: Sequence[RecordedStep]
    processes: Sequence[Pid]
    initial: Mapping[str, Observed] = field(default_factory=dict)
    observed: Sequence[str] | None = None
    kind: Kind = "terminated"
    waiting: Sequence[RecordedWait] = ()
    final: Mapping[str, Observed] = field(default_factory=dict)
    language: str = ""
    program: str | None = None
    inputs: Mapping[str, Observed] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Does every step say when it happens and what it does, and all of what it does?"""
        return all(map(_is_known, self.steps)) and all(wait.formula for wait in self.waiting)


def _is_known(step: RecordedStep) -> bool:
    event = step.event
    return step.formula is not None and not (event.footprint.opaque or event.barrier or event.woke)
