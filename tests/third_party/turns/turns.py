"""A language for Porcini: each line is a process, each word on it a step, such as `x=3`, `x+1`, `x*2` or `y=x`."""

import re
from dataclasses import dataclass

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, Place
from porcini.core.events import Action, Event
from porcini.core.footprints import footprint
from porcini.core.languages import Model, Source
from porcini.core.pids import Pid
from porcini.core.systems import Final, System

STEP = re.compile(r"([a-z]+)([=+*])([a-z]+|[0-9]+)")
CAPABILITIES = Capabilities.providing(".turns programs", "states")


@dataclass(frozen=True)
class Step:
    target: str
    sign: str
    operand: str

    def __str__(self) -> str:
        return f"{self.target}{self.sign}{self.operand}"

    @property
    def reads(self) -> set[str]:
        """What is read and not written as well."""
        return {self.operand} - {self.target} if self.operand.isalpha() else set()

    def done(self, values: dict[str, int]) -> dict[str, int]:
        operand = values[self.operand] if self.operand.isalpha() else int(self.operand)
        before = values[self.target]
        after = {"=": operand, "+": before + operand, "*": before * operand}[self.sign]
        return values | {self.target: after}


class TurnsSystem(System):
    """A state is how far each process has come, and the values of the variables."""

    def __init__(self, processes: list[list[Step]], names: list[str]) -> None:
        self.processes, self.names = processes, names

    def initial(self):
        return (0,) * len(self.processes), (0,) * len(self.names)

    def actions(self, state):
        counters, _ = state
        return [
            Action(Pid((number,)), 0, steps[at], footprint(steps[at].reads, [steps[at].target]))
            for number, (steps, at) in enumerate(zip(self.processes, counters, strict=True))
            if at < len(steps)
        ]

    def fire(self, state, action):
        counters, values = state
        after = action.label.done(dict(zip(self.names, values, strict=True)))
        moved = tuple(at + (action.pid == (number,)) for number, at in enumerate(counters))
        event = Event(action.pid, action.choice, action.label, action.footprint)
        return (moved, tuple(after.values())), event

    def final(self, state):
        return Final("terminated", dict(zip(self.names, state[1], strict=True)))


@dataclass(frozen=True, eq=False)
class TurnsModel(Model):
    processes: list[list[Step]]

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    @property
    def observable(self) -> set[str]:
        steps = [step for steps in self.processes for step in steps]
        return {step.target for step in steps} | {name for step in steps for name in step.reads}

    def compile(self, inputs, *, optimise):
        return TurnsSystem(self.processes, sorted(self.observable))


class Turns:
    title = "processes that take turns"
    capabilities = CAPABILITIES
    takes_macros = takes_description = takes_latin = False

    def load(self, source: Source) -> TurnsModel:
        processes = []
        for number, line in enumerate(source.text.splitlines(), 1):
            steps = []
            for word in re.finditer(r"\S+", line):
                found = STEP.fullmatch(word[0])
                if found is None:
                    place = Place(number, word.start() + 1)
                    message = f"`{word[0]}` is not a step"
                    raise InputError(message, file=source.file, place=place, source=source.text)
                steps.append(Step(*found.groups()))
            if steps:
                processes.append(steps)
        return TurnsModel(source.file, "turns", source.text, processes)


LANGUAGE = Turns()
