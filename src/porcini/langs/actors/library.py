"""Values of ABS, and the functions of its library that are written here and not in ABS.

Integers, booleans and strings are Python's own, rationals are fractions (whole ones are integers), null is
None, and references are pids. A list is a tuple. A constructor applied to values is a tuple that begins with its
`Tag`. A set is a frozenset, a map a tuple of pairs in order of its keys: equal maps are equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from porcini.core.pids import Pid
from porcini.core.systems import Observed
from porcini.ir.expr import ZERO, binary, ite, neg, var
from porcini.ir.objects import Definition
from porcini.ir.tasks.failures import Failed


class Tag(str):
    """The name of a constructor."""

    __slots__ = ()


class MapValue(tuple[tuple[Any, Any], ...]):
    """Pairs in order of their keys."""

    __slots__ = ()


UNIT = (Tag("Unit"),)


def rank(value: Any) -> tuple[Any, ...]:
    """A key that puts any values of one type in an order that is the same in every run."""
    match value:
        case None:
            return (0,)
        case bool() | int() | Fraction():
            return (1, value)
        case str():
            return (2, str(value))
        case Pid():
            return (3, tuple(value))
        case frozenset():
            return (4, sorted(map(rank, value)))
        case _:
            return (5, [rank(part) for part in value])


def renamed(value: Any, name: Callable[[Pid], Any]) -> Any:
    """A value with something else in the place of each reference."""
    match value:
        case Pid():
            return name(value)
        case frozenset():
            return frozenset(renamed(part, name) for part in value)
        case MapValue():
            return _sorted((renamed(k, name), renamed(v, name)) for k, v in value)
        case tuple():
            return tuple(renamed(part, name) for part in value)
        case _:
            return value


def in_order(values: frozenset[Any]) -> tuple[Any, ...]:
    return tuple(sorted(values, key=rank))


def text(value: Any) -> str:
    """A value in the syntax of ABS."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value)
        case Tag():
            return str(value)
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case Pid() | int() | Fraction():
            return str(value)
        case frozenset():
            return f"set[{', '.join(map(text, in_order(value)))}]"
        case MapValue():
            return f"map[{', '.join(f'Pair({text(k)}, {text(v)})' for k, v in value)}]"
        case (Tag() as name, *parts):
            return f"{name}({', '.join(map(text, parts))})" if parts else str(name)
        case _:
            return f"list[{', '.join(map(text, value))}]"


