"""What instrumented code calls beside the log: subscripts, iteration, operands (see `rewriting`).

Each function takes the site's number, logs what will be read or written, and gives back the operand, so that
the operation itself stays where it was in the program: its order, its exceptions and its frames are the program's.
"""

from __future__ import annotations

import enum
import functools
import operator
import re
import types
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

from porcini.langs.aio import known, rules
from porcini.langs.aio.recorder import (
    APPENDED,
    BASE,
    CREATED,
    DERIVED,
    LOG,
    OPAQUE,
    READ,
    SHAPE,
    STATE,
    WRITE,
    ModuleToken,
    Token,
)
from porcini.langs.aio.rules import ABSENT, PLAIN, Rule

_sink: Callable[[tuple[Any, ...]], None] = LOG.append
_drain: Callable[[], None] = LOG.clear
_MANY = 4096
_WHOLE = (SHAPE, BASE)
_SHAPE = (SHAPE,)
_ORDERED: OrderedDict[Any, Any] = OrderedDict()
VIEWS = frozenset(
    {type({}.keys()), type({}.values()), type({}.items())}
    | {type(_ORDERED.keys()), type(_ORDERED.values()), type(_ORDERED.items())}
)
_NOTHING = (tuple, frozenset, str, bytes)
_ORDERED_ONLY = (deque, bytearray)
"""Containers that have no locations for their items: the shape stands for all."""


_INDICES = [(f"[{i}]", BASE) for i in range(256)]
_ITEMS = [(f"[{i}]",) for i in range(256)]


def redirect(sink: Callable[[tuple[Any, ...]], None], drain: Callable[[], None]) -> None:
    """Who gets the log: a detailed recorder wants to see each access when it happens."""
    global _sink, _drain
    _sink, _drain = sink, drain


def relieve() -> None:
    """A long log is turned into locations in between."""
    if len(LOG) > _MANY:
        _drain()


def log(entry: tuple[Any, ...]) -> None:
    """One more entry of the log."""
    _sink(entry)


def unknown(name: str, number: int) -> None:
    """The step does something that is not known."""
    log((name, number, 0, OPAQUE))


# Containers ---------------------------------------------------------------------------------------------------


def _suffix(key: object) -> str | None:
    text = rules.shown(key)
    return None if text is None else f"[{text}]"


def read_shape(obj: Any, number: int) -> None:
    """`len`, truth: only the shape."""
    log((obj, number, READ, _SHAPE))


def read_all(obj: Any, number: int) -> None:
    """Iteration: the shape and every item that is there."""
    if isinstance(obj, list):
        log((obj, number, READ, (SHAPE, BASE, *[f"[{i}]" for i in range(len(obj))])))
    elif isinstance(obj, dict | set):
        suffixes = (
            [_suffix(key) for key in set.__iter__(obj)]
            if isinstance(obj, set)
            else list(map(_suffix, dict.keys(obj)))
        )
        log((obj, number, READ, (SHAPE, BASE, *[s for s in suffixes if s is not None])))
    elif not isinstance(obj, _NOTHING):
        log((obj, number, READ, _SHAPE))


def write_all(obj: Any, number: int) -> None:
    """Sorting, clearing, shifting: everything may be another one now."""
    if not isinstance(obj, _NOTHING):
        log((obj, number, WRITE, _SHAPE if isinstance(obj, _ORDERED_ONLY) else _WHOLE))


def append(obj: Any, number: int) -> None:
    """Items are added at the end; which ones is known when the step has ended."""
    if isinstance(obj, _ORDERED_ONLY):
        log((obj, number, WRITE, _SHAPE))
    else:
        log((obj, number, WRITE, (SHAPE, f"{APPENDED}{len(obj)}")))


def has_key(obj: Any, key: object, number: int) -> None:
    """Is this key there? Whoever adds or removes it writes the item."""
    suffix = _suffix(key)
    if suffix is None or not isinstance(obj, dict | set):
        operand(obj, number)
        operand(key, number)
    else:
        log((obj, number, READ, (suffix, BASE)))


def _present(obj: Any, key: object) -> bool:
    return set.__contains__(obj, key) if isinstance(obj, set) else dict.__contains__(obj, key)


