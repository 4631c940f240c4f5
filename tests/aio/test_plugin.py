"""The pytest plugin, seen from outside: what a developer gets to read, and what other plugins are left with."""

import importlib.util
import os
import re
import textwrap
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import porcini.pytest_plugin.running  # so that it is not loaded again by each test

pytest_plugins = "pytester"

INSTALLED = any(point.name == "porcini" for point in entry_points(group="pytest11"))
ALWAYS = () if INSTALLED else ("-p", "porcini.pytest_plugin")

LOST_UPDATE = """
    import asyncio
    import pytest

    class Account:
        def __init__(self):
            self.balance = 0

    async def pay(account, amount):
        balance = account.balance
        await asyncio.sleep(0)
        account.balance = balance + amount

    @pytest.mark.porcini
    async def test_pay():
        account = Account()
        async with asyncio.TaskGroup() as group:
            group.create_task(pay(account, 1))
            group.create_task(pay(account, 2))
        assert account.balance == 3
"""


@pytest.fixture
def run(pytester, monkeypatch):
    source = str(Path(porcini.__file__).parents[1])
    monkeypatch.setenv("COLUMNS", "160")  # whatever terminal this is run in
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH")))))

    def call(*args, source=None, **files):
        for name, text in files.items():
            pytester.makepyfile(**{name: text})
        if source is not None:
            pytester.makepyfile(source)
        return pytester.runpytest(*ALWAYS, "-W", "ignore::pytest.PytestDeprecationWarning", *args)

    return call


def text_of(result):
    return "\n".join(result.outlines)


def test_a_failure_tells_all(run):
    result = run(source=LOST_UPDATE)
    result.assert_outcomes(failed=1)
    said = text_of(result)
    assert re.search(r"E +assert [12] == 3\n", said)  # pytest's own words on the assertion
    assert re.search(r"E +\+ +where [12] = <.*Account object at .*>\.balance", said)
    assert "TaskGroup" in said
    assert re.search(
        r"AssertionError: assert [12] == 3 at test_a_failure_tells_all.py:19, in schedule 2, mode any", said
    )
    assert re.search(r"this order fails +this order passes", said)
    assert re.search(r"reads +Account.balance = 0 +:9 +balance = account.balance", said)
    assert re.search(r"writes +Account.balance = 2 +:11 +account.balance", said)
    assert re.search(r"^> 0\.", said, re.MULTILINE)
    assert "porcini/" not in said  # no frames of ours


def test_a_test_that_fails_in_two_ways(run):
    result = run(
        source="""
        import asyncio, pytest

        @pytest.mark.porcini
        async def test_both():
            event = asyncio.Event()

            async def wait():
                await event.wait()
                event.clear()

            tasks = [asyncio.create_task(wait()) for _ in range(2)]
            await asyncio.sleep(0)
            event.set()
            await asyncio.wait(tasks)
            assert False
        """
    )
    result.assert_outcomes(failed=1)
    assert "deadlock" in text_of(result)
    assert "No order that passes was found." in text_of(result)  # but one that ends otherwise


def test_no_frames_of_ours_below_gather(run):
    result = run(
        source="""
        import asyncio, pytest

        async def work(seen):
            seen.append(1)
            await asyncio.sleep(0)
            if len(seen) > 1:
                raise ValueError(seen)

        @pytest.mark.porcini
        async def test_work():
            seen = []
            await asyncio.gather(work(seen), work(seen))
        """
    )
    result.assert_outcomes(failed=1)
    assert "porcini/" not in text_of(result)


def test_what_pytest_collects_begins_anew_with_each_run(run):
    result = run(
        source="""
        import asyncio, logging, pytest

        @pytest.mark.porcini
        async def test_logs(caplog, capsys):
            async def work(n):
                await asyncio.sleep(0)
                logging.getLogger("work").warning("n %s", n)
                print(n)

            await asyncio.gather(work(1), work(2))
            assert sorted(caplog.messages) == ["n 1", "n 2"]

        @pytest.mark.porcini
        async def test_prints(capsys):
            print("x")
            assert capsys.readouterr().out == "x\\n"
            print("y")
        """
    )
    result.assert_outcomes(passed=2)


