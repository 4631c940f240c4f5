"""The outcomes of an asyncio program in which any ready handle may go next: a judge for programs with many tasks.

The program itself is run, by Python's own asyncio, on a loop that leaves the choice of the next handle to a
search. Independence of steps is never consulted. Instead, moments with the same future are recognised
(`states.key`), and only the first of them is followed:

1. `outcomes` searches depth first. A run cannot be rewound, so each path that is left to try is a list of choices,
   and is followed from the beginning again.
2. `_Run` is one run on a loop of its own. Its `ready` handles are what may go next: steps of tasks, wake-ups and
   callbacks alike. Time is virtual, and moves only when nothing is ready; timers due at one instant become ready
   together.
3. A run has ended when the main task is done, whatever the others would still do, or when nothing can move.

Programs must do the same whenever the same handles go in the same order, and must come to an end in every order.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import linecache
import sys
import warnings
from asyncio import events
from collections.abc import Callable, Coroutine, Hashable, Iterator, Sequence
from typing import Any

from conformance.coroutines.states import LabelledTask, key
from conformance.oracle import Outcome, TooMany

Main = Callable[[], Coroutine[Any, Any, Any]]
Choice = tuple[int, int]
"""Which of the ready handles goes next, and how many there are."""

INSTANT = 1e-9
"""Timers closer than this are due at the same instant."""
_LONGEST = 1000
"""Handles in one run."""
_RUNS_PER_COLLECTION = 100
_numbers = itertools.count()


class NotRepeatable(Exception):
    """The same choices led to another number of ready handles than before."""


class JudgedLoop(asyncio.BaseEventLoop):
    """A loop that only keeps what is ready; somebody else says what goes next."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.waiting: list[asyncio.Handle] = []
        self.timers: list[asyncio.TimerHandle] = []
        self.tasks: list[LabelledTask] = []
        self.children: dict[tuple[int, ...], int] = {}
        self.set_exception_handler(lambda loop, context: None)

    def time(self) -> float:
        return self.now

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self.waiting.append(handle)
        return handle

    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self.timers.append(timer)
        return timer

    def create_task(self, coro: Any, **options: Any) -> LabelledTask:
        task = LabelledTask(coro, loop=self, **options)
        maker = asyncio.current_task(self)
        if self.tasks:
            made_by = maker.label if isinstance(maker, LabelledTask) else (-1,)
            number = self.children[made_by] = self.children.get(made_by, -1) + 1
            task.label = (*made_by, number)
        self.tasks.append(task)
        return task

    def run_in_executor(self, *args: Any) -> Any:
        raise RuntimeError("a program that is judged has no threads")


class _Run:
    """One run of a program, from its beginning."""

    def __init__(self, main: Main) -> None:
        self.loop = JudgedLoop()
        self.namespace = getattr(main, "__globals__", {})
        self.steps = 0
        events._set_running_loop(self.loop)
        self.main = self.loop.create_task(main())

    def ready(self) -> list[asyncio.Handle]:
        """What may go next. Lets time pass if that is nothing."""
        loop = self.loop
        loop.waiting = [handle for handle in loop.waiting if not handle.cancelled()]
        if loop.waiting:
            return loop.waiting
        loop.timers = [timer for timer in loop.timers if not timer.cancelled()]
        if loop.timers:
            loop.now = max(loop.now, min(timer.when() for timer in loop.timers))
            loop.waiting = [timer for timer in loop.timers if timer.when() <= loop.now + INSTANT]
            loop.timers = [timer for timer in loop.timers if timer.when() > loop.now + INSTANT]
        return loop.waiting

    def take(self, chosen: int) -> None:
        self.steps += 1
        if self.steps > _LONGEST:
            raise TooMany
        self.loop.waiting.pop(chosen)._run()

    def follow(self, choices: Sequence[Choice]) -> None:
        """Make these choices; where only one handle is ready there is none."""
        for chosen, ready in choices:
            if self.to_the_next_choice() != ready:
                raise NotRepeatable(choices)
            self.take(chosen)

    def to_the_next_choice(self) -> int:
        """Go on while there is none; how many handles are ready then, which is 0 at the end of the run."""
        while not self.main.done():
            ready = len(self.ready())
            if ready != 1:
                return ready
            self.take(0)
        return 0

    def key(self) -> Hashable:
        loop = self.loop
        loop.tasks = [task for task in loop.tasks if not task.done()]
        timers = [timer for timer in loop.timers if not timer.cancelled()]
        return key(loop.now, self.namespace, loop.tasks, loop.waiting, timers)

    def outcome(self) -> Outcome:
        """How the main task ended. A group of exceptions counts as what is in it, failed assertions first."""
        if not self.main.done():
            return "deadlock", ""
        if self.main.cancelled():
            return "error", ""
        error = self.main.exception()
        if error is None:
            return "terminated", str(self.main.result())
        return ("assertion" if any(isinstance(e, AssertionError) for e in _leaves(error)) else "error"), ""

    def abandon(self) -> None:
        """Close the coroutines while no loop is running: what they do then can reach no other run."""
        events._set_running_loop(None)
        for task in self.loop.tasks:
            if not task.done():
                task._log_destroy_pending = False
                with contextlib.suppress(BaseException):
                    task.get_coro().close()
            task._log_traceback = False
        self.loop.close()


def main_of(text: str) -> Main:
    """The `main` of a program, whose source can be found."""
    name = f"<program {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": f"generated{name}"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["main"]


def outcomes(main: Main, most: int = 5_000) -> set[Outcome]:
    """How the runs of a program can end; `most` bounds the moments that have different futures."""
    found: set[Outcome] = set()
    seen: set[Hashable] = set()
    left: list[tuple[Choice, ...]] = [()]
    runs = 0
    with _quiet():
        while left:
            left += _search(main, left.pop(), seen, found)
            if len(seen) > most:
                raise TooMany
            runs += 1
            if runs % _RUNS_PER_COLLECTION == 0:
                gc.collect(0)
    return found


def _search(
    main: Main, choices: tuple[Choice, ...], seen: set[Hashable], found: set[Outcome]
) -> list[tuple[Choice, ...]]:
    """Make these choices, then always the first until all is known from there; the others met on the way."""
    left: list[tuple[Choice, ...]] = []
    run = _Run(main)
    try:
        run.follow(choices)
        while ready := run.to_the_next_choice():
            here = run.key()
            if here in seen:
                return left
            seen.add(here)
            left += ((*choices, (other, ready)) for other in range(1, ready))
            run.take(0)
            choices = (*choices, (0, ready))
        found.add(run.outcome())
    finally:
        run.abandon()
    return left


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What runs leave behind is collected between them, and what it complains about when closed is not shown."""
    hook, collecting = sys.unraisablehook, gc.isenabled()
    gc.disable()
    sys.unraisablehook = lambda unraisable: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        gc.collect(0)
        sys.unraisablehook = hook
        if collecting:
            gc.enable()


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in an exception group, or the exception itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
