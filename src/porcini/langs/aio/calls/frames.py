"""Functions that look at the frame that calls them: `vars`, `locals`, `globals`, `dir`, `eval`, `exec`."""

from __future__ import annotations
import __future__

import functools
import inspect
import operator
import types
from typing import Any

from porcini.langs.aio.calls.calling import add_hooks, find_program_frame
from porcini.langs.aio.calls.effects import by_position
from porcini.langs.aio.operations import objects
from porcini.langs.aio.operations.entries import mark_opaque


def _read_locals() -> Any:
    """As `locals()` in the program: without the variables that we have added there."""
    frame = find_program_frame()
    found = frame.f_locals
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return found
    return {name: value for name, value in found.items() if "@" not in name}


def hide_hooks(function: Any, number: int, *_: Any) -> Any:
    """The callee of a call that is not recorded: even then, the names that we have added are not shown."""
    if function is not locals and function is not vars and function is not dir:
        return function

    def found(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if args or kwargs:
            return function(*args, **kwargs)
        return sorted(_read_locals()) if function is dir else _read_locals()

    return found


def hand_out_vars(function: Any, number: int) -> Any:
    """A dict that is more than that."""

    def held(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        mark_opaque("vars()", number)
        if not args and not kwargs:
            return _read_locals()
        found = function(*args, **kwargs)
        objects.note_held(found)
        return found

    return held


def look_at_frame(function: Any, number: int) -> Any:
    """`globals`, `locals`, `dir`: of the frame that calls."""

    def found(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        mark_opaque(f"{function.__name__}()", number)
        if args or kwargs:
            return function(*args, **kwargs)
        if function is globals:
            objects.note_held(find_program_frame().f_globals)
            return find_program_frame().f_globals
        return sorted(_read_locals()) if function is dir else _read_locals()

    return found


def evaluate(function: Any, number: int) -> Any:
    """`eval` and `exec`: in the frame that calls. What they run is not instrumented."""

    def evaluated(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        mark_opaque(function.__name__, number)
        given, options = by_position(function, args, kwargs) or ((), {})
        if not given:
            return function(*args, **kwargs)  # an error
        source, *spaces = given
        frame = find_program_frame()
        spaces += [None] * (2 - len(spaces))
        if spaces[0] is None:
            spaces = [frame.f_globals, frame.f_locals if spaces[1] is None else spaces[1]]
        if type(source) in (str, bytes):
            text = source.lstrip(" \t" if type(source) is str else b" \t") if function is eval else source
            inherited = frame.f_code.co_flags & FUTURE
            source = compile(text, "<string>", function.__name__, inherited, dont_inherit=True)
        elif type(source) is types.CodeType and type(spaces[0]) is dict:
            add_hooks(spaces[0])
        return function(source, *[space for space in spaces if space is not None], **options)

    return evaluated


FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)
)
"""What code that is compiled in a function inherits from it."""
