"""State that outlives a run: what hangs off modules and arguments, looked at before and after.

A run that reads what an earlier run has changed depends on more than its schedule, even if it does the same for
now. Paths are those by which the recorder names what was there before all runs. A step that both reads and writes
may have written first: there, what tells is that the run has left other values than the one before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from porcini.core.events import Event
from porcini.core.footprints import Location
from porcini.langs.aio import lookups, rules
from porcini.langs.aio.log import BASE

_MOST = 20_000
_SCALARS = (int, float, complex, str, bytes, bool, type(None))


class Snapshot:
    """The contents of objects by path, one level each; the objects are kept, so that no address is used again."""

    def __init__(
        self, modules: Iterable[ModuleType], args: Mapping[str, object] | None = None, owner: str = ""
    ) -> None:
        self._kept: list[object] = []
        self._contents: dict[str, Any] = {}
        seen: set[int] = set()
        todo: deque[tuple[object, str]] = deque()
        for module in modules:
            names = {n: v for n, v in vars(module).items() if not n.startswith(("__", "@"))}
            for name, value in names.items():
                self._contents[f"{module.__name__}.{name}"] = (self._identity(value),)
                todo.append((value, f"{module.__name__}.{name}"))
        todo += [(value, f"{owner}.arguments.{name}") for name, value in (args or {}).items()]
        while todo and len(seen) < _MOST:
            value, path = todo.popleft()
            if id(value) in seen or isinstance(value, (*_SCALARS, ModuleType, FunctionType)):
                continue
            seen.add(id(value))
            inside = list(_inside(value, path))
            content = [(where, self._identity(part)) for part, where in inside]
            ordered = frozenset(map(repr, content)) if isinstance(value, set) else tuple(content)
            self._contents[path] = (*self._contents.get(path, ()), ordered)  # keys without a text share a path
            todo.extend(inside)

    def _identity(self, value: object) -> object:
        if isinstance(value, _SCALARS):
            return (type(value), value)
        self._kept.append(value)
        return _Identity(id(value))

    def changed(self, later: Snapshot) -> list[str]:
        """The paths of what is not as it was."""
        return [path for path, content in self._contents.items() if later._contents.get(path, content) != content]

    def grown(self, later: Snapshot) -> list[str]:
        """The paths of what has another number of parts, or other numbers and texts."""
        return [
            path for path in self.changed(later) if _values(self._contents[path]) != _values(later._contents[path])
        ]


class _Identity(int):
    """The address of an object that is kept."""


def _values(content: Any) -> Any:
    if isinstance(content, tuple | frozenset):
        return [_values(part) for part in sorted(content, key=repr)]
    return None if isinstance(content, _Identity) else content


def _inside(value: object, path: str) -> Iterable[tuple[object, str]]:
    if isinstance(value, dict):
        return [(part, f"{path}[{rules.format_key(key)}]") for key, part in list(value.items())]
    if isinstance(value, list | tuple | deque):
        return [(part, f"{path}[{number}]") for number, part in enumerate(list(value))]
    if isinstance(value, set):
        return [(part, f"{path}[]") for part in list(value)]
    if isinstance(value, type):
        own = [(name, part) for name, part in list(vars(value).items()) if not name.startswith("__")]
        return [(part, f"{path}.{name}") for name, part in own if not lookups.is_lookup(part)]
    return [(part, f"{path}.{name}") for name, part in lookups.fields_of(value)]


def read_again(changed: Sequence[str], grown: Sequence[str], events: Iterable[Event]) -> list[Location]:
    """What a run reads before it writes it, of what the run before has changed."""
    if not changed:
        return []
    written: set[Location] = set()
    emptied: set[str] = set()
    found: dict[Location, None] = {}
    for event in events:
        foot = event.footprint
        for location in sorted(foot.reads - written):
            if location.rpartition("[")[0] in emptied:
                continue
            if _belongs(location, grown if location in foot.writes else changed):
                found[location] = None
        written |= foot.writes
        # A container whose whole contents a step has written, by `clear()` say, has none of the run before.
        emptied |= {location.removesuffix(BASE) for location in foot.writes if location.endswith(BASE)}
    return list(found)


def _belongs(location: Location, paths: Sequence[str]) -> bool:
    return any(location == path or location.startswith((f"{path}[", f"{path}.")) for path in paths)
