"""Numbers for all points of a program, for analyses of all templates at once.

The first three are not points of the program: a process ends in `ENDED`, or is stopped in `FAILED_ASSERTION` or
`FAILED_ERROR`.
"""

from __future__ import annotations

from porcini.ir.program import Edge, Point, Program, Template

ENDED, FAILED_ASSERTION, FAILED_ERROR, FIRST_POINT = 0, 1, 2, 3
"""Points at which nothing can be done any more, and the first at which a process can stand."""


class Numbering:
    """`points` and `template_of` are lists by number."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.points: list[Point] = [Point()] * FIRST_POINT
        self.template_of: list[int] = [0] * FIRST_POINT
        self.numbers: list[list[int]] = []
        """For each template, its points by number."""
        for number, template in enumerate(program.templates):
            mine: list[int] = []
            for local, point in enumerate(template.points):
                if local == template.end:
                    mine.append(ENDED)
                    continue
                mine.append(len(self.points))
                self.points.append(point)
                self.template_of.append(number)
            self.numbers.append(mine)
        self.entries = [self.numbers[n][template.entry] for n, template in enumerate(program.templates)]

    def template_at(self, number: int) -> Template:
        """The template of a point."""
        return self.program.templates[self.template_of[number]]

    def task_name(self, template: int) -> str:
        """The name of a task that runs a method."""
        method = self.program.templates[template]
        return f"{self.program.classes[method.class_].name}.{method.name}" if template else "main"

    def target(self, number: int, edge: Edge) -> int:
        """Where an edge of a point leads."""
        return self.numbers[self.template_of[number]][edge.target]
