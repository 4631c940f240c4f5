"""Attributes whose names are strings: `getattr` and its kin, `operator.attrgetter`, imports in functions."""

from __future__ import annotations

import functools
import importlib.util
import operator
import sys
from typing import Any

from porcini.langs.aio import trusted
from porcini.langs.aio.calls.calling import call
from porcini.langs.aio.calls.effects import Options, Values, special_case
from porcini.langs.aio.log import BASE, READ, WRITE
from porcini.langs.aio.operations import items, objects
from porcini.langs.aio.operations.entries import log, mark_opaque
from porcini.langs.aio.sites import PLACES, Kind, site


def access_by_name(obj: Any, attr: Any, number: int, kind: int) -> None:
    """`getattr` and its kin: as the attribute access that it is."""
    if type(attr) is str and attr in trusted.NAMESPACES:
        objects.replace_namespace(obj, number) if kind == WRITE else objects.hand_out_namespace(obj, number, attr)
    elif issubclass(type(attr), str):
        log((obj, _dynamic_site(number, attr, kind)))


@functools.cache
def _dynamic_site(number: int, attr: str, kind: int) -> int:
    """A site like this one, for an attribute of this name."""
    return site(Kind(kind), attr, *PLACES[number])


def get_attribute(obj: Any, attr: Any, number: int) -> None:
    """`getattr` and `hasattr`."""
    access_by_name(obj, attr, number, READ)


def set_attribute(obj: Any, attr: Any, number: int) -> None:
    """`setattr` and `delattr`."""
    access_by_name(obj, attr, number, WRITE)


def read_modules(number: int, *modules: str) -> None:
    """`import module`, in a function."""
    for module in modules:
        log((sys.modules, number, READ, (f"[{module!r}]", BASE)))


def read_imported(module: str, level: int, here: str, names: tuple[str, ...], number: int) -> None:
    """`from module import names`, in a function."""
    if level:
        package = getattr(sys.modules.get(here), "__package__", None)
        module = importlib.util.resolve_name("." * level + module, package) if package else ""
    read_modules(number, module)
    found = sys.modules.get(module)
    if found is None:
        mark_opaque(f"import from {module}", number)
    for name in names:
        access_by_name(found, name, number, READ)


# Getters ------------------------------------------------------------------------------------------------------


def replace_attribute_getter(function: Any, number: int) -> Any:
    """`attrgetter(...)(obj)`: as the attribute accesses that it is."""
    paths = function.__reduce__()[1]

    def got(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if len(args) != 1 or kwargs:
            return function(*args, **kwargs)  # an error
        found = []
        for path in paths:
            value = args[0]
            for attr in path.split("."):
                access_by_name(value, attr, number, READ)
                value = getattr(value, attr)
            found.append(value)
        return tuple(found) if len(found) > 1 else found[0]

    return got


@special_case
def replace_item_getter(function: Any, number: int, args: Values, kwargs: Options) -> None:
    """`itemgetter(...)(obj)`: as the subscripts that it is."""
    for key in function.__reduce__()[1] if args else ():
        items.read_item(args[0], key, number)


def replace_method_caller(function: Any, number: int) -> Any:
    """`methodcaller(...)(obj)`: as the call that it is."""

    def got(*objects: Any, **none: Any) -> Any:
        __tracebackhide__ = True
        if len(objects) != 1 or none:
            return function(*objects, **none)  # an error
        (obj,) = objects
        constructor, given = function.__reduce__()
        name, args, kwargs = (
            (given[0], given[1:], {})
            if constructor is operator.methodcaller
            else (constructor.args[0], given, constructor.keywords)
        )
        access_by_name(obj, name, number, READ)
        return call(getattr(obj, name), number)(*args, **kwargs)

    return got
