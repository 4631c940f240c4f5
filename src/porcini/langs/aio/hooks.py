"""The functions that instrumented code calls, by the names that it finds them under in its globals.

A name is `@` and that of the function, so that no program can use it. There are two sets: one for a recording, and
one that does nothing, with which instrumented code behaves as plain code.
"""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.calls import attributes, calling, classes, frames, special
from porcini.langs.aio.log import LOG
from porcini.langs.aio.operations import awaiting, entries, items, iterating, objects, operators, values

_FUNCTIONS: tuple[Any, ...] = (
    *(entries.at, entries.counts, entries.counted, entries.counts_variable, entries.finalised),
    *(entries.new, entries.token, values.operand, values.compared, values.generator),
    *(items.both, items.sliced, items.whole_write, items.contains, items.contains_all),
    *(operators.in_place, operators.changed, operators.consumed, operators.consumed_pairs),
    *(operators.formatted, operators.pair, operators.combined),
    *(objects.dict_used, objects.dict_held, objects.dict_set, objects.matched),
    *(iterating.source, iterating.unpack, iterating.lazily, iterating.lazily_unpack),
    *(iterating.mapped, iterating.kept),
    *(awaiting.awaited, awaiting.awaited_again, awaiting.delegated, awaiting.async_iterate),
    *(awaiting.managed, awaiting.async_managed),
    *(calling.call, calling.later, calling.decorator, classes.based, classes.metaclass),
    *(special.checked, special.shared_context, attributes.looked_for, attributes.imported),
)
_SAME: dict[str, Any] = {
    "@slice": slice,
    "@failure": Exception,
    "@getitem": operator.getitem,
    **{f"@{name}": function for name, function in operators.BINARY.items()},
    **{f"@i{name}": function for name, function in operators.IN_PLACE.items()},
}
"""They do the same in both sets."""
RECORDING: dict[str, Any] = {
    "@log": LOG.append,
    "@plain": rules.PLAIN,
    "@type": type,
    **{f"@{function.__name__}": function for function in _FUNCTIONS},
    **{f"@{name}_item": function for name, function in items.ACCESSES.items()},
    **{f"@{name}_key": items.with_key(function) for name, function in items.ACCESSES.items()},
    **_SAME,
}


def _first(obj: Any, *_: Any) -> Any:
    return obj


def _second(obj: Any, value: Any, number: int) -> Any:
    return value


def _both(obj: Any, value: Any, number: int) -> tuple[Any, Any]:
    return obj, value


IDLE: dict[str, Any] = {
    **dict.fromkeys(RECORDING, _first),
    "@log": deque[Any](maxlen=0).append,
    "@plain": frozenset({True, False}),
    "@type": callable,  # a C function that gives a boolean and runs no code of the program
    "@counts": lambda obj, number: None,
    "@token": lambda: None,
    **dict.fromkeys(("@call", "@later"), frames.unrecorded),
    **{f"@{name}_key": _second for name in items.ACCESSES},
    **dict.fromkeys(("@both", "@changed", "@pair"), _both),
    "@sliced": lambda obj, key, number: obj[key],
    **_SAME,
}
