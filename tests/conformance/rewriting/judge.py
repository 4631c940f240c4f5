"""A judge for the little language of cells.maude: an interpreter, as a `Machine` of the oracle.

Steps say what they read and write, so that the oracle can count classes as well. That depends on the variant of
the language. Which of the two slots a `poke` may write is known exactly for a state (`now`); for a thread alone it
is both, and what Porcini derives from the rules takes all slots for one. All that a thread can do belongs
together: so a choice between two cells reads both, whichever is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from conformance.oracle import Outcome, Pid, Step
from conformance.rewriting.program import BAG, QUEUE, Block, Instruction, Program


class Thread(NamedTuple):
    pid: Pid
    children: int
    code: Block
    register: int = 0


class State(NamedTuple):
    threads: tuple[Thread, ...]
    cells: tuple[tuple[str, int], ...]
    bag: tuple[int, ...]
    queue: tuple[int, ...]
    room: int
    slots: tuple[int, int] = (0, 0)


class Judge:
    def __init__(self, program: Program) -> None:
        self._program, self._variant = program, program.variant

    def initial(self) -> State:
        threads = tuple(Thread((number,), 0, code) for number, code in enumerate(self._program.threads))
        program = self._program
        return State(threads, program.cells, tuple(sorted(program.bag)), program.queue, program.room)

    def steps(self, state: State) -> list[Step]:
        return [step for thread in state.threads if thread.code for step in self._steps_of(state, thread)]

    def outcome(self, state: State) -> Outcome:
        kind = "deadlock" if any(thread.code for thread in state.threads) else "terminated"
        found = {**dict(state.cells), BAG: state.bag, QUEUE: state.queue}
        found |= {f"slot {number}": value for number, value in enumerate(state.slots)}
        return kind, tuple(sorted(found.items()))

    def _steps_of(self, state: State, thread: Thread) -> Iterator[Step]:
        instruction, *rest = thread.code
        after = thread._replace(code=tuple(rest))
        match instruction:
            case Instruction("put" | "mix" | "copy" | "write" | "swap" | "set"):
                yield from _writing(state, after, instruction)
            case Instruction("bag" | "drop" | "take" | "send" | "receive"):
                yield from self._moving(state, after, instruction)
            case Instruction("spawn", (code,)):
                child = Thread((*thread.pid, thread.children), 0, code)
                parent = after._replace(children=thread.children + 1)
                moved = _replaced(state, parent)
                yield Step(thread.pid, moved._replace(threads=(*moved.threads, child)), spawned=(child.pid,))
            case Instruction("exit"):
                left = tuple(each for each in state.threads if each.pid != thread.pid)
                yield Step(thread.pid, state._replace(threads=left))
            case Instruction("poke", (cell, digit)):
                yield self._poke(state, after, cell, digit)
            case _:
                yield from _looking(state, after, instruction)

    def _moving(self, state: State, thread: Thread, instruction: Instruction) -> Iterator[Step]:
        """Numbers go into a bag or a queue, and come out again; Maude finds the largest of a bag first."""
        name, *numbers = instruction.arguments
        ends = {"send": ("tail", "head"), "receive": ("head", "tail")}
        writes, awaits = ends.get(instruction.name, (name, name)) if self._variant != "cells" else (name, name)
        reads = frozenset({awaits} - {writes})
        match instruction.name:
            case "drop":
                results = [(thread, state._replace(bag=tuple(sorted((*state.bag, *numbers)))))]
            case "take":
                results = [
                    (thread._replace(register=number), state._replace(bag=_without(state.bag, number)))
                    for number in sorted(set(state.bag), reverse=True)
                ]
            case "send":
                sent = state._replace(queue=(*state.queue, *numbers), room=state.room - 1)
                results = [(thread, sent)] if state.room else []
            case _:
                got = state._replace(queue=state.queue[1:], room=state.room + 1)
                results = [(thread._replace(register=n), got) for n in state.queue[:1]]
        for choice, (moved, after) in enumerate(results):
            yield Step(thread.pid, _replaced(after, moved), reads, frozenset({writes}), choice=choice)

    def _poke(self, state: State, thread: Thread, cell: str, digit: int) -> Step:
        index = dict(state.cells)[cell] % 2
        slots = tuple(10 * value + digit if i == index else value for i, value in enumerate(state.slots))
        writes = {"now": {f"slot {index}"}}.get(self._variant, {"slot 0", "slot 1"})
        after = _replaced(state._replace(slots=slots), thread)
        return Step(thread.pid, after, frozenset({cell}), frozenset(writes))


def _writing(state: State, thread: Thread, instruction: Instruction) -> Iterator[Step]:
    """Instructions that write one cell. A cell is not copied to itself: the rule wants two of them."""
    cells = dict(state.cells)
    reads: set[str] = set()
    match instruction:
        case Instruction("put", (name, value)):
            pass
        case Instruction("mix", (name, digit)):
            value = 10 * cells[name] + digit
        case Instruction("copy", (name, other)) if name != other:
            value, reads = 10 * cells[name] + cells[other], {other}
        case Instruction("write", (name,)):
            value = 10 * cells[name] + thread.register
        case Instruction("swap", (name, wanted, value)) if cells[name] == wanted:
            pass
        case Instruction("set", (other, wanted, name, digit)) if cells[other] == wanted and name != other:
            value, reads = 10 * cells[name] + digit, {other}
        case _:
            return
    after = state._replace(cells=tuple({**cells, name: value}.items()))
    yield Step(thread.pid, _replaced(after, thread), frozenset(reads), frozenset({name}))


def _looking(state: State, thread: Thread, instruction: Instruction) -> Iterator[Step]:
    """Instructions that look at cells, or choose."""
    cells = dict(state.cells)

    def goes_on(code: Block, read: set[str], choice: int = 0, register: int = thread.register) -> Step:
        moved = thread._replace(code=code + thread.code, register=register)
        return Step(thread.pid, _replaced(state, moved), frozenset(read), choice=choice)

    match instruction:
        case Instruction("read", (cell,)):
            yield goes_on((), {cell}, register=cells[cell])
        case Instruction("await", (cell, value)) if cells[cell] == value:
            yield goes_on((), {cell})
        case Instruction("avoid", (cell, value)) if cells[cell] != value:
            yield goes_on((), {cell})
        case Instruction("either", (left, right)):
            yield goes_on(left, set())
            yield goes_on(right, set(), 1)
        case Instruction("when", (cell, value, then, otherwise)):
            yield goes_on(then, {cell}) if cells[cell] == value else goes_on(otherwise, {cell}, 1)
        case Instruction("first", (one, value, then, other, other_value, other_then)):
            if cells[one] == value:
                yield goes_on(then, {one, other})
            if cells[other] == other_value:
                yield goes_on(other_then, {one, other}, 1)


def _replaced(state: State, thread: Thread) -> State:
    threads = tuple(thread if each.pid == thread.pid else each for each in state.threads)
    return state._replace(threads=threads)


def _without(bag: tuple[int, ...], number: int) -> tuple[int, ...]:
    index = bag.index(number)
    return bag[:index] + bag[index + 1 :]