def read_key(obj: Any, key: object, number: int) -> None:
    """`obj[key]` of a C container."""
    if isinstance(obj, list):
        if type(key) is int:
            length = len(obj)
            if -length <= key < length:
                if 0 <= key < 256:
                    log((obj, number, READ, _INDICES[key]))
                    return
                log((obj, number, READ, (f"[{key}]", BASE) if key >= 0 else (f"[{key + length}]", BASE, SHAPE)))
            else:
                log((obj, number, READ, _WHOLE))
        else:
            read_all(obj, number)
    elif isinstance(obj, dict | set):
        has_key(obj, key, number)
    elif not isinstance(obj, _NOTHING):
        log((obj, number, READ, _SHAPE))


def write_key(obj: Any, key: object, number: int, adds: bool = True) -> None:
    """An item is set (or, without `adds`, removed). The shape changes, too, if the key was not there."""
    if isinstance(obj, list):
        length = len(obj)
        if type(key) is int and -length <= key < length and adds:
            index = key % length
            log((obj, number, WRITE, _ITEMS[index] if index < 256 else (f"[{index}]",)))
            if key < 0:
                log((obj, number, READ, _SHAPE))
        else:
            log((obj, number, WRITE, _WHOLE))
            log((obj, number, READ, _WHOLE))
    elif isinstance(obj, dict | set):
        suffix = _suffix(key)
        if suffix is None:
            log((obj, number, WRITE, _WHOLE))
            operand(key, number)
        else:
            stays = _present(obj, key) is adds
            log((obj, number, WRITE, (suffix,) if stays else (suffix, SHAPE)))
            log((obj, number, READ, (suffix,)))
    elif not isinstance(obj, _NOTHING):
        log((obj, number, WRITE, _SHAPE))


def add_key(obj: set[Any], key: object, number: int, adds: bool = True) -> None:
    """`set.add` and `set.discard`: nothing changes, and the key was only looked up, if it is as it shall be."""
    if _suffix(key) is not None and _present(obj, key) is adds:
        has_key(obj, key, number)
    else:
        write_key(obj, key, number, adds)


# Subscripts ---------------------------------------------------------------------------------------------------


def item(obj: Any, key: object, number: int) -> Any:
    """Before `obj[key]` is read; gives back the object."""
    kind = type(obj)
    if kind is dict:
        if type(key) is str:
            log((obj, number, READ, (f"[{key!r}]", BASE)))
        else:
            has_key(obj, key, number)
    elif kind is list:
        read_key(obj, key, number)
    elif kind not in PLAIN and kind is not tuple:
        _item(obj, kind, key, number)
    return obj


def _item(obj: Any, kind: type, key: object, number: int) -> None:
    base = rules.container_base(kind)
    if base is not None and not _overridden(kind, base, "__getitem__"):
        missing = isinstance(obj, dict) and hasattr(kind, "__missing__") and not isinstance(obj, Counter)
        if not missing or _suffix(key) is None or _present(obj, key):
            read_key(obj, key, number)
            if missing and _suffix(key) is None:
                write_all(obj, number)
        elif isinstance(obj, defaultdict) and vars(kind).get("__missing__") in (None, defaultdict.__missing__):
            write_key(obj, key, number)
            factory = obj.default_factory
            if factory not in known.CONTAINERS and factory not in PLAIN and not rules.is_known_function(factory):
                unknown(f"default_factory {factory!r}", number)
            value = obj[key] if factory is not None else None
            if factory in known.CONTAINERS:
                CREATED.append(value)
        elif rules.has_unknown(kind, "__missing__"):
            unknown(f"{kind.__qualname__}.__missing__", number)
        else:
            read_key(obj, key, number)
    elif kind in VIEWS:
        read_sources(obj, number)
    elif isinstance(obj, type) or kind.__module__ == "typing":
        return
    elif kind is re.Match:
        operand(obj.string, number)
    elif rules.rule(kind) is Rule.UNKNOWN and rules.has_unknown(kind, "__getitem__"):
        unknown(f"{kind.__qualname__}.__getitem__", number)


