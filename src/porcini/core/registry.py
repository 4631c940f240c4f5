"""What is installed: languages and engines, ours and others', by entry points, loaded when they are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from porcini.core.errors import InputError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """All entry points of a group, by name. A name that is not there is bad input, and says what is."""

    def __init__(self, group: str, what: str) -> None:
        self.group = group
        self.what = what
        self._loaded: dict[str, T] = {}

    @cached_property
    def _found(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            point = self._found.get(name)
            if point is None:
                known = ", ".join(self) or f"none: no package with entry points `{self.group}` is installed"
                raise InputError(f"unknown {self.what} `{name}`", hint=f"known: {known}")
            try:
                self._loaded[name] = point.load()
            except (ImportError, AttributeError) as problem:
                raise InputError(f"{self.what} `{name}` ({point.value}) cannot be loaded: {problem}") from problem
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._found))

    def __len__(self) -> int:
        return len(self._found)
