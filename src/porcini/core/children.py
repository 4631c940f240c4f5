"""Work that is done in a child process, because it may die, or never end, or do what it was told by a stranger.

    in_child     fork, do the work there, give back what it returns or raises
    sealed       the same in a child that can do nothing but think: no network, no programs, no files but those it
                 needs, no environment, a bounded part of the memory
    patience     around each call of a foreign interpreter: one that does not come back ends the sealed child

A child is a fork, not a new process: the work is any function, and nothing has to be loaded again. What comes back
is read with an unpickler that makes objects of Porcini's own classes and of nothing else.
"""

from __future__ import annotations

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
"""Seconds of the processor for one call of a foreign interpreter."""
_SHARE = 2
"""A child may take one part in so many of the machine's memory."""
_STACK_SHARE = 4
"""Of that, one part in so many may be its stack, where it needs a large one."""
_AFTER_INTERRUPT = 3.0
"""Seconds for a child that was interrupted, too, to say what it knows."""
_LARGEST_FILE = 1 << 28
_LONGEST_WORDS = 4096


class Died(Exception):
    """A child was ended by a signal; `words` are what it was about to do."""

    def __init__(self, number: int, words: str) -> None:
        super().__init__(f"ended by signal {number}")
        self.signal = number
        self.words = words


class _Seal:
    """What a child knows of itself."""

    longest: float | None = None
    """Seconds for one call; None in a process that is not sealed."""
    words: mmap.mmap | None = None
    """Where it says what it is about to do; None in a process that is no child."""


_seal = _Seal()


# Any child ----------------------------------------------------------------------------------------------------


def in_child(work: Callable[[], T], *, timeout: float | None = None, large_stack: bool = False) -> T:
    """Do some work in a fork of this process, within half of the memory. A child that takes too long is ended, and
    that is a `TimeoutError`; one that dies is `Died`."""

    def bounded() -> T:
        _bound_memory()
        return _in_large_stack(work) if large_stack else work()

    return _forked(bounded, mmap.mmap(-1, _LONGEST_WORDS), timeout)


def _forked(work: Callable[[], T], words: mmap.mmap, timeout: float | None) -> T:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()  # or the child would write it once more
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads do not go on in the child, nor need to
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        _seal.words = words
        _answer(work, writing)
    os.close(writing)
    answer = b""
    try:
        answer = _received(reading, timeout)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        raise Died(os.WTERMSIG(status), bytes(words).partition(b"\0")[0].decode("utf-8", "replace"))
    if not answer:
        raise InternalError(f"a child ended with status {os.waitstatus_to_exitcode(status)} and said nothing")
    returned, found = _Careful(io.BytesIO(answer)).load()
    if returned:
        result: T = found
        return result
    raise found


def _received(reading: int, timeout: float | None) -> bytes:
    """All that a child says, until it has ended."""
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


def _answer(work: Callable[[], object], writing: int) -> None:
    """In the child: do the work, say what came of it, and end without going back to what the parent does."""
    try:
        _close_others(writing)
        try:
            said = pickle.dumps((True, work()))
        except BaseException as problem:
            if "--debug" in sys.argv:
                traceback.print_exception(problem)
            said = _as_problem(problem)
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):
                stream.flush()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(said)
        os._exit(0)
    finally:
        os._exit(1)


def _close_others(writing: int) -> None:
    """All descriptors but the pipe and the standard streams, wherever these are."""
    kept = {0, 1, 2, writing}
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            kept.add(stream.fileno())
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    first = 3
    for number in [*sorted(kept - {0, 1, 2}), min(most, 1 << 20)]:
        os.closerange(first, number)
        first = number + 1


def _as_problem(problem: BaseException) -> bytes:
    try:
        said = pickle.dumps((False, problem))
        _Careful(io.BytesIO(said)).load()
    except Exception:
        said = pickle.dumps((False, InternalError(f"{type(problem).__name__}: {problem}")))
    return said


class _Careful(pickle.Unpickler):
    """Makes objects of our classes and of a few plain ones: what a child says is data."""

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
    """Not all of the memory, and no core: how much there is."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = total // _SHARE if hard == resource.RLIM_INFINITY else min(total // _SHARE, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return wanted


def _in_large_stack(work: Callable[[], T]) -> T:
    """In a thread: the stack of the main one can grow only as far as was settled when the program was started."""
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


def sealed(work: Callable[[Path], T], readable: Iterable[Path], longest: float = LONGEST_CALL) -> T:
    """Do some work in a child that can do nothing else. It is given a folder of its own, the only one in which it
    may write; besides it can read what Python needs, and what is below `readable`."""
    words = mmap.mmap(-1, _LONGEST_WORDS)
    with tempfile.TemporaryDirectory(prefix="porcini-") as name:
        own = Path(name).resolve()

        def alone() -> T:
            _seal.longest = longest
            _keep_streams_from_others()
            os.environ.clear()
            tempfile.tempdir = str(own)
            _bound_memory()
            resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
            kernel.end_with_parent()
            kernel.seal(readable, own)
            return work(own)

        return _forked(alone, words, None)


def _keep_streams_from_others() -> None:
    """The standard streams are ours: what a foreign library writes to their descriptors goes nowhere."""
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
def patience() -> Iterator[None]:
    """A call of a foreign interpreter, which holds the process and hears no signals of Python's: in a sealed child
    it ends the child if it takes too long. The parent sees by which signal."""
    if _seal.longest is None:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, _seal.longest)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def last_words(text: str) -> None:
    """What this child is about to do, should it die of it."""
    if _seal.words is not None:
        _seal.words.seek(0)
        _seal.words.write(text.encode()[: _LONGEST_WORDS - 1] + b"\0")
