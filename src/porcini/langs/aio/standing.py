"""Where a task stands: the chain of coroutines from the task's own to the one that waits.

chain       the frames of a suspended coroutine, the outermost first, and what it waits for in the end
spot        the line that a user would say it stands at
snapshot    position and local values, to see that a step changed nothing
waiting     what a blocked task waits for, in words
"""

from __future__ import annotations

import asyncio
import dis
import functools
import gc
import inspect
import re
import sys
import weakref
from collections.abc import Iterator, Sequence
from operator import length_hint
from pathlib import Path
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import Any

from porcini.langs.aio.naming import Spot

_LIBRARY = str(Path(asyncio.__file__).parent)
_PORCINI = str(Path(__file__).parents[2])
_TASKS = asyncio.sleep.__code__.co_filename
_ADDRESS = re.compile(r" (?:object )?at 0x[0-9a-f]+")
_SCALARS = (int, float, bool, str, bytes, complex, type(None))
_DEEPEST = 20
_spots: dict[tuple[CodeType, int], Spot] = {}
_ours: dict[CodeType, bool] = {}
_loops: dict[CodeType, bool] = {}
_goes_back: dict[CodeType, bool] = {}
_SUSPENDED = (CoroutineType, GeneratorType, AsyncGeneratorType)
_WRAPPERS = "porcini.langs.aio.operations.awaiting"
_done = asyncio.Future.done
_FUTURE_ITER = "FutureIter"


def describe_problem(problem: BaseException) -> str:
    """The type and the text of an exception, even of one whose `__str__` fails. Addresses in it are left out: they
    differ from run to run, and say nothing."""
    try:
        text = str(problem)
    except Exception as worse:
        text = f"(its text cannot be had: {type(worse).__name__})"
    return _ADDRESS.sub("", f"{type(problem).__name__}: {text}").rstrip(": ")


def chain(coroutine: Any) -> tuple[list[FrameType], Any]:
    """The frames of what is suspended, the outermost first, and the innermost thing awaited."""
    frames: list[FrameType] = []
    at = coroutine
    while True:
        kind = type(at)
        if kind is CoroutineType:
            frame, inner = at.cr_frame, at.cr_await
        elif kind is GeneratorType:
            frame, inner = at.gi_frame, at.gi_yieldfrom
        elif kind is AsyncGeneratorType:
            frame, inner = at.ag_frame, at.ag_await
        else:
            inside = _inside(at)
            if inside is None:
                return frames, at
            at = inside
            continue
        if frame is None:
            return frames, at
        frames.append(frame)
        at = inner
        if at is None:
            return frames, None


def _inside(at: Any) -> Any:
    """What a wrapper wraps: one of ours, an asynchronous generator's next value, or `coroutine.__await__()`."""
    while type(at).__module__ == _WRAPPERS:
        at = at.inner
    if type(at) in _SUSPENDED:
        return at
    if type(at).__module__ == "builtins":
        for inner in gc.get_referents(at):
            if type(inner) in _SUSPENDED:
                return inner
    return None


def code_of(coroutine: Any) -> CodeType | None:
    """What a coroutine runs, or what a wrapper wraps: a task can be made of `agen.aclose()`, too."""
    at = coroutine if type(coroutine) in _SUSPENDED else _inside(coroutine)
    codes = (getattr(at, name, None) for name in ("cr_code", "gi_code", "ag_code"))
    return next(filter(None, codes), None)


def is_future_iter(at: Any) -> bool:
    return type(at).__name__ == _FUTURE_ITER


def spot_of(frame: FrameType) -> Spot:
    key = frame.f_code, frame.f_lasti
    spot = _spots.get(key)
    if spot is None:
        code = frame.f_code
        spot = _spots[key] = Spot(code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_qualname)
    return spot


def start_of(code: CodeType) -> Spot:
    key = code, -1
    spot = _spots.get(key)
    if spot is None:
        spot = _spots[key] = Spot(code.co_filename, code.co_firstlineno, code.co_qualname)
    return spot


