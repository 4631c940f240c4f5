"""Installed languages, engines and formats, ours and others', found by entry points and loaded when they are
used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from porcini.core.errors import InputError

T = TypeVar("T")


GROUPS = ("porcini.languages", "porcini.engines", "porcini.formats")


def plug_ins() -> set[str]:
    """The names of other people's packages, as they are imported."""
    points = (point for group in GROUPS for point in entry_points(group=group))
    return {point.module.partition(".")[0] for point in points} - {"porcini"}


class Registry(Mapping[str, T], Generic[T]):
    """All entry points of a group, by name. An unknown name is bad input, and the error lists the known ones."""

    def __init__(self, group: str, what: str) -> None:
        self.group = group
        self.what = what
        self._loaded: dict[str, T] = {}

    @cached_property
    def _entry_points(self) -> dict[str, list[EntryPoint]]:
        found: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self.group):
            known = found.setdefault(point.name, [])
            if all(other.value != point.value for other in known):  # one package may be found twice
                known.append(point)
        return found

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            points = self._entry_points.get(name)
            if points is None:
                known = ", ".join(self) or f"none: no package with entry points `{self.group}` is installed"
                raise InputError(f"unknown {self.what} `{name}`", hint=f"known: {known}")
            if len(points) > 1:
                both = " and ".join(point.value for point in points)
                raise InputError(f"{self.what} `{name}` is registered more than once: {both}")
            (point,) = points
            try:
                self._loaded[name] = point.load()
            except (ImportError, AttributeError) as problem:
                raise InputError(f"{self.what} `{name}` ({point.value}) cannot be loaded: {problem}") from problem
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entry_points

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entry_points))

    def __len__(self) -> int:
        return len(self._entry_points)