def line_to_paste(result):
    found = re.findall(r'^pytest (\S+) --porcini-replay "(.*)"$', text_of(result), re.MULTILINE)
    assert found
    return found[0]


def test_the_line_to_paste_works_in_a_new_process(run, pytester):
    test, schedule = line_to_paste(run(source=LOST_UPDATE))
    again = pytester.runpytest_subprocess(*ALWAYS, test, "--porcini-replay", schedule)
    again.assert_outcomes(failed=1)
    assert "in the schedule given" in text_of(again)
    assert line_to_paste(again)[1] == schedule
    run(test, "--porcini-replay", "0 0.0x2 0.1x2 0").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "schedule, said",
    [
        ("0 0.9", "step 2: process 0.9 cannot move here"),
        ("0", "the schedule ends after step 1"),
        ("what", "not a step of a schedule"),
    ],
)
def test_a_schedule_that_does_not_fit(run, schedule, said):
    result = run("--porcini-replay", schedule, source=LOST_UPDATE)
    result.assert_outcomes(failed=1)
    assert said in text_of(result)
    assert "Traceback" not in text_of(result)


def test_a_failure_is_tried_first_the_next_time(run, pytester):
    first = run(source=LOST_UPDATE)
    second = run()
    assert "in the schedule that failed the last time" in text_of(second)
    assert line_to_paste(second) == line_to_paste(first)
    pytester.makepyfile(LOST_UPDATE.replace("await asyncio.sleep(0)", "pass"))
    run().assert_outcomes(passed=1)
    pytester.makepyfile(LOST_UPDATE)
    assert "in schedule 2" in text_of(run())
    run("-p", "no:cacheprovider").assert_outcomes(failed=1)


def test_other_failures(run):
    result = run(
        source="""
        import asyncio
        import pytest

        @pytest.mark.porcini(deterministic=True)
        async def test_order():
            seen = []
            async def put(n):
                seen.append(n)
            await asyncio.gather(put(1), put(2))
            return seen

        @pytest.mark.porcini
        async def test_locks():
            a, b = asyncio.Lock(), asyncio.Lock()
            async def both(x, y):
                async with x:
                    await asyncio.sleep(0)
                    async with y:
                        pass
            await asyncio.gather(both(a, b), both(b, a))

        @pytest.mark.porcini
        async def test_always():
            await asyncio.sleep(0)
            raise ValueError("always")
        """
    )
    result.assert_outcomes(failed=3)
    said = text_of(result)
    assert "The order matters: it returns (1, 2), or returns (2, 1)" in said
    assert len(re.findall("test_order --porcini-replay", said)) == 2
    assert "Deadlock: test_locks, both and both wait for ever:" in said
    assert "0.0  both        waits in Lock#2.acquire() for 0.1 (both), which holds it" in said
    assert re.search(r"test_other_failures.py:18 in both +async with y:", said)
    assert "in a cycle: 0.0 (both) -> 0.1 (both) -> 0.0 (both)" in said
    assert "E       ValueError: always" in said
    assert "No order that passes was found." in said


def test_what_passes_and_what_is_unknown(run):
    source = """
        import asyncio
        import pytest

        class Box:
            n = 0

        async def count(times):
            box = Box()
            async def add():
                n = box.n
                await asyncio.sleep(0)
                box.n = n + 1
            await asyncio.gather(*(add() for _ in range(times)))
            return box.n

        @pytest.mark.porcini
        async def test_all():
            assert await count(3) <= 3

        @pytest.mark.porcini(max_schedules=5)
        async def test_some():
            assert await count(3) <= 3

        @pytest.mark.porcini(max_schedules=5, allow_unknown=True)
        async def test_allowed():
            assert await count(3) <= 3

        @pytest.mark.porcini(mode="fifo")
        async def test_fifo():
            assert await count(3) == 1

        @pytest.mark.porcini(engine="pct", max_schedules=20)
        async def test_walks():
            assert await count(3) > 1
    """
    result = run("-rA", source=source)
    result.assert_outcomes(passed=3, failed=2)
    said = text_of(result)
    assert "Unknown: 5 schedules, stopped by the limit of 5 schedules" in said
    assert re.search("FAILED .*test_walks", said)
    run("-k", "test_some", "--porcini-max", "100").assert_outcomes(passed=1)
    run("-k", "test_all", "--porcini-max", "3").assert_outcomes(failed=1, passed=1)  # its name is allowed


