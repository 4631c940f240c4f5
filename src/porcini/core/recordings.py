"""A recorded run: what `run --trace` writes and `permute --trace` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from porcini.core.events import Event
from porcini.core.footprints import NOWHERE, Location
from porcini.core.formulas import Formula
from porcini.core.observations import Observation
from porcini.core.pids import Pid
from porcini.core.systems import Kind, Observed, Waiting

Values = Mapping[Location, Any]
"""Locations that were read or written, with their values; None is an unknown value."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """An event with the values that it read and wrote; `line` is its line in a trace file. `text` is its label
    with the values of this run, where these are not in the label itself."""

    event: Event
    reads: Values = field(default_factory=dict)
    writes: Values = field(default_factory=dict)
    formula: Formula | None = None
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class RecordedWait:
    """A process that was blocked at the end. The formula of its `label` has guards but no effect; `reads` are
    locations on which these depend besides their variables. `sees` are the variables that it looks at, by the
    names in its source."""

    waiting: Waiting
    label: str = ""
    formula: Formula | None = None
    line: int = 0
    reads: frozenset[Location] = NOWHERE
    sees: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """A run: its initial processes, its steps in order, and how it ended.

    `initial` holds the values before the first step, as far as they are known; `unset` are the types of variables
    that get their first values later. `observed` says what makes up an outcome; None means all of `initial`. Only
    `reads` and `writes` say whether a step touches what is in `bookkeeping`. Path conditions speak of `symbols`
    and of what is observed. `program` and `inputs` say what was run.

    `waiting` are processes that were blocked, and `idle` are others that could go no further: nobody expects
    these to go on.
    """

    steps: Sequence[RecordedStep]
    processes: Sequence[Pid]
    initial: Mapping[str, Observed] = field(default_factory=dict)
    observed: Observation | None = None
    kind: Kind = "terminated"
    waiting: Sequence[RecordedWait] = ()
    final: Mapping[str, Observed] = field(default_factory=dict)
    language: str = ""
    program: str | None = None
    inputs: Mapping[str, Observed] = field(default_factory=dict)
    unset: Mapping[str, str] = field(default_factory=dict)
    bookkeeping: frozenset[str] = frozenset()
    symbols: frozenset[str] = frozenset()
    idle: Sequence[RecordedWait] = ()

    @property
    def exact(self) -> bool:
        """Does every step say when it can happen, and everything that it does?"""
        return all(map(_is_exact, self.steps)) and all(wait.formula for wait in (*self.waiting, *self.idle))


def _is_exact(step: RecordedStep) -> bool:
    event = step.event
    return step.formula is not None and not (event.footprint.opaque or event.barrier or event.woke)