def find_spot(frames: Sequence[FrameType]) -> Spot | None:
    """The innermost line that is not asyncio's."""
    for frame in reversed(frames):
        code = frame.f_code
        ours = _ours.get(code)
        if ours is None:
            ours = _ours[code] = not code.co_filename.startswith((_LIBRARY, _PORCINI))
        if ours:
            return spot_of(frame)
    return spot_of(frames[-1]) if frames else None


def users_spot(frame: FrameType) -> Spot | None:
    """The innermost line that is not asyncio's, of what is running."""
    frames, at = [frame], frame.f_back
    while at is not None:
        frames.append(at)
        at = at.f_back
    return find_spot(frames[::-1])


Snapshot = tuple[list[tuple[CodeType, int]], list[Any]]


def snapshot(coroutine: Any, frames: Sequence[FrameType]) -> Snapshot:
    """Positions and local values of all frames, and how far their loops are. What can die may do so."""
    values: list[Any] = []
    at = coroutine
    for frame in frames:
        if is_sleep(frame.f_code):  # its future and its timer are new each time, and nobody else's
            values += (frame.f_locals["delay"], frame.f_locals["result"])
            break
        variables = frame.f_locals
        values.extend(variables.values())
        # an iterator in a variable, as a comprehension has one, is the same object wherever it stands
        values.extend([_progress(value) for value in variables.values() if hasattr(type(value), "__next__")])
        if _COPIES and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            variables.clear()  # the frame keeps this dict, and so what the program has let go of
        owner = at if type(at) in _SUSPENDED else _inside(at)
        at = _awaited(owner)
        if _has_loops(frame.f_code):
            local = {id(value) for value in values}
            for value in gc.get_referents(owner):  # what a `for` goes through is in no variable
                if value is not at and id(value) not in local and hasattr(type(value), "__next__"):
                    values.append(_progress(value))
    values = [weakref.ref(value) if type(value).__weakrefoffset__ else value for value in values]
    return [(frame.f_code, frame.f_lasti) for frame in frames], values


_COPIES = sys.version_info < (3, 13)


def unchanged(one: Snapshot, two: Snapshot) -> bool:
    """The same positions, and the same objects or equal numbers and texts."""
    return (
        one[0] == two[0]
        and len(one[1]) == len(two[1])
        and all(
            a is b or (type(a) is type(b) and isinstance(a, _SCALARS) and a == b)
            for a, b in zip(one[1], two[1], strict=True)
        )
    )


def is_sleep(code: CodeType) -> bool:
    return code.co_name == "sleep" and code.co_filename == _TASKS


def may_come_back(frames: Sequence[FrameType], awaited: Any) -> bool:
    """May what is suspended be at the same place again? Only if one of its frames goes back, or somebody who is
    no frame."""
    for frame in frames:
        code = frame.f_code
        back = _goes_back.get(code)
        if back is None:
            back = _goes_back[code] = any(map(_is_jump_back, dis.get_instructions(code)))
        if back:
            return True
    return not frames or (awaited is not None and not is_future_iter(awaited))


def _is_jump_back(step: dis.Instruction) -> bool:
    """All loops have one, and so has `await`, by which it gives on what it was sent."""
    return "JUMP_BACKWARD" in step.opname and not step.opname.endswith("NO_INTERRUPT")


def _has_loops(code: CodeType) -> bool:
    loops = _loops.get(code)
    if loops is None:
        loops = _loops[code] = any(step.opname == "FOR_ITER" for step in dis.get_instructions(code))
    return loops


def _progress(iterator: Any) -> object:
    """A text that changes when an iterator is used; where there is none, an object that equals nothing else."""
    if type(iterator) is enumerate:
        return str(iterator.__reduce__()[1][1])
    left = length_hint(iterator, -1)
    return object() if left < 0 or type(iterator).__module__ != "builtins" else str(left)