ENDLESS = """
    import asyncio
    import pytest

    class Box:
        n = 0

    @pytest.mark.porcini
    async def test_counts():
        n = 0
        while True:
            n += 1
            await asyncio.sleep(0.1)

    @pytest.mark.porcini(max_depth=50)
    async def test_deep():
        n = 0
        while True:
            n += 1
            await asyncio.sleep(0)

    @pytest.mark.porcini(timeout=0.2, max_schedules=10**9)
    async def test_long():
        box = Box()
        async def add():
            n = box.n
            await asyncio.sleep(0)
            box.n = n + 1
        await asyncio.gather(*(add() for _ in range(9)))

    @pytest.mark.porcini(timeout=0)
    async def test_never():
        pass
"""


def test_nothing_hangs(run):
    result = run(source=ENDLESS)
    result.assert_outcomes(failed=4)
    said = text_of(result)
    assert "0 schedules, stopped by the depth limit of 10,000 steps" in said
    assert "stopped by the depth limit of 50 steps, and none of them failed. A higher max_depth lets" in said
    assert "stopped by the time limit of 0.2 s, and none of them failed. A higher timeout or --porcini-t" in said
    assert "timeout is 0: it must be a number above 0" in said
    again = run("-k", "test_long", "--porcini-timeout", "0.1")
    assert "stopped by the time limit of 0.1 s" in text_of(again)


def test_what_was_explored_is_summed_up(run):
    source = """
        import asyncio
        import pytest

        class Mine(asyncio.Future): pass

        @pytest.mark.porcini
        async def test_one():
            await asyncio.sleep(1)

        @pytest.mark.porcini
        async def test_by_hand():
            async def fails():
                raise ValueError("unseen")
            future = Mine()
            asyncio.create_task(fails())
            future.set_result(1)
            await future
            await asyncio.sleep(0)

        def test_plain():
            pass
    """
    result = run("-v", source=source)
    result.assert_outcomes(passed=3)
    said = text_of(result)
    assert "::test_one: 1 schedule\n" in said
    assert re.search(
        r"^porcini: 2 tests, \d+ schedules; \d+ of \d+ steps opaque: asyncio\.Future\(\) made by ", said, re.M
    )
    assert re.search(
        r"made by hand at test_what_was_\w+\.py:14 \(use loop.create_future\(\)\) \(\d+\)$", said, re.M
    )
    assert "not instrumented" not in said
    assert re.search(r"nobody retrieved, in \d+ runs?: fails \(0\.0\): ValueError: unseen", said)
    quiet = text_of(run("-q"))
    assert len(re.findall("^porcini: .*schedules", quiet, re.M)) == 1
    assert "porcini:" not in text_of(run("-qq"))
    assert "porcini:" not in text_of(run("-k", "test_plain"))
    assert "porcini: 2 tests" in text_of(run("-n", "2")) or not importlib.util.find_spec("xdist")


def test_a_fixture_that_takes_an_async_one_is_an_error(run):
    result = run(
        source="""
        import pytest

        @pytest.fixture
        async def client():
            yield 1

        @pytest.fixture
        def service(client):
            return client

        @pytest.fixture(autouse=True)
        async def unasked():
            pass

        @pytest.mark.porcini
        async def test_service(service):
            pass

        @pytest.fixture
        def make_client():
            async def client():
                return 1
            return client

        @pytest.mark.porcini
        async def test_factory(make_client):
            assert await make_client() == 1
        """
    )
    said = text_of(result)
    assert "the fixture `service` takes the async fixture `client`, which is made when the test is run" in said
    result.assert_outcomes(passed=1, errors=1)