def _overridden(kind: type, base: type, name: str) -> bool:
    """Is this method of the type another one than that of its C base?"""
    for owner in kind.__mro__:
        if name in vars(owner):
            return not (base in owner.__mro__ and not rules.is_mutable_type(owner)) and owner is not base
        if owner is base:
            return False
    return False


def key_of(obj: Any, key: Any, number: int) -> Any:
    """As `item`, giving back the key."""
    item(obj, key, number)
    return key


def sliced(obj: Any, key: slice, number: int) -> Any:
    """`obj[a:b]`: of a list, that is a new list."""
    item(obj, key, number)
    value = obj[key]
    if type(obj) is list:
        CREATED.append(value)
    return value


def both(obj: Any, key: Any, number: int) -> tuple[Any, Any]:
    """As `item`, giving back both."""
    item(obj, key, number)
    return obj, key


def _changed(name: str, adds: bool, updates: bool, consumed: bool = False) -> Callable[[Any, object, int], Any]:
    """Before an item is set or deleted. What is assigned to a slice is iterated over: has that been recorded?"""

    def change(obj: Any, key: object, number: int) -> Any:
        if len(LOG) > _MANY:
            _drain()
        kind = type(obj)
        if type(key) is slice and adds and not updates and not consumed:
            unknown("assignment to a slice", number)
        if kind is list or kind is dict:
            if updates:
                item(obj, key, number)
                _element_in_place(obj, key, number)
            write_key(obj, key, number, adds)
            return obj
        base = rules.container_base(kind)
        if base is not None and not _overridden(kind, base, name):
            if updates:
                item(obj, key, number)
                _element_in_place(obj, key, number)
            write_key(obj, key, number, adds)
        elif rules.has_unknown(kind, name) or not hasattr(kind, name):
            unknown(f"{kind.__qualname__}.{name}", number)
        return obj

    return change


def _element_in_place(obj: Any, key: object, number: int) -> None:
    """`d[k] += v` may change the element itself."""
    try:
        if isinstance(obj, list) and isinstance(key, int):
            in_place(list.__getitem__(obj, key), number)
        elif isinstance(obj, dict) and _suffix(key) is not None:
            in_place(dict.get(obj, key), number)
        elif isinstance(obj, deque) and isinstance(key, int):
            in_place(deque.__getitem__(obj, key), number)
        elif isinstance(obj, list):
            in_place(obj, number)
        else:
            unknown("an item by a key that is an object", number)
    except IndexError:
        return


set_item = _changed("__setitem__", adds=True, updates=False)
del_item = _changed("__delitem__", adds=False, updates=False)
update_item = _changed("__setitem__", adds=True, updates=True)
set_slice_item = _changed("__setitem__", adds=True, updates=False, consumed=True)


def _with_key(change: Callable[[Any, object, int], Any]) -> Callable[[Any, Any, int], Any]:
    def changed(obj: Any, key: Any, number: int) -> Any:
        change(obj, key, number)
        return key

    return changed


set_key, del_key, update_key = _with_key(set_item), _with_key(del_item), _with_key(update_item)
set_slice_key = _with_key(set_slice_item)


def whole_write(obj: Any, number: int) -> Any:
    """A subscript in a place where its key cannot be seen: the whole object may change."""
    in_place(obj, number)
    return obj


# Values -------------------------------------------------------------------------------------------------------


def at(obj: Any, number: int) -> Any:
    """An attribute of `obj` is accessed here."""
    log((obj, number))
    return obj


def operand(obj: Any, number: int) -> Any:
    """The value is compared, added, printed: all that its operators can read is read."""
    if type(obj) not in PLAIN:
        _deep(obj, number, set())
    return obj


def finalised(number: int) -> None:
    """`__del__` runs: whoever else let go of the object is to blame as well, and did not say so."""
    unknown("a finaliser", number)


def formatted(obj: Any, number: int) -> Any:
    """The right side of `%`: of a mapping, items are looked up, which may add them."""
    if type(obj) is not dict and hasattr(type(obj), "__missing__"):
        unknown(f"% of {type(obj).__qualname__}", number)
    return operand(obj, number)