def _awaited(owner: Any) -> Any:
    for name in ("cr_await", "gi_yieldfrom", "ag_await"):
        if hasattr(owner, name):
            return getattr(owner, name)
    return None


def awaited_future(task: Any) -> Any:
    """The future that a task waits for."""
    return getattr(task, "_fut_waiter", None)


def waiting_for(task: Any, frames: Sequence[FrameType]) -> str:
    """What a blocked task waits for: the call of asyncio's that it is in, or the future."""
    for frame in reversed(frames):
        code = frame.f_code
        if code.co_filename.startswith(_LIBRARY):
            owner = frame.f_locals.get("self")
            on = f" on {plain(owner)}" if owner is not None else ""
            return f"{code.co_qualname}(){on}"
    future = awaited_future(task)
    if future is None:
        return "nothing"
    children = getattr(future, "_children", None)
    if children is not None:
        return f"gather() of {len(children)}, {sum(not _done(child) for child in children)} of them pending"
    if isinstance(future, asyncio.Task):
        return f"task {future.get_name()}"
    return plain(future).replace("SeenFuture", "Future")


_AS_TEXT: dict[type, str] = {
    dict: "{{{}}}",
    set: "{{{}}}",
    frozenset: "frozenset({{{}}})",
    list: "[{}]",
    tuple: "({})",
}


def sorted_text(value: object, around: tuple[object, ...] = ()) -> str | None:
    """Containers as text, with keys in an order that does not depend on how they came there. None if there is
    something in them with a text of its own, or one of those that they are in (`around`)."""
    kind = type(value)
    if kind in _SCALARS:
        return repr(value)
    if kind not in _AS_TEXT or len(around) > _DEEPEST or any(value is outer for outer in around):
        return None
    around = (*around, value)
    inner: list[str] = []
    assert isinstance(value, dict | set | frozenset | list | tuple)
    for item in value.items() if isinstance(value, dict) else value:
        parts = item if isinstance(value, dict) else (item,)
        texts = [sorted_text(part, around) for part in parts]
        if None in texts:
            return None
        inner.append(": ".join(map(str, texts)))
    if isinstance(value, set | frozenset) and not value:
        return repr(value)
    text = ", ".join(inner if isinstance(value, list | tuple) else sorted(inner))
    return _AS_TEXT[kind].format(text + "," if kind is tuple and len(inner) == 1 else text)


def plain(value: object) -> str:
    """A value as text without addresses, which differ from run to run."""
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception as problem:
        return f"<{type(value).__name__}, whose repr fails: {type(problem).__name__}>"


def leaves(problem: BaseException) -> Iterator[BaseException]:
    """An exception, or those in a group of them."""
    if isinstance(problem, BaseExceptionGroup):
        for inner in problem.exceptions:
            yield from leaves(inner)
    else:
        yield problem


def stack(frames: Sequence[FrameType]) -> Iterator[str]:
    for frame in frames:
        spot = spot_of(frame)
        if spot.path.startswith(_PORCINI):
            continue
        yield f"{spot} in {spot.function}"


_LOADING = ("LOAD_METHOD", "LOAD_ATTR")


def calls_method(frame: FrameType, name: str) -> bool:
    """Does a frame call a method of this name, without arguments, rather than C code that does so?"""
    return name in frame.f_code.co_names and name in _called_at(frame.f_code, frame.f_lasti)


@functools.lru_cache(maxsize=256)
def _called_at(code: CodeType, offset: int) -> tuple[str, ...]:
    """The names of methods that are loaded just before an instruction."""
    before = [i for i in dis.get_instructions(code) if i.offset <= offset and i.opname not in ("PRECALL", "CACHE")]
    calls = bool(before) and before[-1].opname.startswith("CALL")
    return tuple(str(i.argval) for i in before[-2:-1] if calls and i.opname in _LOADING)
