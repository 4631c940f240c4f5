"""asyncio under a controlled loop: every primitive works, every order is seen, and nothing is left behind.

What steps touch is noted by hand here (`Notes`): instrumentation has tests of its own. Programs without a recorder
note nothing, so each of their steps conflicts with everything.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import math
import time
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from porcini.core.errors import InputError
from porcini.core.footprints import EMPTY, OPAQUE, Footprint, footprint
from porcini.core.traces import normal_form
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.limits import Limits
from porcini.engines.replaying import replay
from porcini.engines.stats import SearchStats
from porcini.langs.aio.program import AioProgram, AioRun, observed


class Notes:
    """A recorder that is told."""

    commuting = None
    looked: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.writes: set[str] = set()

    def start_run(self) -> None:
        return None

    def begin_step(self, process: object, index: int, /) -> None:
        self.reads, self.writes = set(), set()

    def end_step(self) -> Footprint:
        return footprint(self.reads, self.writes)


notes = Notes()


def noted(function: Callable[..., Any], mode: Any = "any") -> AioProgram:
    return AioProgram(function, mode=mode, recorder=notes, followed=lambda code: True)


def explored(program: AioProgram, engine: str = "optimal", **limits: Any) -> SearchStats:
    stats = SearchStats(Limits(**limits))
    stats.explore(lambda t: ENGINES[engine](program, t, Options(seed=1)))
    return stats


def outcomes(stats: SearchStats) -> set[tuple[Any, ...]]:
    return {(outcome.kind, *outcome.state.values()) for outcome in stats.outcomes}


def finished(run: AioRun) -> AioRun:
    while actions := run.actions():
        run.step(actions[0])
    return run


# asyncio's primitives, each in a program that returns the same in every order --------------------------------


async def sleep() -> Any:
    async def one(delay: float) -> float:
        await asyncio.sleep(delay)
        return delay

    return await asyncio.gather(one(0.002), one(0), one(0.001))


async def wait_for() -> Any:
    async def forever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(forever(), 0.001)
    return await asyncio.wait_for(asyncio.sleep(0.001, "in time"), 5)


async def timeout() -> Any:
    try:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(3600)
    except TimeoutError:
        return "late"


async def lock() -> Any:
    mutex, inside = asyncio.Lock(), 0

    async def worker() -> None:
        nonlocal inside
        async with mutex:
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(worker(), worker())
    return inside


async def event() -> Any:
    happened, seen = asyncio.Event(), []

    async def waiter() -> None:
        await happened.wait()
        seen.append(1)

    tasks = [asyncio.create_task(waiter()) for _ in range(2)]
    await asyncio.sleep(0)
    happened.set()
    await asyncio.wait(tasks)
    return len(seen)


async def condition() -> Any:
    changed, items = asyncio.Condition(), []

    async def consumer() -> Any:
        async with changed:
            await changed.wait_for(lambda: items)
            return items.pop()

    async def producer() -> None:
        async with changed:
            items.append("x")
            changed.notify()

    return (await asyncio.gather(consumer(), producer()))[0]


async def semaphore() -> Any:
    two, most, now = asyncio.Semaphore(2), 0, 0

    async def worker() -> None:
        nonlocal most, now
        async with two:
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1

    await asyncio.gather(*(worker() for _ in range(3)))
    assert most <= 2
    return now


async def queue() -> Any:
    waiting: asyncio.Queue[int] = asyncio.Queue(1)

    async def producer() -> None:
        for number in range(3):
            await waiting.put(number)

    async def consumer() -> list[int]:
        return [await waiting.get() for _ in range(3)]

    return (await asyncio.gather(producer(), consumer()))[1]


async def barrier() -> Any:
    together = asyncio.Barrier(2)

    async def one() -> int:
        return await together.wait()

    return sorted(await asyncio.gather(one(), one()))


async def task_group() -> Any:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            group.create_task(asyncio.sleep(3600))
    except ExceptionGroup as problems:
        return len(problems.exceptions)


async def shield() -> Any:
    async def inner() -> str:
        await asyncio.sleep(0.001)
        return "done"

    async def outer(task: asyncio.Task[str]) -> None:
        await asyncio.shield(task)

    task = asyncio.create_task(inner())
    waiter = asyncio.create_task(outer(task))
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    return await task


async def cancellation() -> Any:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError as why:
            return f"no: {why}"
        return "slept"

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0.001)
    task.cancel("stop")
    return await task


async def as_completed() -> Any:
    async def one(number: int) -> int:
        await asyncio.sleep(0.001 * number)
        return number

    return [await done for done in asyncio.as_completed([one(2), one(1)])]


async def generators() -> Any:
    async def numbers() -> Any:
        try:
            for number in range(3):
                yield number
                await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)

    async def total() -> int:
        return sum([number async for number in numbers()])

    async for _ in numbers():
        break  # left in the middle: the loop closes it
    return await asyncio.gather(total(), total())


variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)


async def context() -> Any:
    async def one(value: int) -> int:
        variable.set(value)
        await asyncio.sleep(0)
        return variable.get()

    found = await asyncio.gather(one(1), one(2))
    return [*found, variable.get()]


async def callbacks() -> Any:
    loop, done = asyncio.get_running_loop(), []
    task = asyncio.create_task(asyncio.sleep(0, 5))
    task.add_done_callback(lambda ended: done.append(ended.result()))
    loop.call_soon(done.append, 1)
    loop.call_soon(done.append, 2).cancel()
    loop.call_later(0.001, done.append, 3)
    loop.call_later(0.001, done.append, 4).cancel()
    await asyncio.sleep(0.002)
    return sorted(done)


async def names() -> Any:
    task = asyncio.create_task(asyncio.sleep(0), name="mine")
    assert task in asyncio.all_tasks()
    await task
    return task.get_name(), task.done(), asyncio.current_task() is not None


PRIMITIVES = [
    sleep,
    wait_for,
    timeout,
    lock,
    event,
    condition,
    semaphore,
    queue,
    barrier,
    task_group,
    shield,
    cancellation,
    as_completed,
    generators,
    context,
    callbacks,
    names,
]


@pytest.mark.parametrize("program", PRIMITIVES)
def test_in_queue_order_it_is_asyncio(program: Callable[[], Any]) -> None:
    run = finished(AioProgram(program, mode="fifo").start())
    final = run.final()
    assert final.kind == "terminated"
    assert final.state["result"] == observed(asyncio.run(program()))
    assert run.unretrieved == ()


@pytest.mark.parametrize("program", PRIMITIVES)
def test_in_random_order_it_works(program: Callable[[], Any]) -> None:
    stats = explored(AioProgram(program), "random", max_executions=60)
    assert outcomes(stats) == {("terminated", observed(asyncio.run(program())))}


@pytest.mark.parametrize("program", PRIMITIVES)
def test_opaque_steps_are_all_explored(program: Callable[[], Any]) -> None:
    """Without footprints all orders differ, and `optimal` takes each of them once."""
    every = explored(AioProgram(program), "exhaustive", max_executions=300)
    if every.limit is None:
        best = explored(AioProgram(program))
        assert best.counts.executions == every.counts.executions == every.counts.classes
        assert outcomes(best) == outcomes(every)


# What is counted ------------------------------------------------------------------------------------------------


def counter(workers: int, join: str) -> Callable[[], Any]:
    async def main() -> int:
        value = 0

        async def worker() -> None:
            nonlocal value
            notes.reads.add("value")
            seen = value
            await asyncio.sleep(0)
            notes.writes.add("value")
            value = seen + 1

        if join == "gather":
            await asyncio.gather(*(worker() for _ in range(workers)))
        elif join == "wait":
            await asyncio.wait([asyncio.create_task(worker()) for _ in range(workers)])
        elif join == "group":
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(worker())
        else:
            pairs = [asyncio.gather(worker(), worker()) for _ in range(workers // 2)]
            await asyncio.gather(*pairs, *(worker() for _ in range(workers % 2)))
        notes.reads.add("value")
        return value

    return main


@pytest.mark.parametrize("join", ["gather", "wait", "group", "nested"])
@pytest.mark.parametrize("workers", [2, 3, 4])
def test_joins_cost_nothing(workers: int, join: str) -> None:
    """n! orders of the writes; a read stands before the first, or after any but its own: n!^2 (see `counter`)."""
    stats = explored(noted(counter(workers, join)))
    assert stats.counts.executions == math.factorial(workers) ** 2
    assert stats.counts.blocked == 0
    assert outcomes(stats) == {("terminated", n) for n in range(1, workers + 1)}


def test_readers() -> None:
    """One writer and N readers: 2^N."""

    async def main() -> None:
        async def read() -> None:
            notes.reads.add("x")

        async def write() -> None:
            notes.writes.add("x")

        await asyncio.gather(write(), *(read() for _ in range(5)))

    assert explored(noted(main)).counts.executions == 2**5


def test_independent_sleepers() -> None:
    """Timers due at one moment race only if what they wake does."""

    async def main() -> None:
        async def one() -> None:
            await asyncio.sleep(1)

        await asyncio.gather(*(one() for _ in range(6)))

    assert explored(noted(main)).counts.executions == 1


def test_timers_of_one_moment_race() -> None:
    async def main() -> str:
        log: list[str] = []

        def append(name: str) -> None:
            notes.writes.add("log")
            log.append(name)

        loop = asyncio.get_running_loop()
        for delay, name in [(3, "c"), (1, "a"), (1, "b"), (2, "x")]:
            loop.call_later(delay, append, name)
        await asyncio.sleep(4)
        notes.reads.add("log")
        return "".join(log) + str(loop.time())

    for mode in ("any", "fifo"):
        stats = explored(noted(main, mode))
        assert outcomes(stats) == {("terminated", "abxc4.0"), ("terminated", "baxc4.0")}
        assert stats.counts.executions == 2


def test_siblings_of_a_failed_task_may_move_before_they_are_cancelled() -> None:
    async def main() -> str:
        failed, seen = False, []

        async def fails() -> None:
            nonlocal failed
            notes.writes.add("failed")
            failed = True
            raise ValueError

        async def sibling() -> None:
            notes.reads.add("failed")
            seen.append(failed)
            await asyncio.Event().wait()

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
                group.create_task(sibling())
        except* ValueError:
            pass
        return str(seen)

    want = {("terminated", text) for text in ("[]", "[True]", "[False]")}
    assert outcomes(explored(noted(main), "exhaustive")) == want
    assert outcomes(explored(noted(main))) == want


def test_steps_that_touch_other_things_elsewhere() -> None:
    """`q` reads y after `e` and z before it: no outcome is lost, and no run is in vain."""

    async def main() -> str:
        values = {"x": 0, "y": 0, "z": 0}

        async def write(name: str) -> None:
            notes.writes.add(name)
            values[name] = 1

        async def q() -> tuple[int, int]:
            notes.reads.add("x")
            other = "y" if values["x"] else "z"
            notes.reads.add(other)
            return values["x"], values[other]

        return str((await asyncio.gather(write("y"), write("x"), q()))[2])

    every, best = explored(noted(main), "exhaustive"), explored(noted(main))
    assert outcomes(best) == outcomes(every)
    assert best.counts.executions == every.counts.classes == 3
    assert best.counts.blocked == 0


# Busy waiting -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["any", "fifo"])
def test_busy_waiting_ends(mode: str) -> None:
    async def main() -> str:
        ready = False

        async def sets() -> None:
            nonlocal ready
            await asyncio.sleep(0.5)
            notes.writes.add("ready")
            ready = True

        task = asyncio.create_task(sets())
        while True:
            notes.reads.add("ready")
            if ready:
                break
            await asyncio.sleep(0)
        await task
        return "seen"

    stats = explored(noted(main, mode), max_depth=50)
    assert outcomes(stats) == {("terminated", "seen")}
    assert stats.stopped == "exhausted"


@pytest.mark.parametrize("mode", ["any", "fifo"])
def test_busy_waiting_for_nothing_is_a_deadlock(mode: str) -> None:
    async def main() -> None:
        while True:
            notes.reads.add("never")
            await asyncio.sleep(0)

    stats = explored(noted(main, mode), max_depth=50)
    assert [outcome.kind for outcome in stats.outcomes] == ["deadlock"]
    assert "spins at test_aio_loop.py:" in stats.outcomes[0].waiting[0].guard


def test_counting_is_no_busy_waiting() -> None:
    async def main() -> int:
        for _ in [0, 0, 0, 0]:
            await asyncio.sleep(0)
        count = 0
        while count < 4:
            await asyncio.sleep(0)
            count += 1
        return count

    assert outcomes(explored(noted(main))) == {("terminated", 4)}


def test_busy_waiting_within_a_loop() -> None:
    async def main() -> int:
        ready = 0

        async def sets() -> None:
            nonlocal ready
            for _ in range(2):
                await asyncio.sleep(1)
                notes.writes.add("ready")
                ready += 1

        task = asyncio.create_task(sets())
        for wanted in range(1, 3):
            while notes.reads.add("ready") or ready < wanted:
                await asyncio.sleep(0)
        await task
        return ready

    assert outcomes(explored(noted(main), max_depth=50)) == {("terminated", 2)}


def test_watching_the_clock_makes_it_go() -> None:
    async def main() -> bool:
        loop = asyncio.get_running_loop()
        while loop.time() < 60:
            await asyncio.sleep(0)
        return loop.time() < 200

    assert outcomes(explored(noted(main), max_depth=100)) == {("terminated", True)}


def test_what_is_not_recognised_hits_the_limit() -> None:
    async def main() -> None:
        count = 0
        while True:
            count += 1
            await asyncio.sleep(0)

    stats = explored(noted(main), max_depth=50)
    assert stats.limit is not None
    assert not stats.outcomes


@pytest.mark.parametrize("mode", ["any", "fifo"])
def test_polling_for_nothing_is_a_deadlock(mode: str) -> None:
    async def poll(seconds: float) -> None:
        while not notes.reads.add("never"):
            await asyncio.sleep(seconds)

    async def main() -> None:
        await asyncio.gather(poll(0.1), poll(0.3))

    stats = explored(noted(main, mode), max_depth=50)
    assert [outcome.kind for outcome in stats.outcomes] == ["deadlock"]
    assert stats.stopped == "exhausted"
    assert "nobody changes: polls at test_aio_loop.py:" in stats.outcomes[0].waiting[1].guard


@pytest.mark.parametrize("mode", ["any", "fifo"])
@pytest.mark.parametrize("how", ["sets", "cancels", "times out", "the time", "polls", "counts"])
def test_polling_for_something_goes_on(mode: str, how: str) -> None:
    async def main() -> str:
        ready = 0
        loop = asyncio.get_running_loop()

        async def poll(wanted: int, then: int) -> None:
            nonlocal ready
            count = 0
            while notes.reads.add("ready") or ready < wanted:
                await asyncio.sleep(0.1)
                count += 1
                if how == "counts" and count > 20:
                    break
                if how != "counts":
                    count = 0
                if how == "the time" and loop.time() > 2:
                    break
            if then:
                notes.writes.add("ready")
                ready = then

        async def end(polling: asyncio.Task[None]) -> None:
            nonlocal ready
            await asyncio.sleep(1.05)
            if how == "cancels":
                polling.cancel()
            else:
                notes.writes.add("ready")
                ready = 1

        kept = []
        polling = asyncio.create_task(poll(2 if how == "polls" else 1, 0))
        if how == "polls":  # one ends the other, which was in vain for long
            kept.append(asyncio.create_task(poll(1, 2)))
        if how in ("sets", "cancels", "polls"):
            kept.append(asyncio.create_task(end(polling)))
        try:
            async with asyncio.timeout(3 if how == "times out" else None):
                await polling
        except (asyncio.CancelledError, TimeoutError) as problem:
            return type(problem).__name__
        return "seen"

    stats = explored(noted(main, mode), max_depth=400)
    ends = {"cancels": "CancelledError", "times out": "TimeoutError"}
    assert outcomes(stats) == {("terminated", ends.get(how, "seen"))}
    assert stats.stopped == "exhausted"


def test_the_cost_of_a_step_does_not_grow() -> None:
    async def main() -> None:
        count = 0
        while True:
            count += 1
            await asyncio.sleep(0.1)

    def seconds(steps: int) -> float:
        started = time.process_time()
        assert explored(noted(main), usual_depth=steps).counts.events == steps
        return time.process_time() - started

    seconds(100)
    few, many = (min(seconds(steps) for _ in range(3)) for steps in (1000, 8000))
    assert many < 8 * few * 4  # 64 times as much before


# How runs end ---------------------------------------------------------------------------------------------


def test_deadlocks_say_who_waits_for_what() -> None:
    async def main() -> None:
        first, second = asyncio.Lock(), asyncio.Lock()

        async def worker(one: asyncio.Lock, two: asyncio.Lock) -> None:
            async with one:
                await asyncio.sleep(0)
                async with two:
                    pass

        await asyncio.gather(worker(first, second), worker(second, first))

    stats = explored(AioProgram(main))
    stuck = next(outcome for outcome in stats.outcomes if outcome.kind == "deadlock")
    main_task, one, two = stuck.waiting
    assert (str(main_task.pid), str(one.pid), str(two.pid)) == ("0", "0.0", "0.1")
    assert main_task.guard == "gather() of 2, 2 of them pending"
    assert main_task.waits_for == (one.pid, two.pid)
    assert one.guard == "Lock.acquire() on <asyncio.locks.Lock [locked, waiters:1]>"
    assert one.name == "worker"
    assert any("in test_deadlocks" in line for line in one.values["stack"])  # type: ignore[union-attr, operator]


def test_failures() -> None:
    async def asserts() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())

    async def fails() -> None:
        raise AssertionError("inside")

    async def errs() -> None:
        raise ValueError("bad")

    async def cancels() -> None:
        raise asyncio.CancelledError

    async def exits() -> None:
        raise SystemExit(3)

    for program, kind in [(asserts, "assertion"), (errs, "error"), (cancels, "error"), (exits, "error")]:
        (outcome,) = explored(AioProgram(program)).outcomes
        assert outcome.kind == kind
        assert outcome.trace[-1].failure is not None
        assert outcome.trace[-1].failure.kind == kind
    assert explored(AioProgram(errs)).outcomes[0].state == {"raised": "ValueError: bad"}


def test_no_coroutine_function() -> None:
    with pytest.raises(InputError, match="not a coroutine function"):
        AioProgram(lambda: 3).start()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda loop: asyncio.to_thread(print), "run_in_executor"),
        (lambda loop: asyncio.open_connection("localhost", 1), "create_connection"),
        (lambda loop: asyncio.create_subprocess_shell("true"), "subprocess_shell"),
        (lambda loop: loop.getaddrinfo("localhost", 1), "getaddrinfo"),
    ],
)
def test_the_outside_world_is_refused(call: Callable[[Any], Any], words: str) -> None:
    async def main() -> None:
        await call(asyncio.get_running_loop())

    (outcome,) = explored(AioProgram(main)).outcomes
    assert outcome.kind == "error"
    assert words in str(outcome.state["raised"])
    assert "not simulated" in str(outcome.state["raised"])


def test_time_is_virtual() -> None:
    async def main() -> float:
        await asyncio.sleep(86_400)
        return asyncio.get_running_loop().time()

    began = time.monotonic()
    assert finished(AioProgram(main).start()).final().state == {"result": "86400.0"}
    assert time.monotonic() - began < 5


def test_others_go_on_after_the_main_task_but_time_does_not() -> None:
    log: list[str] = []

    async def main() -> str:
        async def background() -> None:
            await asyncio.sleep(0)
            log.append("went on")
            try:
                await asyncio.sleep(1)
                log.append("slept")
            except asyncio.CancelledError:
                log.append("cancelled")
                raise

        task = asyncio.create_task(background())
        await asyncio.sleep(0)
        return str(task.done())

    run = finished(AioProgram(main).start())
    assert log == ["went on"]
    assert run.final().state == {"result": "False"}
    assert log == ["went on", "cancelled"]


def test_exceptions_that_nobody_sees_are_collected() -> None:
    async def main() -> None:
        async def fails() -> None:
            raise ValueError("unseen")

        task = asyncio.create_task(fails())
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.sleep(1)
        del task

    run = finished(AioProgram(main).start())
    run.final()
    assert len(run.unretrieved) == 2
    assert "ZeroDivisionError" in run.unretrieved[0]
    assert run.unretrieved[1] == "fails (0.0): ValueError: unseen"


def test_nothing_is_left_behind(capfd: pytest.CaptureFixture[str]) -> None:
    async def main() -> int:
        async def stubborn() -> None:
            while True:
                try:
                    await asyncio.sleep(3600)
                finally:
                    await asyncio.sleep(0)

        async def fails() -> None:
            raise ValueError

        async def numbers() -> Any:
            try:
                yield 1
            finally:
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(f()) for f in (stubborn, asyncio.Event().wait, fails)]
        async for number in numbers():
            await asyncio.sleep(0)
            return number
        return len(tasks)

    before = {id(task) for task in gc.get_objects() if isinstance(task, asyncio.Task)}  # of other tests
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for length in range(12):  # abandoned after each number of steps
            run = AioProgram(main).start()
            for _ in range(length):
                if actions := run.actions():
                    run.step(actions[-1])
            del run
        explored(AioProgram(main), "exhaustive", max_executions=200)
        gc.collect()
        gc.collect()  # an abandoned generator that was finalised in between is kept until then
    assert capfd.readouterr() == ("", "")
    assert not {id(task) for task in gc.get_objects() if isinstance(task, asyncio.Task)} - before


def test_runs_leave_no_cycles() -> None:
    program = noted(counter(3, "gather"))
    explored(program)
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            finished(program.start()).final()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_within_another_loop() -> None:
    async def outside() -> int:
        stats = explored(noted(counter(2, "group")))
        assert asyncio.get_running_loop().time() > 0
        return stats.counts.executions

    assert asyncio.run(outside()) == 4


def test_what_is_not_followed_is_opaque() -> None:
    async def library() -> None:
        await asyncio.sleep(0)

    async def main() -> None:
        await library()
        await asyncio.sleep(0)

    run = AioProgram(main, recorder=notes, followed=lambda code: code is main.__code__).start()
    opaque = []
    while actions := run.actions():
        opaque.append(run.step(actions[0]).footprint.opaque)
    assert opaque == [False, True, False]


def test_futures_made_elsewhere_are_opaque() -> None:
    async def main() -> None:
        await asyncio.sleep(0)
        future = asyncio.Future[None]()
        asyncio.get_running_loop().call_soon(future.set_result, None)
        await future

    run = noted(main).start()
    opaque = []
    while actions := run.actions():
        opaque.append(run.step(actions[0]).footprint.opaque)
    assert opaque == [False, True, True, True]


def test_labels_and_replay() -> None:
    stats = explored(noted(counter(2, "gather")))
    for outcome in stats.outcomes:
        trace, run = replay(noted(counter(2, "gather")), outcome.schedule)
        assert run.final().state == outcome.state
        assert normal_form(trace) == normal_form(outcome.trace)
    labels = [str(event.label) for event in stats.outcomes[0].trace]
    assert labels[0].startswith("main: test_aio_loop.py:")
    assert labels[-1] == "main: ends"
    assert labels.count("worker: ends") == 2


def test_the_clock_is_a_barrier() -> None:
    async def main() -> None:
        await asyncio.sleep(1)

    run = noted(main).start()
    events = []
    while actions := run.actions():
        events.append(run.step(actions[0]))
    assert [str(event.pid) for event in events] == ["0", "1", "0"]
    assert [event.barrier for event in events] == [False, True, False]
    assert str(events[1].label) == "clock: 1 s"
    assert events[1].footprint == OPAQUE
    assert events[2].footprint != EMPTY


# Generated programs ------------------------------------------------------------------------------------------

SHARED = ("a", "b")


def operations(random: Random, depth: int, length: int) -> list[tuple[Any, ...]]:
    """Statements of a coroutine: reads, writes, awaits, and joins of coroutines like it."""
    made: list[tuple[Any, ...]] = []
    for _ in range(length):
        name = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        if name in JOINS:
            if depth:
                count = 1 if name in ("spawn", "wait_for", "shield", "timeout") else random.choice([2, 2, 3])
                inner = [operations(random, depth - 1, random.choice([1, 1, 2, 2, 3])) for _ in range(count)]
                made.append((name, inner, random.randrange(3), random.choice([1, 2])))
        else:
            made.append((name, random.choice(SHARED), random.randrange(3), random.choice([1, 2])))
    return made


JOINS = {"gather": 1.2, "group": 1.2, "wait": 0.8, "wait_for": 0.5, "shield": 0.3, "spawn": 0.7, "timeout": 0.4}
WEIGHTS: dict[str, float] = {
    "read": 4,
    "write": 4,
    "either": 2,
    "yield": 4,
    "sleep": 1,
    "await": 1.5,
    "complete": 1.5,
    "cancel": 0.7,
    "done": 0.7,
    "gathered": 0.4,
    "fail": 0.3,
    "soon": 0.5,
    "later": 0.4,
    **JOINS,
}


class Interpreter:
    """Runs such statements over asyncio, and notes what they touch."""

    def __init__(self) -> None:
        self.shared = dict.fromkeys(SHARED, 0)
        self.loop = asyncio.get_running_loop()
        self.futures = [self.loop.create_future() for _ in range(2)]
        self.tasks: list[asyncio.Task[int]] = []
        self.gathered: list[asyncio.Future[Any]] = []

    def read(self, name: str) -> int:
        notes.reads.add(name)
        return self.shared[name]

    def write(self, name: str, value: int) -> None:
        notes.writes.add(name)
        self.shared[name] = value % 97

    def keep(self, *tasks: asyncio.Task[int]) -> None:
        notes.writes.add("tasks")
        self.tasks.extend(tasks)

    async def run(self, statements: list[tuple[Any, ...]], value: int) -> int:
        for number, (name, what, which, delay) in enumerate(statements):
            if name in JOINS:
                coroutines = [self.run(inner, value * 7 + number * 5 + k) for k, inner in enumerate(what)]
                try:
                    value = value * 5 + await self.join(name, coroutines, which, delay)
                except (ValueError, TimeoutError):
                    value = value * 5 + 2
                except ExceptionGroup as problems:
                    value = value * 5 + len(problems.exceptions)
            elif name == "yield":
                await asyncio.sleep(0)
            elif name == "sleep":
                await asyncio.sleep(delay)
            elif name == "await":
                value += await self.futures[which % 2]
            else:
                value = self.simple(name, what, which, delay, value)
        return value % 97

    def simple(self, name: str, what: str, which: int, delay: int, value: int) -> int:
        if name == "read":
            value = value * 3 + self.read(what)
        elif name == "write":
            self.write(what, value)
        elif name == "either":
            if self.read(what) % 2:
                self.write("a" if what == "b" else "b", value)
            else:
                value += self.read("b" if what == "a" else "a")
        elif name == "complete":
            if not self.futures[which % 2].done():
                self.futures[which % 2].set_result(value % 97)
        elif name in ("cancel", "done"):
            notes.reads.add("tasks")
            if which < len(self.tasks):
                value += self.tasks[which].cancel() if name == "cancel" else self.tasks[which].done()
        elif name == "gathered":
            notes.reads.add("gathered")
            value = sum((g.done() for g in self.gathered), value)
        elif name == "fail":
            raise ValueError
        elif name == "soon":
            self.loop.call_soon(lambda: self.write(what, value + self.read(what)))
        else:
            self.loop.call_later(delay, lambda: self.write(what, value + self.read(what)))
        return value

    async def join(self, name: str, coroutines: list[Any], which: int, delay: int) -> int:
        if name == "gather":
            future = asyncio.gather(*coroutines, return_exceptions=which == 1)
            notes.writes.add("gathered")
            self.gathered.append(future)
            if which == 2:
                await asyncio.sleep(0)
            return sum(value if isinstance(value, int) else 1 for value in await future)
        if name == "group":
            async with asyncio.TaskGroup() as group:
                for coroutine in coroutines:
                    self.keep(group.create_task(coroutine))
                if which == 2:
                    await asyncio.sleep(0)
            return 1
        if name == "wait":
            tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
            self.keep(*tasks)
            when = ["ALL_COMPLETED", "FIRST_COMPLETED", "FIRST_EXCEPTION"][which]
            done, _ = await asyncio.wait(tasks, return_when=when, timeout=None if delay == 1 else 1)
            return sum(2**k for k, task in enumerate(tasks) if task in done)
        if name == "spawn":
            self.keep(asyncio.create_task(coroutines[0]))
            return 1
        if name == "wait_for":
            return int(await asyncio.wait_for(coroutines[0], delay))
        if name == "shield":
            return int(await asyncio.shield(coroutines[0]))
        async with asyncio.timeout(delay):
            return int(await coroutines[0])


def generated(seed: int) -> Callable[[], Any]:
    random = Random(seed)
    statements = operations(random, 2, random.choice([1, 2, 3]))

    async def main() -> str:
        interpreter = Interpreter()
        result = await interpreter.run(statements, 1)
        notes.reads.update(SHARED)
        return f"{result} {interpreter.shared}"

    return main


@pytest.mark.parametrize("mode", ["any", "fifo"])
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_reductions_lose_nothing(first: int, mode: str) -> None:
    """Outcomes and classes are those of running every order; each class once."""
    compared = 0
    for seed in range(first, first + 20):
        every = explored(noted(generated(seed), mode), "exhaustive", max_executions=400)
        if every.limit is not None or every.counts.executions == 1:
            continue
        compared += 1
        for engine in ("optimal", "source"):
            best = explored(noted(generated(seed), mode), engine, max_executions=2000)
            assert outcomes(best) == outcomes(every), (seed, engine)
            assert best.counts.executions == every.counts.classes, (seed, engine)
    assert compared or mode == "fifo"
