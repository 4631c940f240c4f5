"""Effects: what a call does to each of its arguments, as data, and the interpreter of that.

A callable that is not instrumented but understood has an `Effect` (see `table`). Calling the effect with the
callable and the number of the site gives what the program calls in its place: a wrapper that logs what will happen
to the arguments, by the *use* that the effect has for each of them, and then calls the callable. A use may answer
with another value that behaves the same and takes the place of the argument, such as an iterator that is watched.

The first argument of a method is its receiver. A method that uses nothing else is logged at once, unwrapped.
What no effect can express is a function of the same signature (`Replacement`), a special case.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.calls.calling import call_back, name_of, read
from porcini.langs.aio.operations.entries import mark_opaque
from porcini.langs.aio.operations.iterating import DICT_ITEMS, iterate_over, watch_items
from porcini.langs.aio.operations.values import VIEWS, read_in_any_order, register_view

Use = Callable[[Any, int], Any]
"""Logs what happens to a value at a site. Answers None, or what is to be used in its place."""
Replacement = Callable[..., Any]
"""Of a callable, the number of a site and perhaps a receiver: what is called in place of the callable."""
Values = tuple[Any, ...]
Options = dict[str, Any]
Arguments = tuple[Values, Options]
"""By position and by name."""


def keep(value: Any, number: int) -> None:
    """The argument is not looked at, or only handed on."""


def silent(function: Any, number: int, *bound: Any) -> Any:
    """Touches nothing but what never changes, or what is recorded elsewhere."""
    return function


def opaque(function: Any, number: int, *bound: Any) -> Any:
    """Would need an effect, and has none."""
    mark_opaque(name_of(function), number)
    return function


def _apply(use: Use, value: Any, number: int) -> Any:
    """Log the use of an argument; answers what is to be used in its place."""
    seen = use(value, number)
    return value if seen is None else seen


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """What a call does to its arguments."""

    uses: tuple[Use, ...] = ()
    """Of arguments by position."""
    rest: Use = keep
    """Of all further arguments by position."""
    keywords: Mapping[str, Use] = field(default_factory=dict)
    """Of arguments by name. Others are moved to their positions; a call where that is impossible is opaque."""
    others: Use | None = None
    """Of arguments by any other name, if the callable takes what it is given."""
    key: Callable[[Any, Any, int], Any] | None = None
    """The second argument is a key or an attribute's name in the first one: what happens there."""
    result: Callable[[Any], Any] | None = None
    """What is to be noted about the result."""

    def __call__(self, function: Any, number: int, *bound: Any) -> Any:
        """What takes the place of the callable, whose receiver may be bound."""
        if self.key is not None:
            return self._access(function, number, *bound)
        if bound and len(self.uses) == 1 and self.rest is keep and self.result is None:
            self.uses[0](bound[0], number)
            return function
        result = self.result

        def called(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            args, kwargs = self.record(function, number, args, kwargs, bound)
            value = function(*args, **kwargs)
            return value if result is None else result(value)

        return called

    def record(self, function: Any, number: int, args: Values, kwargs: Options, bound: Values = ()) -> Arguments:
        """Log what happens to the arguments; answers those that are to be used."""
        if kwargs:
            placed = self._place(function, number, args, kwargs)
            if placed is None:
                return args, kwargs
            args = placed[0]
            kwargs = {name: _apply(self.use_of(name), value, number) for name, value in placed[1].items()}
        values = bound + args
        given = [_apply(use, value, number) for use, value in zip(self.uses_of(values), values, strict=False)]
        return tuple(given[len(bound) :] if bound else given), kwargs

    def uses_of(self, values: Values) -> tuple[Use, ...]:
        """For each argument by position, at least."""
        return self.uses + (self.rest,) * (len(values) - len(self.uses))

    def use_of(self, name: str) -> Use:
        """For an argument by name."""
        return self.keywords.get(name, self.others) or keep

    def _access(self, function: Any, number: int, *bound: Any) -> Any:
        """`d.get(key)`, `getattr(obj, name)`."""
        access: Any = self.key

        def called(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            placed = self._place(function, number, args, kwargs) if kwargs else (args, kwargs)
            if placed is not None:
                args, kwargs = placed
                values = bound + args
                if len(values) > 1:  # else it is an error
                    access(values[0], values[1], number)
            return function(*args, **kwargs)

        return called

    def _place(self, function: Any, number: int, args: Values, kwargs: Options) -> Arguments | None:
        """Arguments by position, unless they have a use by name. If that cannot be done, the call is opaque."""
        if self.others is not None or kwargs.keys() <= self.keywords.keys():
            return args, kwargs
        placed = by_position(function, args, kwargs)
        if placed is not None and placed[1].keys() <= self.keywords.keys():
            return placed
        mark_opaque(name_of(function), number)
        return None


def special_case(record: Callable[..., Arguments | None]) -> Replacement:
    """Makes a replacement of a function that logs what happens to all arguments, and may answer others."""

    def replace(function: Any, number: int, *bound: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            args, kwargs = record(function, number, args, kwargs, *bound) or (args, kwargs)
            return function(*args, **kwargs)

        return called

    return replace


def by_position(function: Any, args: Values, kwargs: Options) -> Arguments | None:
    """The same arguments, by position as far as that goes; None if it cannot be said where they belong."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return None
    return bound.args, bound.kwargs


# Functions that consume what they are given ---------------------------------------------------------------------


def consume(value: Any, number: int) -> Any:
    """The argument is iterated over, and each item is looked into."""
    return iterate_over(value, number, deep=True)


@dataclass(frozen=True, slots=True, eq=False)
class Fold(Effect):
    """`sum`, `max`, `sorted` and so on: one argument is consumed, in an order that often makes no difference."""

    uses: tuple[Use, ...] = (consume,)
    rest: Use = read
    many: bool = False
    """Several arguments are compared with each other."""

    def record(self, function: Any, number: int, args: Values, kwargs: Options, bound: Values = ()) -> Arguments:
        """As for every effect."""
        if len(args) > 1 and self.many:
            return Effect(rest=read, keywords=self.keywords).record(function, number, args, kwargs)
        alone = len(args) == 1 and kwargs.keys() <= {"reverse", "default"}
        if alone and _read_in_any_order(args[0], number):
            return Effect(keywords=self.keywords).record(function, number, args, kwargs)
        return Effect.record(self, function, number, args, kwargs)


def _read_in_any_order(value: Any, number: int) -> bool:
    """Read all items but not their order, if it makes no difference: whole numbers, or strings."""

    def cannot_tell(items: list[Any]) -> bool:
        if type(value) is DICT_ITEMS:  # the keys decide
            items = [item[0] for item in items]
        kinds = set(map(type, items))
        plain = len(kinds) <= 1 and kinds <= {int, str, bytes}
        return plain and len(set(items)) == len(
            set(map(id, items))
        )  # of those that are equal, it may give the first

    return read_in_any_order(value, number, cannot_tell)


@dataclass(frozen=True, slots=True, eq=False)
class Lazy(Effect):
    """`enumerate`, `zip`, `map`, `itertools`: the result reads the arguments whenever it is used."""

    passes: bool = False
    """Items are handed on, and not looked into."""

    def __call__(self, function: Any, number: int, *bound: Any) -> Any:
        """What takes the place of the class."""

        def called(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            placed = self._place(function, number, args, kwargs)
            if placed is None:
                return function(*args, **kwargs)
            given, more = self.record(function, number, *placed)
            uses = [*self.uses_of(given)[: len(given)], *map(self.use_of, more)]
            values, seen = (*placed[0], *placed[1].values()), (*given, *more.values())
            sources = tuple(each for use, each in zip(uses, seen, strict=True) if use in (iterate_over, reverse))
            passes = self.passes or any(
                use is call_back and value is not None and (each is not value or rules.records_itself(value))
                for use, value, each in zip(uses, values, seen, strict=True)
            )
            if not passes:
                given = tuple(_watch(value, number) for value in given)
                more = {name: _watch(value, number) for name, value in more.items()}
            return register_view(function(*given, **more), sources, deep=not passes)

        return called


def _watch(value: Any, number: int) -> Any:
    """What a generator gives is looked into."""
    return watch_items(value, number) if type(value) is types.GeneratorType else value


def reverse(value: Any, number: int) -> None:
    """`reversed` of this: its items are read when the result is used."""
    kind = type(value)
    if rules.container_base(kind) is not None or kind in rules.PLAIN or kind in VIEWS:
        return
    if rules.has_opaque(kind, "__reversed__"):
        mark_opaque(f"{kind.__qualname__}.__reversed__", number)
