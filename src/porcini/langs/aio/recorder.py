"""What a step of real Python code read and wrote.

While a step runs, instrumented code appends to a log; `Recorder.end_step` turns that into a footprint. Appending
is one call of a C function; naming (`names`) is left for the end of the step, when an object that was created in
it has been seen to be new.

**Fresh objects.** An access to an object which the same step created is left out: whoever touches it later got
it through a location that this step wrote, or was spawned with it, and so depends on this step anyway.

**Containers** have locations `[key]` for items, `[#]` for the shape (length, order, which keys) and `[=]`,
which every item access reads and a change of the whole writes. So items are independent of each other, and
reading all enumerates them.

**Updates that commute** (a key comes or goes, a whole number is added to) have locations of their own while a
search goes on (`commuting`).
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from porcini.core.footprints import EMPTY, Footprint, Location
from porcini.langs.aio import lookups, rules, sections, trusted
from porcini.langs.aio.commuting import Commuting
from porcini.langs.aio.log import (
    ADD,
    ANY_ORDER,
    APPENDED,
    BASE,
    COUNT,
    CREATED,
    DERIVED,
    IDENTITIES,
    INDEX,
    KEY,
    LIMIT,
    LOG,
    MORTAL,
    OPAQUE,
    ORDER,
    READ,
    SHAPE,
    STATE,
    WRITE,
    Token,
)
from porcini.langs.aio.names import PROXIES, Locations, Names, module_name
from porcini.langs.aio.sites import KINDS, NAMES, OUTSIDE, PLACES

GARBAGE = 50_000
"""So many objects more than at the last collection make the next run begin with one."""

NO_IDS: set[int] = set()


_INSIDE_FUTURES = frozenset({"_exception", "_result", "_state"})
"""What C shows of a future's state: to read one of these is to call `exception()` or `done()`."""


@dataclass(frozen=True, slots=True)
class OpaqueCall:
    """Code that is not followed, and where a step ran it."""

    name: str
    file: str
    line: int


