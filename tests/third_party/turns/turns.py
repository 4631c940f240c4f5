"""A language for Porcini: each line is a process, each word on it a step: `x=3`, `x+1`, `x*2`, `y=x`, or `x?1`,
which waits until x is 1."""

import re
from dataclasses import dataclass

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, Place
from porcini.core.events import Action, Event
from porcini.core.footprints import Footprint, footprint
from porcini.core.languages import Model, Source
from porcini.core.pids import Pid
from porcini.core.systems import Final, System, Waiting

STEP = re.compile(r"([a-z]+)([=+*?])([a-z]+|[0-9]+)")
CAPABILITIES = Capabilities.providing(".turns programs", "states")


@dataclass(frozen=True)
class Step:
    target: str
    sign: str
    operand: str

    def __str__(self) -> str:
        return f"{self.target}{self.sign}{self.operand}"

    @property
    def touches(self) -> Footprint:
        names = {self.target, self.operand} if self.operand.isalpha() else {self.target}
        return footprint(names) if self.sign == "?" else footprint(names - {self.target}, [self.target])

    def value(self, values: dict[str, int]) -> int:
        return values[self.operand] if self.operand.isalpha() else int(self.operand)

    def is_possible(self, values: dict[str, int]) -> bool:
        return self.sign != "?" or values[self.target] == self.value(values)

    def done(self, values: dict[str, int]) -> dict[str, int]:
        before, operand = values[self.target], self.value(values)
        after = {"=": operand, "+": before + operand, "*": before * operand, "?": before}[self.sign]
        return values | {self.target: after}


class TurnsSystem(System):
    """A state is how far each process has come, and the values of the variables."""

    def __init__(self, processes: list[list[Step]], names: list[str]) -> None:
        self.processes, self.names = processes, names

    def initial(self):
        return (0,) * len(self.processes), (0,) * len(self.names)

    def actions(self, state):
        counters, values = state
        values = dict(zip(self.names, values, strict=True))
        found = []
        for number, (steps, at) in enumerate(zip(self.processes, counters, strict=True)):
            if at < len(steps):
                step = steps[at]
                guards = step.touches.reads if step.sign == "?" else frozenset()
                action = Action(Pid((number,)), 0, step, step.touches, step.is_possible(values), guards)
                found.append(action)
        return found

    def fire(self, state, action):
        counters, values = state
        after = action.label.done(dict(zip(self.names, values, strict=True)))
        moved = tuple(at + (action.pid == (number,)) for number, at in enumerate(counters))
        guards = action.guard_locations
        event = Event(action.pid, action.choice, action.label, action.footprint, guard_locations=guards)
        return (moved, tuple(after.values())), event

    def final(self, state):
        values = dict(zip(self.names, state[1], strict=True))
        waiting = [
            Waiting(action.pid, str(action.label), {action.label.target: values[action.label.target]})
            for action in self.actions(state)
        ]
        return Final("deadlock" if waiting else "terminated", values, tuple(waiting))


@dataclass(frozen=True, eq=False)
class TurnsModel(Model):
    processes: list[list[Step]]

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    @property
    def observable(self) -> set[str]:
        touched = [step.touches for steps in self.processes for step in steps]
        return {str(name) for each in touched for name in each.reads | each.writes}

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
