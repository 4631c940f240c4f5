"""Methods by the kind of their receiver: special cases that the table of methods names.

Each takes the bound method, the site and the receiver, and gives what is called in place of the method.
"""

from __future__ import annotations

import datetime
import functools
import re
import string
import time
import types
from typing import Any

from porcini.langs.aio import lookups, rules, trusted
from porcini.langs.aio.calls import special
from porcini.langs.aio.calls.calling import call, name_of, read_arguments
from porcini.langs.aio.calls.containers import combine
from porcini.langs.aio.calls.effects import Effect, Replacement, by_position, consume, keep
from porcini.langs.aio.log import READ, STATE, WRITE
from porcini.langs.aio.operations import awaiting, objects
from porcini.langs.aio.operations.entries import log, mark_opaque, register_new
from porcini.langs.aio.operations.values import is_c_iterator, iterate, read_operand, register_view
from porcini.langs.aio.operations.weak import access_task_key

# Code, generators, contexts -----------------------------------------------------------------------------------


def resume(function: Any, number: int, agen: Any) -> Any:
    """`asend` and the like: an asynchronous generator goes on in each step until it answers."""
    return lambda *args, **kwargs: awaiting.watch_generator(function(*args, **kwargs), agen, number)


def use_code(function: Any, number: int, code: Any) -> Any:
    """A method of a function, a module, a property: few look at nothing that changes."""
    kind, name = type(code), _name_of_method(function)
    if name == "__call__" and kind is not types.GenericAlias:
        return call(code, number)
    binds = kind is types.FunctionType and name == "__get__"
    constant = name in ("__eq__", "__ne__", "__hash__", "__repr__", "__str__")
    if not (constant or binds or (kind is property and name in ("getter", "setter", "deleter"))):
        mark_opaque(f"{kind.__qualname__}.{name}", number)
    return function


def _name_of_method(function: Any) -> str:
    """The name of a method that is bound, or that stands for one (see `dispatch.call_unbound`)."""
    name: str = (function.func if type(function) is functools.partial else function).__name__
    return name


def use_context(function: Any, number: int, context: Any) -> Any:
    """A context, or a variable in one."""
    special.use_context(number)
    return function


def run_in_context(function: Any, number: int, context: Any) -> Any:
    """`Context.run`: whoever else has the context sees what is set there."""
    special.share_context(context, number)
    return use_context(function, number, context)


def use_iterator(function: Any, number: int, iterator: Any) -> Any:
    """A method of an iterator in C."""
    iterate(iterator, number)
    return read_arguments(function, number)


# Text ---------------------------------------------------------------------------------------------------------