def observed(value: Any) -> Observed:
    """A value as a report shows it: numbers, booleans, strings and lists as such, anything else as text."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, Pid):
        return str(value)
    if type(value) is str:
        return value
    if type(value) is tuple and not (value and isinstance(value[0], Tag)):
        return tuple(map(observed, value))
    return text(value)


def whole(number: Fraction | int) -> Fraction | int:
    return int(number) if isinstance(number, Fraction) and number.denominator == 1 else number


def _divide(a: Fraction | int, b: Fraction | int) -> Fraction | int:
    return whole(Fraction(a) / Fraction(b))


def _head(values: Sequence[Any]) -> Any:
    if not values:
        raise Failed("head of an empty list")
    return values[0]


def _tail(values: Sequence[Any]) -> Any:
    if not values:
        raise Failed("tail of an empty list")
    return values[1:]


def _nth(values: Sequence[Any], n: int) -> Any:
    if 0 <= n < len(values):
        return values[n]
    raise Failed(f"nth: there is no element {n} in a list of {len(values)}")


def _last(values: Sequence[Any]) -> Any:
    if not values:
        raise Failed("last of an empty list")
    return values[-1]


def _without(values: Sequence[Any], x: Any) -> Any:
    return tuple(value for value in values if value != x)


def _take(values: frozenset[Any]) -> Any:
    if not values:
        raise Failed("take from an empty set")
    return in_order(values)[0]


def _next(values: frozenset[Any]) -> Any:
    first = _take(values)
    return (Tag("Pair"), values - {first}, first)


def _sorted(pairs: Iterable[tuple[Any, Any]]) -> MapValue:
    return MapValue(sorted(pairs, key=lambda pair: rank(pair[0])))


def _map(pairs: Sequence[Any]) -> MapValue:
    return _sorted({k: v for _, k, v in reversed(pairs)}.items())


def _put(map_: MapValue, k: Any, v: Any) -> MapValue:
    return _sorted((dict(map_) | {k: v}).items())


def _lookup(map_: MapValue, k: Any) -> Any:
    found = dict(map_)
    return (Tag("Just"), found[k]) if k in found else (Tag("Nothing"),)


def _lookup_unsafe(map_: MapValue, k: Any) -> Any:
    found = dict(map_)
    if k not in found:
        raise Failed(f"lookupUnsafe: no entry for {text(k)}")
    return found[k]


def _substr(s: str, start: int, count: int) -> str:
    if start < 0 or count < 0 or start + count > len(s):
        raise Failed(f"substr({start}, {count}) of a string of {len(s)}")
    return s[start : start + count]


_MOST_BITS = 100_000


def _pow(base: Fraction | int, exponent: int) -> Fraction | int:
    if abs(exponent) * max(Fraction(base).numerator.bit_length(), 1) > _MOST_BITS:
        raise Failed(f"pow: a number of more than {_MOST_BITS:,} bits")
    return whole(Fraction(base) ** exponent)


_MOST_COPIES = 1_000_000


def _copy(x: Any, n: int) -> Any:
    if n > _MOST_COPIES:
        raise Failed(f"a list of {n} elements")
    return (x,) * n


def _range(low: int, high: int) -> Any:
    if high - low > _MOST_COPIES:
        raise Failed(f"a list of {high - low} elements")
    return tuple(range(low, high + 1))


def no_branch(value: Any) -> Any:
    raise Failed(f"no branch of the case matches {text(value)}")


BUILTINS: dict[str, Callable[..., Any]] = {
    "isEmpty": lambda a: not a,
    "length": len,
    "nth": _nth,
    "last": _last,
    "appendright": lambda a, x: (*a, x),
    "concatenate": lambda a, b: a + b,
    "reverse": lambda a: a[::-1],
    "without": _without,
    "copy": _copy,
    "range": _range,
    "listContains": lambda a, x: x in a,
    "emptySet": frozenset,
    "set": frozenset,
    "contains": lambda s, x: x in s,
    "emptySetTest": lambda s: not s,
    "size": len,
    "insertElement": lambda s, x: s | {x},
    "remove": lambda s, x: s - {x},
    "union": lambda s, t: s | t,
    "intersection": lambda s, t: s & t,
    "difference": lambda s, t: s - t,
    "isSubset": lambda s, t: s <= t,
    "take": _take,
    "hasNext": bool,
    "next": _next,
    "elements": in_order,
    "emptyMap": MapValue,
    "map": _map,
    "put": _put,
    "insert": lambda m, p: _put(m, p[1], p[2]),
    "removeKey": lambda m, k: MapValue(pair for pair in m if pair[0] != k),
    "lookup": _lookup,
    "lookupUnsafe": _lookup_unsafe,
    "lookupDefault": lambda m, k, other: dict(m).get(k, other),
    "keys": lambda m: frozenset(k for k, _ in m),
    "values": lambda m: tuple(v for _, v in m),
    "entries": lambda m: tuple((Tag("Pair"), k, v) for k, v in m),
    "emptyMapTest": lambda m: not m,
    "truncate": lambda r: int(r),
    "abs": abs,
    "div": lambda a, b: a // b,
    "max": lambda a, b: max(a, b, key=rank),
    "min": lambda a, b: min(a, b, key=rank),
    "toString": lambda x: x if type(x) is str else text(x),
    "intToString": str,
    "strlen": len,
    "substr": _substr,
    "print": lambda s: UNIT,
    "println": lambda s: UNIT,
    # Operators, and what patterns and collections are made of.
    "a / b": _divide,
    "rat +": lambda a, b: whole(a + b),
    "rat -": lambda a, b: whole(a - b),
    "rat *": lambda a, b: whole(a * b),
    "rat %": lambda a, b: whole(a % b),
    "string +": lambda a, b: a + b,
    "list[]": lambda *items: items,
    "no branch": no_branch,
    "make Cons": lambda h, t: (h, *t),
    "is Cons": bool,
    "is Nil": lambda a: not a,
    "list head": _head,
    "list tail": _tail,
    "set elements": in_order,
    "set of list": frozenset,
    "map of list": _map,
    "pow": _pow,
    "numerator": lambda r: Fraction(r).numerator,
    "denominator": lambda r: Fraction(r).denominator,
    "floor": lambda r: Fraction(r).__floor__(),
    "ceil": lambda r: Fraction(r).__ceil__(),
    "head": _head,
    "tail": _tail,
}


THEORY = {
    "insertElement": "set insert",
    "remove": "set remove",
    "contains": "set has",
    "put": "map put",
    "removeKey": "map drop",
    "lookup": "map get",
}
"""Functions that the solver knows."""

_X, _Y = var(".x", "int"), var(".y", "int")
ARITHMETIC = {
    "abs": Definition((_X,), ite(binary(">=", _X, ZERO), _X, neg(_X))),
    "max": Definition((_X, _Y), ite(binary(">=", _X, _Y), _X, _Y)),
    "min": Definition((_X, _Y), ite(binary("<=", _X, _Y), _X, _Y)),
    "div": Definition((_X, _Y), binary("/", _X, _Y)),
    **dict.fromkeys(("truncate", "floor", "ceil"), Definition((_X,), _X)),
}
"""What functions are on integers, as expressions."""

FAILING = {
    *("nth", "last", "copy", "range", "take", "next", "lookupUnsafe", "div", "substr", "a / b", "rat %"),
    *("no branch", "head", "tail", "list head", "list tail", "pow"),
}


def total(functions: Iterable[str]) -> frozenset[str]:
    """Of the functions written here, those that never fail. Parts are taken of what was recognised before."""
    return frozenset(name for name in functions if name in BUILTINS or name.startswith(("make ", "is "))) - FAILING


def constructor_functions(name: str, parts: Sequence[str | None]) -> dict[str, Callable[..., Any]]:
    """How a constructor makes values, recognises them and takes them apart."""
    if name in ("Cons", "Nil"):
        return {"part Cons 0": lambda a: a[0], "part Cons 1": lambda a: a[1:]} if name == "Cons" else {}
    tag = Tag(name)
    made: dict[str, Callable[..., Any]] = {
        f"make {name}": lambda *values: (tag, *values),
        f"is {name}": lambda value: value[0] == tag,
    }
    for k in range(len(parts)):
        made[f"part {name} {k}"] = lambda value, k=k: value[k + 1]
    return made


def selector(part: str, places: Mapping[str, int]) -> Callable[..., Any]:
    """A function that picks a part by its name; `places` says where it is, by constructor."""
    if places.keys() == {"Cons"}:
        return _head if part == "head" else _tail

    def pick(value: Any) -> Any:
        if value[0] not in places:
            raise Failed(f"{part} of {text(value)}")
        return value[places[value[0]] + 1]

    return pick
