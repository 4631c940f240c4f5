"""The life of a test was run once for all schedules, or not at all: `setup_method` and `tmp_path` were shared,
`setUp` and `asyncSetUp` were never called, so that a test passed which plain pytest fails; a teardown that failed
had no replay line; `@patch` and `@given` were misunderstood, and async fixtures were refused.
"""

from __future__ import annotations

import re

import pytest

pytest_plugins = "pytester"

RACE = """
    import asyncio, unittest
    from unittest.mock import patch
    import pytest

    class Account:
        balance = 0

    async def pay(account, amount):
        balance = account.balance
        await asyncio.sleep(0)
        account.balance = balance + amount

    async def pay_twice(account):
        await asyncio.gather(pay(account, 1), pay(account, 2))
"""


@pytest.fixture
def outcomes(pytester, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")

    def run(source: str, *args: str, **expected: int) -> str:
        pytester.makepyfile(RACE + source)
        result = pytester.runpytest("-W", "ignore::pytest.PytestDeprecationWarning", *args)
        result.assert_outcomes(**expected)
        return "\n".join(result.outlines)

    return run


XUNIT = """
    def setup_function(function):
        global shared, ups
        shared, ups = Account(), ups + 1

    ups = 0

    @pytest.mark.porcini
    async def test_function():
        assert shared.balance == 0
        await pay_twice(shared)

    class TestXunit:
        downs = 0

        def setup_method(self):
            assert not hasattr(self, "account")  # a new object each time
            self.account = Account()

        def teardown_method(self):
            type(self).downs += 1

        @pytest.mark.porcini
        async def test_method(self):
            assert self.account.balance == 0
            await pay_twice(self.account)

    def test_all_of_them():
        assert ups > 6
        assert TestXunit.downs > 6
"""


def test_setup_and_teardown_for_each_schedule(outcomes) -> None:
    outcomes(XUNIT, passed=3)


UNITTEST = """
    times = 0

    class TestCase(unittest.IsolatedAsyncioTestCase):
        def setUp(self):
            global times
            times += 1
            self.log = ["setUp"]
            self.account = Account()
            self.addCleanup(self.check)

        async def asyncSetUp(self):
            await asyncio.sleep(0)
            self.account.balance += 1
            self.addCleanup(self.log.append, "cleanup")
            self.addAsyncCleanup(self.clean)

        async def clean(self):
            await asyncio.sleep(0)
            self.log.append("async cleanup")

        def check(self):
            self.assertEqual(self.log, ["setUp", "asyncTearDown", "tearDown", "async cleanup", "cleanup"])

        @pytest.mark.porcini
        async def test_sets_up(self):
            self.assertEqual(self.account.balance, 1)
            await pay_twice(self.account)

        async def asyncTearDown(self):
            await asyncio.sleep(0)
            self.log.append("asyncTearDown")

        def tearDown(self):
            self.log.append("tearDown")

    def test_times():
        assert times > 6

    class TestFailing(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self):
            self.account = Account()

        @pytest.mark.porcini
        async def test_fails_in_teardown(self):
            await pay_twice(self.account)

        async def asyncTearDown(self):
            self.assertEqual(self.account.balance, 3)

    class TestSetup(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self):
            raise ValueError("no server")

        @pytest.mark.porcini
        async def test_is_not_reached(self):
            raise AssertionError

    class TestExpected(unittest.IsolatedAsyncioTestCase):
        @pytest.mark.porcini
        @unittest.expectedFailure
        async def test_expected(self):
            pass
"""


def test_a_test_case_is_run_with_its_setup(outcomes) -> None:
    said = outcomes(UNITTEST, passed=2, failed=3)
    assert "ValueError: no server" in said
    assert re.search(r"::TestFailing::test_fails_in_teardown --porcini-replay \"0", said)
    assert "unittest.expectedFailure is not for marked tests (use pytest.mark.xfail)" in said


TEARDOWN = """
    @pytest.fixture
    def account():
        account = Account()
        yield account
        assert account.balance == 3, "lost"

    @pytest.mark.porcini
    async def test_fixture(account):
        await pay_twice(account)
"""


def test_a_teardown_that_fails_is_a_failure_with_a_replay_line(outcomes) -> None:
    said = outcomes(TEARDOWN, failed=1)
    line = re.search(r"^pytest \S+::test_fixture --porcini-replay \"(.*)\"$", said, re.M)
    assert line is not None
    assert "AssertionError: lost" in said
    outcomes(TEARDOWN, "--porcini-replay", line[1], failed=1)
    outcomes(TEARDOWN, "--porcini-replay", "0 0.0x2 0.1x2 0", passed=1)


ORDER = """
    @pytest.fixture
    def log():
        log = []
        yield log
        assert log == ["a", "b"]

    @pytest.mark.porcini
    async def test_order(log):
        async def put(name):
            log.append(name)

        await asyncio.gather(put("a"), put("b"))
"""


def test_a_teardown_sees_the_order_of_items(outcomes) -> None:
    outcomes(ORDER, failed=1)


FIXTURES = """
    seen = set()

    @pytest.mark.porcini
    async def test_folder(tmp_path):
        assert not list(tmp_path.iterdir())
        (tmp_path / "file").write_text("")
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "file").write_text("")
        seen.add(tmp_path)
        await pay_twice(Account())

    def test_one_folder():
        assert len(seen) == 1

    @pytest.fixture
    def balanced(monkeypatch, request):
        assert Account.balance == 0
        monkeypatch.setattr(Account, "balance", 1)
        request.addfinalizer(lambda: None)

    @pytest.mark.porcini
    async def test_monkeypatch(balanced):
        account = Account()
        assert account.balance == 1
        await pay_twice(account)
        Account.balance = 7

    def test_it_is_undone():
        assert Account.balance == 0

    @pytest.mark.porcini
    @patch.object(Account, "balance", 10)
    @patch("os.getcwd")
    async def test_patched(mocked, capsys):
        account = Account()
        assert account.balance == 10
        await pay_twice(account)
        assert account.balance in (11, 12, 13)
"""


def test_fixtures_of_any_kind_are_made_for_each_schedule(outcomes) -> None:
    outcomes(FIXTURES, passed=5)


ASYNC = """
    import pytest_asyncio

    made = 0

    @pytest_asyncio.fixture
    async def account():
        global made
        made += 1
        await asyncio.sleep(0)
        account = Account()
        account.loop = asyncio.get_running_loop()
        yield account
        await asyncio.sleep(0)
        assert account.balance == 3, "lost in teardown"

    @pytest.fixture
    async def rich(account):
        return account

    @pytest.mark.porcini
    async def test_explored(account, rich):
        assert account is rich and account.loop is asyncio.get_running_loop()
        await pay(account, 3)

    def test_for_each_schedule():
        assert made > 1

    @pytest.mark.porcini
    async def test_teardown(rich):
        await pay_twice(rich)

    @pytest.mark.asyncio
    async def test_plain(account):
        await pay(account, 3)

    class TestMethods:
        @pytest_asyncio.fixture
        async def mine(self):
            self.account = Account()
            yield self

        @pytest.mark.porcini
        async def test_method(self, mine):
            assert mine is self
            await pay_twice(self.account)

    @pytest_asyncio.fixture(scope="module")
    async def wide():
        yield

    @pytest.mark.porcini
    async def test_wide(wide):
        pass
"""


def test_async_fixtures_are_made_on_the_explored_loop(outcomes) -> None:
    said = outcomes(ASYNC, passed=4, failed=1, errors=1)
    assert "AssertionError: lost in teardown" in said
    assert re.search(r"::test_teardown --porcini-replay \"0", said)
    assert "`wide` is an async fixture for a module." in said


ANYIO = """
    @pytest.fixture
    def anyio_backend():
        return "asyncio"

    @pytest.fixture
    async def account(anyio_backend):
        yield Account()

    @pytest.mark.porcini
    async def test_explored(account):
        await pay_twice(account)
        assert account.balance == 3

    @pytest.mark.anyio
    async def test_plain(account):
        await pay(account, 3)
"""


def test_fixtures_of_anyio(outcomes) -> None:
    outcomes(ANYIO, passed=1, failed=1)


GIVEN = """
    from hypothesis import given, settings, strategies as st

    @pytest.mark.porcini
    @settings(max_examples=20, database=None)
    @given(amount=st.integers(0, 100))
    async def test_given(amount):
        account = Account()
        await asyncio.gather(pay(account, amount), pay(account, 1))
        assert account.balance <= 1 or account.balance == amount + 1

    @pytest.mark.porcini
    @settings(max_examples=5, database=None)
    @given(amount=st.integers(0, 100))
    async def test_holds(amount):
        account = Account()
        await pay(account, amount)
        assert account.balance == amount
"""


def test_data_is_drawn_by_hypothesis_and_orders_by_porcini(outcomes) -> None:
    said = outcomes(GIVEN, passed=1, failed=1)
    assert "amount=2" in said
    assert re.search(r"::test_given --porcini-replay \"0", said)
