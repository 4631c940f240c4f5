"""Programs that know what a step touches only when it was run: small steps with branches, over three variables.

A step is a tuple of statements, which run without a break: `Set("a", Value("b", 1))` is a := b + 1, and a
`Look("a", yes, no)` does one thing if a is not 0, and another, or nothing, if it is. What `hidden` ones touch is
not said: their step is opaque.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hypothesis import strategies as st

from porcini.core.events import Action, Event
from porcini.core.footprints import OPAQUE, footprint
from porcini.core.pids import Pid
from porcini.core.systems import Final, Program

NAMES = "abc"
_VALUES = 4


class Value(NamedTuple):
    """A variable's value, or 0, with something added."""

    name: str | None
    plus: int


class Set(NamedTuple):
    name: str
    value: Value
    hidden: bool = False


class Look(NamedTuple):
    name: str
    yes: Set | None
    no: Set | None


Step = tuple["Set | Look", ...]


@dataclass
class Discovering(Program):
    """Processes that run side by side, each a sequence of steps. A state can be copied, unless it must not be."""

    processes: tuple[tuple[Step, ...], ...]
    forks: bool = True
    discovers_footprints = True

    def start(self) -> Running:
        kind = Forking if self.forks else Running
        return kind(self, dict.fromkeys(NAMES, 0), [0] * len(self.processes))


@dataclass
class Running:
    program: Discovering
    values: dict[str, int]
    at: list[int]

    def actions(self) -> list[Action]:
        program = self.program.processes
        return [
            Action(Pid((number,)), 0, f"{number}#{at}", OPAQUE)
            for number, at in enumerate(self.at)
            if at < len(program[number])
        ]

    def step(self, action: Action) -> Event:
        (number,) = action.pid
        reads: set[str] = set()
        writes: set[str] = set()
        opaque = False
        for statement in self.program.processes[number][self.at[number]]:
            if isinstance(statement, Look):
                reads.add(statement.name)
                taken = statement.yes if self.values[statement.name] else statement.no
            else:
                taken = statement
            if taken is None:
                continue
            name, (source, plus), hidden = taken
            if source is not None:
                plus += self.values[source]
            self.values[name] = plus % _VALUES
            if hidden:
                opaque = True
            else:
                reads.update([source] if source else ())
                writes.add(name)
        self.at[number] += 1
        foot = footprint(reads, writes)
        return Event(action.pid, 0, action.label, foot | OPAQUE if opaque else foot)

    def final(self) -> Final:
        return Final("terminated", dict(self.values))


class Forking(Running):
    def fork(self) -> Forking:
        return Forking(self.program, dict(self.values), list(self.at))


_names = st.sampled_from(NAMES)
_values = st.builds(Value, st.none() | _names, st.integers(0, 2))
_sets = st.builds(Set, _names, _values, st.sampled_from([False] * 9 + [True]))
_looks = st.builds(Look, _names, st.none() | _sets, st.none() | _sets)
_steps = st.lists(_looks | _looks | _sets, min_size=1, max_size=2).map(tuple)


@st.composite
def discovering_programs(draw: st.DrawFn) -> Discovering:
    """Three processes of two steps, or up to five of one: few enough interleavings to run them all."""
    wide = draw(st.booleans())
    sizes = [1] * draw(st.integers(3, 5)) if wide else [draw(st.integers(1, 2)) for _ in range(3)]
    return Discovering(tuple(tuple(draw(_steps) for _ in range(size)) for size in sizes), draw(st.booleans()))