def test_lanes_name_the_file_and_fit_the_terminal(run, monkeypatch):
    files = {
        "bank_of_somewhere": LOST_UPDATE.partition("    @pytest")[0].replace("sleep(0)", "sleep(0.1)"),
        "test_bank": """
        import asyncio
        import pytest
        from bank_of_somewhere import Account, pay

        @pytest.mark.porcini(deterministic=True)
        async def test_pay():
            account = Account()
            await asyncio.gather(pay(account, 1), pay(account, 2))
            return account.balance
        """,
    }
    monkeypatch.setenv("COLUMNS", "110")
    said = text_of(run(**files))
    lanes = said.partition("this order ")[2].partition("\n\n")[0]
    assert lanes.count("bank_of_somewhere.py:") == 1
    assert re.search("to bank_of_somewhere.py:10", lanes)
    assert re.search(r"1 +clock +0\.1 s +1 +clock +0\.1 s\n[> ] 0\.[01] +pay", lanes)
    assert max(map(len, lanes.splitlines())) <= 110
    assert "…" in lanes
    monkeypatch.setenv("COLUMNS", "80")
    lanes = text_of(run()).partition("both orders\n")[2].partition("\n\n")[0]
    assert re.findall(r"^  (this order|and this one|returns \d)$", lanes, re.MULTILINE) == [
        *("this order", "returns 2", "and this one", "returns 1")
    ]
    assert max(map(len, lanes.splitlines())) <= 80
    monkeypatch.delenv("COLUMNS")
    assert "…" not in text_of(run()).partition("this order ")[2].partition("\n\n")[0]


def test_bad_marks(run):
    result = run(
        source="""
        import time
        import pytest

        @pytest.mark.porcini
        def test_plain():
            pass

        @pytest.mark.porcini(bogus=1)
        async def test_option():
            pass

        @pytest.mark.porcini(engine="graph")
        async def test_engine():
            pass

        @pytest.mark.porcini
        async def test_sleep():
            time.sleep(1)

        @pytest.mark.porcini(step_seconds=0.2)
        async def test_spin():
            while True:
                pass
        """
    )
    result.assert_outcomes(failed=3, errors=2)
    said = text_of(result)
    assert "@pytest.mark.porcini is for async tests (define test_plain by `async def`)" in said
    assert "knows no bogus" in said
    assert "engine is 'graph': it must be one of: exhaustive, " in said
    assert re.search(r"test_bad_marks.py:\d+:1: error: engine is .*\n  @pytest.mark.porcini\(engine=", said)
    assert "time.sleep() in a step" in said
    assert "the limit of 0.2 s for one step" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "option, said",
    [
        ('mode="lifo"', "mode is 'lifo': it must be one of: any, fifo"),
        ('max_schedules="5"', "max_schedules is '5': it must be a whole number of at least 1"),
        ("max_schedules=0", "max_schedules is 0: it must be a whole number of at least 1"),
        ('timeout="5"', "timeout is '5': it must be a number above 0"),
        ("step_seconds=-1", "step_seconds is -1: it must be a number of seconds above 0"),
        ("packages=3", "packages is 3: it must be the name of a package, or a list of names"),
        ('seed="x"', "seed is 'x': it must be a whole number"),
        ("deterministic=1", "deterministic is 1: it must be True or False"),
    ],
)
def test_options_that_make_no_sense(run, option, said):
    result = text_of(run(source=LOST_UPDATE.replace("mark.porcini", f"mark.porcini({option})")))
    assert said in result and "Error" not in result


