"""What tasks may create from a point on, from the code alone: computed once per program.

The code of a point is everything that may follow it, so that what a task may still do is what its code contains,
with the methods that it calls synchronously and the initialisers of the classes that it instantiates.

    makes         the methods whose tasks some code may start, and the classes that it may instantiate
    recursive     methods whose tasks may lead to tasks of the same method again
    uncounted     points at which a task may have created any number of children: it may have been in a loop that
                  creates some, and that releases the group
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from porcini.ir.analysis.numbering import FIRST_POINT, Numbering
from porcini.ir.operations import Await, Block, Call, Get, New, Op, Post, Suspend, While, inside


@dataclass(frozen=True, slots=True)
class Created:
    """The methods whose tasks may be started, and the classes that may be instantiated."""

    methods: frozenset[int] = frozenset()
    classes: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.methods or self.classes)


@dataclass(slots=True)
class StepFlow:
    """What is known about the code of a program."""

    numbering: Numbering
    recursive: frozenset[int] = field(init=False)
    uncounted: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        methods = range(len(self.numbering.program.templates))
        after = {method: self.makes(self.body(method)).methods for method in methods}
        self.recursive = frozenset(method for method in methods if method in _close(after[method], after))
        self.uncounted = frozenset(self._find_uncounted())

    @property
    def may_go_on(self) -> bool:
        """May a run create any number of tasks or objects?"""
        return bool(self.recursive or self.uncounted)

    def body(self, method: int) -> Block:
        return self.numbering.points[self.numbering.entries[method]].code

    def at_once(self, code: Block) -> Iterator[Op]:
        """The operations of some code, with those of the methods that it calls synchronously and of the
        initialisers of the classes that it instantiates."""
        bodies, methods, classes = [code], set[int](), set[int]()
        while bodies:
            for op in inside(bodies.pop()):
                yield op
                if isinstance(op, Call):
                    bodies += [self.body(method) for method in self.receivers(op) if method not in methods]
                    methods.update(self.receivers(op))
                elif isinstance(op, New) and op.class_ not in classes:
                    bodies.append(self.numbering.program.classes[op.class_].init)
                    classes.add(op.class_)

    def receivers(self, op: Post | Call) -> list[int]:
        """The methods that a message or a call may lead to."""
        return [self.numbering.program.classes[class_].methods[op.method] for class_ in op.classes]

    def makes(self, code: Block) -> Created:
        methods, classes = set[int](), set[int]()
        for op in self.at_once(code):
            if isinstance(op, Post):
                methods.update(self.receivers(op))
            elif isinstance(op, New):
                classes.add(op.class_)
                if self.numbering.program.classes[op.class_].runs:
                    methods.add(self.numbering.program.classes[op.class_].methods["run"])
        return Created(frozenset(methods), frozenset(classes))

    def _find_uncounted(self) -> Iterator[int]:
        for number, point in enumerate(self.numbering.points):
            if number >= FIRST_POINT and self._comes_again(number):
                yield number
                yield from self._stops(number, point.code)

    def _comes_again(self, number: int) -> bool:
        """May a task reach a point any number of times, and create children in between?"""
        code = self.numbering.points[number].code
        loops = [op.body for op in inside(code) if isinstance(op, While)]
        return any(number in self._stops(number, body) and self.makes(body) for body in loops)

    def _stops(self, number: int, code: Block) -> set[int]:
        """Where a task may stand within some code that follows a point."""
        numbers = self.numbering.numbers[self.numbering.template_of[number]]
        return {numbers[op.point] for op in inside(code) if isinstance(op, Await | Get | Suspend)}


def _close(start: Iterable[int], after: dict[int, frozenset[int]]) -> set[int]:
    found, left = set[int](), list(start)
    while left:
        number = left.pop()
        if number not in found:
            found.add(number)
            left += after[number]
    return found