def search(function: Any, number: int, *bound: Any) -> Any:
    """A method of a string or a pattern: a list that it gives is new."""
    reads = read_arguments(function, number)

    def searched(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = reads(*args, **kwargs)
        if is_c_iterator(type(result)) and all(type(value) in (*trusted.SCALARS, re.Pattern) for value in args):
            return register_view(result, ())
        return register_new(result) if type(result) is list else result

    return searched


def use_match(function: Any, number: int, match: Any) -> Any:
    """What was searched may be a buffer that changes."""
    read_operand(match.string, number)
    reads = read_arguments(function, number)
    if _name_of_method(function) != "groupdict":
        return reads
    return lambda *args, **kwargs: register_new(reads(*args, **kwargs))


def _format(function: Any, number: int, template: Any) -> Any:
    """`format`, `format_map`, `translate`: a format may look up attributes and items, by names in the string."""
    name = _name_of_method(function)
    reads = read_arguments(function, number)

    def formatted(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if name != "format" and not all(type(value) in (dict, str) for value in args):
            mark_opaque(f"str.{name}", number)
        if name != "translate" and _looks_up(template):
            mark_opaque(f"str.{name} of attributes", number)
        return reads(*args, **kwargs)

    return formatted


def _looks_up(template: str) -> bool:
    """Does a format look into what it is given?"""
    try:
        return any(
            "." in (field or "") or "[" in (field or "") or (spec and _looks_up(spec))
            for _, field, spec, _ in string.Formatter().parse(template)
        )
    except ValueError:
        return False


OF_TEXT: dict[str, Replacement] = {
    "join": Effect((keep,), rest=consume, others=keep),
    **dict.fromkeys(("format", "format_map", "translate"), _format),
    "*": search,
}

# Objects with a state -----------------------------------------------------------------------------------------

_READS_STATE = frozenset({"result", "exception", "done", "cancelled", "cancelling"})
_WRITES_STATE = frozenset(
    {"set_result", "set_exception", "cancel", "uncancel", "add_done_callback", "remove_done_callback"}
)


def use_future(function: Any, number: int, future: Any) -> Any:
    """A method of a future or a task. Those of the loop's own note for themselves what is done to them."""
    name = _name_of_method(function)
    if name in ("set_name", "get_name"):
        log((future, number, WRITE if name == "set_name" else READ, (".name",)))
    elif name in ("get_stack", "print_stack", "get_context"):
        mark_opaque(f"{name} of a task", number)
        if name == "get_context":
            rules.SHARED_CONTEXTS.add(0)
    elif rules.is_seen_by_loop(future):
        return function
    elif name in _WRITES_STATE:
        log((future, number, WRITE, STATE))
    elif name in _READS_STATE:
        log((future, number, READ, STATE))
    elif not lookups.is_silent_future_attribute(name) or name in ("__init__", "send", "throw"):
        mark_opaque(f"{type(future).__qualname__}.{name}", number)
    return function


def use_loop(function: Any, number: int, loop: Any) -> Any:
    """A method of the loop or of a handle: the controlled loop sees what it does, but not that settings change."""
    name = _name_of_method(function)
    if name.startswith("set_"):
        mark_opaque(f"loop.{name}", number)
    return function if name != "get_debug" else lambda: False


_SHUFFLE = Effect((special.reorder,))


def draw(function: Any, number: int, generator: Any) -> Any:
    """A method of a random number generator: each changes its state."""
    log((generator, number, WRITE, STATE))
    return read_arguments(function, number)


def shuffle(function: Any, number: int, generator: Any) -> Any:
    """`Random.shuffle` changes a list as well."""
    log((generator, number, WRITE, STATE))
    return _SHUFFLE(function, number)


def use_hash(function: Any, number: int, digest: Any) -> Any:
    """A method of a hash object."""
    log((digest, number, WRITE if _name_of_method(function) == "update" else READ, STATE))
    return read_arguments(function, number)


def use_thread_lock(function: Any, number: int, lock: Any) -> Any:
    """A method of a lock for threads, of which there is one: who waits for it waits for ever, and is refused. To
    take it and to release it changes who gets it next."""
    log((lock, number, READ if _name_of_method(function) in ("locked", "_is_owned") else WRITE, STATE))
    return read_arguments(function, number)


def use_class_view(function: Any, number: int, view: Any) -> Any:
    """`cls.__dict__.get(name)`: other classes can be written to only in ways that are opaque, or are seen here."""
    if not objects.read_class_view(view, number):
        mark_opaque(name_of(function), number)
    return read_arguments(function, number)


def use_weak_keys(function: Any, number: int, items: Any) -> Any:
    """`get`, `pop` and `setdefault` of a dict with weak keys."""
    kind = READ if _name_of_method(function) == "get" else WRITE

    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not args or not access_task_key(items, args[0], number, kind):
            mark_opaque(name_of(function), number)
        return function(*args, **kwargs)

    return called


def use_buffer(function: Any, number: int, buffer: Any) -> Any:
    """A method of a file in memory: most change its contents or where it stands. What is written is read."""
    log((buffer, number, READ if _name_of_method(function) in _LOOK_AT_BUFFERS else WRITE, STATE))
    return read_arguments(function, number)


_LOOK_AT_BUFFERS = frozenset({"getvalue", "tell", "closed", "readable", "seekable", "writable", "isatty"})


# Classes, and what every object has ---------------------------------------------------------------------------


def from_keys(function: Any, number: int, cls: Any) -> Any:
    """`dict.fromkeys`."""
    if cls not in trusted.CONTAINERS:
        mark_opaque(name_of(function), number)
        return function

    def construct(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if kwargs:
            args, kwargs = by_position(function, args, kwargs) or (args, kwargs)
        if kwargs or not args:
            mark_opaque(name_of(function), number)
            return function(*args, **kwargs)
        return register_new(function(consume(args[0], number), *args[1:]))

    return construct


def make_new(function: Any, number: int, cls: Any) -> Any:
    """`object.__new__(cls)`, called by a `__new__` of the program's own: what it gives is new."""
    reads = read_arguments(function, number)
    if cls is not object:
        return reads

    def construct(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        created = reads(*args, **kwargs)
        return created if rules.has_finaliser(type(created)) else register_new(created)

    return construct


def now(function: Any, number: int, cls: Any) -> Any:
    """`datetime.now()` and its kin: by `time.time()`, which tells virtual time."""
    if not issubclass(cls, datetime.date):
        mark_opaque(name_of(function), number)
        return function
    if _name_of_method(function) == "utcnow":
        return lambda: cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)
    reads = read_arguments(cls.fromtimestamp, number)
    return lambda *zone, **options: reads(time.time(), *zone, **options)


OF_OBJECT = (
    *("init", "init_subclass", "eq", "ne", "hash", "repr", "str", "format", "new", "subclasshook"),
    "class_getitem",
)
_READ_ARGUMENTS = Effect((keep,), rest=combine, others=combine)


def use_object(function: Any, number: int, obj: Any) -> Any:
    """What every object has: a type in C may have its own, which looks into it."""
    inner = function.func if type(function) is functools.partial else function
    if getattr(inner, "__objclass__", object) is not object or inner.__name__ in ("__str__", "__format__"):
        read_operand(obj, number)
        if inner.__name__ == "__init__":
            mark_opaque(name_of(inner), number)
    return _READ_ARGUMENTS(function, number, obj)
