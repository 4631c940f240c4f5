"""Wide random programs in a little language that is a Maude theory, and a judge for them.

The language is in cells.maude, three times over: with cells that are parts of the state, where Porcini derives
what steps touch (`cells`); with one store and a description of what a thread's steps touch (`store`), or of what
the steps of a state touch (`now`). A program is four to seven threads of one to three instructions; it reaches
Porcini as the initial state in a description file. Programs always end: there are no loops.

    program       this: programs, their text, smaller ones, `generate`; and what Porcini shows at the end
    judge         all outcomes and classes of a program, by an interpreter
    plain_maude   the outcomes from plain Maude, for checking the judge
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

THEORY = Path(__file__).parent / "cells.maude"
VARIANTS = ("cells", "store", "now")
DEPENDENCE = {"store": "STORE-POR", "now": "STORE-NOW-POR"}
CELLS = ("x", "y", "z", "w", "u")
BAG, QUEUE = "b", "q"

Block = tuple["Instruction", ...]
Argument = Any
"""The name of a cell, a number, or a block."""


@dataclass(frozen=True, slots=True)
class Instruction:
    name: str
    arguments: tuple[Argument, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(_shown, self.arguments))})" if self.arguments else self.name


def _shown(argument: Argument) -> str:
    if isinstance(argument, tuple):
        return " ; ".join(map(str, argument)) or "done"
    return f"'{argument}" if isinstance(argument, str) else str(argument)


@dataclass(frozen=True, slots=True)
class Program:
    threads: tuple[Block, ...]
    cells: tuple[tuple[str, int], ...]
    bag: tuple[int, ...] = ()
    queue: tuple[int, ...] = ()
    room: int = 1
    """for how many more the queue has room"""
    variant: str = "cells"

    @property
    def module(self) -> str:
        return "CELLS" if self.variant == "cells" else "STORE"

    def initial(self) -> str:
        """The initial state, as a term."""
        separate = self.variant == "cells"
        cells = [f"['{name} = {value}]" if separate else f"'{name} |-> {value}" for name, value in self.cells]
        waiting = " then ".join(map(str, self.queue)) or "nobody"
        inside = " @ ".join(map(str, self.bag)) or "nothing-in"
        others = [f"bag('{BAG}, {inside})", f"queue('{QUEUE}, {self.room}, {waiting})", "slot(0, 0)", "slot(1, 0)"]
        shared = " ".join(cells + others) if separate else f"memory({' , '.join(cells + others)})"
        threads = [f"< {number} | 0 | {_shown(code)} | 0 >" for number, code in enumerate(self.threads)]
        return " ".join([shared, *threads])

    def description(self) -> str:
        """What Porcini is told about the theory: a file in TOML."""
        keys = {"module": self.module, "initial": self.initial()}
        keys |= {"state": "Conf", "thread": "Thread", "tid": "Tid"}
        if self.variant in DEPENDENCE:
            keys["dependence"] = DEPENDENCE[self.variant]
        return "".join(f'{key} = "{value}"\n' for key, value in keys.items())

    def text(self) -> str:
        return self.description()

    def smaller(self) -> Iterator[Program]:
        """All programs that are smaller by one thread, instruction, alternative, cell, element or digit."""
        for index in range(len(self.threads)):
            yield replace(self, threads=self.threads[:index] + self.threads[index + 1 :])
        for index, code in enumerate(self.threads):
            for less in _smaller_blocks(code):
                yield replace(self, threads=(*self.threads[:index], less, *self.threads[index + 1 :]))
        if self.bag or self.queue:
            yield replace(self, bag=self.bag[1:])
            yield replace(self, queue=self.queue[1:])


def _smaller_blocks(code: Block) -> Iterator[Block]:
    for index, instruction in enumerate(code):
        before, after = code[:index], code[index + 1 :]
        yield before + after
        for place, argument in enumerate(instruction.arguments):
            if isinstance(argument, tuple):
                yield before + argument + after
                for less in _smaller_blocks(argument):
                    yield (*before, _with(instruction, place, less), *after)
            elif isinstance(argument, int) and argument > 1:
                yield (*before, _with(instruction, place, 1), *after)


def _with(instruction: Instruction, place: int, argument: Argument) -> Instruction:
    changed = (*instruction.arguments[:place], argument, *instruction.arguments[place + 1 :])
    return replace(instruction, arguments=changed)


def generate(random: Random, fewest: int = 5, most: int = 8) -> Program:
    return _Writer(random).program(fewest, most)


class _Writer:
    """Writes one program, with a few kinds of instructions that were drawn for it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        kinds = ["wait", "choose", "either", "test", "spawn", "bag", "queue", "poke", "register", "exit"]
        self.commands = random.randrange(3) == 0
        """Does nearly everyone wait, then write, in one step?"""
        self.kinds = random.sample(kinds, random.randint(1, 3))
        self.digit = random.randrange(9)
        self.home: list[str] = []

    def program(self, fewest: int, most: int) -> Program:
        sizes = range(fewest, most + 1)
        many = self.random.choices(sizes, [1 if self.commands else 1 / (n - 3) ** 2 for n in sizes])[0]
        threads = tuple(self._thread(self.random.choices([1, 2, 3], [6, 3, 1])[0]) for _ in range(many))
        cells = tuple((name, self.random.choice([0, 0, 1])) for name in CELLS)
        bag = tuple(self.random.randint(1, 4) for _ in range(self.random.randint(0, 2)))
        queue = tuple(self._fresh() for _ in range(self.random.randint(0, 1)))
        room, variant = self.random.randint(1, 2), self.random.choice(VARIANTS)
        return Program(threads, cells, bag, queue, room, variant)

    def _thread(self, length: int) -> Block:
        self.home = self.random.sample(CELLS, self.random.choice([1, 1, 2]))
        code: Block = ()
        while len(code) < length:
            code += self._some()
        return code

    def _fresh(self) -> int:
        self.digit = self.digit % 9 + 1
        return self.digit

    def _cell(self) -> str:
        return self.random.choice(self.home)

    def _plain(self) -> Instruction:
        """Writes a cell."""
        kind = self.random.choice(["mix", "mix", "mix", "put", "put", "copy"])
        if kind == "copy":
            return Instruction("copy", (self._cell(), self.random.choice(CELLS)))
        return Instruction(
            kind, (self._cell(), self._fresh() if kind == "mix" else self.random.choice([0, 1, 1, 2]))
        )

    def _some(self) -> Block:
        if self.commands and self.random.random() < 0.7:
            return (self._command(),)
        if self.random.random() < 0.45:
            return (self._plain(),)
        return getattr(self, f"_{self.random.choice(self.kinds)}")()

    def _command(self) -> Instruction:
        cell, value = self._looked_at()
        if self.random.random() < 0.5:
            return Instruction("swap", (cell, value, self.random.choice([0, 1, 2])))
        return Instruction(
            "set", (cell, value, self.random.choice([c for c in CELLS if c != cell]), self._fresh())
        )

    def _looked_at(self) -> tuple[str, int]:
        return self.random.choice([*self.home, *CELLS]), self.random.choice([0, 0, 1, 1, 2])

    def _wait(self) -> Block:
        return Instruction(self.random.choice(["await", "avoid"]), self._looked_at()), self._plain()

    def _choose(self) -> Block:
        """Waits for one of two cells."""
        return (Instruction("first", (*self._looked_at(), self._branch(), *self._looked_at(), self._branch())),)

    def _branch(self) -> Block:
        return self.random.choice([(self._plain(),), (self._plain(),), (), (self._plain(), self._plain())])

    def _either(self) -> Block:
        return (Instruction("either", (self._branch(), self._branch())),)

    def _test(self) -> Block:
        return (Instruction("when", (*self._looked_at(), self._branch(), self._branch())),)

    def _spawn(self) -> Block:
        return (Instruction("spawn", ((self._plain(), *self.random.choice([(), (self._plain(),)])),)),)

    def _bag(self) -> Block:
        if self.random.random() < 0.5:
            return (Instruction("drop", (BAG, self._fresh())),)
        return Instruction("take", (BAG,)), Instruction("write", (self._cell(),))

    def _queue(self) -> Block:
        if self.random.random() < 0.5:
            return (Instruction("send", (QUEUE, self._fresh())),)
        return Instruction("receive", (QUEUE,)), Instruction("write", (self._cell(),))

    def _poke(self) -> Block:
        return (Instruction("poke", (self.random.choice(CELLS), self._fresh())),)

    def _register(self) -> Block:
        return Instruction("read", (self.random.choice(CELLS),)), Instruction("write", (self._cell(),))

    def _exit(self) -> Block:
        return Instruction("when", (*self._looked_at(), (Instruction("exit"),), ())), self._plain()


