"""What real code can do that no schedule controls: look at the clock, throw dice, block, reach outside.

While a `Guarding` is open and a step of a controlled loop runs:
    time, monotonic, datetime.now     tell the loop's virtual time, also to who got hold of them before (`clocks`)
    random                            begins every run with the same seed
    urandom, and so uuid4 and secrets give each process the same in every order
    times of files                    are virtual, too (`files`)
    environment, working folder       are put back after each run (`surroundings`)
    time.sleep, sockets, threads,     are refused, with what to do instead, however they were imported (`holders`)
      processes, signals
    a step that does not end          is interrupted after `step_seconds`, in the main thread

A refusal is raised where it happens, and kept by the loop: code that catches everything does not hide it. Outside
of steps all these do what they always do; closing the guarding puts everything back.
"""

from __future__ import annotations

import _socket
import _thread
import inspect
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from asyncio import events
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import FrameType, TracebackType
from typing import Any

from porcini.core.errors import InputError
from porcini.core.pids import Pid
from porcini.coroutines import files
from porcini.coroutines.clocks import Watch, followed, replace_chance, replace_functions, start_again
from porcini.coroutines.failing import failing, instance_of
from porcini.coroutines.faults import Faults
from porcini.coroutines.lines import at
from porcini.coroutines.mocks import replace_mocks, suspending
from porcini.coroutines.replacing import around, find, heeding, put_around
from porcini.coroutines.surroundings import Surroundings
from porcini.langs.aio.inside import between_runs
from porcini.langs.aio.loop import ControlledLoop

try:
    import _posixsubprocess
except ImportError:  # not on Windows
    _posixsubprocess = None  # type: ignore[assignment]

_FAKE = "give the code under test a fake whose methods are coroutines"
_SLEEP = "`await asyncio.sleep(...)` instead, or real_time=True (of the marker, of Guards) to let it block"
_NETWORK = f"real network traffic: {_FAKE}"
_THREADS = f"threads are not simulated: {_FAKE}, or call the function directly"
_PROCESSES = f"other processes are not simulated: {_FAKE}"
_SIGNALS = "signals are not simulated: call the handler from a task of the test"
_BLOCKS = f"it blocks the loop, and nobody could wake it: {_SLEEP}"
_REFUSED: tuple[tuple[Any, str, str], ...] = (
    (
        socket.socket,
        "connect connect_ex bind listen accept send sendall sendto sendmsg sendfile recv recv_into recvfrom "
        "recvfrom_into recvmsg",
        _NETWORK,
    ),
    (socket, "getaddrinfo", _NETWORK),
    (threading.Thread, "start", _THREADS),
    (subprocess.Popen, "__init__", _PROCESSES),
)
"""What no step may call, by its owner."""
_WAITING = (
    (select, "select poll epoll kqueue", _BLOCKS),
    (signal, "sigwait sigtimedwait sigwaitinfo pause", _BLOCKS),
)
_STARTING = (
    (signal, "setitimer alarm", _SIGNALS),
    (_thread, "start_new_thread start_joinable_thread", _THREADS),
    (os, "system fork forkpty posix_spawn posix_spawnp execv execve kill killpg", _PROCESSES),
    (_posixsubprocess, "fork_exec", _PROCESSES),
    (_socket, "getaddrinfo getnameinfo gethostbyname gethostbyname_ex gethostbyaddr", _NETWORK),
)
"""Functions in C that no step may call."""


def _each(*refused: tuple[Any, str, str]) -> Iterator[tuple[Any, str, str]]:
    """Not all systems have them all."""
    return ((owner, name, why) for owner, names, why in refused for name in names.split() if hasattr(owner, name))


def _title(owner: Any, name: str) -> str:
    return f"{owner.__name__}.{name}()".replace(".__init__", "")


