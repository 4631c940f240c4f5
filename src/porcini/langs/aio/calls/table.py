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
import itertools
import json
import math
import operator
import random
import re
import statistics
import struct
import traceback
import types
import warnings
import weakref
from typing import Any

from porcini.langs.aio import known
from porcini.langs.aio.calls import classes, containers, frames, receivers, special
from porcini.langs.aio.calls.attributes import get_attribute, set_attribute
from porcini.langs.aio.calls.calling import callback, read, reading
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
from porcini.langs.aio.operations.entries import new
from porcini.langs.aio.operations.iterating import source
from porcini.langs.aio.operations.values import frame, iterate, operand

# Functions and classes ----------------------------------------------------------------------------------------

_CONSUME = Effect((consume,), rest=read)
_GET, _SET = Effect(key=get_attribute), Effect(key=set_attribute)
_REORDER = Effect((special.reorder,), rest=operand, named={"key": callback, "lo": operand, "hi": operand})
_COMPARE = Fold(many=True, named={"key": callback, "default": read})
_BYTES = Effect((containers.as_bytes,), named={"source": containers.as_bytes}, others=operand)
_OF_ONE = Lazy((source,), named={"iterable": source, "r": operand})
_OF_ALL = Lazy(rest=source, named={"repeat": operand, "fillvalue": keep})
_CHOOSE = Lazy((callback, source))
_OPAQUE_OPERATORS = """contains length_hint call setitem delitem iadd iand iconcat ifloordiv ilshift imatmul imod
    imul ior ipow irshift isub itruediv ixor""".split()  # noqa: SIM905

CALLABLES: dict[Any, Replacement] = {
    **dict.fromkeys((*known.READING_FUNCTIONS, *known.SCALARS, *known.IMMUTABLE), reading),
    **dict.fromkeys((*known.SILENT_FUNCTIONS, *known.CODE), silent),
    # Attributes and items
    **dict.fromkeys((getattr, hasattr), _GET),
    **dict.fromkeys((setattr, delattr), _SET),
    operator.getitem: Effect(key=items.item),
    len: Effect((special.read_length,)),
    id: Effect(others=keep, result=special.note_identity),
    **dict.fromkeys((isinstance, issubclass), Effect((keep, special.checked))),
    # What is consumed
    **dict.fromkeys((all, any), Fold()),
    **dict.fromkeys((max, min), _COMPARE),
    sum: Fold(named={"start": read}),
    sorted: Fold(named={"key": callback, "reverse": read}, result=new),
    math.prod: Effect((consume,), rest=read, named={"start": read}),
    **dict.fromkeys((math.fsum, operator.countOf, operator.indexOf), _CONSUME),
    **dict.fromkeys((statistics.mean, statistics.fmean, statistics.median, statistics.stdev), _CONSUME),
    functools.reduce: Effect((callback, consume), rest=read),
    functools.cmp_to_key: Effect((callback,)),
    # Iterators
    next: Effect((iterate,)),
    **{kind: _OF_ONE for kind in vars(itertools).values() if isinstance(kind, type)},
    enumerate: Lazy((source,), named={"iterable": source, "start": operand}, passes=True),
    reversed: Lazy((reverse,), passes=True),
    zip: Lazy(rest=source, named={"strict": operand}, passes=True),
    itertools.chain: Lazy(rest=source, passes=True),
    **dict.fromkeys((itertools.islice, itertools.cycle), Lazy((source,), passes=True)),
    itertools.repeat: Lazy(named={"object": keep, "times": operand}, passes=True),
    itertools.count: Lazy(named={"start": operand, "step": operand}),
    map: Lazy((callback,), rest=source),
    **dict.fromkeys((filter, itertools.filterfalse, itertools.starmap), _CHOOSE),
    **dict.fromkeys((itertools.takewhile, itertools.dropwhile), _CHOOSE),
    itertools.accumulate: Lazy((source, callback), named={"iterable": source, "func": callback, "initial": keep}),
    itertools.groupby: Lazy((source, callback), named={"iterable": source, "key": callback}),
    **dict.fromkeys((itertools.product, itertools.zip_longest), _OF_ALL),
    itertools.compress: Lazy(rest=source, named={"data": source, "selectors": source}),
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
    types.SimpleNamespace: Effect(rest=operand, others=keep),
    **dict.fromkeys((weakref.ref, weakref.finalize), classes.construct_reference),
    **dict.fromkeys((copy.copy, copy.deepcopy), special.copy_),
    dataclasses.replace: special.replace,
    **dict.fromkeys((dataclasses.asdict, dataclasses.astuple), Effect((special.take_apart,))),
    json.loads: special.parse,
    # The interpreter
    vars: frames.holding,
    **dict.fromkeys((globals, locals, dir), frames.of_frame),
    **dict.fromkeys((eval, exec), frames.evaluating),
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
    types.GeneratorType: {"*": Effect((frame,))},
    types.CoroutineType: {**dict.fromkeys(("send", "throw", "close"), Effect((awaiting.resumed,))), "*": silent},
    types.AsyncGeneratorType: {
        **dict.fromkeys(("asend", "athrow", "aclose", "__anext__"), receivers.resume),
        "*": silent,
    },
    **{kind: {"*": receivers.use_code} for kind in known.CODE if kind is not type and kind is not object},
    **{kind: {"*": reading} for kind in (*known.SCALARS, *known.IMMUTABLE)},
    **dict.fromkeys((str, bytes), receivers.OF_TEXT),
    re.Pattern: {"*": receivers.search},
    re.Match: {"*": receivers.use_match},
    contextvars.Context: {"run": receivers.run_in_context, "*": receivers.use_context},
    contextvars.ContextVar: {"*": receivers.use_context},
    random.Random: {"shuffle": receivers.shuffle, "*": receivers.draw},
    asyncio.Future: {"*": receivers.use_future},
    **{kind: {"*": receivers.use_loop} for kind in known.LOOP_CLASSES},
    type: {
        "fromkeys": receivers.from_keys,
        **dict.fromkeys(("now", "utcnow", "today"), receivers.now),
        **dict.fromkeys(("__new__", "mro"), reading),
    },
    BaseException: {"__init__": silent},
    object: {
        **dict.fromkeys(("__setattr__", "__delattr__"), _SET),
        "__getattribute__": _GET,
        **dict.fromkeys((f"__{name}__" for name in receivers.OF_OBJECT), receivers.use_object),
    },
}
"""By the type of the receiver, or a base of it: `*` stands for all other methods."""
