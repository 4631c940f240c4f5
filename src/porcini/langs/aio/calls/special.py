"""Functions whose effects no table can express, each for itself: uses of one argument, and special cases."""

from __future__ import annotations

import abc
import dataclasses
import sys
import types
import warnings
from contextvars import Context
from typing import Any

from porcini.langs.aio import lookups, rules, trusted
from porcini.langs.aio.calls import attributes
from porcini.langs.aio.calls.calling import call, count_own_frames, name_of, read, read_arguments
from porcini.langs.aio.calls.containers import change
from porcini.langs.aio.calls.effects import Options, Values, by_position, special_case
from porcini.langs.aio.log import CREATED, READ, WRITE
from porcini.langs.aio.operations import awaiting, entries, objects
from porcini.langs.aio.operations.entries import log, mark_opaque, register_new
from porcini.langs.aio.operations.values import (
    VIEWS,
    is_c_iterator,
    iterate,
    list_contents,
    read_all,
    read_in_any_order,
    read_length,
    read_operand,
    read_sources,
    register_generator,
    register_view,
)

# Uses of one argument -----------------------------------------------------------------------------------------


def read_any_length(obj: Any, number: int) -> None:
    """`len`."""
    kind = type(obj)
    if rules.has_c_method(kind, "__len__"):
        read_length(obj, number)
    elif kind in VIEWS:
        if not read_in_any_order(obj, number, lambda _: True):
            read_sources(obj, number)
    elif kind not in rules.PLAIN and rules.has_opaque(kind, "__len__"):
        mark_opaque(f"{kind.__qualname__}.__len__", number)


def read_truth(obj: Any, number: int) -> None:
    """`bool`: of a container only whether there is anything in it."""
    read_length(obj, number) if type(obj) in trusted.CONTAINERS else read(obj, number, bool)


def reorder(obj: Any, number: int) -> None:
    """A list is changed as a whole, by comparing or by chance: `heapq`, `bisect.insort`, `shuffle`."""
    if rules.container_base(type(obj)) is None:
        mark_opaque(f"a change of {type(obj).__qualname__}", number)
    change(obj, number)


def check_class(cls: Any, number: int) -> Any:
    """The second argument of `isinstance` and `issubclass`: a class may have its own idea of that."""
    if type(cls) is not type:
        _check_other(cls, number)
    return cls


def _check_other(cls: Any, number: int) -> None:
    """As `check_class`, for anything but a plain class."""
    if issubclass(type(cls), tuple | types.UnionType):
        for each in cls if issubclass(type(cls), tuple) else cls.__args__:
            check_class(each, number)
        return
    if issubclass(type(cls), type) and getattr(cls, "_is_protocol", False):
        mark_opaque(f"isinstance of {cls.__qualname__}", number)
    for name in ("__instancecheck__", "__subclasscheck__"):
        owner = rules.owner_of(type(cls), name) or type
        usual = owner in (type, abc.ABCMeta) or owner.__module__ in ("typing", "enum")
        usual = usual or vars(owner)[name] is vars(type)[name]
        if not usual and not rules.records_itself(vars(owner)[name]):
            mark_opaque(f"{owner.__qualname__}.{name}", number)


def take_apart(obj: Any, number: int) -> None:
    """`asdict` and `astuple`: the fields of dataclasses, also in containers; whatever else there is is copied."""
    todo, seen = [obj], set[int]()
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) in trusted.CONTAINERS:
            read_all(value, number)
            todo += list_contents(value)
        elif issubclass(type(value), type) or not dataclasses.is_dataclass(value):
            objects.read_for_copy(value, number)
        else:
            for field in dataclasses.fields(value):
                attributes.access_by_name(value, field.name, number, READ)
                todo.append(lookups.peek(value, field.name))
                if todo[-1] is rules.ABSENT:
                    mark_opaque(f"{type(value).__qualname__}.{field.name}", number)


def note_identity(found: int) -> int:
    """What `id` gives is another number in each run; what is found by it cannot be named."""
    rules.IDENTITIES.add(found)
    return found


def note_parsed(result: Any) -> Any:
    """All that comes out of `json.loads` is new."""
    todo = [result]
    while todo:
        value: Any = todo.pop()
        if type(value) is dict or type(value) is list:
            CREATED.append(value)
            todo.extend(value.values() if type(value) is dict else value)
    return result


# Contexts -----------------------------------------------------------------------------------------------------


def use_context(number: int) -> None:
    """Each task has a context of its own, unless the program gives one to several."""
    if rules.SHARED_CONTEXTS:
        mark_opaque("a shared context", number)


def share_context(context: Any, number: int) -> Any:
    """`context=...` in a call."""
    if issubclass(type(context), Context):
        rules.SHARED_CONTEXTS.add(id(context))
    return context


def copy_context(function: Any, number: int) -> Any:
    """`contextvars.copy_context`."""
    use_context(number)
    return function


# Special cases ------------------------------------------------------------------------------------------------


