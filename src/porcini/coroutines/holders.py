"""Putting one function in the place of another wherever it is held, however it came there.

`from time import time`, a default of a parameter, a cell, an attribute that an object has had since before the
test: the garbage collector knows them all. Values of dicts, items of lists, attributes and slots are set; a tuple
that is somebody's defaults is made anew. What a class holds is wrapped so that it is not bound, as functions in C
never are. Left alone are keys, sets, other tuples, frames, and what C code keeps to itself.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from porcini.langs.aio import lookups
from porcini.langs.aio.hook import frozen_by_others, thawed

Undo = Callable[[], object]
_OWNERS = (type, FunctionType, partial)
"""What tuples and namespaces that hold functions belong to."""
_BY_IMPORTS = frozenset({os.stat, os.lstat, os.fstat})
"""Functions by which Python compares times of files when it imports one: where it finds them, they stay."""


def replace_held(table: dict[Any, Any]) -> list[Undo]:
    """Put the values of a table in the place of its keys, in all that holds these; the results put them back."""
    replacing = _Replacing(table)
    with thawed():
        found = gc.get_referrers(*table, _FROZEN.mark, *_FROZEN.indirect)
        if frozen_by_others() and _FROZEN.look_for(table, found):
            found = []  # it is frozen, too, now
        holders = [*found, *_FROZEN.holders()]
        undos = [undo for holder in holders for undo in replacing.inside(holder)]
        known = {*map(id, _FROZEN.indirect)}
        new = [each for each in replacing.indirect if id(each) not in known]
        owners = [*found, *gc.get_referrers(*new), *_FROZEN.owners]
        return undos + [undo for owner in owners for undo in replacing.around(owner)]


class _Frozen:
    """What holds functions, in a process in which somebody has frozen what there was: to look there takes long,
    and is done once for each function, and again when more has been frozen. What else happens in there is seen in
    modules only."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}
        self.indirect: list[Any] = []
        """Tuples and namespaces of classes among what holds them, and whose these are."""
        self.owners: list[Any] = []
        self._holders: list[Any] = []
        self.mark = object()
        self._witness: list[Any] = []
        """It holds the mark, and is not found by it any more when it is frozen itself. (To count takes long.)"""

    def holders(self) -> list[Any]:
        return [*self._holders, *map(vars, list(sys.modules.values()))] if self.known else []

    def look_for(self, table: dict[Any, Any], unfrozen: list[Any]) -> bool:
        """Look, if that is needed, given who holds the mark or something of the table and is not frozen."""
        if self.known.keys() >= set(map(id, table)) and any(each is self._witness for each in unfrozen):
            return False
        self.known |= {id(function): function for function in table}
        gc.unfreeze()
        try:
            found = gc.get_referrers(*self.known.values())
            self._holders = [each for each in found if each is not table and each is not self.known]
            self.indirect = [each for each in self._holders if type(each) is tuple or _is_of_class(each)]
            self.owners = [each for each in gc.get_referrers(*self.indirect) if isinstance(each, _OWNERS)]
        finally:
            gc.freeze()
            self._witness = [self.mark]
        return True


_FROZEN = _Frozen()


