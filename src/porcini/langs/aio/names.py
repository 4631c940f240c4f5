"""Names of objects, which must not depend on the schedule: footprints of different runs are compared.

An object that instrumented code was seen to create is named by the step that created it and the number of the
creation within the step. What was there before the exploration is named by the path on which `learn` finds it.
All other objects of one type share one name.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

from porcini.core.footprints import Location
from porcini.langs.aio import lookups, rules
from porcini.langs.aio.commuting import Commuting
from porcini.langs.aio.log import CREATED, DERIVED, ModuleToken

MOST_NAMES = 100_000
"""So many names are kept from run to run; classes that each run defines anew would make them grow for ever."""
PROXIES = (weakref.ProxyType, weakref.CallableProxyType)
"""Even to ask what they are is an error when what they stand for is gone."""
_ALONE = next(map(sys.getrefcount, {0: object()}.values()))
"""How many references there are to what only a dict holds, if one asks like this."""


def module_name(module: ModuleType) -> str:
    """A module need not have a name."""
    name = getattr(module, "__name__", "")
    return name if isinstance(name, str) else ""


class Locations:
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


class Names:
    """The names of the objects of a run, and what is known of them over all runs."""

    def __init__(self) -> None:
        self._learnt: dict[int, Locations] = {}
        self._kept_always: list[object] = []
        self._names: dict[int, Locations] = {}
        self._kept: dict[int, object] = {}
        self._by_type: dict[type, Locations] = {}
        self._by_name: dict[Hashable, Locations] = {}
        self._class_data: dict[type, frozenset[str]] = {}
        self._held: set[int] = set()
        self._rebound: set[int] = set()
        self._step: tuple[Hashable, int] = ("", 0)

    def _forget_run(self) -> None:
        """The objects of the run before are nobody's business; names of what was learnt stay."""
        self._names = dict(self._learnt)
        self._names[id(sys.modules)] = self._entry("sys.modules", "sys.modules")
        self._kept = {}
        if len(self._by_name) > MOST_NAMES:
            self._by_name.clear()
            self._by_type.clear()
            rules.reset_caches()

    def name(self, obj: object, name: str) -> None:
        """Give an object of this run a name of its own, which must be the same in every schedule: a task, say."""
        self._names[id(obj)] = self._entry(name, name)
        self._kept[id(obj)] = obj

    def name_of(self, obj: object) -> str:
        """The name that locations of this object begin with."""
        return self._locations_of(obj).name

    def _locations_of(self, obj: Any) -> Locations:
        found = self._names.get(id(obj))
        if found is not None:
            return found
        kind = type(obj)
        found = self._by_type.get(kind)
        if found is not None:
            return found
        if kind is ModuleToken:
            name = obj.name
        elif kind not in PROXIES and issubclass(type(obj), type | FunctionType):
            name = f"{obj.__module__}.{obj.__qualname__}"
        elif kind is ModuleType:
            name = module_name(obj)
        elif kind is MethodType:  # its attributes are those of its function
            return self._locations_of(obj.__func__)
        elif kind is super:
            name = f"?super of {obj.__thisclass__!r}, {obj.__self_class__!r}"
        else:
            name = f"?{kind.__module__}.{kind.__qualname__}"
            found = self._by_type[kind] = self._entry(name, name)
            return found
        return self._entry(name, name)

    def _entry(self, key: Hashable, name: str) -> Locations:
        found = self._by_name.get(key)
        if found is None:
            found = self._by_name[key] = Locations(name)
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
            if id(obj) not in self._names and not rules.has_finaliser(type(obj)):
                kind, number = type(obj), len(CREATED)
                key = (process, index, number, kind)
                found = self._by_name.get(key)
                if found is None:
                    found = self._by_name[key] = Locations(f"{kind.__qualname__}<{process}#{index}/{number}>")
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
            own = lookups.dict_of(obj) if not issubclass(type(obj), type | FunctionType | ModuleType) else None
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
                self._names[id(obj)] = self._locations_of(obj)
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
                data = {n: v for n, v in vars(obj).items() if not n.startswith("__") and not lookups.is_lookup(v)}
                self._class_data[obj] = frozenset(data)
                yield from ((value, f"{path}.{name}") for name, value in vars(obj).items() if name != "__dict__")
        elif issubclass(type(obj), dict):
            yield from ((value, f"{path}[{rules.format_key(key)}]") for key, value in dict.items(obj))
        elif issubclass(type(obj), list | tuple | deque):
            base = list if issubclass(type(obj), list) else tuple if issubclass(type(obj), tuple) else deque
            items = base.__iter__(obj)
            yield from ((value, f"{path}[{number}]") for number, value in enumerate(items))
        if not issubclass(type(obj), type | FunctionType):
            yield from ((value, f"{path}.{name}") for name, value in lookups.fields_of(obj))
