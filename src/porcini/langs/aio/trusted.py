"""What is taken on trust about Python and its standard library, as tables: types, modules, functions.

All that is not listed here, not instrumented and not modelled by hand is opaque. A name too few costs schedules,
and a name too many may hide a race: before adding one, read its source for what it writes, calls and looks into.
"""

from __future__ import annotations

import abc
import asyncio
import calendar
import contextlib
import datetime
import decimal
import fractions
import functools
import inspect
import ipaddress
import os
import pathlib
import pprint
import random
import re
import sys
import threading
import time
import types
import typing
import uuid
import weakref
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from contextvars import Context, ContextVar
from contextvars import Token as ContextToken
from typing import Any

# Types --------------------------------------------------------------------------------------------------------

SCALARS: tuple[type, ...] = (
    *(int, float, complex, bool, str, bytes, range),
    *(type(None), type(...), type(NotImplemented)),
)
IN_C: frozenset[type] = frozenset({types.BuiltinFunctionType, type(re.compile("").match)})
"""Functions and bound methods in C. The second type is of methods that know their class, more in each version."""
CODE: tuple[type, ...] = (
    *IN_C,
    *(types.FunctionType, types.MethodType, types.MethodWrapperType),
    *(types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, property, classmethod, staticmethod),
    *(types.CodeType, types.ModuleType, types.GenericAlias, types.UnionType, functools.partial, type, object),
)
IMMUTABLE: tuple[type, ...] = (
    *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
    *(decimal.Decimal, fractions.Fraction, re.Pattern, uuid.UUID, type(sys.version_info)),
    *(pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath),
    *(ipaddress.IPv4Address, ipaddress.IPv6Address, zoneinfo.ZoneInfo),
    *(ContextVar, Context, ContextToken, weakref.ref),
    *(type(sys.version_info), type(sys.flags), type(sys.float_info), time.struct_time, os.stat_result),
)
ALWAYS_PLAIN: frozenset[type] = frozenset((*SCALARS, *CODE, *IMMUTABLE)) - {functools.partial}
"""Types whose values, used as operands, need no record, whatever the program does."""
CONTAINERS = (list, dict, set, deque, tuple, frozenset, bytearray, Counter, OrderedDict, defaultdict)
C_BASES = frozenset((*CONTAINERS, *SCALARS, *IMMUTABLE, object))
"""Where the search for operators of a type ends: what those of these types do is listed."""
IDENTITY_ONLY = frozenset(
    {asyncio.Future, asyncio.Task, asyncio.Future.__base__, asyncio.Task.__base__, types.CellType, weakref.ref}
    | {types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType, types.TracebackType}
)
"""Compared by identity, and as text they show nothing that changes."""
CONTENTS_ONLY: frozenset[type] = frozenset({type(functools._make_key((1, 2), {}, False))})
"""Containers with operators in Python that look at nothing but their contents."""
CALLABLE = frozenset(
    {*IN_C, types.FunctionType, types.MethodType, types.MethodWrapperType, functools.partial}
    | {types.MethodDescriptorType, types.WrapperDescriptorType}
)
"""Arguments that trusted code may call."""
LOOP_CLASSES = (asyncio.AbstractEventLoop, asyncio.Handle)
"""The controlled loop sees for itself what is done to these."""

# Attributes ---------------------------------------------------------------------------------------------------

SETTLED = frozenset(
    {*ALWAYS_PLAIN, *CONTAINERS, BaseException, functools.partial, super, types.SimpleNamespace, random.Random}
    | {types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.TracebackType, slice, re.Match}
    | {threading.local, types.MappingProxyType, memoryview, types.FrameType}
)
"""C types that look for attributes where `object` does."""
SETTLED_BASES = (BaseException, type, types.ModuleType, asyncio.Future)
"""The same, with all C types that inherit from them."""
CHANGING = frozenset(
    """gi_frame gi_running gi_yieldfrom gi_suspended cr_frame cr_running cr_await cr_suspended cr_origin ag_frame
    ag_running ag_await ag_suspended __traceback__ __context__ __cause__ __suppress_context__ tb_next tb_frame
    __abstractmethods__ string""".split()  # noqa: SIM905
)
"""Attributes of trusted C types that differ when the object has been used."""
C_DESCRIPTORS = (
    *(types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType),
    *(types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType),
    type(vars(namedtuple("_", "field"))["field"]),
)
BINDING_NOTHING = (
    *(types.FunctionType, staticmethod, classmethod, property, functools.cached_property, types.GenericAlias),
    *(type, functools.partial, functools._lru_cache_wrapper, functools.singledispatchmethod),
)
"""To find one of these on a class runs no code of the program."""
FUTURE_SILENT = frozenset({"get_loop", "get_coro", "get_context", "_loop", "add_done_callback"})
"""Attributes of futures that never change."""
SEEN_TASK_ATTRIBUTES = frozenset({"_must_cancel", "_fut_waiter"})
"""Attributes of tasks of which the loop's own note that they are looked at."""
NAMESPACES = frozenset({"__dict__", "__globals__", "__kwdefaults__", "__builtins__", "f_globals", "f_locals"})
"""Attributes that give away a dict of variables: what happens to those is not followed."""

