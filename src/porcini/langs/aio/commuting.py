"""Updates that commute: keys that come and go, items at the end of a list, whole numbers that are added to.

To add a key changes a dict's length and order, and `stats.hits += 1` reads and writes an attribute. If each of
these had one location, tasks that note their results in one dict, or that count, would conflict: n! orders for n
tasks, although hardly anybody looks in between. So each process that makes such updates of a place has a location
of its own there, `place@process`, and who looks reads those of all the others.

Only processes that were seen to update a place have one: when another one appears after somebody has looked,
footprints of earlier steps lack a read, and the search must begin again. So it must when somebody looks at the
order of keys that several processes have changed, or when a step may look at any order; from then on the place is
one location. A search that ended without having to begin again has seen no step that depends on an order of keys
which depends on the schedule: but for that order, steps without a conflict commute (docs/decisions/016).
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable

from porcini.core.footprints import Location
from porcini.langs.aio.sections import Levels

_CHEAP = 10
"""So many runs may be done again to learn who updates what; after more, a place is one location."""
_MOST_ATTEMPTS = 200
"""After so many, all places are one location."""


class _Place:
    """What is known of a place that has updates which commute."""

    __slots__ = ("has_order", "ordered", "updaters", "watchers", "whole")

    def __init__(self) -> None:
        self.updaters: dict[Hashable, Location] = {}
        """Who was seen to update it, and where that is noted."""
        self.watchers: set[Hashable] = set()
        """Who has looked, in this attempt."""
        self.has_order = False
        """Do updates leave an order behind?"""
        self.ordered = False
        """Did somebody look at that order, in this attempt?"""
        self.whole = False
        """Is it one location for all?"""


class Commuting:
    """What is known of such places in one search, over all its runs."""

    def __init__(self, levels: Levels | None = None) -> None:
        self.levels = levels or Levels()
        """What locks may be (`sections`)."""
        self.outgrown = False
        """Must the search begin again?"""
        self._any_order_seen = False
        self._attempts = 0
        self._runs = 0
        self._places: dict[Location, _Place] = {}

    def start_run(self) -> None:
        self._runs += 1

    def begin_again(self) -> None:
        """What was learnt is kept; nobody has looked yet."""
        self._attempts += 1
        self._runs, self.outgrown = 0, False
        for place in self._places.values():
            place.watchers.clear()
            place.ordered = False

    def any_order_is_seen(self) -> None:
        """A step may have looked at any order."""
        if not self._any_order_seen:
            self._any_order_seen = True
            self.outgrown |= any(p.has_order and p.updaters and not p.whole for p in self._places.values())

    def locks_are_seen(self) -> None:
        """A step may have looked inside any lock."""
        if not self.levels.given_up:
            self.levels.give_up()
            self.outgrown |= self.levels.in_use

    def is_one(self, where: Location) -> None:
        """A place that is to be one location."""
        place = self._of(where)
        if not place.whole:
            place.whole = True
            self.outgrown |= bool(place.updaters)

    def updates(self, where: Location, process: Hashable, has_order: bool = False) -> Location:
        """A process updates a place: where it notes that."""
        place = self._of(where)
        place.has_order = has_order
        if place.whole or (has_order and self._any_order_seen) or self._attempts > _MOST_ATTEMPTS:
            return where
        update = place.updaters.get(process)
        if update is None:
            update = place.updaters[process] = Location(sys.intern(f"{where}@{process}"))
            if place.watchers and place.watchers != {process}:
                self.outgrown = True
                place.whole = self._runs > _CHEAP
            self._check_order(place)
        return update

    def looks(self, where: Location, process: Hashable, ordered: bool = False) -> Iterable[Location]:
        """A process looks at a place, or also at its order: what it reads beside the place itself."""
        place = self._of(where)
        if place.whole:
            return ()
        place.watchers.add(process)
        if ordered:
            place.ordered = True
            self._check_order(place)
        return [update for updater, update in place.updaters.items() if updater != process]

    def _of(self, where: Location) -> _Place:
        found = self._places.get(where)
        if found is None:
            found = self._places[where] = _Place()
        return found

    def _check_order(self, place: _Place) -> None:
        if place.ordered and len(place.updaters) > 1:
            place.whole = self.outgrown = True
