"""The corpus of asyncio programs says the truth about itself: checked by running every order of ready handles."""

import ast
import asyncio
import contextlib
import gc
import math

import pytest

from aio.corpus_reference import CORPUS, ReplayError, as_expected, corpus_names, explore, load, max_steps_of, run

# Under plain FIFO order these show their bug already (a timeout is registered before what it races with).
NOT_HIDDEN = {"timeout_result_lost", "wait_for_result_lost"}


def test_the_corpus_is_large_enough():
    assert len(corpus_names()) >= 24


@pytest.mark.parametrize("which", ["buggy", "correct"])
@pytest.mark.parametrize("name", corpus_names())
def test_every_order_shows_what_the_program_expects(name, which):
    module = load(name)
    found = explore(getattr(module, which), max_runs=5_000, max_steps=max_steps_of(module))
    assert as_expected(found, module.EXPECTED[which]), found.counts
    for outcome, choices in found.first.items():
        assert run(getattr(module, which), choices, max_steps=max_steps_of(module)).outcome == outcome


@pytest.mark.parametrize("name", corpus_names())
def test_bugs_are_hidden_from_a_plain_run(name):
    module = load(name)
    if name not in NOT_HIDDEN:
        assert run(module.buggy).outcome[0] == "ok"
    assert run(module.correct).outcome[0] == "ok"


@pytest.mark.parametrize("name", corpus_names())
def test_programs_are_plain_python(name):
    tree = ast.parse((CORPUS / f"{name}.py").read_text())
    assert ast.get_docstring(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert "porcini" not in ast.unparse(node)


@pytest.mark.parametrize("tasks, steps", [(1, 3), (2, 1), (2, 3), (3, 2), (4, 1)])
def test_the_number_of_runs_is_the_number_of_orders(tasks, steps):
    async def program():
        async def task():
            for _ in range(steps - 1):
                await asyncio.sleep(0)

        everyone = [asyncio.create_task(task()) for _ in range(tasks)]
        await asyncio.sleep(1)  # until all are done: time passes only then, and nobody has a callback on them
        assert all(one.done() for one in everyone)

    assert explore(program).runs == math.factorial(tasks * steps) // math.factorial(steps) ** tasks


def test_timers_fire_in_time_and_race_at_one_instant():
    async def program():
        log = []
        loop = asyncio.get_running_loop()
        for delay, name in [(3, "c"), (1, "a"), (1, "b"), (2, "x")]:
            loop.call_later(delay, log.append, name)
        loop.call_later(0.5, log.append, "never").cancel()
        await asyncio.sleep(4)
        return "".join(log), loop.time()

    assert explore(program).outcomes == {("ok", "('abxc', 4.0)"), ("ok", "('baxc', 4.0)")}


def test_time_does_not_move_while_something_is_ready():
    async def program():
        fired = []
        asyncio.get_running_loop().call_later(0.001, fired.append, True)
        for _ in range(20):
            await asyncio.sleep(0)
        return fired

    assert explore(program).outcomes == {("ok", "[]")}


def test_outcomes_and_limits():
    async def deadlock():
        await asyncio.Event().wait()

    async def cancelled():
        raise asyncio.CancelledError

    async def group():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(failing())

    async def failing():
        raise AssertionError("inside")

    async def spin():
        while True:
            await asyncio.sleep(0)

    async def thread():
        await asyncio.to_thread(print)

    assert explore(deadlock).outcomes == {("deadlock",)}
    assert explore(cancelled).outcomes == {("error", "CancelledError")}
    assert explore(group).outcomes == {("assertion", "inside")}
    assert explore(thread).outcomes == {("error", "RuntimeError")}
    endless = explore(spin, max_steps=10)
    assert (endless.outcomes, endless.cut, endless.complete) == (set(), 1, True)
    assert not explore(load("condition_if").buggy, max_runs=10).complete


def test_a_program_that_is_no_function_of_its_choices_is_refused():
    counts = iter(range(2, 100))

    async def program():
        for _ in range(next(counts)):
            asyncio.create_task(asyncio.sleep(0))  # noqa: RUF006
        await asyncio.sleep(1)

    with pytest.raises(ReplayError):
        explore(program)


def test_nothing_is_left_behind(capfd):
    async def program():
        async def stubborn():
            while True:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)

        async def numbers():
            try:
                yield 1
            finally:
                await asyncio.sleep(0)

        asyncio.create_task(stubborn())  # noqa: RUF006
        asyncio.create_task(asyncio.Event().wait())  # noqa: RUF006
        source = numbers()
        return await anext(source)

    assert explore(program, max_runs=20).outcomes == {("ok", "1")}
    gc.collect()
    assert capfd.readouterr() == ("", "")
