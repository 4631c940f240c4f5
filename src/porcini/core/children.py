"""Work that is done in a child process, because it may crash, never end, or be under the control of a stranger.

    run_in_child   forks, does the work in the child, and returns or raises what the work returns or raises
    run_sealed     does the same in a child that can only compute: it has no network, cannot start programs, reads
                   only the files that it needs, has no environment, and gets a bounded part of the memory
    time_limit     surrounds each call of a foreign interpreter: a call that does not return ends the sealed child

A child is a fork, not a new process: the work can be any function, and nothing has to be loaded again. Its answer
is read by an unpickler that creates objects of Porcini's own classes and of a few plain ones.
"""

from __future__ import annotations

import gc
import io
import mmap
import os
import pickle
import resource
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from porcini.core import kernel
from porcini.core.errors import InternalError

T = TypeVar("T")

LONGEST_CALL = 60.0
"""Seconds of processor time for one call of a foreign interpreter."""
_SHARE = 2
"""A child may use this fraction of the machine's memory: one half."""
_STACK_SHARE = 4
"""A large stack may use this fraction of the child's memory: one quarter."""
_AFTER_INTERRUPT = 3.0
"""Seconds that a child has after an interrupt, which it receives as well, to report what it knows."""
_LARGEST_FILE = 1 << 28
_LONGEST_WORDS = 4096


class ChildDied(Exception):
    """A child was ended by a signal; `announced` is what it had announced that it was about to do."""

    def __init__(self, number: int, announced: str) -> None:
        super().__init__(f"ended by signal {number}")
        self.signal = number
        self.announced = announced


class _Seal:
    """What a child knows about itself."""

    longest: float | None = None
    """Seconds for one call; None in a process that is not sealed."""
    announced: mmap.mmap | None = None
    """Memory shared with the parent, in which the child announces what it is about to do; None in a process that
    is not a child."""


_seal = _Seal()


# Any child ----------------------------------------------------------------------------------------------------


def run_in_child(work: Callable[[], T], *, timeout: float | None = None, large_stack: bool = False) -> T:
    """Do some work in a fork of this process, with at most half of the memory. A child that takes too long is
    killed and raises `TimeoutError`; one that is ended by a signal raises `ChildDied`."""

    def bounded() -> T:
        _bound_memory()
        return _in_large_stack(work) if large_stack else work()

    return _run_in_fork(bounded, mmap.mmap(-1, _LONGEST_WORDS), timeout)


def _run_in_fork(work: Callable[[], T], announced: mmap.mmap, timeout: float | None) -> T:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()  # otherwise the child would write its copy of the buffer again
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads do not run in the child, and need not
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        gc.freeze()  # to look for garbage among the parent's objects would copy all of its memory
        _seal.announced = announced
        _work_and_exit(work, writing)
    os.close(writing)
    answer = b""
    try:
        answer = _receive(reading, timeout)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        raise ChildDied(os.WTERMSIG(status), bytes(announced).partition(b"\0")[0].decode("utf-8", "replace"))
    if not answer:
        raise InternalError(f"a child ended with status {os.waitstatus_to_exitcode(status)} and said nothing")
    returned, found = _SafeUnpickler(io.BytesIO(answer)).load()
    if returned:
        result: T = found
        return result
    raise found


def _receive(reading: int, timeout: float | None) -> bytes:
    """Everything that a child writes to its pipe, until it closes it."""
    until = None if timeout is None else time.monotonic() + timeout
    found, interrupted = bytearray(), False
    while True:
        try:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([reading], [], [], left)[0]:
                if interrupted:
                    raise KeyboardInterrupt
                raise TimeoutError
            part = os.read(reading, 1 << 16)
            if not part:
                return bytes(found)
            found += part
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted, until = True, time.monotonic() + _AFTER_INTERRUPT


def _work_and_exit(work: Callable[[], object], writing: int) -> None:
    """In the child: do the work, write the result to the pipe, and exit without returning to the parent's code."""
    try:
        _close_others(writing)
        try:
            said = pickle.dumps((True, work()))
        except BaseException as problem:
            if "--debug" in sys.argv:
                traceback.print_exception(problem)
            said = _pickle_error(problem)
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):
                stream.flush()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(said)
        os._exit(0)
    finally:
        os._exit(1)