def _deep(obj: Any, number: int, seen: set[int]) -> None:
    kind = type(obj)
    if kind in PLAIN or id(obj) in seen:
        return
    rule = rules.rule(kind)
    if rule is Rule.PLAIN:
        return
    seen.add(id(obj))
    if rule is Rule.UNKNOWN:
        if kind in VIEWS or id(obj) in DERIVED:
            read_sources(obj, number)
            for source in DERIVED.get(id(obj), ((), False))[0]:
                _deep(source, number, seen)
        elif not is_c_iterator(kind) and kind is not re.Match:
            unknown(f"operator on {kind.__module__}.{kind.__qualname__}", number)
    elif isinstance(obj, BaseException):
        for value in (*obj.args, *getattr(obj, "exceptions", ())):
            _deep(value, number, seen)
    elif isinstance(obj, functools.partial):
        for value in (*obj.args, obj.keywords):
            _deep(value, number, seen)
    elif rule is Rule.FIELDS:
        fields = dict(rules.fields_of(obj))
        for name in {**fields, **getattr(kind, "__dataclass_fields__", {})}:
            log((obj, number, READ, ("." + name,)))
        for value in fields.values():
            _deep(value, number, seen)
    else:
        read_all(obj, number)
        if isinstance(obj, dict):
            for value in dict.values(obj):
                _deep(value, number, seen)
            for key in dict.keys(obj):
                _deep(key, number, seen)
        elif not isinstance(obj, bytearray):
            for value in list(_C_ITER[rules.container_base(kind)](obj)):
                _deep(value, number, seen)


_C_ITER: dict[type | None, Callable[[Any], Iterator[Any]]] = {
    list: list.__iter__,
    set: set.__iter__,
    deque: deque.__iter__,
    tuple: tuple.__iter__,
    frozenset: frozenset.__iter__,
}


def truth(obj: Any, number: int) -> Any:
    """A truth test, where the log cannot be written in line."""
    log((obj, number))
    return obj


def in_place(obj: Any, number: int) -> Any:
    """`x += v`: a mutable x changes itself."""
    kind = type(obj)
    if kind not in PLAIN and not isinstance(obj, tuple | frozenset):
        rule = rules.rule(kind)
        if rule is Rule.CONTAINER:
            write_all(obj, number)
            read_all(obj, number)
        elif rule is not Rule.PLAIN:
            unknown(f"in-place operator on {kind.__module__}.{kind.__qualname__}", number)
    return obj


def pair(left: Any, right: Any, number: int) -> tuple[Any, Any]:
    """Both operands, where one of them was suspended."""
    return operand(left, number), operand(right, number)


def changed(obj: Any, value: Any, number: int) -> tuple[Any, Any]:
    """`o.a += v`, between the load and the operation."""
    return in_place(obj, number), value


def dict_of(obj: Any, number: int) -> Any:
    """`o.__dict__[k]`, `o.__dict__.update(...)`: attributes change in ways that are not followed."""
    if not isinstance(obj, type):
        unknown("__dict__", number)
    return obj


def dict_held(obj: Any, number: int, attr: str) -> Any:
    """`o.__dict__`, `f.__globals__`: whatever is done with it later is opaque, too."""
    if not isinstance(obj, type):
        unknown(attr, number)
        hold(getattr(obj, attr, None))
    return obj


def hold(namespace: Any) -> None:
    """The program got hold of a dict that is more than that."""
    if namespace is not None:
        rules.HELD.add(id(namespace))


def dict_set(obj: Any, number: int) -> Any:
    """`o.__dict__ = d`: from now on it cannot be said whose attributes these are."""
    unknown("__dict__", number)
    rules.REBOUND.add(id(obj))
    return obj


def contains(obj: Any, key: object, number: int) -> Any:
    """`key in obj`; gives back the container."""
    kind = type(obj)
    if kind in PLAIN and not isinstance(obj, type):
        return obj
    base = rules.container_base(kind)
    if base is not None and not _overridden(kind, base, "__contains__"):
        has_key(obj, key, number)
    elif kind in VIEWS:
        operand(obj, number)
        operand(key, number)
    elif isinstance(obj, enum.EnumMeta):
        operand(key, number)
    elif rules.has_unknown(kind, "__contains__"):
        unknown(f"{kind.__qualname__}.__contains__", number)
    elif not hasattr(kind, "__contains__"):
        operand(key, number)
        return source(obj, number, deep=True)
    return obj