_CELL = re.compile(r"\['(\w+) = (-?\d+)\]|'(\w+) \|-> (-?\d+)")
_PART = re.compile(r"(bag|queue|slot)\('?(\w+), ([^()]*)\)")


def observed(shown: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    """A final state as Porcini shows it, in the form of the judge's outcomes."""
    pieces = []
    for name, value in shown.items():
        if name in CELLS:
            pieces.append(f"['{name} = {value}]")
        elif name == BAG:
            pieces.append(f"bag('{BAG}, {value})")
        elif name == QUEUE:
            pieces.append(f"queue('{QUEUE}, {', '.join(map(str, value))})")
        else:
            pieces.append(" ".join(value) if isinstance(value, tuple) else str(value))
    return in_term(" ".join(pieces))


def in_term(term: str) -> tuple[tuple[str, object], ...]:
    """What is shared in a state that is given as a term."""
    found: dict[str, object] = {}
    for name, value, stored, stored_value in _CELL.findall(term):
        found[name or stored] = int(value or stored_value)
    for kind, name, content in _PART.findall(term):
        numbers = [int(number) for number in re.findall(r"-?\d+", content)]
        if kind == "slot":
            found[f"slot {name}"] = numbers[0]
        else:
            found[name] = tuple(sorted(numbers) if kind == "bag" else numbers[1:])
    return tuple(sorted(found.items()))
