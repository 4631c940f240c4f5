"""Refusals were exceptions like others: `except Exception`, `gather(return_exceptions=True)`, a task that nobody
awaits or a thread swallowed them, and a test that wanted threads or the network passed. pytest reported those that
came through as failures of the test, so that `xfail` swallowed them as well.

Now the loop keeps a refusal when it happens, the run ends there, and the report is an error with its line.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

import porcini
from porcini.coroutines import Blocking

pytest_plugins = "pytester"


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

    def call() -> None:
        with contextlib.suppress(BaseException):
            loop.call_soon_threadsafe(print)

    thread = threading.Thread(target=call)
    threading.Thread._real_start(thread)
    thread.join()


async def by_a_raw_thread():
    import _thread

    with contextlib.suppress(BaseException):
        _thread.start_new_thread(print, ())


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
    (by_a_process, "subprocess.run"),
    (by_a_shell, "os.system"),
    (by_a_name_server, "getaddrinfo"),
    (by_a_datagram, "sendto"),
    (by_the_loop_itself, "stop"),
]


@pytest.mark.parametrize(("program", "words"), SWALLOWING, ids=lambda value: getattr(value, "__name__", ""))
def test_a_refusal_is_the_verdict_whatever_the_program_catches(program, words, monkeypatch) -> None:
    monkeypatch.setattr(threading.Thread, "_real_start", threading.Thread.start, raising=False)
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