class Recorder(Names):
    """The log of one exploration: `learn` before all, `start_run`, `begin_step` and `end_step` for each step."""

    log = staticmethod(LOG.append)
    """Takes an entry for the log."""

    def __init__(self) -> None:
        super().__init__()
        self.opaque_calls: Counter[OpaqueCall] = Counter()
        self.last_opaque: OpaqueCall | None = None
        """What made steps opaque, over the whole exploration, and how often."""
        self.commuting: Commuting | None = None
        """For a search that can begin again: which updates commute."""
        self._counters: set[str] = set()
        """Names of attributes and variables that whole numbers were added to."""
        self._counted_items: set[Location] = set()
        """Items of containers that whole numbers were added to."""
        self.looked: set[Location] = set()
        """Places that others may update, and that this step has looked at."""
        self._reads: set[Location] = set()
        self._writes: set[Location] = set()
        self._opaque = False

    # The life of a recorder -----------------------------------------------------------------------------------

    def start_run(self) -> None:
        """Forget the objects of the run before; names of what was learnt stay."""
        DERIVED.clear()
        MORTAL.clear()
        IDENTITIES.clear()
        rules.HELD.clear()
        rules.REBOUND.clear()
        rules.SHARED_CONTEXTS.clear()
        rules.LOST.clear()
        rules.HELD.update(self._held)
        rules.REBOUND.update(self._rebound)
        self._forget_run()
        self._clear()
        if self.commuting is not None:
            self.commuting.start_run()
        if not gc.isenabled() and gc.get_count()[0] > GARBAGE:
            gc.collect()

    def begin_step(self, process: Hashable, index: int) -> None:
        """The index-th step of a process begins. What was logged since the last step belongs to no step."""
        self._step = (process, index)
        self._clear()

    def end_step(self) -> Footprint:
        """What the step read and wrote; its new objects get their names."""
        while True:
            if LOG:
                self.drain()
            if CREATED:
                self._christen()
            self._sweep()  # whatever was logged: a step may let go of objects, and do nothing else
            if not LOG and not CREATED:
                break
        if MORTAL:
            self._count_references()
        if rules.LOST:
            self._opaque = True
        if not self._reads and not self._writes and not self._opaque:
            return EMPTY
        return Footprint(frozenset(self._reads), frozenset(self._writes), self._opaque)

    def _count_references(self) -> None:
        """Who lets go of something with a finaliser, or gets hold of it, changes who will be the last one."""
        for key, (reference, before) in list(MORTAL.items()):
            obj = reference()
            if obj is None:
                del MORTAL[key]
                continue
            count = sys.getrefcount(obj)
            if before not in (0, count):
                self._writes.add(self._locations_of(obj).part(".<references>"))
            MORTAL[key] = (reference, count)

    def release_objects(self) -> None:
        """Hold no objects any more, so that garbage can be collected. All that follows must be opaque."""
        self.drain()
        self._kept.clear()
        CREATED.clear()
        DERIVED.clear()

    def _clear(self) -> None:
        while LOG or CREATED:  # what is let go of here may have something to do, in `finally`, and log that
            LOG.clear()
            for key in list(map(id, CREATED)):  # between steps: nobody will say when it dies
                DERIVED.pop(key, None)
            CREATED.clear()
        self._reads, self._writes, self._opaque = set(), set(), False
        self.looked.clear()

    # The footprint --------------------------------------------------------------------------------------------

    def drain(self) -> None:
        """Log to locations. Repeated accesses at one site to one object, as in loops, cost little."""
        reads, writes = self._reads, self._writes
        if len(LOG) == LIMIT:
            self._mark_opaque(f"more than {LIMIT} accesses in one step", OUTSIDE)
        fresh = set(map(id, CREATED)) if CREATED else NO_IDS
        names, kinds, attrs, plain = self._names, KINDS, NAMES, rules.PLAIN
        rebound = rules.REBOUND
        last: dict[int, object] = {}
        done: set[tuple[object, ...]] = set()
        for entry in list(LOG):  # what is logged meanwhile is what this does to objects with their own `__class__`
            if len(entry) != 2:
                obj, number, kind, suffixes = entry
                key = number, id(obj), kind, suffixes
                if key not in done:
                    done.add(key)
                    self._parts(obj, entry, fresh)
                continue
            obj, number = entry
            if last.get(number, LOG) is obj:
                continue
            last[number] = obj
            if id(obj) in fresh:
                continue
            if id(obj) in rebound:
                self._mark_opaque("an object with a __dict__ that was set", number)
                continue
            kind = kinds[number]
            if kind == 4:
                if type(obj) not in plain:
                    self._truth(obj, number)
                continue
            locations = names.get(id(obj)) or self._locations_of(obj)
            attr = attrs[number]
            try:
                found = locations.attributes[attr]
            except KeyError:
                found = None if attr in self._counters else self._attribute(obj, locations, attr)
                if not sections.is_inside(obj, attr):  # which must be noticed each time
                    locations.attributes[attr] = found
            if found is None or kind != 1:
                self._written(obj, locations, attr, kind, number, writes, found)
            if found is not None and kind & 1:
                reads.update(found)
        LOG.clear()

    def _parts(self, obj: Any, entry: tuple[Any, ...], fresh: set[int]) -> None:
        """Parts of a container, or the state of a future. Who writes an item, too, reads that the whole stays."""
        _, number, kind, suffixes = entry
        if suffixes is OPAQUE:
            self._mark_opaque(obj, number)
            return
        if suffixes is ANY_ORDER:
            if self.commuting is not None:
                self.commuting.any_order_is_seen()
            return
        if id(obj) in rules.HELD or id(obj) in rules.REBOUND:
            self._mark_opaque("the __dict__ of something", number)
            return
        if id(obj) in fresh:
            return
        locations = self._names.get(id(obj)) or self._locations_of(obj)
        if kind == ADD:
            if suffixes[0][0] == ".":
                self._adds(obj, locations, suffixes[0][1:], number)
            else:
                self._adds_to_item(locations, suffixes[0])
            return
        into = self._reads if kind == 1 else self._writes
        parts = locations.parts
        if suffixes and suffixes[0][0] == ".":
            for suffix in suffixes:
                self._look_inside(obj, suffix[1:])
        looks = kind == 1 and (self._counters or self._counted_items)
        for suffix in suffixes:
            if suffix[:2] == APPENDED:
                if suffix[-1] == "]":
                    self._shape(locations, suffix)
                elif self._shape(locations, KEY):
                    first = int(suffix[2:])
                    into.update(locations.part(f"[{i}]") for i in range(first, max(list.__len__(obj), first + 1)))
            else:
                into.add(parts.get(suffix) or locations.part(suffix))
                if looks and (suffix[1:] in self._counters or parts[suffix] in self._counted_items):
                    self._look(parts[suffix])
        if kind == 2 and suffixes and suffixes[0][0] == "[" and suffixes[-1] != BASE and suffixes != (SHAPE,):
            self._reads.add(parts.get(BASE) or locations.part(BASE))

    def _shape(self, locations: Locations, what: str) -> bool:
        """What a container has changes, or is looked at. Is the shape one location?"""
        shape, commuting = locations.part(SHAPE), self.commuting
        if what == INDEX:
            self._reads.add(locations.part(BASE))
            if commuting is not None and locations.indexed is not commuting:
                locations.indexed = commuting
                commuting.is_one(shape)
            return True
        self._reads.add(shape)
        if what != KEY:
            self._look(shape, what == ORDER)
            return True
        place = commuting.updates(shape, self._step[0], has_order=True) if commuting is not None else shape
        self._writes.add(place)
        return place is shape

    def _look(self, where: Location, ordered: bool = False) -> None:
        """A place is read that others may update."""
        if self.commuting is not None:
            self.looked.add(where)
            self._reads.update(self.commuting.looks(where, self._step[0], ordered))

    def _adds(self, obj: Any, locations: Locations, attr: str, number: int) -> None:
        """A whole number is added to an attribute, or to a variable."""
        if self.commuting is not None and attr not in self._counters:
            self._counters.add(attr)
            for other in (*self._by_name.values(), *self._names.values()):
                other.attributes.pop(attr, None)
                self.commuting.outgrown |= "." + attr in other.parts  # who has read it did not say that it looked
        found = self._attribute(obj, locations, attr)
        if self.commuting is None or found is None or self._way_to_write(obj, attr) is not lookups.Lookup.PLAIN:
            self._written(obj, locations, attr, READ | WRITE, number, self._writes, found)
            self._reads.update(found or ())
            return
        self._reads.update(found)
        self._writes.add(self.commuting.updates(locations.part("." + attr), self._step[0]))

    def _adds_to_item(self, locations: Locations, suffix: str) -> None:
        """A whole number is added to an item that is there, and stays."""
        touched = suffix in locations.parts
        item = locations.part(suffix)
        self._reads.update((item, locations.part(BASE)))
        if self.commuting is None:
            self._writes.add(item)
            return
        if item not in self._counted_items:
            self._counted_items.add(item)
            self.commuting.outgrown |= touched
        self._writes.add(self.commuting.updates(item, self._step[0]))

    def _truth(self, obj: object, number: int) -> None:
        """A truth test reads a container's shape."""
        rule = rules.classify(type(obj))
        if rule is rules.Rule.CONTAINER:
            locations = self._locations_of(obj)
            if issubclass(type(obj), dict | set | list):
                self._shape(locations, COUNT)
            else:
                self._reads.add(locations.part(SHAPE))
        elif rule is rules.Rule.OPAQUE and rules.has_opaque_truth(type(obj)):
            self._mark_opaque(f"bool({type(obj).__qualname__})", number)

    def _attribute(self, obj: Any, locations: Locations, attr: str) -> tuple[Location, ...] | None:
        """The locations that reading an attribute reads; None if reading it runs code that is not followed."""
        if type(obj) in PROXIES:
            return None
        self._look_inside(obj, attr)
        if issubclass(type(obj), Token):
            return (locations.part("." + attr),)
        if issubclass(type(obj), asyncio.Future):
            if lookups.is_silent_future_attribute(attr):
                return ()
            if not rules.is_seen_by_loop(obj):
                return (locations.part(STATE[0]),)
            if attr in trusted.SEEN_TASK_ATTRIBUTES and issubclass(type(obj), asyncio.Task):
                return ()
            if attr in _INSIDE_FUTURES and not obj._joint:
                return (obj._place,)
            return (locations.part("." + attr),) if not hasattr(asyncio.Task, attr) else None
        if issubclass(type(obj), ModuleType):
            return (locations.part("." + attr),) if attr in rules.WRITTEN_GLOBALS.get(module_name(obj), ()) else ()
        if issubclass(type(obj), type):
            return self._class_attribute(obj, attr) if lookups.is_followed_on_class(obj, attr) else None
        if type(obj) is super:
            return () if lookups.is_followed_on_super(obj, attr) else None
        way = lookups.classify_attribute(type(obj), attr)
        if way is lookups.Lookup.SILENT:
            return ()
        if way is lookups.Lookup.OPAQUE or way is lookups.Lookup.CACHED:
            return None
        return (locations.part("." + attr), *self._class_attribute(type(obj), attr))

    def _look_inside(self, obj: Any, attr: str) -> None:
        """Somebody may look inside a lock that is guarded."""
        if self.commuting is not None and sections.looks_inside(obj, attr, self.commuting.levels):
            self.commuting.outgrown = True

    def _class_attribute(self, cls: type, attr: str) -> tuple[Location, ...]:
        """A class that has no such attribute may get one, which hides that of its base."""
        data = self._class_data
        return tuple(self._locations_of(c).part("." + attr) for c in cls.__mro__ if attr in data.get(c, ()))

    def _written(
        self,
        obj: object,
        locations: Locations,
        attr: str,
        kind: int,
        number: int,
        writes: set[Location],
        found: tuple[Location, ...] | None,
    ) -> None:
        """Record the write of an attribute, or a read that runs code which is not followed, or of a counter."""
        if attr in self._counters:
            found = self._attribute(obj, locations, attr)
            if found is not None and kind & READ:
                self._reads.update(found)
                for where in found:
                    self._look(where)
                if kind == READ:
                    return
        if kind & 2:
            way = self._way_to_write(obj, attr)
            if way is lookups.Lookup.PLAIN:
                writes.add(locations.part("." + attr))
            followed = way is not lookups.Lookup.OPAQUE
            if followed and kind == 3:
                value = lookups.peek(obj, attr)
                followed = type(value) in rules.PLAIN or rules.classify(type(value)) is not rules.Rule.OPAQUE
            if followed and (found is not None or kind == 2):
                return
        if found is None and lookups.classify_attribute(type(obj), attr) is lookups.Lookup.CACHED:
            writes.add(locations.part("." + attr))
            return
        self._mark_opaque(f"{type(obj).__qualname__}.{attr}", number)

    def _way_to_write(self, obj: Any, attr: str) -> lookups.Lookup:
        """Classes and modules: only what is known to be data; whatever else is written there may be a method."""
        if type(obj) in PROXIES:
            return lookups.Lookup.OPAQUE
        if issubclass(type(obj), Token):
            return lookups.Lookup.PLAIN
        if issubclass(type(obj), type):
            data: Iterable[str] = self._class_data.get(obj, ())
        elif issubclass(type(obj), ModuleType):
            data = rules.WRITTEN_GLOBALS.get(module_name(obj), ())
        else:
            return lookups.classify_attribute(type(obj), attr, writing=True)
        return lookups.Lookup.PLAIN if attr in data else lookups.Lookup.OPAQUE

    def _mark_opaque(self, name: str, number: int) -> None:
        """The step runs code that is not followed."""
        self._opaque = True
        self.last_opaque = OpaqueCall(name, *PLACES[number])
        self.opaque_calls[self.last_opaque] += 1