def contains_all(obj: Any, number: int) -> Any:
    """As `contains`, where the key cannot be seen."""
    operand(obj, number)
    return contains(obj, ABSENT, number)


def new(obj: Any) -> Any:
    """A display or a comprehension: certainly a new object."""
    CREATED.append(obj)
    return obj


def token() -> Token:
    """The closure variables of a function that begins here."""
    made = Token()
    CREATED.append(made)
    return made


_FRAMES: dict[int, tuple[weakref.ref[Any], Token]] = {}
_UNKNOWN_FRAME = ModuleToken("?generator")


def generator(obj: Any) -> Any:
    """A new generator. A token stands for its frame: who holds the generator keeps its `finally` from running."""
    key, made = id(obj), token()
    _FRAMES[key] = weakref.ref(obj, lambda _: _FRAMES.pop(key, None)), made
    return obj


def frame(obj: Any, number: int) -> None:
    """A generator goes on: its variables are changed."""
    code = getattr(obj, "gi_code", None) or obj.ag_code
    if rules.is_instrumented(code):
        found = _FRAMES.get(id(obj))
        log((found[1] if found is not None else _UNKNOWN_FRAME, number, WRITE, STATE))
    else:
        unknown(f"generator {code.co_qualname}", number)


def matched(obj: Any, number: int, attributes: tuple[str, ...]) -> Any:
    """The subject of `match`: patterns may look at all of it, and at these attributes."""
    _match(obj, number, attributes, set())
    return obj


def _match(obj: Any, number: int, attributes: tuple[str, ...], seen: set[int]) -> None:
    kind = type(obj)
    if id(obj) in seen or (kind in PLAIN and kind in known.ALWAYS_PLAIN):
        return
    seen.add(id(obj))
    if rules.container_base(kind) is not None:
        operand(obj, number)
        inside = (
            list(dict.values(obj)) if isinstance(obj, dict) else [] if isinstance(obj, bytearray) else list(obj)
        )
    elif not rules.is_mutable_type(kind) and not isinstance(obj, BaseException | type | types.ModuleType):
        unknown(f"match of {kind.__qualname__}", number)
        return
    else:
        fields = dict(rules.fields_of(obj))
        names = {*fields, *attributes, *getattr(kind, "__match_args__", ())}
        for name in sorted(names):
            if rules.attribute(kind, name) in (rules.Way.UNKNOWN, rules.Way.CACHED):
                unknown(f"{kind.__qualname__}.{name}", number)
            log((obj, number, READ, ("." + name,)))
        inside = list(fields.values())
    for value in inside:
        _match(value, number, attributes, seen)


def copied(obj: Any, number: int, seen: set[int]) -> None:
    """All that is in an object, for a copy. Which attributes a `__dict__` has is no location: it is opaque."""
    kind = type(obj)
    if id(obj) in seen or kind in known.ALWAYS_PLAIN or isinstance(obj, type | enum.Enum):
        return
    seen.add(id(obj))
    base = rules.container_base(kind)
    if base is not None:
        read_all(obj, number)
        inside = [*dict.keys(obj), *dict.values(obj)] if isinstance(obj, dict) else list(obj)
    elif rules.dict_of(obj) is not None or not hasattr(kind, "__slots__"):
        unknown(f"copy of {kind.__module__}.{kind.__qualname__}", number)
        return
    else:
        inside = [value for _, value in rules.fields_of(obj)]
        for owner in kind.__mro__:
            slots = vars(owner).get("__slots__", ())
            log((obj, number, READ, tuple("." + name for name in ((slots,) if isinstance(slots, str) else slots))))
    for value in inside:
        copied(value, number, seen)


# Iteration ----------------------------------------------------------------------------------------------------


def derive(view: Any, sources: tuple[object, ...], deep: bool = False) -> Any:
    """A view or an iterator that was made just now, and what it will read."""
    DERIVED[id(view)] = (sources, deep)
    CREATED.append(view)
    return view


