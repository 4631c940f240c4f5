"""What a suspended asyncio program is, as a value: two moments with equal keys have the same futures.

`key` walks over every object that the rest of a run can reach: tasks with their coroutines (where each stands, its
variables, and what lies on its evaluation stack), futures with their callbacks, locks and queues, handles that are
ready and timers, down to the numbers in the program's own state. An object gets a number when it is met for the
first time, and is this number from then on. Thus equal keys mean that the two object graphs have the same shape
and the same plain values in the same places: whatever one program can do from there, the other can do.

The walk starts at the tasks, by their labels, and only then comes to handles and timers, which are sorted by what
they refer to. In which order they became ready does not count, since any of them may go next; nor does the order
of a future's callbacks, all of which become ready together. A key that tells too much apart only costs time. So
that it never tells too little, an object of a type that is not listed here is an error.

What is left out, for the programs that are judged must not look at it: names of tasks, context variables,
tracebacks and contexts of exceptions, the loop, the order of a set, and which variables of a function are unbound.
"""

from __future__ import annotations

import asyncio
import enum
import gc
import types
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache, partial
from typing import Any

_BEFORE_VARIABLES = 6
"""So many parts of a coroutine are named by the garbage collector before its variables; the last is its code."""
Label = tuple[int, ...]
"""The main task is (), the k-th task that a task makes has k added to the label of that one."""

_PLAIN_MODULES = {"asyncio." + name for name in ("locks", "mixins", "queues", "taskgroups", "timeouts")}
"""The attributes of an object whose class and bases are from here are all there is to it."""


class NotUnderstood(TypeError):
    """The state of a program holds an object that a key would not describe."""


class LabelledTask(asyncio.Task[Any]):
    """A task whose place in a set of tasks does not depend on its address."""

    label: Label = ()

    def __hash__(self) -> int:
        return hash(self.label)

    __eq__ = object.__eq__


def key(
    now: float,
    namespace: Mapping[str, Any],
    tasks: Iterable[LabelledTask],
    ready: Iterable[asyncio.Handle],
    timers: Iterable[asyncio.TimerHandle],
) -> Hashable:
    """What there is between two steps: the globals of the program, tasks that are not done, and handles."""
    walk = _Walk(namespace.get("__name__"))
    walk.tokens.append(now)
    walk.mapping(
        {name: value for name, value in namespace.items() if _is_data(name, value) or isinstance(value, type)}
    )
    for task in sorted(tasks, key=lambda task: task.label):
        walk.to(task)
    for handles in (ready, timers):
        walk.tokens.append("handles")
        for handle in sorted(handles, key=walk.order):
            walk.to(handle)
    return tuple(walk.tokens)