@dataclass(frozen=True, slots=True)
class Guards:
    """How the world looks to the code under test."""

    seed: int = 0
    real_time: bool = False
    step_seconds: float = 5.0
    """How long one step may take before it counts as one that never ends."""
    at_start: tuple[Callable[[], object], ...] = ()
    """Called before each run: they put back what the run before has changed."""
    made_anew: tuple[str, ...] = ()
    """The arguments, by name, that these make anew."""
    at_end: tuple[Callable[[], object], ...] = ()
    """Called after each run. What they raise is how the run ended, if it had not failed before."""
    looks_back: bool = False
    """May they depend on what the run has left behind?"""
    suspend: bool = True
    """May others go before an `AsyncMock`, or a function that a test has replaced, has answered?"""


class Blocking(InputError):
    """A step that blocks the loop, or that leaves what can be controlled."""


def check_refused(loop: ControlledLoop) -> None:
    """A run that wants what is not simulated is over, and is no outcome of the program."""
    refusal = loop.refusal
    if refusal is not None:
        raise Blocking(refusal.message, **(at(refusal.path, refusal.line) if refusal.path else {}))


class Guarding:
    """Keeps watch while it is open."""

    def __init__(self, guards: Guards, faults: Faults | None = None) -> None:
        self.guards = guards
        self.faults = faults or Faults()
        self._targets: dict[tuple[int, str], tuple[int, ...]] = {}
        self.loop: ControlledLoop | None = None
        """The loop of the run that is under way."""
        self.steps = 0
        self.stepping = False
        self._undo: list[Callable[[], object]] = []
        self._seen = (-1, 0)
        self._under_way = False
        self._dice = random.Random(guards.seed).getstate()
        self._asked: Counter[Pid] = Counter()
        self._surroundings = Surroundings()

    def start_run(self) -> None:
        self._surroundings.put_back()
        random.setstate(self._dice)
        self._asked.clear()
        start_again(self.guards.seed)
        self._under_way = True
        if self.guards.at_start:
            with between_runs():
                for put_back in self.guards.at_start:
                    put_back()
        files.begin_run()
        self._surroundings.note()

    def end_run(self) -> BaseException | None:
        """What is raised when a run is cleaned up after."""
        self._under_way = False
        problem: BaseException | None = None
        self._surroundings.put_back()
        with between_runs():
            for clean_up in self.guards.at_end:
                try:
                    clean_up()
                except KeyboardInterrupt:
                    raise
                except BaseException as raised:
                    problem = problem or raised
        return problem

    def __enter__(self) -> Guarding:
        dice = random.getstate()
        self._undo.append(lambda: random.setstate(dice))
        outer = Watch.loop, Watch.chance
        self._undo.append(lambda: _watch(*outer))
        self._undo.append(self._surroundings.put_back)
        _watch(self._loop, self._chance)
        self._undo += replace_chance()
        sleep = self._refusing(time.sleep, "time.sleep()", f"it blocks the loop: {_SLEEP}")
        self._undo += replace_functions(None if self.guards.real_time else sleep, self._refused_functions())
        if self.guards.suspend:
            self._undo += replace_mocks()
        self._replace_targets()
        self._undo += heeding(self._placed)
        for owner, name, why in _each(*_REFUSED):
            self._replace(owner, name, self._refusing(getattr(owner, name), _title(owner, name), why))
        if not self.guards.real_time:
            self._replace(threading.Condition, "wait", self._refuse_waiting(threading.Condition.wait))
        files.begin_session()
        self._watch_steps()
        return self

    def __exit__(self, kind: type | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        if self._under_way:
            self.end_run()  # what was set up for a run may have replaced what we have replaced
        while self._undo:
            self._undo.pop()()

    def _replace(self, owner: Any, name: str, value: object) -> None:
        own = name in vars(owner)
        before = getattr(owner, name)
        setattr(owner, name, value)
        self._undo.append(lambda: setattr(owner, name, before) if own else delattr(owner, name))

    def _replace_targets(self) -> None:
        """Let calls raise that are to raise. One that may raise several things is replaced once."""
        found: dict[tuple[int, str], tuple[Any, list[int]]] = {}
        try:
            for number, error in enumerate(self.faults.errors):
                instance_of(error)
                owner, name = find(error.target)
                found.setdefault((id(owner), name), (owner, []))[1].append(number)
        except InputError:
            self.__exit__(None, None, None)
            raise
        for (key, name), (owner, numbers) in found.items():
            self._targets[key, name] = tuple(numbers)
            self._undo += put_around(owner, name, self._failing(tuple(numbers)))

    def _failing(self, numbers: tuple[int, ...]) -> Any:
        return partial(failing, kinds=numbers, errors=self.faults.errors, suspends=self.guards.suspend)

    def _placed(self, owner: Any, name: str) -> None:
        """A test has replaced something: what stands there now may suspend, and raise."""
        value = inspect.getattr_static(owner, name, None)
        if value is None:
            return
        numbers = self._targets.get((id(owner), name))
        new = around(value, suspending) if self.guards.suspend else value
        if numbers is not None:
            new = around(new, self._failing(numbers))
        if new is not value:
            setattr(owner, name, new)

    def _chance(self, loop: ControlledLoop, size: int) -> bytes:
        """Random bytes for a step: the same whatever the order."""
        pid = loop.current.name.pid
        self._asked[pid] += 1
        return random.Random(f"{self.guards.seed}, {pid}, {self._asked[pid]}").randbytes(size)

    def _loop(self) -> ControlledLoop | None:
        """The loop whose step is under way in this thread."""
        loop = events._get_running_loop() if self.stepping else None
        return loop if isinstance(loop, ControlledLoop) else None

    # refusing -------------------------------------------------------------------------------------------------

    def _refused_functions(self) -> dict[Any, Any]:
        """Functions that are held by others under names of their own, with what takes their place."""
        refused = _each(*_STARTING, *(() if self.guards.real_time else _WAITING))
        found = ((getattr(owner, name), _title(owner, name), why) for owner, name, why in refused)
        changing = {} if self.guards.real_time else files.FUNCTIONS
        return {function: self._refusing(function, title, why) for function, title, why in found} | changing

    def _refusing(self, function: Any, name: str, why: str) -> Any:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            loop = Watch.loop()  # of the guarding that is open now
            if loop is None:
                return function(*args, **kwargs)
            raise loop.refuse(f"{name} in a step: {why}", sys._getframe(1))

        return followed(refuse)

    def _refuse_waiting(self, wait: Any) -> Any:
        """To wait for another thread; one who waits no time at all only looks."""

        def refuse(self: threading.Condition, timeout: float | None = None) -> Any:
            loop = None if timeout is not None and timeout <= 0 else Watch.loop()
            if loop is None:
                return wait(self, timeout)
            raise loop.refuse(f"threading.Condition.wait() in a step: {_BLOCKS}", sys._getframe(1))

        return followed(refuse)

    # steps that do not end ------------------------------------------------------------------------------------

    def _watch_steps(self) -> None:
        """A timer ticks twice in the time of a step; one that is still there after two ticks took too long."""
        if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
            return
        timer, number = signal.ITIMER_REAL, signal.SIGALRM
        if signal.getitimer(timer)[0]:  # somebody else's
            timer, number = signal.ITIMER_PROF, signal.SIGPROF
        handler = signal.signal(number, self._tick)
        signal.setitimer(timer, self.guards.step_seconds / 2, self.guards.step_seconds / 2)

        def stop() -> None:
            signal.setitimer(timer, 0)
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)

        self._undo.append(stop)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        step, ticks = self._seen
        self._seen = (self.steps, ticks + 1 if step == self.steps else 1)
        if self.stepping and self.loop is not None and self._seen[1] > 2 and not _debugged(frame):
            limit = f"the limit of {self.guards.step_seconds:g} s for one step (step_seconds)"
            raise self.loop.refuse(f"a step that does not end hit {limit}; this is where it stood", frame)


def _debugged(frame: FrameType | None) -> bool:
    """Does somebody sit at a debugger's prompt?"""
    while frame is not None:
        if frame.f_globals.get("__name__") in ("pdb", "bdb"):
            return True
        frame = frame.f_back
    return False


def _watch(loop: Any, chance: Any) -> None:
    Watch.loop, Watch.chance = loop, chance
