"""Refusals were exceptions like others: `except Exception`, `gather(return_exceptions=True)`, a task that nobody
awaits or a thread swallowed them, and a test that wanted threads or the network passed. pytest reported those that
came through as failures of the test, so that `xfail` swallowed them as well.

Now the loop keeps a refusal when it happens, the run ends there, and the report is an error with its line. What
was imported by name, or is called by C code, was not refused at all: `execv` ended pytest, which looked like a
pass.
"""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import os
import queue
import signal
import socket
import subprocess
import threading
from _thread import start_new_thread as start_in_a_thread
from os import execv as exec_in_place_of_this
from os import fork as fork_this
from pathlib import Path
from select import select as wait_for_files
from typing import Any

import pytest

import porcini
from porcini.coroutines import Blocking

pytest_plugins = "pytester"
OTHER_THREAD: queue.SimpleQueue[Any] = queue.SimpleQueue()


async def caught_as_an_exception():
    with contextlib.suppress(Exception):
        await asyncio.to_thread(print)


async def caught_as_anything():
    with contextlib.suppress(BaseException):
        await asyncio.to_thread(print)


async def gathered():
    await asyncio.gather(asyncio.open_connection("localhost", 1), return_exceptions=True)


async def in_a_task_that_nobody_awaits():
    task = asyncio.create_task(asyncio.to_thread(print))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return task.done()


async def in_a_callback():
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: None)
    loop.call_soon(lambda: loop.run_in_executor(None, print))
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def at_the_end():
    async def left_over():
        try:
            await asyncio.sleep(100)
        finally:
            with contextlib.suppress(BaseException):
                asyncio.get_running_loop().add_signal_handler(1, print)

    task = asyncio.create_task(left_over())
    await asyncio.sleep(0)
    return task.done()


async def in_a_return_in_finally():
    async def inner():
        try:
            await asyncio.create_subprocess_exec("true")
        finally:
            return 1  # noqa: B012

    return await inner()


async def in_another_thread_that_catches():
    loop = asyncio.get_running_loop()
    called: list[int] = []

    def call() -> None:
        with contextlib.suppress(BaseException):
            loop.call_soon_threadsafe(print)
        called.append(1)

    OTHER_THREAD.put(call)
    while not called:
        pass


async def by_a_raw_thread():
    with contextlib.suppress(BaseException):
        _thread.start_new_thread(print, ())


async def by_a_thread_of_a_name_of_its_own():
    with contextlib.suppress(BaseException):
        start_in_a_thread(print, ())


async def by_another_program():
    with contextlib.suppress(BaseException):
        exec_in_place_of_this("/bin/true", ["true"])


async def by_a_fork_of_a_name_of_its_own():
    with contextlib.suppress(BaseException):
        fork_this()


async def by_waiting_for_a_thread():
    with contextlib.suppress(BaseException):
        threading.Event().wait(0.001)


async def by_waiting_for_a_file():
    with contextlib.suppress(BaseException):
        wait_for_files([], [], [], 0.001)


async def by_an_alarm():
    with contextlib.suppress(BaseException):
        signal.setitimer(signal.ITIMER_REAL, 1)


async def by_a_process():
    with contextlib.suppress(BaseException):
        subprocess.run(["true"], check=False)


async def by_a_shell():
    with contextlib.suppress(BaseException):
        os.system("true")


async def by_a_name_server():
    with contextlib.suppress(BaseException):
        socket.getaddrinfo("localhost", 80)


async def by_a_datagram():
    with contextlib.suppress(BaseException), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"", ("localhost", 9))


async def by_the_loop_itself():
    with contextlib.suppress(BaseException):
        asyncio.get_running_loop().stop()


SWALLOWING = [
    (caught_as_an_exception, "to_thread"),
    (caught_as_anything, "to_thread"),
    (gathered, "gather"),
    (in_a_task_that_nobody_awaits, None),
    (in_a_callback, "run_in_executor"),
    (at_the_end, "add_signal_handler"),
    (in_a_return_in_finally, "create_subprocess_exec"),
    (in_another_thread_that_catches, "call_soon_threadsafe"),
    (by_a_raw_thread, "start_new_thread"),
    (by_a_thread_of_a_name_of_its_own, "start_in_a_thread"),
    (by_another_program, "exec_in_place_of_this"),
    (by_a_fork_of_a_name_of_its_own, "fork_this"),
    (by_waiting_for_a_thread, "wait"),
    (by_waiting_for_a_file, "wait_for_files"),
    (by_an_alarm, "setitimer"),
    (by_a_process, "subprocess.run"),
    (by_a_shell, "os.system"),
    (by_a_name_server, "getaddrinfo"),
    (by_a_datagram, "sendto"),
    (by_the_loop_itself, "stop"),
]


@pytest.fixture
def another_thread():
    """Calls what is put into a queue; it was there before the exploration."""

    def serve() -> None:
        while (call := OTHER_THREAD.get()) is not None:
            call()

    thread = threading.Thread(target=serve)
    thread.start()
    yield
    OTHER_THREAD.put(None)
    thread.join()


def test_to_look_at_a_semaphore_of_threads_is_not_to_wait_for_one() -> None:
    async def looks() -> bool:
        return threading.Semaphore(0).acquire(timeout=0)

    assert porcini.explore(looks).verdict == "holds"


@pytest.mark.parametrize(("program", "words"), SWALLOWING, ids=lambda value: getattr(value, "__name__", ""))
def test_a_refusal_is_the_verdict_whatever_the_program_catches(program, words, another_thread) -> None:
    with pytest.raises(Blocking) as caught:
        porcini.explore(program)
    if words is not None:
        assert caught.value.place is not None
        line = Path(__file__).read_text(encoding="utf-8").splitlines()[caught.value.place.line - 1]
        assert words in line


def test_nothing_runs_after_a_refusal() -> None:
    """The run ends in the step that was refused."""
    seen: list[str] = []

    async def refused() -> None:
        with contextlib.suppress(BaseException):
            await asyncio.to_thread(print)
        await asyncio.sleep(0)
        seen.append("went on")

    with pytest.raises(Blocking, match="threads are not simulated"):
        porcini.explore(refused)
    assert seen == []


def test_a_loop_that_runs_says_so_itself() -> None:
    """asyncio itself refuses to run a loop that runs, and programs may catch that."""

    async def probing() -> str:
        coroutine = asyncio.sleep(0)
        try:
            asyncio.get_running_loop().run_until_complete(coroutine)
        except RuntimeError as problem:
            coroutine.close()
            return str(problem)
        return ""

    assert porcini.explore(probing).outcomes[0].state["result"] == "This event loop is already running"


def test_a_loop_that_runs_cannot_be_closed() -> None:
    """It was, and the run went on without its tasks."""

    async def closing() -> str:
        try:
            asyncio.get_running_loop().close()
        except RuntimeError as problem:
            return str(problem)
        return ""

    assert porcini.explore(closing).outcomes[0].state["result"] == "Cannot close a running event loop"


ERRORS = """
    import asyncio
    import pytest

    @pytest.mark.porcini
    async def test_swallows():
        await asyncio.gather(asyncio.to_thread(print), return_exceptions=True)

    @pytest.mark.xfail
    @pytest.mark.porcini
    async def test_is_expected_to_fail():
        await asyncio.to_thread(print)
"""


def test_pytest_reports_an_error_and_not_a_failure(pytester) -> None:
    pytester.makepyfile(ERRORS)
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*test_pytest_reports_an_error_and_not_a_failure.py:6:*loop.run_in_executor*"])