@special_case
def print_(function: Any, number: int, values: Values, options: Options) -> None:
    """Text that goes where it always goes is seen by nobody."""
    for value in (*values, options.get("flush")):
        read_operand(value, number)
    out = sys.stdout if options.get("file") is None else options["file"]
    if out is not None and not rules.is_outside(out):
        for name in ("write", "flush"):
            _call_method(out, name, number)


def _call_method(obj: Any, name: str, number: int) -> None:
    """C code calls a method of this. An instrumented one that its class defines records itself."""
    kind = type(obj)
    found = rules.find_on_type(kind, name)
    own = lookups.dict_of(obj) or {}
    usual = lookups.classify_attribute(kind, name) is lookups.Lookup.SILENT and name not in own
    if not usual or not rules.records_itself(found):
        mark_opaque(f"{kind.__qualname__}.{name}", number)


def format_exception(function: Any, number: int) -> Any:
    """`traceback.format_exc`: the exception that is being handled."""
    read_operand(sys.exc_info()[1], number)
    return function


def parse(function: Any, number: int) -> Any:
    """`json.loads`: without a hook that might give something else, all that comes out of it is new."""
    reads = read_arguments(function, number)
    return lambda *args, **kwargs: reads(*args, **kwargs) if kwargs else note_parsed(reads(*args))


def make_iterator(function: Any, number: int) -> Any:
    """`iter`: a new iterator that reads its container, or the iterator that it was given."""

    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if len(args) != 1 or kwargs:
            mark_opaque("iter(function, sentinel)", number)
            return function(*args, **kwargs)
        (obj,) = args
        iterate(obj, number)
        iterator = function(obj)
        return (
            iterator if iterator is obj or not is_c_iterator(type(iterator)) else register_view(iterator, (obj,))
        )

    return called


def anext_(function: Any, number: int) -> Any:
    """`anext`: an asynchronous generator goes on in each step until it answers."""

    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = function(*args, **kwargs)
        obj = args[0]
        if issubclass(type(obj), types.AsyncGeneratorType):
            return awaiting.watch_generator(result, obj, number)
        if rules.has_opaque(type(obj), "__anext__"):
            mark_opaque(f"{type(obj).__qualname__}.__anext__", number)
        return result

    return called


def warn(function: Any, number: int) -> Any:
    """`warnings.warn`: about the line of the program that calls it."""

    def warned(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        for value in (*args, *kwargs.values()):
            read_operand(value, number)
        log((warnings, number, WRITE, (".shown",)))
        given, options = by_position(function, args, kwargs) or (args, kwargs)
        if len(given) > 2 and isinstance(given[2], int):
            return function(*given[:2], given[2] + count_own_frames(), *given[3:], **options)
        if isinstance(options.get("stacklevel", 1), int):
            options = {**options, "stacklevel": options.get("stacklevel", 1) + count_own_frames()}
        return function(*given, **options)

    return warned


@special_case
def collect_garbage(function: Any, number: int, args: Values, kwargs: Options) -> None:
    """`gc.collect`: what is garbage but for us shall go, too. It cannot be named after that."""
    entries.lose_track("gc.collect", number)
    entries.release_objects()


@special_case
def expect(function: Any, number: int, args: Values, kwargs: Options) -> None:
    """`pytest.raises` keeps what it is given; in its old form it calls that, at once."""
    if len(args) > 1 or not kwargs.keys() <= {"match"}:
        mark_opaque(name_of(function), number)


def make_manager(function: Any) -> Any:
    """What `contextmanager` made of a function: a manager that is new, with a generator that is."""

    def make(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        manager = function(*args, **kwargs)
        if type(manager).__module__ == "contextlib" and type(manager.gen) is types.GeneratorType:
            register_generator(manager.gen)
        return manager

    return make


def replace(function: Any, number: int) -> Any:
    """`dataclasses.replace`: fields that are not given are read, and a new object is made."""

    def replaced(*args: Any, **changes: Any) -> Any:
        __tracebackhide__ = True
        if len(args) != 1 or not dataclasses.is_dataclass(args[0]) or issubclass(type(args[0]), type):
            return function(*args, **changes)  # an error
        for field in dataclasses.fields(args[0]):
            if field.name not in changes:
                attributes.access_by_name(args[0], field.name, number, READ)
        call(type(args[0]), number)
        for value in changes.values():
            read_operand(value, number)
        result = function(*args, **changes)
        return (
            register_new(result)
            if type(result) is type(args[0]) and not rules.has_finaliser(type(result))
            else result
        )

    return replaced


def copy_(function: Any, number: int) -> Any:
    """`copy` and `deepcopy` read all fields; the copy is new."""

    def copied(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        given, options = by_position(function, args, kwargs) or (args, kwargs)
        if options or not given:
            mark_opaque(name_of(function), number)
            return function(*args, **kwargs)
        obj = given[0]
        objects.read_for_copy(obj, number)
        if len(given) > 1 and given[1:] != (None,):
            mark_opaque("deepcopy with a memo", number)
        result = function(*args, **kwargs)
        own = hasattr(type(obj), "__copy__") or hasattr(type(obj), "__deepcopy__")
        if result is not obj and (type(obj) in trusted.CONTAINERS or not own):
            CREATED.append(result)
        return result

    return copied
