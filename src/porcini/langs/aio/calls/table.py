"""What callables that are not instrumented do: the tables of functions, of classes, and of methods.

All that is understood by itself is listed here, with its effect or with the special case that it is. Families (all
functions of a module, all classes with a base) are told apart in `dispatch`.
"""

from __future__ import annotations

import asyncio
import bisect
import contextvars
import copy
import dataclasses
import functools
import gc
import heapq
import io
import itertools
import json
import math
import operator
import random
import re
import statistics
import struct
import threading
import traceback
import types
import warnings
import weakref
from typing import Any

from porcini.langs.aio import trusted
from porcini.langs.aio.calls import classes, containers, frames, receivers, special
from porcini.langs.aio.calls.attributes import get_attribute, set_attribute
from porcini.langs.aio.calls.calling import call_back, read, read_arguments
from porcini.langs.aio.calls.effects import (
    Effect,
    Fold,
    Lazy,
    Replacement,
    consume,
    keep,
    opaque,
    reverse,
    silent,
)
from porcini.langs.aio.operations import awaiting, items
from porcini.langs.aio.operations.entries import register_new
from porcini.langs.aio.operations.iterating import iterate_over
from porcini.langs.aio.operations.values import iterate, read_operand, resume_generator

# Functions and classes ----------------------------------------------------------------------------------------

_CONSUME = Effect((consume,), rest=read)
_GET, _SET = Effect(key=get_attribute), Effect(key=set_attribute)
_REORDER = Effect(
    (special.reorder,), rest=read_operand, keywords={"key": call_back, "lo": read_operand, "hi": read_operand}
)
_COMPARE = Fold(many=True, keywords={"key": call_back, "default": read})
_BYTES = Effect((containers.as_bytes,), keywords={"source": containers.as_bytes}, others=read_operand)
_OF_ONE = Lazy((iterate_over,), keywords={"iterable": iterate_over, "r": read_operand})
_OF_ALL = Lazy(rest=iterate_over, keywords={"repeat": read_operand, "fillvalue": keep})
_CHOOSE = Lazy((call_back, iterate_over))
_OPAQUE_OPERATORS = """contains length_hint call setitem delitem iadd iand iconcat ifloordiv ilshift imatmul imod
    imul ior ipow irshift isub itruediv ixor""".split()  # noqa: SIM905

