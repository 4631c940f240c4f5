"""What a step of real Python code read and wrote.

While a step runs, instrumented code appends to `LOG`; `Recorder.end_step` turns the log into a footprint. An
entry is `(object, site)` for an attribute or a truth test, and `(object, site, kind, suffixes)` for what the
functions in `operations` have already resolved: parts of a container, the state of a future. Appending is one
call of a C function; naming is left for the end of the step, when an object that was created in it has been
seen to be new.

**Names.** Footprints of different runs are compared, so a name must not depend on the schedule. An object that
instrumented code was seen to create is named by the step that created it and the number of the creation within
the step. What was there before the exploration is named by the path on which `learn` finds it. All other
objects of one type share one name.

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
import weakref
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any

from porcini.core.footprints import EMPTY, Footprint, Location
from porcini.langs.aio import rules
from porcini.langs.aio.commuting import Commuting
from porcini.langs.aio.sites import KINDS, NAMES, OUTSIDE, PLACES, Kind

LIMIT = 1 << 18
"""A step with more accesses than this is opaque: its log is cut."""

GARBAGE = 50_000
"""So many objects more than at the last collection make the next run begin with one."""

KNOWN = 100_000
"""So many names are kept from run to run; classes that each run defines anew would make them grow for ever."""

READ, WRITE, TRUTH = int(Kind.READ), int(Kind.WRITE), int(Kind.TRUTH)
ADD = 8
"""A whole number is added to one that is there."""
SHAPE, BASE, APPENDED, OPAQUE = "[#]", "[=]", "[+", "!"
KEY, COUNT, ORDER, INDEX = "[+key]", "[+count]", "[+order]", "[+index]"
"""A key comes or goes; what is there is read, in any order; and in which order; an item is found by its place.
`APPENDED` and a number is for items that are added at the end of a list, which had so many."""
ANY_ORDER = "?"
"""In place of parts: whatever is looked at in this step may be looked at in order."""
STATE = (".state",)
NO_IDS: set[int] = set()
_ALONE = next(map(sys.getrefcount, {0: object()}.values()))
"""How many references there are to what only a dict holds, if one asks like this."""

_PROXIES = (weakref.ProxyType, weakref.CallableProxyType)
"""Even to ask what they are is an error when what they stand for is gone."""

LOG: deque[tuple[Any, ...]] = deque(maxlen=LIMIT)
CREATED: list[object] = []
IDENTITIES: set[int] = rules.IDENTITIES
DERIVED: dict[int, tuple[tuple[object, ...], bool]] = {}
"""Views and iterators that read something else whenever they are used: what, and whether they look into items."""


MORTAL: dict[int, tuple[weakref.ref[Any], int]] = {}
"""Objects whose end does something, and how many references there were to them when the last step ended."""


def mortal(obj: object) -> None:
    """The end of this object does something."""
    try:
        MORTAL[id(obj)] = (weakref.ref(obj), 0)
    except TypeError:
        LOG.append(("a finaliser without weak references", OUTSIDE, 0, OPAQUE))


def _module_name(module: ModuleType) -> str:
    """A module need not have a name."""
    name = getattr(module, "__name__", "")
    return name if isinstance(name, str) else ""


class Token:
    """Stands for the closure variables of one activation of a function."""

    __slots__ = ("__weakref__",)


class Generator(Token):
    """Stands for the frame of a generator."""

    __slots__ = ()


class ModuleToken(Token):
    """Stands for the globals of a module."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Named:
    """What is known of a name: its locations so far. Kept over runs, because names are the same in all of them."""

    __slots__ = ("attributes", "indexed", "name", "parts")

    def __init__(self, name: str) -> None:
        self.name = name
        self.indexed: Commuting | None = None
        """The search in which an item of it was found by its place."""
        self.attributes: dict[str, tuple[Location, ...] | None] = {}
        self.parts: dict[str, Location] = {}

    def part(self, suffix: str) -> Location:
        found = self.parts.get(suffix)
        if found is None:
            found = self.parts[suffix] = Location(sys.intern(self.name + suffix))
        return found


@dataclass(frozen=True, slots=True)
class OpaqueCall:
    """Something not known that a step did, and where."""

    name: str
    file: str
    line: int


