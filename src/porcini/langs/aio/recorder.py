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
from porcini.langs.aio import rules
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
from porcini.langs.aio.names import PROXIES, Named, Names, module_name
from porcini.langs.aio.sites import KINDS, NAMES, OUTSIDE, PLACES

GARBAGE = 50_000
"""So many objects more than at the last collection make the next run begin with one."""

NO_IDS: set[int] = set()


@dataclass(frozen=True, slots=True)
class OpaqueCall:
    """Something not known that a step did, and where."""

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
        """What made steps opaque, over the whole exploration, and how often."""
        self.commuting: Commuting | None = None
        """For a search that can begin again: which updates commute."""
        self._counters: set[str] = set()
        """Names of attributes and variables that whole numbers were added to."""
        self._counted_items: set[Location] = set()
        """Items of containers that whole numbers were added to."""
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
                self._writes.add(self._named(obj).part(".<references>"))
            MORTAL[key] = (reference, count)

    def let_go(self) -> None:
        """Hold no objects any more, so that garbage can be collected. All that follows must be opaque."""
        self.drain()
        self._kept.clear()
        CREATED.clear()
        DERIVED.clear()

    def _clear(self) -> None:
        LOG.clear()
        for made in CREATED:  # between steps: nobody will say when it dies
            DERIVED.pop(id(made), None)
        CREATED.clear()
        self._reads, self._writes, self._opaque = set(), set(), False

    # What the controlled loop reports -------------------------------------------------------------------------

    def read(self, obj: object, attr: str) -> None:
        """The step reads `attr` of an object."""
        LOG.append((obj, OUTSIDE, READ, ("." + attr,)))

    def write(self, obj: object, attr: str) -> None:
        """The step writes `attr` of an object."""
        LOG.append((obj, OUTSIDE, WRITE, ("." + attr,)))

    def opaque(self, name: str) -> None:
        """The step does something that is not known."""
        LOG.append((name, OUTSIDE, 0, OPAQUE))

    def created(self, obj: object) -> None:
        """An object that was created just now, in this step."""
        CREATED.append(obj)

    # The footprint --------------------------------------------------------------------------------------------

    def drain(self) -> None:
        """Log to locations. Repeated accesses at one site to one object, as in loops, cost one comparison."""
        reads, writes = self._reads, self._writes
        if len(LOG) == LIMIT:
            self._opaque = True
            self._note(f"more than {LIMIT} accesses in one step", OUTSIDE)
        fresh = set(map(id, CREATED)) if CREATED else NO_IDS
        names, kinds, attrs, plain = self._names, KINDS, NAMES, rules.PLAIN
        rebound = rules.REBOUND
        last: dict[int, object] = {}
        for entry in list(LOG):  # what is logged meanwhile is what this does to objects with their own `__class__`
            obj = entry[0]
            number = entry[1]
            if len(entry) != 2:
                before: Any = last.get(-1 - number)
                if before is None or before[0] is not obj or before[2] != entry[2] or before[3] is not entry[3]:
                    last[-1 - number] = entry
                    self._parts(obj, entry, fresh)
                continue
            if last.get(number, LOG) is obj:
                continue
            last[number] = obj
            if id(obj) in fresh:
                continue
            if id(obj) in rebound:
                self._opaque = True
                self._note("an object with a __dict__ that was set", number)
                continue
            kind = kinds[number]
            if kind == 4:
                if type(obj) not in plain:
                    self._truth(obj, number)
                continue
            named = names.get(id(obj)) or self._named(obj)
            attr = attrs[number]
            try:
                found = named.attributes[attr]
            except KeyError:
                found = None if attr in self._counters else self._attribute(obj, named, attr)
                named.attributes[attr] = found
            if found is None or kind != 1:
                self._written(obj, named, attr, kind, number, writes, found)
            if found is not None and kind & 1:
                reads.update(found)
        LOG.clear()

    def _parts(self, obj: Any, entry: tuple[Any, ...], fresh: set[int]) -> None:
        """Parts of a container, or the state of a future. Who writes an item, too, reads that the whole stays."""
        _, number, kind, suffixes = entry
        if suffixes is OPAQUE:
            self._opaque = True
            self._note(obj, number)
            return
        if suffixes is ANY_ORDER:
            if self.commuting is not None:
                self.commuting.any_order_is_seen()
            return
        if id(obj) in rules.HELD or id(obj) in rules.REBOUND:
            self._opaque = True
            self._note("the __dict__ of something", number)
            return
        if id(obj) in fresh:
            return
        named = self._names.get(id(obj)) or self._named(obj)
        if kind == ADD:
            if suffixes[0][0] == ".":
                self._adds(obj, named, suffixes[0][1:], number)
            else:
                self._adds_to_item(named, suffixes[0])
            return
        into = self._reads if kind == 1 else self._writes
        parts = named.parts
        looks = kind == 1 and (self._counters or self._counted_items)
        for suffix in suffixes:
            if suffix[:2] == APPENDED:
                if suffix[-1] == "]":
                    self._shape(named, suffix)
                elif self._shape(named, KEY):
                    first = int(suffix[2:])
                    into.update(named.part(f"[{i}]") for i in range(first, max(list.__len__(obj), first + 1)))
            else:
                into.add(parts.get(suffix) or named.part(suffix))
                if looks and (suffix[1:] in self._counters or parts[suffix] in self._counted_items):
                    self._look(parts[suffix])
        if kind == 2 and suffixes and suffixes[0][0] == "[" and suffixes[-1] != BASE and suffixes != (SHAPE,):
            self._reads.add(parts.get(BASE) or named.part(BASE))

    def _shape(self, named: Named, what: str) -> bool:
        """What a container has changes, or is looked at. Is the shape one location?"""
        shape, commuting = named.part(SHAPE), self.commuting
        if what == INDEX:
            self._reads.add(named.part(BASE))
            if commuting is not None and named.indexed is not commuting:
                named.indexed = commuting
                commuting.is_one(shape)
            return True
        self._reads.add(shape)
        if what != KEY:
            self._look(shape, what == ORDER)
            return True
        noted = commuting.updates(shape, self._step[0], has_order=True) if commuting is not None else shape
        self._writes.add(noted)
        return noted is shape

    def _look(self, where: Location, ordered: bool = False) -> None:
        """A place is read that others may update."""
        if self.commuting is not None:
            self._reads.update(self.commuting.looks(where, self._step[0], ordered))

    def _adds(self, obj: Any, named: Named, attr: str, number: int) -> None:
        """A whole number is added to an attribute, or to a variable."""
        if self.commuting is not None and attr not in self._counters:
            self._counters.add(attr)
            for other in (*self._known.values(), *self._names.values()):
                other.attributes.pop(attr, None)
                self.commuting.outgrown |= "." + attr in other.parts  # who has read it did not say that it looked
        found = self._attribute(obj, named, attr)
        if self.commuting is None or found is None or self._way_to_write(obj, attr) is not rules.Way.PLAIN:
            self._written(obj, named, attr, READ | WRITE, number, self._writes, found)
            self._reads.update(found or ())
            return
        self._reads.update(found)
        self._writes.add(self.commuting.updates(named.part("." + attr), self._step[0]))

    def _adds_to_item(self, named: Named, suffix: str) -> None:
        """A whole number is added to an item that is there, and stays."""
        touched = suffix in named.parts
        item = named.part(suffix)
        self._reads.update((item, named.part(BASE)))
        if self.commuting is None:
            self._writes.add(item)
            return
        if item not in self._counted_items:
            self._counted_items.add(item)
            self.commuting.outgrown |= touched
        self._writes.add(self.commuting.updates(item, self._step[0]))

    def _truth(self, obj: object, number: int) -> None:
        """A truth test reads a container's shape."""
        rule = rules.rule(type(obj))
        if rule is rules.Rule.CONTAINER:
            named = self._named(obj)
            if issubclass(type(obj), dict | set | list):
                self._shape(named, COUNT)
            else:
                self._reads.add(named.part(SHAPE))
        elif rule is rules.Rule.UNKNOWN and rules.unknown_truth(type(obj)):
            self._opaque = True
            self._note(f"bool({type(obj).__qualname__})", number)

    def _attribute(self, obj: Any, named: Named, attr: str) -> tuple[Location, ...] | None:
        """The locations that reading an attribute reads; None if reading it runs code that is not known."""
        if type(obj) in PROXIES:
            return None
        if issubclass(type(obj), Token):
            return (named.part("." + attr),)
        if issubclass(type(obj), asyncio.Future):
            if rules.is_silent_future_attribute(attr):
                return ()
            if not rules.is_seen_by_loop(obj):
                return (named.part(STATE[0]),)
            return (named.part("." + attr),) if not hasattr(asyncio.Task, attr) else None
        if issubclass(type(obj), ModuleType):
            return (named.part("." + attr),) if attr in rules.WRITTEN_GLOBALS.get(module_name(obj), ()) else ()
        if issubclass(type(obj), type):
            return self._class_attribute(obj, attr) if rules.known_on_class(obj, attr) else None
        if type(obj) is super:
            return () if rules.known_on_super(obj, attr) else None
        way = rules.attribute(type(obj), attr)
        if way is rules.Way.SILENT:
            return ()
        if way is rules.Way.UNKNOWN or way is rules.Way.CACHED:
            return None
        return (named.part("." + attr), *self._class_attribute(type(obj), attr))

    def _class_attribute(self, cls: type, attr: str) -> tuple[Location, ...]:
        """A class that has no such attribute may get one, which hides that of its base."""
        data = self._class_data
        return tuple(self._named(c).part("." + attr) for c in cls.__mro__ if attr in data.get(c, ()))

    def _written(
        self,
        obj: object,
        named: Named,
        attr: str,
        kind: int,
        number: int,
        writes: set[Location],
        found: tuple[Location, ...] | None,
    ) -> None:
        """Record the write of an attribute, or a read that runs code which is not known, or of a counter."""
        if attr in self._counters:
            found = self._attribute(obj, named, attr)
            if found is not None and kind & READ:
                self._reads.update(found)
                for where in found:
                    self._look(where)
                if kind == READ:
                    return
        if kind & 2:
            way = self._way_to_write(obj, attr)
            if way is rules.Way.PLAIN:
                writes.add(named.part("." + attr))
            known = way is not rules.Way.UNKNOWN
            if known and kind == 3:
                value = rules.peek(obj, attr)
                known = type(value) in rules.PLAIN or rules.rule(type(value)) is not rules.Rule.UNKNOWN
            if known and (found is not None or kind == 2):
                return
        if found is None and rules.attribute(type(obj), attr) is rules.Way.CACHED:
            writes.add(named.part("." + attr))
            return
        self._opaque = True
        self._note(f"{type(obj).__qualname__}.{attr}", number)

    def _way_to_write(self, obj: Any, attr: str) -> rules.Way:
        """Classes and modules: only what is known to be data; whatever else is written there may be a method."""
        if type(obj) in PROXIES:
            return rules.Way.UNKNOWN
        if issubclass(type(obj), Token):
            return rules.Way.PLAIN
        if issubclass(type(obj), type):
            data: Iterable[str] = self._class_data.get(obj, ())
        elif issubclass(type(obj), ModuleType):
            data = rules.WRITTEN_GLOBALS.get(module_name(obj), ())
        else:
            return rules.attribute(type(obj), attr, writing=True)
        return rules.Way.PLAIN if attr in data else rules.Way.UNKNOWN

    def _note(self, name: str, number: int) -> None:
        self.opaque_calls[OpaqueCall(name, *PLACES[number])] += 1