class _Walk:
    """One walk: `tokens` can be read only one way, `numbers` has the objects met so far by their addresses."""

    def __init__(self, module: str | None) -> None:
        self.tokens: list[Hashable] = []
        self.numbers: dict[int, int] = {}
        self.kept: list[object] = []  # so that no address is used twice within one walk
        self.plain = {*_PLAIN_MODULES, module}

    def to(self, value: Any) -> None:
        kind = type(value)
        tokens, numbers = self.tokens, self.numbers
        if kind is int or value is None:
            tokens.append(value)
        elif kind in _ATOMS:
            tokens += (kind, value)
        elif (number := numbers.get(id(value))) is not None:
            tokens += ("again", number)
        else:
            numbers[id(value)] = len(numbers)
            self.kept.append(value)
            tokens.append(kind)
            (_DESCRIBED.get(kind) or self._describer(kind))(self, value)

    def _describer(self, kind: type) -> Callable[[_Walk, Any], None]:
        """How to describe objects of this type, which is looked for by its bases, then by where these are from."""
        for base, describe in _BASES:
            if issubclass(kind, base):
                return describe
        if all(base.__module__ in self.plain for base in kind.__mro__[:-1]):
            return _Walk.attributes
        raise NotUnderstood(f"{kind.__module__}.{kind.__qualname__}")

    def sequence(self, values: Any) -> None:
        self.tokens.append(len(values))
        for value in values:
            self.to(value)

    def mapping(self, values: dict[Any, Any]) -> None:
        self.tokens.append(len(values))
        for name, value in values.items():
            self.to(name)
            self.to(value)

    def members(self, values: Iterable[Any]) -> None:
        """Of a set, which nobody may go through in its own order."""
        self.sequence(sorted(values, key=self._hint))

    def attributes(self, value: object) -> None:
        named = dict(getattr(value, "__dict__", {}))
        for name in _slots(type(value)):
            if hasattr(value, name):
                named[name] = getattr(value, name)
        for name in ("_loop", "label"):
            named.pop(name, None)
        self.tokens.append(len(named))
        for name in sorted(named):
            self.tokens.append(name)
            self.to(named[name])

    def suspended(self, coroutine: Any) -> None:
        """A coroutine or a generator: its variables, its evaluation stack, the exception that it handles."""
        frame = coroutine.cr_frame if isinstance(coroutine, types.CoroutineType) else coroutine.gi_frame
        if frame is None:
            self.tokens.append("ended")
            return
        self.tokens += (frame.f_code, frame.f_lasti)
        parts = gc.get_referents(coroutine)
        variables = max(i for i, part in enumerate(parts[:_BEFORE_VARIABLES]) if part is frame.f_code) + 1
        self.sequence(parts[variables:])

    def referents(self, value: object) -> None:
        self.sequence(gc.get_referents(value))

    def reduced(self, iterator: Any) -> None:
        self.to(iterator.__reduce__())

    def class_(self, kind: type) -> None:
        """A class of the program may have attributes that change; all others have not."""
        self.tokens.append(kind)
        if kind.__module__ in self.plain:
            self.mapping({name: of for name, of in vars(kind).items() if _is_data(name, of)})

    def cell(self, cell: types.CellType) -> None:
        try:
            content = cell.cell_contents
        except ValueError:
            self.tokens.append("empty")
        else:
            self.to(content)

    def function(self, function: types.FunctionType) -> None:
        self.tokens.append(function.__code__)
        for cell in function.__closure__ or ():
            self.to(cell)
        self.to(function.__defaults__)
        self.to(function.__kwdefaults__)

    def method(self, method: types.MethodType) -> None:
        self.to(method.__func__)
        self.to(method.__self__)

    def builtin(self, function: types.BuiltinFunctionType) -> None:
        self.tokens.append(function.__qualname__)
        self.to(function.__self__)

    def partial(self, function: partial[Any]) -> None:
        self.to(function.func)
        self.to(function.args)
        self.to(function.keywords)

    def handle(self, handle: asyncio.Handle) -> None:
        self.tokens.append(handle._cancelled)
        if not handle._cancelled:
            self.tokens.append(handle.when() if isinstance(handle, asyncio.TimerHandle) else None)
            self.to(handle._callback)
            self.to(handle._args)

    def exception(self, error: BaseException) -> None:
        self.to(error.args)

    def future(self, future: Any) -> None:
        self.tokens.append(future._state)
        if future.done():
            self.to(future._result)
            self.to(future._exception)
        else:
            callbacks = [callback for callback, _context in future._callbacks or ()]
            self.sequence(sorted(callbacks, key=self._hint) if len(callbacks) > 1 else callbacks)
        if hasattr(future, "__dict__"):
            self.attributes(future)

    def task(self, task: Any) -> None:
        self.tokens += (task.label, task.cancelling())
        if not task.done():
            self.tokens.append(task._must_cancel)
            self.to(task._fut_waiter)
            self.to(task.get_coro())
        self.future(task)

    def order(self, handle: asyncio.Handle) -> tuple[str, ...]:
        """Handles are sorted by this. It has no need to tell all of them apart."""
        when = f"{handle.when():09.3f}" if isinstance(handle, asyncio.TimerHandle) else ""
        return (when, self._hint(handle._callback), *map(self._hint, handle._args))

    def _hint(self, value: Any) -> str:
        """Something about a value that is the same whenever it is met, and different for most others."""
        if isinstance(value, LabelledTask):
            return f"task {value.label}"
        if type(value) in _ATOMS:
            return repr(value)
        if (number := self.numbers.get(id(value))) is not None:
            return f"number {number}"
        owner = getattr(value, "__self__", None)
        name = getattr(value, "__qualname__", type(value).__name__)
        cells = getattr(value, "__closure__", None) or ()
        return " ".join([name, *(self._hint(part) for part in (owner, *cells) if part is not None)])


def _is_data(name: str, value: object) -> bool:
    return not name.startswith("__") and isinstance(value, _DATA)


@cache
def _slots(kind: type) -> list[str]:
    return [name for base in kind.__mro__ for name in base.__dict__.get("__slots__", ())]


def _nothing_more(walk: _Walk, value: Hashable) -> None:
    walk.tokens.append(value)


def _nothing(walk: _Walk, value: object) -> None:
    """The type says it all."""


async def _empty() -> None: ...


def _c_types() -> list[type]:
    """Types of which the garbage collector knows all that they refer to: those without a name in any module."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(_empty())
    step = loop._ready[0]._callback
    loop.run_until_complete(task)
    coroutine = _empty()
    wrapper = type(coroutine.__await__())
    coroutine.close()
    found = [type(loop.create_future().__await__()), type(step), wrapper]
    loop.close()
    return found


_ATOMS = {int, bool, float, str, bytes, type(None), type(...), type(NotImplemented)}
_DATA = (*_ATOMS, list, dict, set, deque)
_DESCRIBED: dict[type, Callable[[_Walk, Any], None]] = {
    **dict.fromkeys((list, tuple, deque), _Walk.sequence),
    **dict.fromkeys((set, frozenset), _Walk.members),
    **dict.fromkeys((types.CoroutineType, types.GeneratorType), _Walk.suspended),
    **dict.fromkeys((type(iter([])), type(iter(())), type(iter(range(0)))), _Walk.reduced),
    **dict.fromkeys((types.ModuleType, types.CodeType), _nothing_more),
    **dict.fromkeys(_c_types(), _Walk.referents),
    dict: _Walk.mapping,
    types.CellType: _Walk.cell,
    types.FunctionType: _Walk.function,
    types.MethodType: _Walk.method,
    types.BuiltinFunctionType: _Walk.builtin,
    partial: _Walk.partial,
    types.TracebackType: _nothing,
    object: _nothing,
    LabelledTask: _Walk.task,
}
_BASES: list[tuple[type, Callable[[_Walk, Any], None]]] = [
    (asyncio.Future, _Walk.future),
    (asyncio.Handle, _Walk.handle),
    (asyncio.AbstractEventLoop, _nothing),
    (BaseException, _Walk.exception),
    (type, _Walk.class_),
    (enum.Enum, _nothing_more),
]
