"""What the loop wants from whoever sees the reads and writes of the code under test."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any, Protocol

from porcini.core.footprints import OPAQUE, Footprint, Location
from porcini.core.pids import Pid
from porcini.langs.aio.commuting import Commuting


class Recorder(Protocol):
    """Sees what happens between `begin_step` and `end_step`, and nothing outside; runs do not overlap."""

    commuting: Commuting | None
    looked: set[Location]
    """Places that others may update, and that the last step has looked at."""

    def start_run(self) -> None: ...

    def begin_step(self, process: Pid, index: int, /) -> None:
        """The index-th step of a process begins."""

    def end_step(self) -> Footprint:
        """The step is over: what it touched."""


Followed = Callable[[CodeType], bool]
"""Are all reads and writes of some code seen? Steps that begin in other code are opaque."""


class Blind:
    """Sees nothing: every step may touch anything, and every order is explored."""

    commuting: Commuting | None = None
    looked: set[Location] = set()  # noqa: RUF012

    def start_run(self) -> None:
        return None

    def begin_step(self, process: Pid, index: int, /) -> None:
        return None

    def end_step(self) -> Footprint:
        return OPAQUE


_HERE, _ASYNCIO = Path(__file__).parent, Path(asyncio.__file__).parent
_TRANSPARENT = {
    str(_HERE / "futures.py"): None,
    str(_HERE / "loop.py"): None,
    str(_ASYNCIO / "tasks.py"): {
        "sleep",
        "__sleep0",
        "wait",
        "_wait",
        "_wait.<locals>._on_completion",
        "wait_for",
        "_cancel_and_wait",
        "_release_waiter",
        "gather.<locals>._done_callback",
        "shield.<locals>._inner_done_callback",
        "shield.<locals>._outer_done_callback",
        "_wrap_awaitable",
    },
    str(_ASYNCIO / "futures.py"): {"_set_result_unless_cancelled"},
    str(_ASYNCIO / "timeouts.py"): {"Timeout.__aenter__", "Timeout.__aexit__", "Timeout._on_timeout"},
    str(_ASYNCIO / "taskgroups.py"): {
        "TaskGroup.__aenter__",
        "TaskGroup.__aexit__",
        "TaskGroup._aexit",
        "TaskGroup._on_task_done",
    },
    contextlib.__file__: {
        "_AsyncGeneratorContextManager.__aenter__",
        "_AsyncGeneratorContextManager.__aexit__",
    },
}
"""Code of asyncio that touches nothing but futures, tasks, handles and joins, which the loop sees for itself; and
code that goes on with a generator, which is asked itself."""


class Knowledge:
    """Which code can be followed; answers are kept for all runs of a program."""

    def __init__(self, followed: Followed) -> None:
        self._followed = followed
        self._answers: dict[CodeType, bool] = {}

    def of_code(self, code: CodeType) -> bool:
        answer = self._answers.get(code)
        if answer is None:
            names = _TRANSPARENT.get(code.co_filename, ())
            answer = names is None or code.co_qualname in names or self._followed(code)
            self._answers[code] = answer
        return answer

    def of_callable(self, callback: Any) -> bool:
        while isinstance(callback, partial):
            callback = callback.func
        if isinstance(callback, MethodType):
            callback = callback.__func__
        return isinstance(callback, FunctionType) and self.of_code(callback.__code__)
