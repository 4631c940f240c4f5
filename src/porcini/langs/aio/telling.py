"""A recorder for the few runs that a report shows: each access in turn, with values that a person can use.

Of an item the item, of a write what it left behind. Operations on containers log several entries before they do
anything: what they wrote is seen when the next one begins.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from porcini.core.footprints import Footprint, Location
from porcini.langs.aio import lookups, rules
from porcini.langs.aio.log import ADD, APPENDED, BASE, CREATED, INDEX, LOG, READ, SHAPE, TRUTH, WRITE
from porcini.langs.aio.recorder import Recorder
from porcini.langs.aio.sites import KINDS, NAMES, PLACES

_Entry = tuple[Any, ...]
_DEEPEST = 4
"""Values in values are shown so far down; further down, and in a value that contains itself, there are dots."""


def _plainly(suffix: str) -> str:
    """The part of a container that a user knows."""
    if not suffix.startswith(APPENDED):
        return suffix
    return BASE if suffix == INDEX else SHAPE


@dataclass(frozen=True, slots=True)
class Access:
    """One access of a step, for reports. `value` is what was read, or what was there after the write."""

    kind: str
    location: Location
    value: str
    file: str
    line: int


class Telling(Recorder):
    """`accesses` lists what the last step did."""

    def __init__(self) -> None:
        super().__init__()
        self.accesses: list[Access] = []
        self._open: list[tuple[_Entry, list[str]]] = []
        self._values: list[tuple[_Entry, list[str]]] = []

    def log(self, entry: _Entry) -> None:
        if self._open:
            last = self._open[-1][0]
            if last[0] is not entry[0] or last[1] != entry[1]:
                self._settle()
        LOG.append(entry)
        single = [entry]
        if len(entry) == 4 and entry[2] == ADD:
            single = [entry[:2] if entry[3][0][0] == "." else (*entry[:2], READ | WRITE, entry[3])]
        elif len(entry) == 4 and type(entry[3]) is tuple:
            single = [(*entry[:3], (_plainly(suffix),)) for suffix in entry[3]]
        self._open += [(one, [self._value(one)]) for one in single]

    def _settle(self) -> None:
        """What a write wrote can be seen only after it."""
        opened, self._open = self._open, []
        for entry, values in opened:
            values.append(self._value(entry))
            self._values.append((entry, values))

    def end_step(self) -> Footprint:
        self._settle()
        return super().end_step()

    def release_objects(self) -> None:
        super().release_objects()
        self._values.clear()

    def _clear(self) -> None:
        super()._clear()
        self.accesses, self._open, self._values = [], [], []

    def made_since(self, seen: set[int]) -> list[object]:
        """The objects of users' classes that this run has made and still has, except for those that were seen."""
        fresh = [obj for key, obj in self._kept.items() if key not in seen]
        seen.update(self._kept)
        return [obj for obj in fresh if type(obj).__module__.partition(".")[0] not in sys.stdlib_module_names]

    def drain(self) -> None:
        fresh = set(map(id, CREATED))
        super().drain()
        self._list_accesses(fresh)

    def _value(self, entry: tuple[Any, ...]) -> str:
        if len(entry) == 2:
            if KINDS[entry[1]] == TRUTH:
                return self._show(entry[0])
            return self._show(lookups.peek(entry[0], NAMES[entry[1]]))
        if type(entry[3]) is str:
            return ""
        key = entry[3][0][1:-1] if entry[3][0][-1:] == "]" else "#"
        return self._show(entry[0] if key in ("#", "=") else _item(entry[0], key))

    def _show(self, value: Any, around: tuple[int, ...] = ()) -> str:
        """A value as text; `around` are the addresses of those that it is in."""
        if value is rules.ABSENT:
            return ""
        if len(around) > _DEEPEST or id(value) in around:
            return "..."
        within = (*around, id(value))
        if issubclass(type(value), int | float | str | bytes | type(None)) and type(value) in rules.PLAIN:
            text = repr(value)
        elif type(value) in (list, tuple, set, deque):
            inner = ", ".join(self._show(v, within) for v in list(value)[:8])
            text = f"{type(value).__name__}({inner})" if type(value) is not list else f"[{inner}]"
        elif issubclass(type(value), dict):
            items = [(self._show(k, within), self._show(v, within)) for k, v in list(dict.items(value))[:8]]
            text = "{" + ", ".join(f"{key}: {item}" for key, item in items) + "}"
        else:
            text = f"<{self.name_of(value)}>"
        return text if len(text) <= 80 else text[:77] + "..."

    def _list_accesses(self, fresh: Iterable[int]) -> None:
        """The same as `drain`, one access at a time."""
        self._settle()
        values, self._values = self._values, []
        for entry, (before, after) in values:
            obj, number = entry[0], entry[1]
            kind = KINDS[number] if len(entry) == 2 else entry[2]
            if id(obj) in fresh or kind not in (1, 2, 3):
                continue
            locations = self._locations_of(obj)
            touched: tuple[Location, ...] | None
            if len(entry) == 2:
                found = self._attribute(obj, locations, NAMES[number])
                touched = found if kind == 1 else (locations.part("." + NAMES[number]),)
            else:
                touched = tuple(map(locations.part, entry[3]))
            for location in touched or ():
                if kind & 1:
                    self.accesses.append(Access("read", location, before, *PLACES[number]))
                if kind & 2:
                    self.accesses.append(Access("write", location, after, *PLACES[number]))


def _item(container: Any, key: str) -> object:
    """What a container has under a key that is given as text."""
    if isinstance(container, dict):
        return next((v for k, v in list(container.items()) if rules.format_key(k) == key), rules.ABSENT)
    if isinstance(container, list | tuple | deque):
        return container[int(key)] if key.isdecimal() and int(key) < len(container) else rules.ABSENT
    if isinstance(container, set | frozenset):
        return any(rules.format_key(k) == key for k in container)
    return rules.ABSENT
