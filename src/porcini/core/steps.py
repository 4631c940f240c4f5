"""Runs that a person follows step by step: what each step changed, and what could go next.

TakenStep       a step with its place in the source and what it changed
EnabledStep     one that could be taken next
Snapshot        the state of a run on the way, and all that could be taken next
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from porcini.core.errors import InputError
from porcini.core.events import Event, Label, Move
from porcini.core.systems import Observed, StepSource

_MOST_CLOSE, _MOST_NAMES = 3, 10


@dataclass(frozen=True, slots=True)
class Change:
    """A variable, or a cell of an array, before and after a step; None where it was not there."""

    name: str
    before: Observed | None
    after: Observed | None


@dataclass(frozen=True, slots=True)
class TakenStep:
    """A step with its place in the source and what it changed."""

    event: Event
    source: StepSource
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class EnabledStep:
    """A step that could be taken next."""

    move: Move
    label: Label
    source: StepSource


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The variables of a run on the way, and what could be taken next."""

    variables: Mapping[str, Observed]
    enabled: tuple[EnabledStep, ...]


def changes_between(before: Mapping[str, Observed], after: Mapping[str, Observed]) -> Iterator[Change]:
    """What differs between two states: of arrays the cells, and variables that came or went."""
    for name in sorted(before.keys() | after.keys()):
        if name in before and name in after:
            yield from _changes_of(name, before[name], after[name])
        else:
            yield Change(name, before.get(name), after.get(name))


def _changes_of(name: str, before: Observed, after: Observed) -> Iterator[Change]:
    if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _changes_of(f"{name}[{index}]", old, new)
    elif before != after:
        yield Change(name, before, after)


def belongs_to(name: str, watched: str) -> bool:
    """Is it the variable that is watched, or a cell of it?"""
    return name == watched or name.startswith(f"{watched}[")


def value_in(watched: str, variables: Mapping[str, Observed]) -> Observed | None:
    """The value of a variable, or of a cell such as `a[1][0]`; None if it is not there."""
    if watched in variables:
        return variables[watched]
    name, *indices = watched.replace("]", "").split("[")
    value = variables.get(name)
    for index in indices:
        if not isinstance(value, tuple) or not index.isdecimal() or int(index) >= len(value):
            return None
        value = value[int(index)]
    return value


def unknown_variable(name: str, known: Sequence[str]) -> InputError:
    """The error about a variable that cannot be watched: its hint names those that look like it."""
    private = [each for each in known if each.endswith(f".{name}")]
    close = (private or get_close_matches(name, known))[:_MOST_CLOSE]
    if close:
        hint = f"close to it: {', '.join(close)}"
    else:
        more = ", ..." if len(known) > _MOST_NAMES else ""
        hint = f"known: {', '.join(known[:_MOST_NAMES])}{more}" if known else "there are no variables to watch"
    return InputError(f"cannot watch `{name}`: no such variable", hint=hint)
