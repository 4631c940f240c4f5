"""`pytest --porcini`: a suite as it is, unmarked. What its reader gets to see, and what plain pytest says."""

import os
import re
from pathlib import Path
from textwrap import dedent
from time import monotonic

import pytest

import porcini.pytest_plugin.suite  # so that it is not loaded again by each test

pytest_plugins = "pytester"

COMMON = """
    import asyncio, unittest
    import pytest

    class Account:
        balance = 0

    async def pay(account, amount, waits):
        for _ in range(waits):
            await asyncio.sleep(0)
        balance = account.balance
        await asyncio.sleep(0)
        account.balance = balance + amount

    async def pay_in_turn(account):
        await asyncio.gather(pay(account, 1, 0), pay(account, 2, 2))
        assert account.balance == 3
"""


@pytest.fixture
def run(pytester, monkeypatch):
    source = str(Path(porcini.__file__).parents[1])
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH")))))

    def call(source, *args, mode="auto"):
        pytester.makepyfile(dedent(COMMON) + dedent(source))
        options = ("-o", f"asyncio_mode={mode}", "-o", "asyncio_default_fixture_loop_scope=function")
        result = pytester.runpytest("--porcini", *options, *args)
        return result, "\n".join(result.outlines)

    return call


def count(said, title):
    found = re.search(rf"^{title} +(\d+)", said, re.MULTILINE)
    return int(found[1]) if found else 0


KINDS = """
    async def test_held():
        account = Account()
        await pay(account, 3, 0)
        assert account.balance == 3

    async def test_depends():
        await pay_in_turn(Account())

    async def test_not_finished():
        account = Account()
        await asyncio.gather(*(pay(account, 1, 0) for _ in range(8)))

    async def test_not_possible():
        await asyncio.to_thread(len, "")

    def test_plain():
        pass
"""


def test_a_table_of_four_kinds(run):
    result, said = run(KINDS, "--porcini-budget", "0.5")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    titles = ("held in every order", "depends on the order", "not finished", "not possible", "not explored")
    assert [count(said, title) for title in titles] == [1, 1, 1, 1, 0]
    assert re.search(r"::test_depends: assert [12] == 3", said)
    assert re.search(r"::test_not_finished: .*schedules, stopped by the time limit of 0.5 s", said)
    assert "at Account.balance" in said
    assert 'to look for failures without a proof: @pytest.mark.porcini(engine="pct"' in said
    assert re.search(r"::test_not_possible: .*threads are not simulated", said)
    result.assert_outcomes(passed=5, failed=1)  # as without us, and one more


def test_a_line_to_paste_shows_the_failure_again(run, pytester):
    _, said = run(KINDS, "-k", "test_depends")
    line = re.search(r'^    pytest (\S+) --porcini --porcini-replay "(.*)"$', said, re.MULTILINE)
    again = pytester.runpytest(
        line[1], "--porcini", "--porcini-replay", line[2], "-o", "asyncio_mode=auto", "-W", "ignore"
    )
    again.assert_outcomes(failed=1)
    assert "this order fails" in "\n".join(again.outlines)


def test_a_test_that_blocks_for_a_moment_is_explored_in_real_time(run, pytester):
    _, said = run(
        """
        import time

        async def test_depends():
            time.sleep(0.001)
            await pay_in_turn(Account())
        """
    )
    assert count(said, "depends on the order") == 1
    line = re.search(
        r'^    pytest (\S+) --porcini --porcini-real-time --porcini-replay "(.*)"$', said, re.MULTILINE
    )
    options = ("--porcini", "--porcini-real-time", "-o", "asyncio_mode=auto", "-W", "ignore")
    pytester.runpytest(line[1], *options, "--porcini-replay", line[2]).assert_outcomes(failed=1)


def test_the_exit_status_is_that_of_plain_pytest(run):
    result, said = run(
        """
        async def test_held():
            await pay(Account(), 3, 0)

        async def test_not_possible():
            await asyncio.to_thread(len, "")
        """
    )
    assert result.ret == pytest.ExitCode.OK
    assert count(said, "held in every order") == count(said, "not possible") == 1


def test_what_fails_without_us_is_not_reported_twice(run):
    result, said = run(
        """
        async def test_fails():
            assert False

        @pytest.mark.xfail
        async def test_is_expected_to_fail():
            assert False

        async def test_is_skipped():
            pytest.skip("not here")

        @pytest.fixture
        def broken():
            yield
            raise OSError

        async def test_teardown_fails(broken):
            pass
        """
    )
    result.assert_outcomes(failed=1, xfailed=1, skipped=1, passed=1, errors=1)
    assert count(said, "not explored") == 4
    assert count(said, "depends on the order") == 0