CALLABLES: dict[Any, Replacement] = {
    **dict.fromkeys((*trusted.READING_FUNCTIONS, *trusted.SCALARS, *trusted.IMMUTABLE), read_arguments),
    **dict.fromkeys((*trusted.SILENT_FUNCTIONS, *trusted.CODE), silent),
    # Attributes and items
    **dict.fromkeys((getattr, hasattr), _GET),
    **dict.fromkeys((setattr, delattr), _SET),
    operator.getitem: Effect(key=items.read_item),
    len: Effect((special.read_any_length,)),
    id: Effect(others=keep, result=special.note_identity),
    **dict.fromkeys((isinstance, issubclass), Effect((keep, special.check_class))),
    # What is consumed
    **dict.fromkeys((all, any), Fold()),
    **dict.fromkeys((max, min), _COMPARE),
    sum: Fold(keywords={"start": read}),
    sorted: Fold(keywords={"key": call_back, "reverse": read}, result=register_new),
    math.prod: Effect((consume,), rest=read, keywords={"start": read}),
    **dict.fromkeys((math.fsum, operator.countOf, operator.indexOf), _CONSUME),
    **dict.fromkeys((statistics.mean, statistics.fmean, statistics.median, statistics.stdev), _CONSUME),
    functools.reduce: Effect((call_back, consume), rest=read),
    functools.cmp_to_key: Effect((call_back,)),
    # Iterators
    next: Effect((iterate,)),
    **{kind: _OF_ONE for kind in vars(itertools).values() if isinstance(kind, type)},
    enumerate: Lazy((iterate_over,), keywords={"iterable": iterate_over, "start": read_operand}, passes=True),
    reversed: Lazy((reverse,), passes=True),
    zip: Lazy(rest=iterate_over, keywords={"strict": read_operand}, passes=True),
    itertools.chain: Lazy(rest=iterate_over, passes=True),
    **dict.fromkeys((itertools.islice, itertools.cycle), Lazy((iterate_over,), passes=True)),
    itertools.repeat: Lazy(keywords={"object": keep, "times": read_operand}, passes=True),
    itertools.count: Lazy(keywords={"start": read_operand, "step": read_operand}),
    map: Lazy((call_back,), rest=iterate_over),
    **dict.fromkeys((filter, itertools.filterfalse, itertools.starmap), _CHOOSE),
    **dict.fromkeys((itertools.takewhile, itertools.dropwhile), _CHOOSE),
    itertools.accumulate: Lazy(
        (iterate_over, call_back), keywords={"iterable": iterate_over, "func": call_back, "initial": keep}
    ),
    itertools.groupby: Lazy((iterate_over, call_back), keywords={"iterable": iterate_over, "key": call_back}),
    **dict.fromkeys((itertools.product, itertools.zip_longest), _OF_ALL),
    itertools.compress: Lazy(rest=iterate_over, keywords={"data": iterate_over, "selectors": iterate_over}),
    iter: special.make_iterator,
    anext: special.anext_,
    # Lists that are changed as a whole
    **{getattr(heapq, n): _REORDER for n in ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")},
    **{getattr(bisect, n): _REORDER for n in ("insort", "insort_left", "insort_right")},
    # Values and objects
    **containers.CONSTRUCTORS,
    bool: Effect((special.read_truth,), rest=read, others=read),
    bytes: _BYTES,
    object: classes.construct_object,
    type: classes.construct_class,
    types.FunctionType: classes.construct_function,
    **dict.fromkeys((asyncio.Future, asyncio.Task), classes.construct_future),
    types.SimpleNamespace: Effect(rest=read_operand, others=keep),
    **dict.fromkeys((weakref.ref, weakref.finalize), classes.construct_reference),
    **dict.fromkeys((copy.copy, copy.deepcopy), special.copy_),
    dataclasses.replace: special.replace,
    **dict.fromkeys((dataclasses.asdict, dataclasses.astuple), Effect((special.take_apart,))),
    json.loads: special.parse,
    re.finditer: receivers.search,
    **dict.fromkeys((threading.Lock, threading.RLock), Effect(result=register_new)),
    **dict.fromkeys((io.BytesIO, io.StringIO), Effect(rest=read, others=read, result=register_new)),
    # The interpreter
    vars: frames.hand_out_vars,
    **dict.fromkeys((globals, locals, dir), frames.look_at_frame),
    **dict.fromkeys((eval, exec), frames.evaluate),
    print: special.print_,
    warnings.warn: special.warn,
    gc.collect: special.collect_garbage,
    traceback.format_exc: special.format_exception,
    contextvars.copy_context: special.copy_context,
    # Those that would need an effect
    **{getattr(operator, name): opaque for name in _OPAQUE_OPERATORS},
    **dict.fromkeys((struct.pack_into, functools.update_wrapper, json.dump, re.purge), opaque),
}

# Methods ------------------------------------------------------------------------------------------------------

METHODS: dict[type, dict[str, Replacement]] = {
    **containers.METHODS,
    types.GeneratorType: {"*": Effect((resume_generator,))},
    types.CoroutineType: {
        **dict.fromkeys(("send", "throw", "close"), Effect((awaiting.resume_coroutine,))),
        "*": silent,
    },
    types.AsyncGeneratorType: {
        **dict.fromkeys(("asend", "athrow", "aclose", "__anext__"), receivers.resume),
        "*": silent,
    },
    **{kind: {"*": receivers.use_code} for kind in trusted.CODE if kind is not type and kind is not object},
    **{kind: {"*": read_arguments} for kind in (*trusted.SCALARS, *trusted.IMMUTABLE)},
    **dict.fromkeys((str, bytes), receivers.OF_TEXT),
    re.Pattern: {"*": receivers.search},
    re.Match: {"*": receivers.use_match},
    contextvars.Context: {"run": receivers.run_in_context, "*": receivers.use_context},
    contextvars.ContextVar: {"*": receivers.use_context},
    random.Random: {"shuffle": receivers.shuffle, "*": receivers.draw},
    **{kind: {"getbuffer": opaque, "*": receivers.use_buffer} for kind in (io.BytesIO, io.StringIO)},
    **{type(lock()): {"*": receivers.use_thread_lock} for lock in (threading.Lock, threading.RLock)},
    weakref.WeakKeyDictionary: dict.fromkeys(("get", "pop", "setdefault"), receivers.use_weak_keys),
    types.MappingProxyType: dict.fromkeys(("get", "copy"), receivers.use_class_view),
    asyncio.Future: {"*": receivers.use_future},
    **{kind: {"*": receivers.use_loop} for kind in trusted.LOOP_CLASSES},
    type: {
        "fromkeys": receivers.from_keys,
        **dict.fromkeys(("now", "utcnow", "today"), receivers.now),
        "__new__": receivers.make_new,
        "mro": read_arguments,
    },
    BaseException: {"__init__": silent},
    object: {
        **dict.fromkeys(("__setattr__", "__delattr__"), _SET),
        "__getattribute__": _GET,
        **dict.fromkeys((f"__{name}__" for name in receivers.OF_OBJECT), receivers.use_object),
    },
}
"""By the type of the receiver, or a base of it: `*` stands for all other methods."""
