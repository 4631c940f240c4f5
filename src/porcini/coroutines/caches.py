"""Containers of installed packages that every run changes: caches, registries.

A run must not find what the one before it has left there, least of all by an `id` that has come to be another
object's, or by a random number, which is the same in each run. So a dict, a list or a set that is a global of a
package, or an attribute of one of its classes, and that still changes when all has been set up, has its first
contents again whenever a run begins. What is set up once and for all stays: if it is in a container that does not
change any more.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from porcini.core.origins import origin_of

_KINDS = (dict, list, set)


class Caches:
    """Global containers of packages, and those among them that runs change."""

    def __init__(self) -> None:
        self._first = [(container, container.copy()) for container in _containers()]
        self._changing: list[tuple[Any, Any]] = []

    def compare(self, before: list[Any]) -> bool:
        """A run that set nothing up any more is over: what it has changed will be put back. `before` are copies
        that were made when it began. Is there more of it than was known?"""
        known_before = len(self._changing)
        for (container, first), copy in zip(self._first, before, strict=True):
            if not _same(container, copy) and not any(container is known for known, _ in self._changing):
                self._changing.append((container, first))
        return len(self._changing) > known_before

    def copies(self) -> list[Any]:
        """What is in all of them now."""
        return [container.copy() for container, _ in self._first]

    def put_back(self) -> None:
        """A run begins."""
        for container, first in self._changing:
            if not _same(container, first):
                container.clear()
                container.extend(first) if type(container) is list else container.update(first)


def _containers() -> Iterable[Any]:
    found: dict[int, Any] = {}
    for module in list(sys.modules.values()):
        path = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        if isinstance(path, str) and origin_of(path) == "installed":
            names = vars(module)
            classes = [value for value in list(names.values()) if isinstance(value, type)]
            own = [vars(cls) for cls in classes if cls.__module__ == module.__name__]
            for held in (names, *own):
                found.update((id(v), v) for n, v in list(held.items()) if type(v) in _KINDS and n[:2] != "__")
    return found.values()


def _same(one: Any, two: Any) -> bool:
    """Are the very same objects in both, in the same order?"""
    if len(one) != len(two):
        return False
    if type(one) is dict and not all(a is b for a, b in zip(one.values(), two.values(), strict=True)):
        return False
    if type(one) is set:
        return {*map(id, one)} == {*map(id, two)}
    return all(a is b for a, b in zip(one, two, strict=True))