class _Replacing:
    def __init__(self, table: dict[Any, Any]) -> None:
        self.table = table
        self.wanted = {id(function): other for function, other in table.items()}
        self.indirect: list[Any] = []
        """Tuples and namespaces that hold some of it: what to do there depends on whose they are."""
        self.ours = {id(cell) for other in table.values() for cell in getattr(other, "__closure__", None) or ()}

    def found(self, value: object) -> Any:
        return self.wanted.get(id(value), value)

    def holds(self, values: Iterable[object]) -> bool:
        return not self.wanted.keys().isdisjoint(map(id, values))

    def inside(self, holder: Any) -> Iterator[Undo]:
        """Replace what this holds itself."""
        kind = type(holder)
        if holder is self.table or holder is _FROZEN.known or id(holder) in self.ours or kind is FrameType:
            return
        if kind is dict:
            yield from self._in_dict(holder)
        elif kind is list:
            yield from self._in_list(holder)
        elif kind is tuple:
            self.indirect.append(holder)
        elif kind is CellType:
            yield partial(setattr, holder, "cell_contents", holder.cell_contents)
            holder.cell_contents = self.found(holder.cell_contents)
        elif kind is staticmethod:
            yield partial(staticmethod.__init__, holder, holder.__func__)
            staticmethod.__init__(holder, self.found(holder.__func__))
        elif kind is partial:
            yield from self._in_partial(holder)
        else:
            yield from self._in_object(holder)

    def _in_dict(self, holder: dict[Any, Any]) -> Iterator[Undo]:
        if not self.holds(holder.values()):
            return
        name = holder.get("__name__") or holder.get("__module__")
        if isinstance(name, str) and name.partition(".")[0] == "porcini":
            return
        if _is_of_class(holder):
            self.indirect.append(holder)
            return
        for key, value in list(holder.items()):
            if id(value) in self.wanted and not (name in ("posix", "nt") and value in _BY_IMPORTS):
                yield partial(holder.__setitem__, key, value)
                holder[key] = self.wanted[id(value)]

    def _in_list(self, holder: list[Any]) -> Iterator[Undo]:
        for index, value in enumerate(list(holder)):
            if id(value) in self.wanted:
                yield partial(_set_item, holder, index, self.wanted[id(value)], value)
                holder[index] = self.wanted[id(value)]

    def _in_partial(self, holder: partial[Any]) -> Iterator[Undo]:
        state: Any = holder.__reduce__()[2]
        yield partial(holder.__setstate__, state)  # type: ignore[attr-defined]
        function, arguments, options, attributes = state
        arguments = tuple(map(self.found, arguments))
        holder.__setstate__((self.found(function), arguments, options, attributes))  # type: ignore[attr-defined]

    def _in_object(self, holder: Any) -> Iterator[Undo]:
        """Attributes of an object that has no dict as yet, and slots."""
        if isinstance(holder, type | ModuleType | FunctionType):
            return
        for name, value in list(lookups.fields_of(holder)):
            if id(value) in self.wanted:
                try:
                    object.__setattr__(holder, name, self.wanted[id(value)])
                except (AttributeError, TypeError):
                    continue
                yield partial(object.__setattr__, holder, name, value)

    def around(self, owner: Any) -> Iterator[Undo]:
        """Replace what the tuples and namespaces of this hold."""
        if isinstance(owner, type):
            for name, value in list(vars(owner).items()):
                if id(value) in self.wanted:
                    namespace: Any = gc.get_referents(vars(owner))[0]  # also of a class that cannot be changed
                    yield partial(set_in_class, owner, namespace, name, value)
                    set_in_class(owner, namespace, name, staticmethod(self.wanted[id(value)]))
        elif isinstance(owner, FunctionType) and self.holds(owner.__defaults__ or ()):
            yield partial(setattr, owner, "__defaults__", owner.__defaults__)
            owner.__defaults__ = tuple(map(self.found, owner.__defaults__ or ()))
        elif type(owner) is partial and self.holds(owner.args):
            yield from self._in_partial(owner)


def _is_of_class(holder: object) -> bool:
    """Is it the namespace of a class? (All functions refer to that of `builtins`.)"""
    return type(holder) is dict and "__module__" in holder and "__doc__" in holder


def _set_item(holder: list[Any], index: int, there: object, value: object) -> None:
    """Put something back, if the list is still what it was."""
    if index < len(holder) and holder[index] is there:
        holder[index] = value


def set_in_class(cls: type, namespace: dict[str, Any], name: str, value: object) -> None:
    """Set what a class holds, also one in C that cannot be changed."""
    namespace[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))