def test_walks_prove_nothing(run):
    source = LOST_UPDATE.replace("mark.porcini", 'mark.porcini(engine="pct", max_schedules=5)')
    said = text_of(run(source=source.replace("await asyncio.sleep(0)", "pass")))
    assert "Unknown: 5 schedules, and none of them failed. Engine `pct` can fail a test, but never prove" in said


def test_a_schedule_is_of_one_test(run):
    source = (
        LOST_UPDATE + LOST_UPDATE.partition("    @pytest")[1] + "".join(LOST_UPDATE.partition("    @pytest")[2:])
    )
    result = run("--porcini-replay", "0", source=source.replace("test_pay", "test_other", 1))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "a schedule is of one test, and 2 are selected; name it, such as test_a_" in "\n".join(result.errlines)


def test_an_exception_group_is_told_by_what_is_in_it(run):
    source = """
        import asyncio
        import pytest

        @pytest.mark.porcini
        async def test_group():
            async def fails():
                raise ValueError("inside")
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
    """
    assert "ValueError: inside at test_an_exception_group_is_told_by_what_is_in_it.py:7, in schedule 1" in text_of(
        run(source=source)
    )


def test_fixtures_classes_and_parameters(run):
    result = run(
        conftest="""
        import pytest

        class Store:
            def __init__(self):
                self.items = {}

        @pytest.fixture(scope="module")
        def store():
            return Store()

        @pytest.fixture
        def make_store():
            return Store
        """,
        source="""
        import asyncio
        import pytest

        async def put(store, key):
            if key not in store.items:
                await asyncio.sleep(0)
                store.items[key] = len(store.items)

        @pytest.mark.porcini
        @pytest.mark.parametrize("keys", ["ab", "aa"])
        async def test_factory(make_store, keys):
            store = make_store()
            await asyncio.gather(*(put(store, key) for key in keys))
            assert sorted(store.items.values()) == list(range(len(set(keys))))

        @pytest.mark.porcini
        async def test_shared(store):
            await asyncio.gather(put(store, "a"), put(store, "b"))

        class TestMany:
            @pytest.fixture(autouse=True)
            def prepare(self):
                self.limit = 2

            @pytest.mark.porcini
            async def test_method(self, make_store):
                store = make_store()
                await asyncio.gather(put(store, "a"), put(store, "b"))
                assert len(store.items) == self.limit
        """,
    )
    said = text_of(result)
    assert re.search("FAILED .*test_shared", said)
    assert "let one that the test changes return a factory" in said
    assert "test_factory[aa]" in said  # both saw len() == 0, then both wrote... 0 and 1
    assert not re.search("FAILED .*(test_method|ab)", said)


def test_fixtures_are_made_anew_for_each_schedule(run):
    """With what they are made from, in the order in which pytest makes them; each is torn down before the next."""
    source = """
        import asyncio
        import pytest

        made = []

        async def nothing():
            await asyncio.sleep(0)

        @pytest.fixture
        def log():
            asyncio.run(nothing())  # between runs no loop is running
            made.append("log")
            yield []
            made.append("end of log")

        @pytest.fixture
        def account(log, tmp_path):
            log.append("made")
            yield {"balance": 0, "log": log}
            assert log[0] == "made"
            made.append("end of account")

        @pytest.fixture(autouse=True)
        def always():
            made.append("always")

        async def deposit(account):
            balance = account["balance"]
            await asyncio.sleep(0)
            account["balance"] = balance + 1
            account["log"].append(balance)

        @pytest.mark.porcini
        async def test_all(account, log):
            assert account["balance"] == 0 and log == ["made"]
            await asyncio.gather(deposit(account), deposit(account))
            assert account["balance"] in (1, 2)

        def test_after():
            made.pop()  # "always" of this test
            ends = {"always", "log", "end of account", "end of log"}
            assert set(made) == ends and len(made) % 4 == 0 and len(made) > 4
            runs = [made[n : n + 4] for n in range(0, len(made), 4)]
            assert all(run[2:] == ["end of account", "end of log"] and set(run) == ends for run in runs)

        class TestMethods:
            @pytest.fixture
            def own(self):
                self.kept = []
                return self.kept

            @pytest.mark.porcini
            async def test_method(self, own):
                await asyncio.gather(self.add(own), self.add(own))
                assert self.kept is own and len(own) == 2

            async def add(self, own):
                own.append(len(own))

        @pytest.mark.porcini
        async def test_lost_update(account):
            await asyncio.gather(deposit(account), deposit(account))
            assert account["balance"] == 2
        """
    result = run(source=source)
    result.assert_outcomes(passed=3, failed=1)
    test, schedule = line_to_paste(result)
    assert "test_lost_update" in test
    run(test, "--porcini-replay", schedule).assert_outcomes(failed=1)


