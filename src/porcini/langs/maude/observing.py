"""States as reports show them: all but the threads, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from porcini.core.systems import Observed

Thing = tuple[str, str, Observed]
"""A part of a state: its sort, its name, its value."""


def observed(things: Iterable[Thing]) -> dict[str, Observed]:
    """Things by name, with their sort where a name is not enough. Several things of one name are a list."""
    found: dict[tuple[str, str], list[Observed]] = {}
    for sort, name, value in things:
        found.setdefault((sort, name), []).append(value)
    names = [name for _, name in found]
    shown: dict[str, Observed] = {}
    for (sort, name), values in sorted(found.items(), key=lambda item: item[0]):
        key = name if names.count(name) == 1 else f"{sort} {name}"
        shown[key] = values[0] if len(values) == 1 else tuple(sorted(values, key=lambda v: (str(type(v)), v)))
    return shown


def by_keys(part: Any, keys: Sequence[int]) -> Thing:
    """A part that is told from others by some of its arguments."""
    args = list(part.arguments())
    values = [_value(arg) for number, arg in enumerate(args) if number not in keys]
    name = ", ".join(_name(args[number]) for number in keys)
    return str(part.getSort()), name, values[0] if len(values) == 1 else tuple(values)


def nameless(part: Any) -> list[Thing]:
    """A part without a name: the entries of a map, if it holds one, or all of it."""
    sort, args = str(part.getSort()), list(part.arguments())
    if len(args) != 1:
        return [(sort, sort, str(part))]
    (held,) = args
    inner = list(held.arguments())
    entries = inner if held.symbol().isAssoc() and len(inner) > 1 else [held]
    pairs = [list(entry.arguments()) for entry in entries]
    if all(len(pair) == 2 and str(pair[0]).startswith("'") for pair in pairs):
        return [(sort, _name(key), _value(value)) for key, value in pairs]
    return [(sort, sort, _value(held))]


def _name(term: Any) -> str:
    return str(term).removeprefix("'")


def _value(term: Any) -> Observed:
    text = str(term)
    if text in ("true", "false"):
        return text == "true"
    digits = text.replace(" ", "")
    return int(digits) if digits.removeprefix("-").isdigit() else text
