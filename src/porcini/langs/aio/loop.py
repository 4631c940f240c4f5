"""An event loop that runs one handle at a time, and somebody outside says which.

    call_soon       a handle is ready: of a task that goes on, or of a callback, which is a process of its own
    call_at         a timer, which becomes ready when time gets there
    run             one ready handle of a process runs; `reads`, `writes`, `woke`, `spawned` say what it did
    advance         nothing is ready: time moves to the next timer, and all that are due then become ready
    discard         what is left is thrown away without a sound

A task that starts eagerly (3.12) takes its first step inside of the step that makes it: what it touches is touched
by that one. What it makes and schedules there is named after the task itself. If it is not done by then it goes on
as a process like any other.

Time is virtual, and there are no sockets, threads, signals or subprocesses (`outside`). A loop lives for one run,
of which there are thousands per second: what `BaseEventLoop.__init__` sets up and is not needed here are
attributes of the class.

**Modes.** In mode `any` every process with a ready handle may go next. In mode `fifo` the handles of asyncio's
queue run in its order, and free are only timers that become due at the same moment, and coroutines of one
`as_completed`, which puts them into the queue in the order of their addresses: they form one batch. There,
every step that is not the last of its batch is followed by whoever comes next in the queue, so it wakes that one;
and what a step puts into the queue depends on who was there before, so all of them write the place `queue`.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import sys
import threading
from asyncio import futures
from collections.abc import Iterable, Iterator
from contextvars import Context
from types import CoroutineType
from typing import Any, Literal
from weakref import WeakSet, ref

from porcini.core.footprints import NOWHERE, Location
from porcini.core.pids import Pid
from porcini.langs.aio import joins, rules, standing
from porcini.langs.aio.futures import (
    SeenFuture,
    SeenGathering,
    SeenTask,
    _GatheringFuture,
    coroutine_of,
    is_wakeup,
    makes_eager_tasks,
    waiter_of,
)
from porcini.langs.aio.joins import Joins, kind_of, only_counts
from porcini.langs.aio.naming import CLOCK, Name
from porcini.langs.aio.outside import Outside, Refused, steps
from porcini.langs.aio.processes import STEP, Process, ReadyHandle, Timer, close, title_of
from porcini.langs.aio.sections import Sections
from porcini.langs.aio.striking import Striking

Mode = Literal["any", "fifo"]

RESOLUTION = 1e-9
"""Timers this close to each other are due at the same moment, as in asyncio on Linux."""

_sleep_over: Any = futures._set_result_unless_cancelled  # type: ignore[attr-defined]
_task_done = asyncio.Future.done
_CLOCK = Name(CLOCK)
TIME = Location("time")
HANDLER = Location("loop.exception_handler")
QUEUED = frozenset({Location("queue")})


class ControlledLoop(Joins, Outside):
    """One run's loop. Public attributes that asyncio's loops do not have are for `program`."""

    _closed = False
    _debug = False
    _stopping = False
    _thread_id = None
    _task_factory = None
    _exception_handler = None
    _default_executor = None
    _executor_shutdown_called = False
    _asyncgens_shutdown_called = False
    _coroutine_origin_tracking_enabled = False
    _coroutine_origin_tracking_saved_depth = None
    _current_handle = None
    _timer_cancelled_count = 0
    _clock_resolution = RESOLUTION
    slow_callback_duration = 0.1
    sections: Sections | None = None
    """Of locks that are guarded, while a search goes on."""

    def __init__(self, root: Name, mode: Mode = "any") -> None:
        self.mode = mode
        self.faults: Striking | None = None
        self.always = QUEUED if mode == "fifo" else NOWHERE
        self.now = 0.0
        self.thread = threading.get_ident()
        self.strangers: dict[Any, Process] = {}
        self.tasks: list[SeenTask] = []
        self.ready: dict[Process, int] = {}
        self.problems: list[str] = []
        self.refusal = None
        self.untracked = ""
        self._early: dict[int, SeenTask] = {}
        self._coroutines: dict[int, ref[Any]] = {}  # those that tasks run
        self._making = False
        self.batch = 0
        self._of = 0
        self._round = 0
        self._scheduled: list[Timer] = []
        self._root = root
        self._clock = Process(_CLOCK, "clock")
        self.main = self.current = Process(root, "main")
        self._asyncgens: Any = None
        self.hooks: Any = self._asyncgen_firstiter_hook, self._asyncgen_finalizer_hook
        self.awaits: set[Location] = set()
        self._counting, self.counted, self._created, self.fresh = [], [], [], set()
        self._begin()

    def _begin(self) -> None:
        """Nothing was done as yet in the step that begins."""
        self.reads = set()
        self.writes = set()
        self.observed = set()
        self.woke = {}
        if self.awaits:
            self.awaits = set()
        self.spawned: list[Process] = []
        self.peeked = ""
        self._counts = False
        if self._counting:
            self._counting = []
        if self.fresh:  # most steps make no joins
            self.fresh, self._created = set(), []
        if self.counted:
            self.counted = []

    def _spawn(self, title: str) -> Process:
        current = self.current
        process = Process(current.name.child(current.children), title)
        current.children += 1
        return process

    # what programs call ------------------------------------------------------------------------------------------

    def time(self) -> float:
        self.reads.add(TIME)
        return max(self.now, self.current.due)

    def get_debug(self) -> bool:
        """Every future asks for this once, when it is made: those that the loop did not make are seen by it. (A
        program that asks itself calls it by its name.)"""
        if self._making:
            self._making = False  # a task that starts eagerly runs code of the program before it is made
        elif not standing.calls_method(sys._getframe(1), "get_debug") and not self._adopted(sys._getframe(1)):
            where = standing.users_spot(sys._getframe(1))
            self.untracked = f"asyncio.Future() made by hand at {where} (use loop.create_future())"
        return False

    def _adopted(self, frame: Any) -> bool:
        created: Any = (
            frame.f_locals.get("self") if frame.f_code.co_qualname == "_GatheringFuture.__init__" else None
        )
        if type(created) is not _GatheringFuture:
            return False
        created.__class__ = SeenGathering
        created._place = self._next_place()
        self.fresh.add(created._place)
        self._created.append(created)
        return True

    def _next_place(self) -> Location:
        current = self.current
        place = current.name.place(current.created)
        current.created += 1
        return place

    def create_future(self) -> asyncio.Future[Any]:
        self._making = True
        try:
            return SeenFuture(self, self._next_place())
        finally:
            self._making = False

    def make_task(self, coro: Any, *, name: Any = None, context: Context | None = None, **options: Any) -> Any:
        """What `asyncio.Task(...)` makes: whatever factory of tasks the loop has."""
        if context is not None:
            rules.SHARED_CONTEXTS.add(id(context))
        return self._new_task(coro, name, context, options)

    def create_task(self, coro: Any, *, name: Any = None, context: Context | None = None, **options: Any) -> Any:
        if self._closed:
            coro.close()
            raise RuntimeError("Event loop is closed")
        if self._task_factory is not None:
            if not makes_eager_tasks(self._task_factory):
                return super().create_task(coro, name=name, context=context, **options)
            options = {"eager_start": True, **options}
        if context is not None:
            rules.SHARED_CONTEXTS.add(id(context))
        if id(coro) not in self._early:
            self._make_together(joins.awaited_together(sys._getframe(1)), options)
        return self._early.pop(id(coro), None) or self._new_task(coro, name, context, options)

    def _make_together(self, coroutines: list[Any], options: dict[str, Any]) -> None:
        """The tasks of `as_completed`, which goes over a set: they have names in the order in which it was given
        their coroutines, but any of them may be the first in the queue."""
        batch = self.batch + 1
        for coroutine in coroutines:
            task = self._early[id(coroutine)] = self._new_task(coroutine, None, None, options)
            if self.mode == "fifo" and task._process in self.ready:  # and did not start eagerly
                self.ready[task._process] = batch

    def _new_task(self, coro: Any, name: Any, context: Context | None, options: dict[str, Any]) -> SeenTask:
        if name is not None:
            name = self.name_of_task(name)
        process = self._spawn(name or title_of(coro).rpartition(".")[2])
        self.spawned.append(process)
        return self._task(coro, process, name, context, options)

    def name_of_task(self, name: object) -> str:
        """The text of what a task is named by: who makes one of anything but a text may look at all of it."""
        if not isinstance(name, str | int):
            self.peeked = "the name of a task, which is not text"
        return str(name)

    def _task(self, coro: Any, process: Process, name: Any, context: Any, options: dict[str, Any]) -> SeenTask:
        maker, eager = self.current, bool(options.get("eager_start"))
        self._making = True
        if eager:
            process.eager = getattr(coro, "cr_code", False)
            self.current = process
        try:
            task = SeenTask(coro, self, process, name or f"Task-{process.name.text}", context, **options)
        finally:
            self._making = False
            self.current = maker
        process.born = True
        if eager:
            self._stopped(process)
        if type(coro) is CoroutineType:
            reference = self._coroutines.get(id(coro))
            if reference is not None and reference() is coro:
                self.untracked = "a coroutine that two tasks run: each step of one is a step of the other"
            self._coroutines[id(coro)] = ref(coro)
        self.tasks.append(task)
        return task

    def start(self, coro: Any) -> SeenTask:
        """Make the main task."""
        self.main.title = getattr(coro, "__name__", "main")
        return self._task(coro, self.main, None, None, {})

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        if self._closed:
            raise RuntimeError("Event loop is closed")
        if type(callback) is STEP or is_wakeup(callback):
            task = callback.__self__
            process = task._process if type(task) is SeenTask else self._process_of(task)
            if process.born and process is not self.current:
                self.woke[process] = None
        else:
            if args and isinstance(args[0], asyncio.Future):
                kind = kind_of(callback)
                if kind and self.mode == "any" and only_counts(kind, callback, args[0]):
                    self._counting.append((callback, args, context, kind))
                    return None
            return self._calls(callback, args, context)
        handle = ReadyHandle(process, callback, args, self, context)
        self._is_ready(process, handle)
        return handle

    def _calls(self, callback: Any, args: Any, context: Context | None) -> ReadyHandle:
        """A callback is a process of its own."""
        reserved = self._reserved(args[0], callback) if args and isinstance(args[0], asyncio.Future) else None
        process = reserved or self._new_callback(callback)
        handle = ReadyHandle(process, callback, args, self, context)
        self._is_ready(process, handle)
        return handle

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        if threading.get_ident() != self.thread and not self._closed:
            message = "call_soon_threadsafe() from another thread: threads are not simulated"
            raise self.refuse(message, sys._getframe(1))
        return self.call_soon(callback, *args, context=context)

    def call_later(self, delay: float, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        if delay is None:
            raise TypeError("delay must not be None")
        return self.call_at(max(self.now, self.current.due) + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        if when is None:
            raise TypeError("when cannot be None")
        if self._closed:
            raise RuntimeError("Event loop is closed")
        process = self._spawn(title_of(callback))
        timer = Timer(process, callback, args, self, context)
        timer._when = when
        timer._scheduled = True
        if self.mode == "any" and (when <= self.now + RESOLUTION or self._fires_early(timer)):
            self.spawned.append(process)
            self._is_ready(process, timer)
        else:
            heapq.heappush(self._scheduled, timer)
        return timer

    def _new_callback(self, callback: Any) -> Process:
        process = self._spawn(title_of(callback))
        self.spawned.append(process)
        return process

    def _process_of(self, task: Any) -> Process:
        """A task that the program made itself, by `asyncio.Task` or a factory of its own."""
        self.untracked = "a task that loop.create_task() did not make (use that, without a task factory)"
        process: Process | None = self.strangers.get(task)
        if process is None:
            process = self.strangers[task] = self._new_callback(task.get_coro())
            process.task = task
            process.born = True
        return process

    def _is_ready(self, process: Process, handle: ReadyHandle | Timer) -> None:
        process.handle = handle
        self.batch += 1
        self.ready[process] = self.batch

    # what the run calls ------------------------------------------------------------------------------------------

    def enabled(self) -> Iterator[Process]:
        """The processes that may go next."""
        if self.mode == "any":
            return iter(self.ready)
        head = next(iter(self.ready.values()), None)
        return (process for process, batch in self.ready.items() if batch == head)

    def run(self, process: Process) -> None:
        """Run the ready handle of a process. The places it touched are in `reads`, `writes` and `observed`."""
        handle = process.handle
        assert handle is not None
        process.handle = None
        self._of = self.ready.pop(process)
        self._begin()
        self.current = process
        task = process.task
        if task is None:
            self.reads.add(process.name.handle)
            if handle._cancelled:
                return
            kind = kind_of(handle._callback)
            if kind and self.mode == "any" and only_counts(kind, handle._callback, handle._args[0]):
                self._counting.append((handle._callback, handle._args, handle._context, kind))
                self._counts = True
                return
            if kind:
                self.observed.add(self.place_of(kind, handle._callback))
        else:
            self.reads.add(process.name.cancelling)
        self._call(handle._callback, handle._args, handle._context)
        if task is not None:
            self._stopped(process)
        elif handle._callback is _sleep_over:
            handle._scheduled = False  # type: ignore[union-attr]

    def _stopped(self, process: Process) -> None:
        """A task has come to an await, or to its end."""
        task = process.task
        if _task_done(task) or task._asyncio_future_blocking:  # left so by awaiting itself: others will notice
            self.writes.add(process.name.state)
        if process.groups:
            self._leave_groups(process)

    def settle(self) -> bool:
        """After a step and what was recorded of it: count, and see who is next in the queue. Did others hear of
        the step?"""
        self._count()
        if self.commuting is not None and (self.counted or self.observed):
            self._note_joins(self.commuting)
        heard = bool(self.spawned or self.woke)
        if self.mode == "fifo":
            self._round -= 1
            if self._round <= 0:
                self._due_now()
                self._round = len(self.ready)
            for process in self.enabled():
                if self.ready[process] != self._of:  # the next in the queue, and not one of the same batch
                    self.woke[process] = None
        return heard

    @steps
    def _call(self, callback: Any, args: Any, context: Any) -> None:
        try:
            if context is None:
                callback(*args)
            else:
                context.run(callback, *args)
        except KeyboardInterrupt:
            raise
        except SystemExit as problem:
            if self.current.task is None:
                self.problems.append(f"SystemExit({problem.code!r}) in a callback")
        except Refused:
            return  # the refusal is kept, and ends the run
        except BaseException as problem:
            message = f"Exception in callback {title_of(callback)}"
            self.call_exception_handler({"message": message, "exception": problem})

    def can_advance(self) -> bool:
        """Is there a timer to wait for?"""
        timers = self._scheduled
        while timers and timers[0]._cancelled:
            heapq.heappop(timers)
        return bool(timers)

    def only_sleepers(self, tasks: Iterable[Any]) -> bool:
        """Do all timers only end the sleep of some tasks?"""
        futures = {waiter_of(task) for task in tasks}
        return all(
            timer._cancelled or (timer._callback is _sleep_over and timer._args[0] in futures)
            for timer in self._scheduled
        )

    def advance(self, at_most: float = math.inf) -> None:
        """Time moves to the next timer, or by a given step; all that are due then become ready at once."""
        self._begin()
        self.current = self._clock
        next_timer = self._scheduled[0]._when if self.can_advance() else math.inf
        self.now = max(self.now, min(next_timer, self.now + at_most))
        self._due_now()
        if self.faults is not None and self.mode == "any":
            self._fire_early()
        self._round = len(self.ready)
        self.woke.clear()
        self.spawned.clear()

    def _due_now(self) -> None:
        due: list[Timer] = []
        while self.can_advance() and self._scheduled[0]._when <= self.now + RESOLUTION:
            due.append(heapq.heappop(self._scheduled))
        due.sort(key=_pid_of)
        self.batch += 1
        for timer in due:
            if self.mode == "any" and timer._callback is _sleep_over:
                # Nobody but the sleeper knows this future: whether it is completed now or just before the sleeper
                # goes on makes no difference to anybody.
                self._call(timer._callback, timer._args, None)
                timer._scheduled = False
            else:
                timer.process.handle = timer
                self.ready[timer.process] = self.batch

    def _fires_early(self, timer: Timer) -> bool:
        """Is it a fault of this run that a timer fires now? Sleepers sleep for as long as they want."""
        return self.faults is not None and timer._callback is not _sleep_over and self.faults.fires(timer)

    def _fire_early(self) -> None:
        early = {
            timer.process: timer
            for timer in sorted(self._scheduled, key=_pid_of)
            if not timer._cancelled and self._fires_early(timer)
        }
        self._scheduled = [timer for timer in self._scheduled if timer.process not in early]
        heapq.heapify(self._scheduled)
        for process, timer in early.items():
            process.handle = timer
            self.ready[process] = self.batch

    # what is left at the end -------------------------------------------------------------------------------------

    def pending(self) -> list[SeenTask]:
        return [task for task in self.tasks if not _task_done(task)]

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        text = f": {standing.describe_problem(problem)}" if problem is not None else ""
        self.problems.append(f"{context.get('message')}{text}")

    def set_exception_handler(self, handler: Any) -> None:
        self.writes.add(HANDLER)
        super().set_exception_handler(handler)

    def get_exception_handler(self) -> Any:
        self.reads.add(HANDLER)
        return super().get_exception_handler()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self._closed:
            self.reads.add(HANDLER)
            super().call_exception_handler(context)

    def discard(self) -> None:
        """Throw away what is left: coroutines are closed, and nothing is said about it. (To `close` a loop that
        runs is an error.)"""
        if self._closed:
            return
        self._closed = True
        if self.sections is not None:
            self.sections.over = True
        for task in reversed(self.pending()):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            close(coroutine_of(task))
        for process in self.ready:
            if process.handle is not None and process.handle._callback == self.create_task:
                close(process.handle._args[0])  # the end of an asynchronous generator, which was not begun
        self.ready.clear()
        self._scheduled.clear()
        for task in self.tasks:
            task._process.handle = task._process.task = None
        self.tasks.clear()
        self._coroutines.clear()
        self.strangers.clear()
        self._counting.clear()
        self.hooks = (None, None)

    def __del__(self) -> None:
        return None

    def is_running(self) -> bool:
        return not self._closed

    # asynchronous generators -------------------------------------------------------------------------------------

    def _asyncgen_firstiter_hook(self, agen: Any) -> None:
        if self._asyncgens is None:
            self._asyncgens = WeakSet()
        self._asyncgens.add(agen)

    def _asyncgen_finalizer_hook(self, agen: Any) -> None:
        if self._asyncgens is not None:
            self._asyncgens.discard(agen)
        if not self._closed:
            self.call_soon(self.create_task, agen.aclose())


def _pid_of(timer: Timer) -> Pid:
    return timer.process.name.pid