def test_fixtures_that_others_keep_are_not_torn_down(run):
    """What takes `request`, or overrides a fixture of its name, is made once, with all that it is made from."""
    source = """
        import asyncio
        import pytest

        @pytest.fixture
        def store():
            made = {"open": True}
            yield made
            made["open"] = False

        @pytest.fixture
        def client(request, store):
            return store

        @pytest.fixture
        def number():
            return [1]

        class TestKept:
            @pytest.fixture
            def number(self, number):
                return [*number, 2]

            @pytest.mark.porcini
            async def test_kept(self, client, store, number):
                seen = []

                async def look(n):
                    seen.append((n, client["open"]))

                await asyncio.gather(look(1), look(2))
                assert client is store and number == [1, 2]
                assert seen in ([(1, True), (2, True)], [(2, True), (1, True)])
        """
    run(source=source).assert_outcomes(passed=1)


def test_a_library_that_is_not_instrumented(run, pytester):
    """What is not the user's is opaque until it is asked for: more schedules, the same answers."""
    result = run(
        source=LOST_UPDATE.replace("@pytest.mark.porcini", '@pytest.mark.porcini(packages=["json", "nowhere"])')
    )
    result.assert_outcomes(failed=1)


def test_what_tests_print_and_log_is_shown_once(run):
    noise = "account = Account(); print('hello there'); __import__('logging').warning('hello log'); breakpoint()"
    source = LOST_UPDATE.replace("account = Account()", noise).replace(
        "import asyncio", "import asyncio, sys; sys.breakpointhook = lambda: print('stopped')"
    )
    said = text_of(run(source=source))
    assert [said.count(f"{text}\n") for text in ("\nhello there", " hello log", "\nstopped")] == [1, 1, 1]


def test_skip_and_xfail(run):
    source = LOST_UPDATE.replace(
        "@pytest.mark.porcini", "@pytest.mark.xfail(strict=True)\n    @pytest.mark.porcini"
    )
    source += """
    @pytest.mark.porcini
    async def test_skipped():
        await asyncio.sleep(0)
        pytest.skip("not here")
    """
    run(source=source).assert_outcomes(xfailed=1, skipped=1)


@pytest.mark.parametrize("mode", ["strict", "auto"])
@pytest.mark.skipif(not importlib.util.find_spec("pytest_asyncio"), reason="pytest-asyncio is not installed")
def test_beside_pytest_asyncio(run, pytester, mode):
    result = run(
        "-o",
        f"asyncio_mode={mode}",
        source=LOST_UPDATE
        + """
    @pytest.mark.asyncio
    async def test_theirs():
        await asyncio.sleep(0.001)
        assert type(asyncio.get_running_loop()).__name__ != "ControlledLoop"
    """,
    )
    result.assert_outcomes(failed=1, passed=1)
    assert "this order passes" in text_of(result)


@pytest.mark.skipif(not importlib.util.find_spec("anyio"), reason="anyio is not installed")
def test_beside_anyio(run):
    result = run(
        "-o",
        "anyio_mode=auto",
        source=LOST_UPDATE
        + """
    @pytest.mark.anyio
    async def test_theirs():
        await asyncio.sleep(0.001)

    @pytest.fixture
    def anyio_backend():
        return "asyncio"
    """,
    )
    result.assert_outcomes(failed=1, passed=1)
    assert "this order passes" in text_of(result)


