"""How an outcome is made of the variables in formulas.

    Cells   a variable; an array of arrays is one long array of cells, with their sizes from the outside in
    Queue   the messages in a channel, the oldest first: a variable for how many there are, and an array for each
            field; a message of one field is shown as its value

A number may stand for something else, such as the name of a constant, or a list: `names` says for what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from porcini.core.systems import Observed


@dataclass(frozen=True, slots=True)
class Cells:
    name: str
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Queue:
    length: str
    fields: tuple[str, ...]


Part = Cells | Queue


@dataclass(frozen=True, slots=True)
class Observation:
    """What is observed, by name. `names` gives the meanings of numbers, for each variable that holds such
    numbers."""

    parts: Mapping[str, Part]
    names: Mapping[str, Mapping[int, Observed]] = field(default_factory=dict)

    @staticmethod
    def of(names: Sequence[str]) -> Observation:
        """Plain variables."""
        return Observation({name: Cells(name) for name in names})

    def __call__(self, value_of: Callable[[str], Any]) -> dict[str, Observed]:
        """The observed values, given the values of variables."""
        return {name: self._value(part, value_of) for name, part in self.parts.items()}

    def _value(self, part: Part, value_of: Callable[[str], Any]) -> Observed:
        if isinstance(part, Cells):
            cells: Observed = nest_cells(self.show(part.name, value_of(part.name)), part.sizes)
            return cells
        columns = [self.show(name, value_of(name)) for name in part.fields]
        messages = zip(*columns, strict=True)
        held = [message[0] if len(message) == 1 else message for message in messages]
        return tuple(held[: value_of(part.length)])

    def show(self, name: str, value: Any) -> Any:
        """The value of a variable, or of each of its cells, as reports show it."""
        names = self.names.get(name)
        if names is None:
            return value
        if isinstance(value, tuple):
            return tuple(names.get(cell, cell) for cell in value)
        return names.get(value, value)

    def variables(self) -> set[str]:
        """The variables that outcomes are made of."""
        found: set[str] = set()
        for part in self.parts.values():
            found |= {part.name} if isinstance(part, Cells) else {part.length, *part.fields}
        return found


def nest_cells(cells: Any, sizes: Sequence[int]) -> Any:
    """The cells of an array of arrays as nested tuples.

    >>> nest_cells((1, 2, 3, 4), (2, 2))
    ((1, 2), (3, 4))
    """
    if len(sizes) < 2:
        return cells
    inner = len(cells) // sizes[0]
    return tuple(nest_cells(cells[i : i + inner], sizes[1:]) for i in range(0, len(cells), inner))