STYLES = """
    @pytest.mark.asyncio
    async def test_of_pytest_asyncio():
        await pay_in_turn(Account())

    @pytest.mark.anyio
    @pytest.mark.parametrize("anyio_backend", ["asyncio"])
    async def test_of_anyio(anyio_backend):
        await pay_in_turn(Account())

    class TestMethods:
        @pytest.mark.asyncio
        async def test_method(self):
            await pay_in_turn(Account())

    class Case(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self):
            self.account = Account()

        async def test_of_unittest(self):
            await pay_in_turn(self.account)

    def run_it(function):
        import functools

        @functools.wraps(function)
        def run():
            asyncio.run(function())

        return run

    @run_it
    async def test_that_is_wrapped():
        await pay_in_turn(Account())
"""


@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_every_way_to_write_an_async_test(run, mode):
    result, said = run(STYLES, mode=mode)
    assert count(said, "depends on the order") == 5
    result.assert_outcomes(passed=5, failed=5)


def test_tests_that_nobody_runs_are_left_alone(run):
    _, said = run("\n    async def test_unmarked():\n        await pay_in_turn(Account())\n", mode="strict")
    assert count(said, "not explored") == 1


def test_a_marked_test_is_explored_once(run):
    result, said = run(
        """
        @pytest.mark.porcini
        async def test_marked():
            await pay_in_turn(Account())
        """
    )
    result.assert_outcomes(failed=1)
    assert count(said, "depends on the order") == 0


def test_what_fails_here_in_every_order_does_not_depend_on_it(run):
    """The test measures real time, which does not pass here."""
    result, said = run(
        """
        import time

        async def test_real_time():
            begun = time.process_time()
            await asyncio.sleep(0.01)
            assert asyncio.get_running_loop().__class__.__module__.startswith("asyncio")
        """
    )
    assert result.ret == pytest.ExitCode.OK
    assert "asyncio's own order fails, too, but not without Porcini: AssertionError" in said


def test_data_that_is_drawn(run):
    """All examples share the budget, and one that was not explored to its end is not forgotten."""
    pytest.importorskip("hypothesis")
    begun = monotonic()
    _, said = run(
        """
        from hypothesis import given, settings, strategies

        @settings(max_examples=10, database=None, derandomize=True)
        @given(tasks=strategies.integers(1, 9))
        async def test_held_or_not_finished(tasks):
            account = Account()
            await asyncio.gather(*(pay(account, 1, 0) for _ in range(tasks)))

        @settings(max_examples=10, database=None, derandomize=True)
        @given(tasks=strategies.integers(1, 3))
        async def test_depends(tasks):
            account = Account()
            await asyncio.gather(*(pay(account, 1, 2 * n) for n in range(tasks)))
            assert account.balance == tasks

        @settings(max_examples=10, database=None, derandomize=True)
        @given(tasks=strategies.integers(1, 2))
        async def test_held(tasks):
            account = Account()
            await asyncio.gather(*(pay(account, 1, 0) for _ in range(tasks)))
        """
    )
    assert count(said, "held in every order") == count(said, "not finished") == 1
    assert count(said, "depends on the order") == 1
    assert monotonic() - begun < 30


def test_who_counts_on_callbacks_is_told(run):
    _, said = run(
        """
        async def test_depends():
            results = {}
            task = asyncio.create_task(asyncio.sleep(0, 1))
            task.add_done_callback(lambda done: results.update(it=done.result()))
            await task
            assert results["it"] == 1
        """
    )
    assert re.search(r"::test_depends: KeyError: .*counts on when asyncio calls callbacks: mode=.fifo.", said)


def test_warnings_as_errors_are_no_errors_of_ours(run):
    """Runs that are given up leave coroutines behind that were never awaited."""
    result, said = run(
        """
        async def test_cancelled():
            async def work():
                try:
                    await asyncio.sleep(0)
                finally:
                    asyncio.current_task().get_name()

            tasks = [asyncio.create_task(work()) for _ in range(4)]
            tasks[0].cancel()
            await asyncio.wait(tasks)
        """,
        "-W",
        "error",
    )
    assert result.ret == pytest.ExitCode.OK
    assert "not possible" not in said


def test_workers_send_their_answers(run):
    pytest.importorskip("xdist")
    result, said = run(KINDS, "-n", "2", "--porcini-budget", "0.5", "-k", "not finished")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [count(said, title) for title in ("held in every order", "depends on the order", "not possible")] == [
        1
    ] * 3
    result.assert_outcomes(passed=4, failed=1)


def test_a_budget_makes_sense(pytester):
    result = pytester.runpytest("--porcini", "--porcini-budget", "0")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--porcini-budget is 0: it must be a number of seconds above 0*"])