@pytest.mark.skipif(not importlib.util.find_spec("xdist"), reason="pytest-xdist is not installed")
def test_with_xdist(run, pytester):
    pytester.makepyfile(LOST_UPDATE)
    result = pytester.runpytest_subprocess(*ALWAYS, "-n", "1")
    result.assert_outcomes(failed=1)
    assert "this order passes" in text_of(result)
    assert line_to_paste(result)


def test_seeds(run):
    source = """
        import random
        import pytest

        @pytest.mark.porcini
        async def test_dice():
            assert random.Random(random.random()).random() > 2
    """
    one, two, three = (
        re.search(r"assert 0\.\d+", text_of(run(*seed, source=source))).group()
        for seed in [(), ("--porcini-seed", "5"), ()]
    )
    assert one == three != two
    assert "--porcini-seed 5 --porcini-replay" in text_of(run("--porcini-seed", "5"))


WORDS = """
    import asyncio
    import pytest

    @pytest.mark.porcini(deterministic=True)
    async def test_queue():
        queue, found = asyncio.Queue(), []
        async def get():
            found.append(await queue.get())
        await asyncio.gather(queue.put(1), queue.put(2), get())
        return found

    JOBS = asyncio.Queue()

    @pytest.mark.porcini(deterministic=True)
    async def test_globals():
        async def one(n):
            JOBS.put_nowait(n)
            await asyncio.sleep(0)
            return JOBS.get_nowait()
        return await asyncio.gather(one(1), one(2))

    @pytest.mark.porcini(deterministic=True)
    async def test_made_by_a_task():
        async def make():
            return asyncio.Queue()
        queue = await asyncio.create_task(make())
        await asyncio.gather(queue.put(1), queue.put(2))
        return queue.get_nowait()

    @pytest.mark.porcini(deterministic=True)
    async def test_event():
        event = asyncio.Event()
        async def sets():
            event.set()
        async def looks():
            return event.is_set()
        return await asyncio.gather(sets(), looks())

    @pytest.mark.porcini(deterministic=True)
    async def test_items():
        items = {}
        async def one(n):
            items[n] = n
            return len(items)
        return await asyncio.gather(one(1), one(2))

    @pytest.mark.porcini(deterministic=True)
    async def test_future():
        future = asyncio.get_running_loop().create_future()
        async def one(n):
            if not future.done():
                future.set_result(n)
        await asyncio.gather(one(1), one(2))
        return future.result()

    @pytest.mark.porcini(deterministic=True)
    async def test_cancel():
        async def work():
            await asyncio.sleep(0)
            return 1
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()
"""


@pytest.mark.parametrize(
    "test, words",
    [
        ("queue", [r"writes Queue = \[1, 2\]", r"writes Queue = \[2\]"]),
        ("globals", [r"writes +\w+\.JOBS = \[1\]"]),
        ("made_by", [r"writes Queue = \[1, 2\]"]),
        ("event", [r"sets +Event\b", "finds Event set", "finds Event unset"]),
        ("items", [r"writes dict \(keys, length\) = \{1: 1, 2: 2\} +:\d+ +items\[n\] = n"]),
        ("future", ["completes Future", "finds +Future done"]),
        ("cancel", [r"cancels task 0\.0", "finds +task 0.0 done"]),
    ],
)
def test_what_steps_do_is_told_in_words(run, test, words):
    said = text_of(run("-k", test, source=WORDS)).partition("- porcini -")[2]
    for pattern in words:
        assert re.search(pattern, said), said
    assert "SeenFuture" not in said and "._value" not in said


def test_the_line_to_paste_is_for_here(run, pytester):
    """Not for where pytest's root is."""
    pytester.makeini("[pytest]")
    folder = pytester.mkdir("sub")
    (folder / "test_it.py").write_text(textwrap.dedent(LOST_UPDATE))
    os.chdir(folder)
    assert line_to_paste(run("-p", "no:cacheprovider"))[0] == "test_it.py::test_pay"