WARNING_FINALISERS = frozenset(
    {"anyio.streams.memory.MemoryObjectReceiveStream", "anyio.streams.memory.MemoryObjectSendStream"}
)
"""Classes of packages whose `__del__` looks at its own object and warns if that was not closed, and does nothing
else:
it is of no concern to others who lets go of it last."""

HANDLES_OF_REPEATED_CALLS = ("._cancel_handle",)
"""Attributes in which a callback that asks to be called again keeps the handle of that: anyio's cancel scopes."""

# Modules ------------------------------------------------------------------------------------------------------

READING_MODULES = frozenset(
    """math cmath operator _operator itertools json json.encoder json.decoder _json re _sre time datetime _datetime
    _pydatetime decimal _decimal _pydecimal fractions enum typing types string textwrap statistics uuid hashlib
    _hashlib _blake2 _sha1 _sha2 _sha3 _md5 base64 binascii struct _struct zlib bisect _bisect copy dataclasses
    functools _functools numbers keyword contextvars _contextvars contextlib secrets html urllib.parse ipaddress
    unicodedata reprlib difflib colorsys posixpath genericpath""".split()  # noqa: SIM905
)
"""Modules whose functions only read their arguments. A module with a function that sets something is none."""
CONSTANT_MODULES = frozenset(
    """datetime _pydatetime fractions enum typing uuid ipaddress json.encoder json.decoder textwrap numbers
    dataclasses statistics""".split()  # noqa: SIM905
)
"""Modules whose objects do not change."""
KEEPING_MODULES = frozenset({"contextlib", "enum", "types", "typing", "dataclasses", "functools"})
"""Modules whose classes only keep what they are given."""
UNRECORDED_MODULES = frozenset(
    {"json.encoder", "json.decoder", "logging", "logging.handlers", "textwrap", "string"}
)
"""Modules whose methods do not record the attributes that they read: setting those is opaque."""
HASH_MODULES = frozenset({"_hashlib", "_blake2", "_sha1", "_sha2", "_sha3", "_md5", "_sha256", "_sha512"})
"""Modules of hash objects, which `update` changes."""

# Functions ----------------------------------------------------------------------------------------------------

_READING = ("getitem", "contains", "len", "eq", "ne", "lt", "le", "gt", "ge", "repr", "str", "hash", "iter")
READING_METHODS = frozenset(
    {"get", "count", "index", "keys", "values", "items", "copy", "isdisjoint", "issubset", "union"}
    | {f"__{name}__" for name in _READING}
)
"""Methods of containers that change nothing."""
NOT_ITERATING: frozenset[Any] = frozenset(
    {abs, ascii, bin, chr, divmod, format, hash, hex, oct, ord, pow, repr, round, *SCALARS, len, weakref.ref}
)
"""Functions that may be given something with an `__iter__` of its own, and leave that alone."""
READING_FUNCTIONS: frozenset[Any] = frozenset(
    {*NOT_ITERATING, aiter, pprint.pformat, pprint.saferepr, sys.getsizeof, calendar.monthrange, calendar.isleap}
    | {inspect.cleandoc, inspect.getfile, inspect.getsourcefile, inspect.getsourcelines}
)
"""Functions of other modules that only read their arguments."""
SILENT_FUNCTIONS: frozenset[Any] = frozenset(
    {
        asyncio.get_running_loop,
        asyncio.get_event_loop,
        *filter(None, [getattr(asyncio.events, "_get_event_loop", None)]),  # 3.11
        asyncio.current_task,
        asyncio.iscoroutine,
        asyncio.iscoroutinefunction,
        asyncio.isfuture,
        asyncio.tasks._register_task,
        asyncio.tasks._unregister_task,
        asyncio.events._get_running_loop,
        contextlib.contextmanager,
        contextlib.asynccontextmanager,
        abc.abstractmethod,
        typing.cast,
        callable,
        breakpoint,
        sys.intern,
        sys.exc_info,
        sys.exception,
        sys.getdefaultencoding,
        *(getattr(inspect, name) for name in dir(inspect) if name.startswith("is") and name != "isabstract"),
        inspect.signature,
        inspect.unwrap,
    }
)
"""Functions that touch nothing but what never changes, or what the loop sees for itself."""