def _close_others(writing: int) -> None:
    """Close all descriptors except the pipe and the standard streams, whatever numbers these have."""
    kept = {0, 1, 2, writing}
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            kept.add(stream.fileno())
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    first = 3
    for number in [*sorted(kept - {0, 1, 2}), min(most, 1 << 20)]:
        os.closerange(first, number)
        first = number + 1


def _pickle_error(problem: BaseException) -> bytes:
    try:
        said = pickle.dumps((False, problem))
        _SafeUnpickler(io.BytesIO(said)).load()
    except Exception:
        said = pickle.dumps((False, InternalError(f"{type(problem).__name__}: {problem}")))
    return said


class _SafeUnpickler(pickle.Unpickler):
    """Creates objects of our own classes and of a few plain ones only: what a child sends is data, not code."""

    _PLAIN = frozenset({"set", "frozenset", "complex", "range", "slice", "bytearray"})

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        plain = module == "builtins" and (name in self._PLAIN or _is_exception(found))
        plain = plain or (module, name) in {("collections", "Counter"), ("collections", "OrderedDict")}
        ours = module.partition(".")[0] == "porcini" and isinstance(found, type)
        if plain or ours or module == "pathlib":
            return found
        raise pickle.UnpicklingError(f"a child sent a {module}.{name}")


def _is_exception(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)


def _bound_memory() -> int:
    """Bound this process's memory and disable core dumps; return the bound."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = total // _SHARE if hard == resource.RLIM_INFINITY else min(total // _SHARE, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return wanted


def _in_large_stack(work: Callable[[], T]) -> T:
    """Do some work in a new thread with a large stack: the size of the main thread's stack was fixed when the
    program was started."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    found: list[Any] = []

    def caught() -> None:
        try:
            found.append((True, work()))
        except BaseException as problem:
            found.append((False, problem))

    threading.stack_size(soft // _STACK_SHARE // mmap.PAGESIZE * mmap.PAGESIZE)
    thread = threading.Thread(target=caught)
    thread.start()
    thread.join()
    returned, result = found[0]
    if returned:
        answer: T = result
        return answer
    raise result


# A sealed child -----------------------------------------------------------------------------------------------


def is_sealed() -> bool:
    return _seal.longest is not None


def run_sealed(work: Callable[[Path], T], readable: Iterable[Path], longest: float = LONGEST_CALL) -> T:
    """Do some work in a child that can do nothing else. The work is given a folder of its own, the only one in
    which it may write; it can also read what Python needs, and what is below `readable`."""
    announced = mmap.mmap(-1, _LONGEST_WORDS)
    with tempfile.TemporaryDirectory(prefix="porcini-") as name:
        own = Path(name).resolve()

        def alone() -> T:
            _seal.longest = longest
            _detach_standard_streams()
            os.environ.clear()
            tempfile.tempdir = str(own)
            _bound_memory()
            resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
            kernel.end_with_parent()
            kernel.seal(readable, own)
            return work(own)

        return _run_in_fork(alone, announced, None)


def _detach_standard_streams() -> None:
    """Keep the standard streams for ourselves: what a foreign library writes to descriptors 0 to 2 is
    discarded."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        with suppress(AttributeError, OSError, ValueError):
            if stream.fileno() == number:
                mode = "r" if number == 0 else "w"
                own = os.fdopen(os.dup(number), mode, encoding=stream.encoding, errors=stream.errors)
                setattr(sys, name, own)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, number)
        os.close(nowhere)


@contextmanager
def time_limit() -> Iterator[None]:
    """Bound one call of a foreign interpreter. Such a call blocks the process and reacts to none of Python's
    signals, so in a sealed child a timer ends the child if the call takes too long. The parent sees by which
    signal."""
    if _seal.longest is None:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, _seal.longest)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def announce(text: str) -> None:
    """Tell the parent what this child is about to do, in case that kills it."""
    if _seal.announced is not None:
        _seal.announced.seek(0)
        _seal.announced.write(text.encode()[: _LONGEST_WORDS - 1] + b"\0")
