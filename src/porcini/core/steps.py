"""Runs that a user follows step by step: what each step changed, and what is enabled next.

TakenStep       a step with its place in the source and what it changed
EnabledStep     a step that could be taken next
Snapshot        an intermediate state of a run, and the steps that are enabled in it
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
    """A variable, or a cell of an array, before and after a step; None where it did not exist."""

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
    """The variables in an intermediate state of a run, and the steps that are enabled in it."""

    variables: Mapping[str, Observed]
    enabled: tuple[EnabledStep, ...]


def changes_between(before: Mapping[str, Observed], after: Mapping[str, Observed]) -> Iterator[Change]:
    """The differences between two states: variables, cells of arrays, and variables that appeared or
    disappeared."""
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
    """Is this the watched variable, or a cell of it?"""
    return name == watched or name.startswith(f"{watched}[")


def value_in(watched: str, variables: Mapping[str, Observed]) -> Observed | None:
    """The value of a variable, or of a cell such as `a[1][0]`; None if it does not exist."""
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
    """The error about a variable that cannot be watched; its hint lists similar names."""
    private = [each for each in known if each.endswith(f".{name}")]
    close = (private or get_close_matches(name, known))[:_MOST_CLOSE]
    if close:
        hint = f"close to it: {', '.join(close)}"
    else:
        more = ", ..." if len(known) > _MOST_NAMES else ""
        hint = f"known: {', '.join(known[:_MOST_NAMES])}{more}" if known else "there are no variables to watch"
    return InputError(f"cannot watch `{name}`: no such variable", hint=hint)