def read_sources(view: Any, number: int) -> None:
    """Whatever a view or an iterator reads when it is used."""
    found = DERIVED.get(id(view))
    if found is None:
        if type(view) in VIEWS:
            unknown(f"{type(view).__name__} of unknown origin", number)
        return
    for source in found[0]:
        iterate(source, number)
        if found[1] and rules.container_base(type(source)) is not None:
            operand(source, number)


def watched(iterator: Iterator[Any], number: int) -> Iterator[Any]:
    """For C code that looks into what an iterator gives it."""
    for value in iterator:
        operand(value, number)
        yield value


def is_c_iterator(kind: type) -> bool:
    return kind.__module__ in ("builtins", "itertools", "collections", "_collections") and hasattr(
        kind, "__next__"
    )


def source(obj: Any, number: int, deep: bool = False) -> Any:
    """What is given to C code, or to the interpreter, that goes over all of it; with `deep`, it looks into items.

    The result is to be iterated over instead: the iterator of an object that makes its own has to be seen.
    """
    kind = type(obj)
    if kind is list and not deep:
        read_all(obj, number)
        return obj
    if kind in PLAIN or isinstance(obj, type) or not hasattr(kind, "__iter__"):
        iterate(obj, number)
        return watched(iter(obj), number) if deep and hasattr(kind, "__getitem__") and kind not in PLAIN else obj
    base = rules.container_base(kind)
    if (base is not None and not _overridden(kind, base, "__iter__")) or kind in VIEWS:
        iterate(obj, number)
        return operand(obj, number) if deep else obj
    if kind is types.GeneratorType or is_c_iterator(kind):
        iterate(obj, number)
        return watched(obj, number) if deep else obj
    if rules.has_unknown(kind, "__iter__"):
        unknown(f"{kind.__qualname__}.__iter__", number)
        return obj
    return _Iterable(obj, number, deep)


class _Iterable:
    """Stands for an object that makes its own iterator, which has to be seen."""

    __slots__ = ("deep", "number", "obj")

    def __init__(self, obj: Any, number: int, deep: bool) -> None:
        self.obj, self.number, self.deep = obj, number, deep

    def __iter__(self) -> Iterator[Any]:
        iterator = iter(self.obj)
        iterate(iterator, self.number)
        return watched(iterator, self.number) if self.deep else iterator

    def __length_hint__(self) -> int:
        return operator.length_hint(self.obj)


def mapped(obj: Any, number: int) -> Any:
    """`**obj`."""
    kind = type(obj)
    if rules.container_base(kind) is None and (not hasattr(kind, "keys") or rules.has_unknown(kind, "keys")):
        unknown(f"{kind.__qualname__}.keys", number)
    return iterate(obj, number)


def kept(obj: Any, number: int) -> Any:
    """Taken apart, and bound to another name as well."""
    operand(obj, number)
    iterate(obj, number)
    if type(obj) not in PLAIN and rules.container_base(type(obj)) is None:
        unknown(f"{type(obj).__qualname__}.__iter__", number)
    return obj


def consumed(obj: Any, number: int) -> Any:
    """The right side of `x += v`, or of an assignment to a slice: a list would go over it."""
    kind = type(obj)
    if kind not in PLAIN and not isinstance(obj, type):
        if rules.container_base(kind) is not None or kind in VIEWS or not hasattr(kind, "__iter__"):
            operand(obj, number)
        elif kind is types.GeneratorType or is_c_iterator(kind):
            iterate(obj, number)
        else:
            operand(obj, number)
            unknown(f"{kind.__qualname__}.__iter__", number)
    return obj


def consumed_pairs(obj: Any, number: int) -> Any:
    """The right side of `x |= v`: a dict would take the items apart."""
    kind = type(obj)
    if kind is types.GeneratorType or is_c_iterator(kind):
        unknown(f"|= {kind.__name__}", number)
    return consumed(obj, number)


def iterate(obj: Any, number: int) -> Any:
    """The items of `obj` are read, now; gives it back."""
    if len(LOG) > _MANY:
        _drain()
    kind = type(obj)
    if kind is list:
        read_all(obj, number)
    elif kind is tuple or kind is str or kind is range:
        return obj
    elif kind is types.GeneratorType:
        frame(obj, number)
    elif kind in PLAIN and not isinstance(obj, type):
        return obj
    else:
        _iterate(obj, kind, number)
    return obj


