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
    *(
        entries.log_access,
        entries.log_addition,
        entries.log_addition_to,
        entries.log_addition_to_variable,
        entries.log_finaliser,
    ),
    *(entries.register_new, entries.create_token, values.read_operand, values.compare, values.register_generator),
    *(items.read_item_and_key, items.read_slice, items.update_whole, items.look_up, items.look_up_anything),
    *(operators.update_in_place, operators.update_attribute, operators.read_right_side, operators.read_merged),
    *(operators.read_format_argument, operators.read_operands, operators.read_set_operand),
    *(objects.use_namespace, objects.hand_out_namespace, objects.replace_namespace, objects.read_match_subject),
    *(iterating.iterate_over, iterating.unpack, iterating.iterate_suspended, iterating.unpack_suspended),
    *(iterating.read_mapping, iterating.read_captured),
    *(awaiting.watch_awaited, awaiting.watch_awaited_again, awaiting.delegate, awaiting.watch_async_iterable),
    *(awaiting.watch_manager, awaiting.watch_async_manager),
    *(calling.call, calling.call_later, calling.call_decorator, classes.check_bases, classes.check_metaclass),
    *(special.check_class, special.share_context, attributes.read_modules, attributes.read_imported),
)
_SAME: dict[str, Any] = {
    "@slice": slice,
    "@failure": Exception,
    "@unbound": NameError,
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
    "@set_key": items.set_key,
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
    "@log_addition": lambda obj, number: None,
    "@create_token": lambda: None,
    **dict.fromkeys(("@call", "@call_later"), frames.hide_hooks),
    **{f"@{name}_key": _second for name in items.ACCESSES},
    **dict.fromkeys(("@read_item_and_key", "@update_attribute", "@read_operands"), _both),
    "@read_slice": lambda obj, key, number: obj[key],
    **_SAME,
}