class Recorder:
    """The log of one exploration: `learn` before all, `start_run`, `begin_step` and `end_step` for each step."""

    log = staticmethod(LOG.append)
    """Takes an entry for the log."""

    def __init__(self) -> None:
        self.opaque_calls: Counter[OpaqueCall] = Counter()
        """What made steps opaque, over the whole exploration, and how often."""
        self.commuting: Commuting | None = None
        """For a search that can begin again: which updates commute."""
        self._counters: set[str] = set()
        """Names of attributes and variables that whole numbers were added to."""
        self._counted_items: set[Location] = set()
        """Items of containers that whole numbers were added to."""
        self._learnt: dict[int, Named] = {}
        self._kept_always: list[object] = []
        self._names: dict[int, Named] = {}
        self._kept: dict[int, object] = {}
        self._by_type: dict[type, Named] = {}
        self._known: dict[Hashable, Named] = {}
        self._class_data: dict[type, frozenset[str]] = {}
        self._held: set[int] = set()
        self._rebound: set[int] = set()
        self._step: tuple[Hashable, int] = ("", 0)
        self._reads: set[Location] = set()
        self._writes: set[Location] = set()
        self._opaque = False

    # The life of a recorder -----------------------------------------------------------------------------------

    def start_run(self) -> None:
        """Forget the objects of the run before; names of what was learnt stay."""
        self._names = dict(self._learnt)
        self._names[id(sys.modules)] = self._entry("sys.modules", "sys.modules")
        self._kept = {}
        DERIVED.clear()
        MORTAL.clear()
        IDENTITIES.clear()
        rules.HELD.clear()
        rules.REBOUND.clear()
        rules.SHARED_CONTEXTS.clear()
        rules.LOST.clear()
        rules.HELD.update(self._held)
        rules.REBOUND.update(self._rebound)
        self._clear()
        if self.commuting is not None:
            self.commuting.start_run()
        if len(self._known) > KNOWN:
            self._known.clear()
            self._by_type.clear()
            rules.forget()
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

    def name(self, obj: object, name: str) -> None:
        """Give an object of this run a name of its own, which must be the same in every schedule: a task, say."""
        self._names[id(obj)] = self._entry(name, name)
        self._kept[id(obj)] = obj

    # Names ----------------------------------------------------------------------------------------------------

    def name_of(self, obj: object) -> str:
        """The name that locations of this object begin with."""
        return self._named(obj).name

    def _named(self, obj: Any) -> Named:
        found = self._names.get(id(obj))
        if found is not None:
            return found
        kind = type(obj)
        found = self._by_type.get(kind)
        if found is not None:
            return found
        if kind is ModuleToken:
            name = obj.name
        elif kind not in _PROXIES and issubclass(type(obj), type | FunctionType):
            name = f"{obj.__module__}.{obj.__qualname__}"
        elif kind is ModuleType:
            name = _module_name(obj)
        elif kind is MethodType:  # its attributes are those of its function
            return self._named(obj.__func__)
        elif kind is super:
            name = f"?super of {obj.__thisclass__!r}, {obj.__self_class__!r}"
        else:
            name = f"?{kind.__module__}.{kind.__qualname__}"
            found = self._by_type[kind] = self._entry(name, name)
            return found
        return self._entry(name, name)

    def _entry(self, key: Hashable, name: str) -> Named:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Named(name)
        return found

    def _christen(self) -> None:
        """Name what was created and is still there. Last first, so that a list goes before what only it holds.

        What has a finaliser keeps the name of its type: who has a name of its own is held until the step ends.
        """
        process, index = self._step
        while CREATED:
            obj = CREATED.pop()
            if sys.getrefcount(obj) <= 2:
                DERIVED.pop(id(obj), None)
                continue
            if id(obj) not in self._names and not hasattr(type(obj), "__del__"):
                kind, number = type(obj), len(CREATED)
                key = (process, index, number, kind)
                found = self._known.get(key)
                if found is None:
                    found = self._known[key] = Named(f"{kind.__qualname__}<{process}#{index}/{number}>")
                self._names[id(obj)] = found
                self._kept[id(obj)] = obj

    def _sweep(self) -> None:
        """Let go of objects that only we hold, so that they die in the step that dropped them.

        Their finalisers belong to the step, and log what they do.
        """
        kept, names = self._kept, self._names
        while _ALONE in map(sys.getrefcount, kept.values()):
            for key in list(kept):
                obj: object = kept[key]
                if sys.getrefcount(obj) <= 3:  # `kept`, `obj` and the argument
                    del kept[key], names[key]
                    DERIVED.pop(key, None)
                obj = None

    def learn(self, *roots: ModuleType | Callable[..., object]) -> None:
        """Name what hangs off modules and functions now, before the exploration, by the path that leads there."""
        for root in roots:
            if isinstance(root, ModuleType):
                module = root.__name__
                for name, value in list(vars(root).items()):
                    if not name.startswith(("@", "__")):
                        self._learn(value, f"{module}.{name}", module)
            else:
                self._learn(root, f"{root.__module__}.{getattr(root, '__qualname__', root)}", root.__module__)
        self._learn_aliases()

    def learn_for_run(self, root: Callable[..., object]) -> None:
        """Name what hangs off a function now, for the run that begins."""
        self._learn(root, f"{root.__module__}.{root.__qualname__}", root.__module__, lasting=False)

    def _learn_aliases(self) -> None:
        """Attributes that are known by another way, too: a `__dict__` that is kept or shared."""
        seen: dict[int, int] = {}
        for obj in self._kept_always:
            own = rules.dict_of(obj) if not issubclass(type(obj), type | FunctionType | ModuleType) else None
            if own is None:
                continue
            if id(own) in self._learnt:
                self._held.add(id(own))
            other = seen.setdefault(id(own), id(obj))
            if other != id(obj):
                self._rebound.update((other, id(obj)))

    def _learn(self, value: object, path: str, module: str, lasting: bool = True) -> None:
        todo = deque([(value, path)])
        while todo and len(self._learnt) < 100_000:
            obj, path = todo.popleft()
            kind = type(obj)
            if kind in rules.PLAIN and kind not in (FunctionType, type):
                continue
            if id(obj) in (self._learnt if lasting else self._names):
                continue
            inside = list(self._inside(obj, path, module))
            if not issubclass(type(obj), FunctionType | type | ModuleType):
                if kind.__module__ in ("builtins", "collections") or inside or hasattr(obj, "__dict__"):
                    self._names[id(obj)] = self._entry(path, path)
            elif inside:
                self._names[id(obj)] = self._named(obj)
            if not lasting:
                if id(obj) in self._names:
                    self._kept[id(obj)] = obj
            else:
                if id(obj) in self._names:
                    self._learnt[id(obj)] = self._names[id(obj)]
                self._kept_always.append(obj)
            todo.extend(inside)

    def _inside(self, obj: Any, path: str, module: str) -> Iterator[tuple[object, str]]:
        if issubclass(type(obj), ModuleType):
            return
        if issubclass(type(obj), FunctionType):
            if obj.__module__ == module:
                for number, value in enumerate(obj.__defaults__ or ()):
                    yield value, f"{path}.<default {number}>"
                for name, value in (obj.__kwdefaults__ or {}).items():
                    yield value, f"{path}.<default {name}>"
                for name, cell in zip(obj.__code__.co_freevars, obj.__closure__ or (), strict=False):
                    try:
                        yield cell.cell_contents, f"{path}.<{name}>"
                    except ValueError:
                        continue
                yield from ((value, f"{path}.{name}") for name, value in vars(obj).items())
        elif issubclass(type(obj), type):
            if obj.__module__ == module:
                data = {n: v for n, v in vars(obj).items() if not n.startswith("__") and not rules.is_lookup(v)}
                self._class_data[obj] = frozenset(data)
                yield from ((value, f"{path}.{name}") for name, value in vars(obj).items() if name != "__dict__")
        elif issubclass(type(obj), dict):
            yield from ((value, f"{path}[{rules.shown(key)}]") for key, value in dict.items(obj))
        elif issubclass(type(obj), list | tuple | deque):
            base = list if issubclass(type(obj), list) else tuple if issubclass(type(obj), tuple) else deque
            items = base.__iter__(obj)
            yield from ((value, f"{path}[{number}]") for number, value in enumerate(items))
        if not issubclass(type(obj), type | FunctionType):
            yield from ((value, f"{path}.{name}") for name, value in rules.fields_of(obj))

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
        if type(obj) in _PROXIES:
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
            return (named.part("." + attr),) if attr in rules.WRITTEN_GLOBALS.get(_module_name(obj), ()) else ()
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
        if type(obj) in _PROXIES:
            return rules.Way.UNKNOWN
        if issubclass(type(obj), Token):
            return rules.Way.PLAIN
        if issubclass(type(obj), type):
            data: Iterable[str] = self._class_data.get(obj, ())
        elif issubclass(type(obj), ModuleType):
            data = rules.WRITTEN_GLOBALS.get(_module_name(obj), ())
        else:
            return rules.attribute(type(obj), attr, writing=True)
        return rules.Way.PLAIN if attr in data else rules.Way.UNKNOWN

    def _note(self, name: str, number: int) -> None:
        self.opaque_calls[OpaqueCall(name, *PLACES[number])] += 1