def test_a_replay_with_a_seed_says_so(run):
    assert "test_pay --porcini-seed 0 --porcini-replay" in text_of(run("--porcini-seed", "0", source=LOST_UPDATE))


def test_a_bug_of_ours_is_an_error_and_not_a_failure(run, monkeypatch):
    def next_move(self, search, node):
        raise porcini.InternalError("a theorem does not hold")

    monkeypatch.setattr("porcini.engines.optimal.Optimal.next_move", next_move)
    result = run(source=LOST_UPDATE)
    result.assert_outcomes(errors=1)
    assert result.ret == 1 and "InternalError: a theorem does not hold" in text_of(result)


# Faults -------------------------------------------------------------------------------------------------------

OUTAGES = """
    import asyncio
    import pytest

    async def fetch():
        raise NotImplementedError

    class Api:
        async def get(self):
            raise NotImplementedError

    async def worker(log):
        log.append("open")
        await asyncio.sleep(0)
        log.append("closed")

    @pytest.mark.porcini(cancel=1)
    async def test_cancel():
        log = []
        await asyncio.gather(worker(log), return_exceptions=True)
        assert log == ["open", "closed"]

    @pytest.mark.porcini(timeouts=True)
    async def test_timeouts():
        log = []
        try:
            async with asyncio.timeout(1):
                await worker(log)
        except TimeoutError:
            pass
        assert log == ["open", "closed"]

    class Fakes:
        async def get(self):
            return 1

    @pytest.fixture
    def api(monkeypatch):
        monkeypatch.setattr(Api, "get", Fakes.get)
        return Api()

    @pytest.mark.porcini(errors={TimeoutError: "test_outages:Api.get"})
    async def test_errors(api):
        assert await api.get() == 1

    async def pay(api, paid):
        if not paid:
            await api.get()
            paid.append(1)

    @pytest.mark.porcini
    async def test_suspend(api):
        paid = []
        await asyncio.gather(pay(api, paid), pay(api, paid))
        assert len(paid) == 1

    @pytest.mark.porcini(suspend=False)
    async def test_no_suspend(api):
        paid = []
        await asyncio.gather(pay(api, paid), pay(api, paid))
        assert len(paid) == 1

    @pytest.mark.porcini(cancel=7)
    async def test_no_such_task():
        await asyncio.gather(worker([]))

    @pytest.mark.porcini(cancel="first")
    async def test_no_number():
        pass

    @pytest.mark.porcini(errors={TimeoutError: "test_outages:nobody"})
    async def test_no_target():
        pass
"""


def test_faults_are_options_of_the_mark(run) -> None:
    result = run(test_outages=OUTAGES)
    result.assert_outcomes(failed=7, passed=1)
    text = text_of(result)
    for line in (
        "Fault: cancels worker (0.0).",
        'pytest test_outages.py::test_cancel --porcini-replay "0 0.0 2.0.0 0.0 0"',
        "Fault: a timeout fires before its time, which is 1 s.",
        'pytest test_outages.py::test_timeouts --porcini-replay "0 0.0 0"',
        "Fault: get() raises TimeoutError.",
        'pytest test_outages.py::test_errors --porcini-replay "0/1 0"',
        "there is no task 7 to cancel (0 is test_no_such_task (0), 1 is worker (0.0))",
        "cancel is 'first': it must be True, or the number of a task",
        "there is no `nobody` in `test_outages:nobody`",
    ):
        assert line in text, line


@pytest.mark.parametrize(
    "test, schedule",
    [("test_cancel", "0 0.0 2.0.0 0.0 0"), ("test_timeouts", "0 0.0 0"), ("test_errors", "0/1 0")],
)
def test_faults_are_replayed(run, test, schedule) -> None:
    result = run(f"test_outages.py::{test}", "--porcini-replay", schedule, test_outages=OUTAGES)
    result.assert_outcomes(failed=1)
    assert "Fault: " in text_of(result)
