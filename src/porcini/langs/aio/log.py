"""The log of a step: what instrumented code appends, and the words that it does so with.

An entry is `(object, site)` for an attribute or a truth test, and `(object, site, kind, suffixes)` for what the
functions in `operations` have already resolved: parts of a container, the state of a future. In place of suffixes
there may be `OPAQUE` or `ANY_ORDER`. `Recorder` reads it.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.sites import OUTSIDE, Kind

LIMIT = 1 << 18
"""A step with more accesses than this is opaque: its log is cut."""
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
LOG: deque[tuple[Any, ...]] = deque(maxlen=LIMIT)
CREATED: list[object] = []
IDENTITIES: set[int] = rules.IDENTITIES
DERIVED: dict[int, tuple[tuple[object, ...], bool]] = {}
"""Views and iterators that read something else whenever they are used: what, and whether they look into items."""


MORTAL: dict[int, tuple[weakref.ref[Any], int]] = {}
"""Objects whose end does something, and how many references there were to them when the last step ended."""


def register_mortal(obj: object) -> None:
    """The end of this object does something."""
    try:
        MORTAL[id(obj)] = (weakref.ref(obj), 0)
    except TypeError:
        LOG.append(("a finaliser without weak references", OUTSIDE, 0, OPAQUE))


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
