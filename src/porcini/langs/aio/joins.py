"""asyncio's own joins: `gather`, `wait` and `TaskGroup`.

A join registers a callback on each of its tasks, and the callback counts. Run as a step of its own that writes the
count, n tasks would end in n! orders for nothing. So, in mode `any`, a callback that only counts is not a step: it
runs at the end of the step that ends the task. All that anybody can tell from it is that after the last one, the
join is complete.

What commutes is then this. Let J be the place of the join. The last step of a task *reads* J, whether it was the last
one or not; and it leads to the next step of all who wait for the join, since without it they would still wait
(`Event.woke`, for each of the tasks). Everybody else who touches the join (asks whether it is done, cancels it, comes
to wait for it, adds to a group that is closing) *writes* J. So the ends of tasks commute with each other, and with
nothing else that concerns the join: the roles of reads and writes are only exchanged.

A callback does more than count when its task failed or was cancelled, and the join cares about that, or when the
first to come completes the join. Then it is a step of its own, which writes J. Between the end of the task and the
callback others may move, as in asyncio: the siblings of a failed task may take a step before they are cancelled.

In mode `fifo` callbacks always have their place in the queue.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, Literal

Kind = Literal["gather", "wait", "group"]

_NAMES: dict[str, Kind] = {
    "gather.<locals>._done_callback": "gather",
    "_wait.<locals>._on_completion": "wait",
    "TaskGroup._on_task_done": "group",
}
_kinds: dict[CodeType, Kind | None] = {}


def kind_of(callback: Any) -> Kind | None:
    """Which join registers a callback like this?"""
    code = getattr(callback, "__code__", None) or getattr(getattr(callback, "__func__", None), "__code__", None)
    if code is None:
        return None
    try:
        return _kinds[code]
    except KeyError:
        in_asyncio = callback.__module__ in ("asyncio.tasks", "asyncio.taskgroups")
        kind = _kinds[code] = _NAMES.get(code.co_qualname) if in_asyncio else None
        return kind


def cell(callback: Callable[..., Any], name: str) -> Any:
    """A variable of the function in which a callback was defined."""
    closure = callback.__closure__  # type: ignore[attr-defined]
    return closure[callback.__code__.co_freevars.index(name)].cell_contents  # type: ignore[attr-defined]


def joint_of(kind: Kind, callback: Any) -> Any:
    """The future by which others wait for a join; None if nobody does as yet."""
    if kind == "group":
        return callback.__self__._on_completed_fut
    return cell(callback, "outer" if kind == "gather" else "waiter")


def only_counts(kind: Kind, callback: Any, future: Any) -> bool:
    """Does a callback that is called for a completed future do nothing but count?"""
    failed = future._exception is not None
    if kind == "group":
        return not failed
    if kind == "gather":
        return bool(cell(callback, "return_exceptions")) or not (failed or future._state == "CANCELLED")
    if cell(callback, "timeout_handle") is not None:
        return False
    when = cell(callback, "return_when")
    return when == "ALL_COMPLETED" or (when == "FIRST_EXCEPTION" and not failed)
