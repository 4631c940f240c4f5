"""Which keys a dict or a set has: who adds and removes some, and who looks.

To add a key changes a dict's length and order. If that were one location, two tasks that add different keys would
conflict, and n tasks that note their results in one dict would be run in n! orders, although most programs never
look at the order. So each process that adds or removes keys has a location of its own, `[#]@process`, and who
looks at the length, or at all keys, reads those of all the others. Only processes that were seen to do so have
one: when another one appears after somebody has looked, footprints of earlier steps are wrong, and the search
must begin again. So it must when somebody looks at the order of keys that several processes have changed, or when
a step may look at anything; from then on the shape is one location.

A search that ended without having to begin again has seen no step that depends on an order of keys which depends
on the schedule: but for that order, steps without a conflict commute (docs/decisions/016).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

SHAPE = "[#]"
_CHEAP = 10
"""So many runs may be done again to learn who changes what; after more, a shape is one location."""
_MOST_ATTEMPTS = 50


class Outgrown(Exception):
    """Footprints that were recorded before are not right: the search has to begin again."""


class _Keys:
    """The shape of one dict, by name."""

    __slots__ = ("changers", "ordered", "watchers", "whole")

    def __init__(self) -> None:
        self.changers: dict[Hashable, str] = {}
        """Who was seen to add or to remove keys, and where that is noted."""
        self.watchers: set[Hashable] = set()
        """Who has looked, in this attempt."""
        self.ordered = False
        """Did somebody look at the order, in this attempt?"""
        self.whole = False
        """Is it one location for all?"""


class Shapes:
    """What is known of the shapes of dicts in one search, over all its runs."""

    def __init__(self) -> None:
        self.outgrown = False
        """Must the search begin again?"""
        self._split = True
        self._attempts = 0
        self._runs = 0
        self._known: dict[str, _Keys] = {}

    def start_run(self) -> None:
        self._runs += 1

    def begin_again(self) -> None:
        """What was learnt is kept; nobody has looked yet."""
        self._attempts += 1
        self._split = self._split and self._attempts < _MOST_ATTEMPTS
        self._runs, self.outgrown = 0, False
        for keys in self._known.values():
            keys.watchers.clear()
            keys.ordered = False

    def is_whole(self) -> None:
        """A step may have looked at any order."""
        if self._split:
            self._split = False
            self.outgrown |= any(keys.changers and not keys.whole for keys in self._known.values())

    def changes(self, name: str, process: Hashable) -> str:
        """A process adds or removes a key: where it notes that."""
        keys = self._of(name)
        if keys.whole or not self._split:
            return SHAPE
        where = keys.changers.get(process)
        if where is None:
            where = keys.changers[process] = f"{SHAPE}@{process}"
            if keys.watchers and keys.watchers != {process}:
                self.outgrown = True
                keys.whole = self._runs > _CHEAP
            self._check_order(keys)
        return where

    def looks(self, name: str, process: Hashable, ordered: bool) -> Iterable[str]:
        """A process looks which keys there are, or also at their order: what it reads beside `SHAPE`."""
        keys = self._of(name)
        if keys.whole or not self._split:
            return ()
        keys.watchers.add(process)
        if ordered:
            keys.ordered = True
            self._check_order(keys)
        return [where for changer, where in keys.changers.items() if changer != process]

    def _check_order(self, keys: _Keys) -> None:
        if keys.ordered and len(keys.changers) > 1:
            keys.whole = self.outgrown = True

    def _of(self, name: str) -> _Keys:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = _Keys()
        return found