def _iterate(obj: Any, kind: type, number: int) -> None:
    base = rules.container_base(kind)
    if base is not None and not _overridden(kind, base, "__iter__"):
        read_all(obj, number)
    elif kind in VIEWS:
        read_sources(obj, number)
    elif is_c_iterator(kind):
        if id(obj) in DERIVED:
            read_sources(obj, number)
        elif kind.__name__ not in ("count", "repeat"):
            unknown(f"{kind.__name__} of unknown origin", number)
        log((obj, number, WRITE, STATE))
    elif isinstance(obj, type):
        if rules.has_unknown(kind, "__iter__") and kind.__module__ != "enum":
            unknown(f"{kind.__qualname__}.__iter__", number)
    elif rules.has_unknown(kind, "__iter__") or (
        not hasattr(kind, "__iter__") and rules.has_unknown(kind, "__getitem__")
    ):
        unknown(f"{kind.__qualname__}.__iter__", number)
    elif hasattr(kind, "__next__") and rules.has_unknown(kind, "__next__"):
        unknown(f"{kind.__qualname__}.__next__", number)


def unpack(obj: Any, number: int, depth: int = 1) -> Any:
    """Iterated, and its items are taken apart as well, so deep."""
    kind = type(obj)
    if depth == 1:
        if (kind is list or kind is tuple) and all(type(value) is tuple for value in obj):
            return iterate(obj, number)
        if kind is enumerate or kind is zip or kind is _ITEMS_VIEW:
            return iterate(obj, number)
    return _apart(source(obj, number), number, depth)


_ITEMS_VIEW: type = type({}.items())


def _apart(iterable: Any, number: int, depth: int) -> Iterator[Any]:
    for value in iterable:
        yield _parted(value, number, depth)


def _parted(value: Any, number: int, depth: int) -> Any:
    """A value that will be taken apart."""
    if type(value) is tuple and depth == 1:
        return value
    return source(value, number) if depth == 1 else _apart(source(value, number), number, depth - 1)


def lazily(obj: Any, number: int, unpacks: int = 0) -> Any:
    """As `iterate`, for a loop that is suspended in between: each step of it reads again."""
    kind = type(obj)
    if kind is str or kind is range or (kind is tuple and not unpacks):
        return obj
    if kind in PLAIN and not isinstance(obj, type) and kind is not types.GeneratorType:
        return obj
    base = rules.container_base(kind)
    in_c = (base is not None and not _overridden(kind, base, "__iter__")) or kind in VIEWS or is_c_iterator(kind)
    if in_c or kind is types.GeneratorType or rules.has_unknown(kind, "__iter__") or not hasattr(kind, "__iter__"):
        return _again(iter(obj), obj, number, unpacks)
    iterator = iter(obj)
    seen = is_c_iterator(type(iterator)) or type(iterator) is types.GeneratorType
    if not seen and not rules.has_unknown(type(iterator), "__next__") and not unpacks:
        return iterator
    return _again(iterator, iterator, number, unpacks)


def lazily_unpack(obj: Any, number: int, depth: int = 1) -> Any:
    """As `unpack`, for a loop that is suspended in between."""
    return lazily(obj, number, unpacks=depth)


def delegated(obj: Any, number: int) -> Any:
    """`yield from` this: a generator gets what is sent, so it is given back as it is."""
    return iterate(obj, number) if type(obj) is types.GeneratorType else lazily(obj, number)


def _again(iterator: Iterator[Any], obj: Any, number: int, unpacks: int) -> Iterator[Any]:
    while True:
        iterate(obj, number)
        try:
            value = next(iterator)
        except StopIteration:
            return
        yield _parted(value, number, unpacks) if unpacks else value


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "MatMult": operator.matmul,
    "Div": operator.truediv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
    "FloorDiv": operator.floordiv,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "MatMult": operator.imatmul,
    "Div": operator.itruediv,
    "Mod": operator.imod,
    "Pow": operator.ipow,
    "LShift": operator.ilshift,
    "RShift": operator.irshift,
    "BitOr": operator.ior,
    "BitXor": operator.ixor,
    "BitAnd": operator.iand,
    "FloorDiv": operator.ifloordiv,
}
