"""Faults as choices: what each finds, in which order they are tried, how schedules and reports show them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from unittest import mock

import pytest

import porcini
from porcini.core.errors import InputError
from porcini.formats.json_report import to_json

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "asyncio"))

import outages

NAME = __name__


def returned(report):
    return {outcome.state["result"] for outcome in report.outcomes if outcome.kind == "terminated"}


def kinds(report):
    return {outcome.kind for outcome in report.outcomes}


def again(function, report, **options):
    """Every outcome has a schedule that leads to it, by itself."""
    for outcome in report.outcomes:
        text = porcini.show_schedule(outcome.schedule)
        (replayed,) = porcini.replay(function, text, **options).outcomes
        assert (replayed.kind, replayed.state) == (outcome.kind, outcome.state), text
        assert replayed.faults == outcome.faults


# Natural bugs -------------------------------------------------------------------------------------------------

FETCH = {"errors": {TimeoutError: "outages:fetch"}}


@pytest.mark.parametrize(
    "name, options, found",
    [
        ("jobs", {"cancel": True}, {"assertion", "deadlock"}),
        ("transfer", {"timeouts": True}, {"assertion"}),
        ("readers", FETCH, {"deadlock"}),
    ],
)
def test_what_only_a_fault_shows(name, options, found) -> None:
    function = getattr(outages, name)
    assert porcini.explore(function).verdict == "holds"
    report = porcini.explore(function, **options)
    assert kinds(report) == {"terminated"} | found
    again(function, report, **{key: value for key, value in options.items() if key == "errors"})
    assert porcini.explore(getattr(outages, f"{name}_mended"), **options).verdict == "holds"


def test_what_only_a_fake_that_takes_its_time_shows() -> None:
    assert kinds(porcini.explore(outages.payments)) == {"terminated", "assertion"}
    assert porcini.explore(outages.payments, suspend=False).verdict == "holds"
    assert porcini.explore(outages.payments_mended).verdict == "holds"


# Cancellation -------------------------------------------------------------------------------------------------


async def worker(log, name):
    log.append(f"{name}1")
    await asyncio.sleep(0)
    log.append(f"{name}2")
    await asyncio.sleep(1)
    log.append(f"{name}3")


async def cancelled():
    log = []
    await asyncio.gather(worker(log, "a"), return_exceptions=True)
    return " ".join(log)


async def two_workers():
    log = []
    await asyncio.gather(worker(log, "a"), worker(log, "b"), return_exceptions=True)
    return " ".join(sorted(log))


async def stubborn():
    log = []

    async def goes_on():
        for number in range(3):
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                log.append(number)

    await asyncio.gather(goes_on())
    return tuple(log)


def test_a_task_is_cancelled_at_each_of_its_awaits_and_not_before_its_first_step() -> None:
    report = porcini.explore(cancelled, cancel=True)
    assert returned(report) == {"a1", "a1 a2", "a1 a2 a3"}
    again(cancelled, report)


def test_the_nth_task_only() -> None:
    assert returned(porcini.explore(two_workers, cancel=2)) == {
        "a1 a2 a3 b1",
        "a1 a2 a3 b1 b2",
        "a1 a2 a3 b1 b2 b3",
    }


def test_the_test_itself_is_task_0() -> None:
    report = porcini.explore(cancelled, cancel=0)
    assert kinds(report) == {"terminated", "error"}
    assert report.counterexample.runs[0].faults == ("cancels cancelled (0)",)


@pytest.mark.parametrize("most, found", [(1, 1), (2, 2), (3, 3)])
def test_as_many_as_are_asked_for(most, found) -> None:
    report = porcini.explore(stubborn, cancel=True, max_faults=most)
    assert max(map(len, returned(report))) == found
    again(stubborn, report)


async def counts_cancellations():
    async def waits():
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            return asyncio.current_task().cancelling()
        return 0

    return await asyncio.create_task(waits())


def test_twice_at_one_await() -> None:
    report = porcini.explore(counts_cancellations, cancel=True, max_faults=2)
    assert returned(report) == {0, 1, 2}
    again(counts_cancellations, report)


async def woken_and_cancelled():
    queue = asyncio.Queue()
    log = []

    async def takes():
        log.append(await queue.get())

    task = asyncio.create_task(takes())
    await asyncio.sleep(0)
    queue.put_nowait("item")
    await asyncio.wait([task])
    return len(log) + queue.qsize()


def test_a_cancellation_may_come_after_the_wakeup() -> None:
    """An item that was given to nobody must still be there; asyncio sees to that."""
    assert returned(porcini.explore(woken_and_cancelled, cancel=True)) == {1}


# Timers -------------------------------------------------------------------------------------------------------


async def waits():
    try:
        return await asyncio.wait_for(_fake(), 1)
    except TimeoutError:
        return "timeout"


async def _fake():
    await asyncio.sleep(0)
    return "answer"


def test_a_timeout_fires_although_fakes_wait_by_sleep_0() -> None:
    """Time moves when nothing is ready, so this timeout never came."""
    assert returned(porcini.explore(waits)) == {"answer"}
    report = porcini.explore(waits, timeouts=True)
    assert returned(report) == {"answer", "timeout"}
    again(waits, report)


async def sleeps():
    log = []

    async def late():
        await asyncio.sleep(2)
        log.append("late")

    task = asyncio.create_task(late())
    await asyncio.sleep(1)
    log.append("early")
    await task
    return " ".join(log)


def test_who_sleeps_is_not_woken_before_its_time() -> None:
    assert returned(porcini.explore(sleeps, timeouts=True)) == {"early late"}


async def after_a_tick():
    log = []
    try:
        async with asyncio.timeout(5):
            log.append(1)
            await asyncio.sleep(1)
            log.append(2)
            await asyncio.sleep(1)
            log.append(3)
    except TimeoutError:
        pass
    return len(log)


def test_a_timer_fires_early_after_the_clock_has_moved() -> None:
    report = porcini.explore(after_a_tick, timeouts=True)
    assert returned(report) == {1, 2, 3}
    again(after_a_tick, report)


async def looks_at_the_time():
    loop = asyncio.get_running_loop()
    seen = []
    loop.call_later(3, lambda: seen.append(loop.time()))
    await asyncio.sleep(0)
    before = len(seen)
    await asyncio.sleep(5)
    return before, seen[0]


def test_a_callback_that_comes_early_sees_its_own_time() -> None:
    assert returned(porcini.explore(looks_at_the_time, timeouts=True)) == {"(0, 3.0)", "(1, 3.0)"}


# Errors -------------------------------------------------------------------------------------------------------


class Client:
    def ping(self):
        return "ping"

    @staticmethod
    def hello():
        return "hello"

    @classmethod
    async def get(cls):
        return "get"


def plain():
    return "plain"


async def calls():
    found = []
    for function in (plain, Client().ping, Client.hello, Client.get):
        try:
            answer = function()
            found.append(await answer if asyncio.iscoroutine(answer) else answer)
        except OSError:
            found.append("-")
    return " ".join(found)


ALL = "plain ping hello get"


@pytest.mark.parametrize(
    "target",
    [f"{NAME}:plain", f"{NAME}.plain", f"{NAME}:Client.ping", f"{NAME}:Client.hello", f"{NAME}.Client.get"],
)
def test_a_named_call_may_raise(target) -> None:
    options = {"errors": {OSError: target}}
    report = porcini.explore(calls, **options)
    name = target.rpartition(".")[2].rpartition(":")[2]
    assert returned(report) == {ALL, ALL.replace(name, "-")}
    again(calls, report, **options)
    assert porcini.explore(calls).counts.executions == 1  # everything is as it was


def test_several_calls_of_a_step_may_raise() -> None:
    options = {"errors": {OSError: [f"{NAME}:plain", f"{NAME}:Client.ping"]}}
    report = porcini.explore(calls, max_faults=2, **options)
    assert returned(report) == {ALL, "- ping hello get", "plain - hello get", "- - hello get"}
    again(calls, report, **options)
    by_faults = {outcome.state["result"]: outcome.faults for outcome in report.outcomes}
    assert by_faults["- - hello get"] == ("plain() raises OSError, ping() raises OSError",)


async def patched():
    with mock.patch(f"{NAME}.plain", lambda: "fake"):
        return await calls()


def test_what_a_test_has_replaced_may_raise_too() -> None:
    report = porcini.explore(patched, errors={OSError: f"{NAME}:plain"})
    assert returned(report) == {"fake ping hello get", "- ping hello get"}


async def patched_by_a_mock():
    with mock.patch(f"{NAME}.charge") as fake:
        try:
            await charge(1)
        except OSError:
            return f"failed, {fake.await_count}"
        return f"charged, {fake.await_count}"


def test_a_mock_may_raise_too() -> None:
    report = porcini.explore(patched_by_a_mock, errors={OSError: f"{NAME}:charge"})
    assert returned(report) == {"charged, 1", "failed, 0"}


async def fails_while_replaced():
    async def waits():
        with mock.patch(f"{NAME}.plain", lambda: "fake"):
            await asyncio.sleep(0)
            return plain()

    return (await asyncio.gather(waits(), waits(), waits(), return_exceptions=True))[0]


@pytest.mark.parametrize("first", [True, False])
def test_everything_is_put_back(first) -> None:
    real = plain
    porcini.explore(fails_while_replaced, errors={OSError: f"{NAME}:plain"}, first=first)
    assert plain is real


def test_a_target_that_nobody_calls_is_told() -> None:
    report = porcini.explore(cancelled, errors={OSError: f"{NAME}:plain"})
    assert f"no step called {NAME}:plain, so nothing was raised there" in report.notes


# Fakes that take their time -----------------------------------------------------------------------------------


async def charge(amount):
    raise NotImplementedError


class Shop:
    paid = 0
    charged = 0

    async def pay(self):
        if not self.paid:
            await charge(100)
            self.paid += 1


async def pays_twice():
    shop = Shop()

    async def fake(amount):
        shop.charged += 1

    with mock.patch(f"{NAME}.charge", fake):
        await asyncio.gather(shop.pay(), shop.pay())
    return shop.charged


async def fake_that_waits():
    log = []

    async def fake(amount):
        log.append("asked")
        await asyncio.sleep(0)

    async def other():
        log.append("other")

    with mock.patch(f"{NAME}.charge", fake):
        await asyncio.gather(charge(1), other())


def test_a_function_that_a_test_replaces_may_suspend() -> None:
    assert returned(porcini.explore(pays_twice)) == {1, 2}
    assert returned(porcini.explore(pays_twice, suspend=False)) == {1}


def test_one_that_waits_by_itself_does_not_wait_again() -> None:
    with_it = porcini.explore(fake_that_waits)
    assert with_it.counts.executions == porcini.explore(fake_that_waits, suspend=False).counts.executions


# The order of the search, and what is shown -------------------------------------------------------------------


async def fails_with_and_without():
    log = []

    async def one():
        log.append(1)
        await asyncio.sleep(0)
        log.append(2)

    async def other():
        log.append(3)

    await asyncio.gather(one(), other(), return_exceptions=True)
    assert log in ([1, 3, 2], [3, 1, 2])


async def needs_two():
    assert len(await stubborn()) < 2


def test_the_simplest_failure_comes_first() -> None:
    report = porcini.explore(fails_with_and_without, cancel=True, first=True)
    assert report.counterexample.runs[0].faults == ()
    report = porcini.explore(needs_two, cancel=True, max_faults=3, first=True)
    assert len(report.counterexample.runs[0].faults) == 2


def test_faults_are_shown() -> None:
    report = porcini.explore(outages.jobs, cancel=True)
    text = str(report)
    assert "2.0.0  fault  cancels job (0.0)" in text
    assert "at most 1 fault in one run: any task cancelled at any of its awaits" in text
    assert {"faults": ["cancels job (0.0)"]}.items() <= to_json(report)["outcomes"][0].items()
    assert "faults" not in to_json(porcini.explore(outages.jobs))["outcomes"][0]


def test_the_line_to_paste_says_what_is_raised() -> None:
    (line,) = porcini.explore(outages.readers, **FETCH).explanation.again
    assert '--errors TimeoutError=outages:fetch "0 0.0/1 0.0 0.1"' in line


@pytest.mark.parametrize("engine", ["exhaustive", "sleep", "dpor", "source", "optimal"])
def test_engines_agree(engine) -> None:
    report = porcini.explore(outages.jobs, engine=engine, cancel=True)
    assert {outcome.kind for outcome in report.outcomes} == {"assertion", "deadlock", "terminated"}
    assert report.counts.classes == 30


@pytest.mark.parametrize("engine", ["random", "pct"])
def test_walks_meet_faults(engine) -> None:
    limits = porcini.Limits(max_executions=300)
    report = porcini.explore(outages.jobs, engine=engine, cancel=True, limits=limits)
    assert "assertion" in kinds(report)
    again(outages.jobs, report)


def test_a_limit_is_unknown() -> None:
    limits = porcini.Limits(max_executions=10)
    report = porcini.explore(outages.jobs_mended, cancel=True, limits=limits)
    assert (report.verdict, report.counts.executions) == ("unknown", 10)


# Bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, message, hint",
    [
        ({"cancel": 5}, "there is no task 5 to cancel", "1 is worker (0.0)"),
        ({"cancel": -1}, "`cancel` is -1", "True for any task"),
        ({"cancel": "a"}, "`cancel` is 'a'", "True for any task"),
        ({"timeouts": 1}, "`timeouts` is 1", "True or False"),
        ({"max_faults": 0}, "`max_faults` is 0", "at least 1"),
        ({"errors": {"OSError": "a:b"}}, "'OSError' is not an exception class", "errors={"),
        ({"errors": 3}, "`errors` is 3", "a dict"),
        ({"errors": {OSError: 3}}, "`errors` names 3", "bank:fetch"),
        ({"errors": {OSError: "no_such:f"}}, "there is no module for `no_such:f`", "bank:fetch"),
        ({"errors": {OSError: f"{NAME}:nobody"}}, f"there is no `nobody` in `{NAME}:nobody`", "bank:fetch"),
        ({"errors": {OSError: f"{NAME}:No.f"}}, f"there is no `No` in `{NAME}:No.f`", "bank:fetch"),
        ({"errors": {OSError: f"{NAME}:Client"}}, "is a class: name one of its methods", "bank:fetch"),
        ({"errors": {OSError: f"{NAME}:ALL"}}, "is not a function", "bank:fetch"),
        ({"errors": {OSError: "a b"}}, "`a b` is not the name of a function", "bank:fetch"),
        ({"errors": {UnicodeDecodeError: f"{NAME}:plain"}}, "cannot be made without arguments", "subclass"),
        ({"cancel": True, "mode": "fifo"}, "`cancel` is not for mode fifo", "mode any"),
        ({"timeouts": True, "mode": "fifo"}, "`timeouts` is not for mode fifo", "mode any"),
    ],
)
def test_bad_input(options, message, hint) -> None:
    with pytest.raises(InputError) as caught:
        porcini.explore(cancelled, **options)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_model_has_no_faults() -> None:
    with pytest.raises(InputError, match="`cancel` is for coroutine functions"):
        porcini.explore("examples/gcl/vineyard.gcl", cancel=True)


def test_a_choice_without_errors_does_not_fit() -> None:
    with pytest.raises(porcini.ScheduleError, match="process 0 has no choice 1"):
        porcini.replay(cancelled, "0/1")


def test_calls_may_raise_in_asyncios_own_queue() -> None:
    options = {"mode": "fifo", "errors": {OSError: [f"{NAME}:plain", f"{NAME}:Client.get"]}}
    report = porcini.explore(calls, **options)
    assert returned(report) == {ALL, "- ping hello get", "plain ping hello -"}
    again(calls, report, **options)
    with pytest.raises(porcini.ScheduleError, match=r"2\.0\.0 cannot move here"):
        porcini.replay(cancelled, "0 0.0 2.0.0", mode="fifo")
