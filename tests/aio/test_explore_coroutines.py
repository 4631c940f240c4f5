"""`porcini.coroutines`: the corpus has no false alarm and no false "holds", failures replay in a new process, and
what cannot be explored is one clear error."""

import ast
import asyncio
import contextlib
import dataclasses
import datetime
import functools
import importlib
import itertools
import linecache
import logging
import os
import random
import secrets
import socket
import subprocess
import sys
import textwrap
import threading
import time
import uuid
import weakref
import zoneinfo
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import porcini
from aio.corpus_reference import CORPUS, corpus_names, load, max_steps_of
from aio.corpus_reference import explore as every_order
from porcini import InputError, Limits, ScheduleError, explore, replay, show_schedule
from porcini.coroutines import Blocking, Guards, NondeterministicProgram, steady
from porcini.coroutines.code import taken
from porcini.langs.aio.program import observed

KINDS = {"ok": "terminated"}


def results(found):
    """What runs returned, in the words of reports."""
    values = set()
    for kind, *text in found.outcomes:
        if kind == "ok":
            try:
                values.add(observed(ast.literal_eval(text[0])))
            except (ValueError, SyntaxError):
                values.add(text[0])
    return values


@pytest.mark.parametrize("name", corpus_names())
def test_the_corpus(name):
    module = load(name)
    for which in ("buggy", "correct"):
        program = getattr(module, which)
        reference = every_order(program, max_runs=20_000, max_steps=max_steps_of(module))
        report = explore(program, limits=Limits(timeout=20))
        assert report.stopped == "exhausted"
        assert {o.kind for o in report.outcomes} == {KINDS.get(kind, kind) for kind in reference.kinds}, which
        returned = {o.state["result"] for o in report.outcomes if o.kind == "terminated"}
        assert returned == results(reference), which
        failing = reference.kinds - {"ok"}
        assert report.verdict == ("violated" if failing else "holds")


REPLAYS = textwrap.dedent(
    """
    import sys
    from aio.corpus_reference import load
    from porcini import replay
    for line in sys.stdin.read().splitlines():
        name, kind, schedule = line.split("|")
        found = replay(load(name).buggy, schedule)
        assert found.outcomes[0].kind == kind, line
        print(name)
    """
)


def test_every_failure_replays_in_a_new_process():
    lines = []
    for name in corpus_names():
        report = explore(load(name).buggy, first=True)
        if report.counterexample:
            run = report.counterexample.runs[0]
            lines.append(f"{name}|{run.kind}|{show_schedule(run.schedule)}")
    assert len(lines) > 20
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", REPLAYS],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == len(lines)


class Box:
    def __init__(self):
        self.value = 0


async def add(box):
    value = box.value
    await asyncio.sleep(0)
    box.value = value + 1


async def two_adds():
    box = Box()
    await asyncio.gather(add(box), add(box))
    assert box.value == 2
    return box.value


def test_a_lost_update():
    report = explore(two_adds)
    assert (report.language, report.file) == ("asyncio", f"{__name__}:two_adds")
    assert (report.verdict, report.property, report.counts.executions) == ("violated", "failure-free", 4)
    assert explore(two_adds, first=True).counts.executions == 2
    again = replay(two_adds, show_schedule(report.counterexample.schedules[0]))
    assert (again.verdict, again.outcomes[0].kind, again.command) == ("violated", "assertion", "replay")
    assert "mode any" in report.notes[0]


@pytest.mark.parametrize("engine", taken())
def test_every_engine(engine):
    assert explore(two_adds, engine=engine, limits=Limits(max_executions=50)).verdict == "violated"


def test_fifo_has_one_order_where_no_timers_race():
    report = explore(two_adds, mode="fifo")
    assert report.counts.executions == 1

    async def timers():
        box = Box()

        async def late():
            await asyncio.sleep(1)
            await add(box)

        await asyncio.gather(late(), late())
        return box.value

    assert explore(timers, mode="fifo").counts.executions > 1


@pytest.mark.parametrize("n, executions", [(1, 1), (2, 4), (3, 36)])
def test_n_workers(n, executions):
    async def count():
        box = Box()
        await asyncio.gather(*(add(box) for _ in range(n)))
        return box.value

    report = explore(count, deterministic=True)
    assert (report.counts.executions, report.counts.blocked) == (executions, 0)
    assert {o.state["result"] for o in report.outcomes} == set(range(1, n + 1))


def test_steps_that_touch_other_things_elsewhere():
    """A run may have nothing left but what is asleep: no bug of Porcini's."""

    class Three:
        x = y = z = 0

    async def main():
        three = Three()

        async def write(name):
            setattr(three, name, 1)

        async def look():
            return three.y if three.x else three.z

        return (await asyncio.gather(write("y"), write("x"), look()))[2]

    report = explore(main)
    assert {o.state["result"] for o in report.outcomes} == {0, 1}
    assert report.counts.executions == explore(main, engine="exhaustive").counts.classes


async def awaits_itself():
    tasks, out = [], []

    async def itself():
        try:
            await tasks[0]
        except RuntimeError:
            out.append("itself")

    async def other():
        try:
            await tasks[0]
        except RuntimeError:
            out.append("other")

    tasks.extend([asyncio.create_task(itself()), asyncio.create_task(other())])
    await asyncio.wait(tasks)
    return str(out)


async def names_a_task():
    task = asyncio.create_task(asyncio.sleep(5))

    async def name(text):
        task.set_name(text)

    await asyncio.gather(name("x"), name("y"))
    return task.get_name()


async def looks_at_a_stack():
    async def one():
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def two():
        await asyncio.sleep(0)
        return len(task.get_stack())

    task = asyncio.create_task(one())
    return (await asyncio.gather(task, two()))[1]


async def handles_exceptions():
    seen, loop = [], asyncio.get_running_loop()

    async def one():
        loop.set_exception_handler(lambda *args: seen.append(1))

    async def two():
        loop.call_exception_handler({"message": "x"})

    await asyncio.gather(one(), two())
    return len(seen)


@pytest.mark.parametrize(
    "function, values",
    [
        (awaits_itself, {"['itself']", "['other', 'itself']"}),
        (names_a_task, {"x", "y"}),
        (looks_at_a_stack, {0, 1}),
        (handles_exceptions, {0, 1}),
    ],
)
def test_what_only_the_loop_sees(function, values):
    found, every = explore(function), explore(function, engine="exhaustive")
    assert {o.state["result"] for o in found.outcomes} == {o.state["result"] for o in every.outcomes} == values


# Which functions ----------------------------------------------------------------------------------------------


def test_closures_and_local_classes_are_followed():
    class Local:
        def __init__(self):
            self.n = 0

        def put(self, n):
            self.n = n

    async def helper(box):
        n = box.n
        await asyncio.sleep(0)
        box.put(n + 1)

    async def main():
        box = Local()
        await asyncio.gather(helper(box), helper(box))
        return box.n

    report = explore(main, deterministic=True)
    assert (report.verdict, report.counts.executions) == ("violated", 4)
    assert len(report.notes) == 1  # nothing was opaque
    assert helper.__code__.co_filename == __file__


def test_arguments_methods_and_partials():
    class Runner:
        def __init__(self, times):
            self.times = times

        async def run(self, more=0):
            box = Box()
            await asyncio.gather(*(add(box) for _ in range(self.times + more)))
            return box.value

        async def __call__(self):
            return await self.run()

    async def with_arguments(times, *, more):
        return await Runner(times).run(more)

    assert explore(Runner(2).run).counts.executions == 4
    assert explore(Runner(2).run, args=(1,)).counts.executions == 36
    assert explore(Runner(2)).counts.executions == 4
    assert explore(functools.partial(with_arguments, more=1), args=(1,)).counts.executions == 4


def test_code_from_a_notebook_or_the_prompt():
    """Cells have names such as `<ipython-input-1>`, and their lines are in linecache."""
    source = textwrap.dedent(
        """
        import asyncio
        class Cell:
            n = 0
        async def bump(cell):
            n = cell.n
            await asyncio.sleep(0)
            cell.n = n + 1
        async def main():
            cell = Cell()
            await asyncio.gather(bump(cell), bump(cell))
            assert cell.n == 2
        """
    )
    name = "<ipython-input-1-abc>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"__name__": "a_notebook"}
    exec(compile(source, name, "exec"), namespace)
    report = explore(namespace["main"])
    assert (report.verdict, report.counts.executions) == ("violated", 4)
    unknown = {"__name__": "nowhere"}
    exec(compile(source, "<nowhere>", "exec"), unknown)
    assert explore(unknown["main"]).verdict == "violated"  # without its source every step is opaque


def test_installed_packages_are_followed_unless_others_are_asked_for(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "a_pool"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        textwrap.dedent(
            """
            import asyncio
            class Pool:
                def __init__(self):
                    self.free = 2
                async def take(self):
                    free = self.free
                    await asyncio.sleep(0)
                    self.free = free - 1
            """
        )
    )
    monkeypatch.syspath_prepend(package.parent)
    import a_pool

    async def main():
        pool = a_pool.Pool()
        mine = Box()
        await asyncio.gather(pool.take(), pool.take(), add(mine))
        return pool.free

    plain = explore(main, deterministic=True, packages=["another"])
    asked = explore(main, deterministic=True, packages=["a_pool"])
    met = explore(main, deterministic=True)
    assert met.counts.executions == asked.counts.executions
    assert met.notes == asked.notes
    assert plain.verdict == asked.verdict == "violated"
    assert [o.state for o in plain.outcomes] == [o.state for o in asked.outcomes]
    assert asked.counts.executions == 4 < plain.counts.executions
    assert "packages=['a_pool'] would let these be followed" in plain.notes
    assert len(asked.notes) == 1


def test_inside_a_running_loop_as_in_a_notebook():
    async def cell():
        report = explore(two_adds)
        await asyncio.sleep(0)
        return report.verdict, asyncio.current_task() is not None

    assert asyncio.run(cell()) == ("violated", True)


def test_everything_is_put_back():
    before = (
        time.time,
        time.sleep,
        threading.Thread.start,
        add.__code__,
        random.getstate(),
        asyncio.Lock.acquire.__code__,
    )
    explore(two_adds)
    with pytest.raises(InputError):
        explore(blocks)
    after = (
        time.time,
        time.sleep,
        threading.Thread.start,
        add.__code__,
        random.getstate(),
        asyncio.Lock.acquire.__code__,
    )
    assert before == after
    assert "connect" not in vars(socket.socket)


FREEZING = """
import asyncio, gc, sys
from porcini import explore
async def main(): await asyncio.sleep(0)
if len(sys.argv) > 1: gc.freeze()
for _ in range(2): explore(main)
print(gc.get_freeze_count() > 0, gc.isenabled())
"""


@pytest.mark.parametrize("frozen", [False, True])
def test_what_others_have_frozen_stays_frozen(frozen: bool) -> None:
    words = [sys.executable, "-c", FREEZING, *(["frozen"] if frozen else [])]
    assert subprocess.run(words, capture_output=True, text=True).stdout.split() == [str(frozen), "True"]


# The world outside --------------------------------------------------------------------------------------------


async def blocks():
    time.sleep(1)


async def blocks_in_secret():
    try:
        time.sleep(1)
    except BaseException:
        return


async def never_ends():
    while True:
        pass


async def wants_a_thread():
    await asyncio.to_thread(print)


async def starts_a_thread():
    threading.Thread(target=print).start()


async def wants_a_connection():
    async with asyncio.TaskGroup() as group:
        group.create_task(connected())


async def connected():
    return await asyncio.open_connection("127.0.0.1", 9)


async def connects():
    with socket.socket() as one:
        one.connect(("127.0.0.1", 9))


@pytest.mark.parametrize(
    "function, said",
    [
        (blocks, "time.sleep() in a step"),
        (blocks_in_secret, "time.sleep() in a step"),
        (never_ends, "the limit of 0.2 s for one step (step_seconds)"),
        (wants_a_thread, "threads are not simulated"),
        (starts_a_thread, "threads are not simulated"),
        (wants_a_connection, "real network traffic"),
        (connects, "real network traffic"),
    ],
)
def test_what_leaves_the_loop(function, said):
    with pytest.raises(Blocking) as caught:
        explore(function, guards=Guards(step_seconds=0.2))
    assert said in caught.value.message
    assert Path(caught.value.file).resolve() == Path(__file__).resolve()
    first = function.__code__.co_firstlineno
    assert first < caught.value.place.line <= first + 8


async def reads_clocks():
    started = time.time(), time.monotonic(), time.perf_counter_ns()
    await asyncio.sleep(2)
    return [
        now - then
        for now, then in zip((time.time(), time.monotonic(), time.perf_counter_ns()), started, strict=True)
    ]


def test_time_is_virtual_and_dice_are_loaded():
    async def dice():
        return random.random()

    report = explore(reads_clocks)
    assert report.outcomes[0].state["result"] == "[2.0, 2.0, 2000000000]"
    first, second = explore(dice, deterministic=True), explore(dice, guards=Guards(seed=1))
    assert first.verdict == "holds"
    assert first.outcomes[0].state != second.outcomes[0].state


class Clocked:
    now = time.time
    later = staticmethod(time.time)

    def __init__(self, clock=time.monotonic):
        self.clock = clock


@dataclasses.dataclass
class Job:
    made: float = dataclasses.field(default_factory=time.monotonic)
    name: uuid.UUID = dataclasses.field(default_factory=uuid.uuid4)


async def has_a_clock_already():
    clocked, job, then = Clocked(), Job(), datetime.datetime.now(datetime.UTC)
    before = clocked.clock()
    assert clocked.now() == Clocked.later() == then.timestamp()
    await asyncio.sleep(2)
    later = datetime.datetime.now(tz=datetime.UTC) - then
    return [clocked.clock() - before, Job().made - job.made, later.total_seconds(), then.year]


async def names_by_chance():
    jobs = {}

    async def submit():
        job = Job()
        await asyncio.sleep(0)
        jobs[job.name, secrets.token_hex(2), os.urandom(3)] = job

    await asyncio.gather(submit(), submit())
    return len(jobs)


def test_clocks_and_dice_that_others_hold():
    real = time.monotonic, Clocked.__init__.__defaults__, os.urandom, random._urandom
    report = explore(has_a_clock_already)
    assert report.outcomes[0].state["result"] == "[2.0, 2.0, 2.0, 2026]"
    assert not any("opaque" in note for note in report.notes)
    report = explore(names_by_chance, deterministic=True)
    assert (report.verdict, report.counts.executions) == ("holds", 1)
    assert not any("opaque" in note for note in report.notes)
    assert real == (time.monotonic, Clocked.__init__.__defaults__, os.urandom, random._urandom)
    assert Job().made > 0 and Job().name != Job().name
    assert Clocked.now is time.time


def test_whoever_is_first_to_ask_for_a_logger_makes_it():
    async def main():
        logging.getLogger(f"{__name__}.asked.for").debug("x")

    assert explore(main).verdict == "holds"


# What no schedule controls ------------------------------------------------------------------------------------

numbers = itertools.count()
seen = {}


async def grows():
    seen[len(seen)] = True
    return len(seen)


async def remembers():
    if "before" in seen:
        await asyncio.sleep(0)
    seen["before"] = True


async def tells_time():
    return time.perf_counter()


async def takes_ids():
    return id(Box())


async def reads_a_file():
    with Path("/proc/self/stat").open() as file:
        return file.read()


@pytest.mark.parametrize(
    "function, guards, said",
    [
        (grows, Guards(), f"{__name__}.seen[0]"),
        (remembers, Guards(), "stops at test_explore_coroutines.py"),
        (tells_time, Guards(real_time=True), "ends with terminated"),
        (takes_ids, Guards(), "ends with terminated"),
    ],
)
def test_the_same_schedule_must_do_the_same(function, guards, said):
    seen.clear()
    with pytest.raises(NondeterministicProgram) as caught:
        explore(function, guards=guards)
    assert "step 1, of" in caught.value.message
    assert caught.value.place.line == function.__code__.co_firstlineno
    assert said in caught.value.message
    assert "usual suspects" in caught.value.hint


class Ids:
    last = 0


async def makes_ids():
    Ids.last += 1


async def resets_ids():
    Ids.last = 0
    await makes_ids()


@pytest.mark.parametrize("name", ["busy_wait", "rate_limiter", "queue_sentinel_lost", "taskgroup_sibling_failure"])
@pytest.mark.parametrize("mode", ["any", "fifo"])
def test_cheap_replays_change_nothing(monkeypatch, name, mode):
    found = []
    for all_compared in (10**9, 0):
        monkeypatch.setattr(steady, "_ALL_COMPARED", all_compared)
        monkeypatch.setattr(steady, "_ONE_IN", 10**9)
        report = explore(load(name).buggy, mode=mode, limits=Limits(timeout=20))
        found.append((report.counts, report.outcomes))
    (counts, one), (again, two) = found
    assert counts == again
    assert [(o.kind, o.state, o.schedule) for o in one] == [(o.kind, o.state, o.schedule) for o in two]


class Runs:
    begun = 0


@pytest.mark.parametrize("how", ["touches", "stops", "makes"])
def test_cheap_replays_see_what_differs(monkeypatch, how):
    """At the 40th run, long after all was compared."""
    monkeypatch.setattr(steady, "_ONE_IN", 10**9)
    monkeypatch.setattr(Runs, "begun", 0)

    async def main():
        box = Box()
        begun = Runs.__dict__["begun"] + 1
        type.__setattr__(Runs, "begun", begun)
        if begun > 40:
            if how == "touches":
                box.value = box.value
            elif how == "stops":
                await asyncio.sleep(0)
            else:
                await asyncio.wait_for(asyncio.sleep(0), 1)
        await asyncio.gather(*(add(box) for _ in range(4)))

    with pytest.raises(NondeterministicProgram, match="the same schedule did not do the same"):
        explore(main)


def test_state_that_outlives_a_run_is_noted():
    notes = explore(makes_ids).notes
    assert any("state that outlives a run" in note and "Ids.last" in note for note in notes)
    assert len(explore(resets_ids).notes) == 1
    box = Box()
    assert any("arguments" in note for note in explore(add, args=(box,)).notes)


# Bad input ----------------------------------------------------------------------------------------------------


def test_bad_input():
    for wrong in (len, lambda: None, test_bad_input, Box):
        with pytest.raises(InputError, match="not a coroutine function"):
            explore(wrong)
        with pytest.raises(InputError, match="not a coroutine function"):
            replay(wrong, "0")
    with pytest.raises(
        InputError, match="engine `graph` is not for coroutine functions: the state of running code"
    ):
        explore(two_adds, engine="graph")
    with pytest.raises(InputError, match="unknown mode"):
        explore(two_adds, mode="lifo")


@pytest.mark.parametrize(
    "schedule, step",
    [("0 0.7", 2), ("0", 2), ("", 1), ("0x9", 2), ("0 0.0 0.1x2 0.0 0 0.0", 7), ("0 nonsense", None)],
)
def test_schedules_that_do_not_fit(schedule, step):
    with pytest.raises(ScheduleError) as caught:
        replay(two_adds, schedule)
    assert caught.value.step == step


@pytest.mark.parametrize(
    "given", [{"observe": ["x"]}, {"inputs": {"x": 1}}, {"property": "failure-free"}, {"independence": "semantic"}]
)
def test_what_is_not_for_coroutine_functions_is_refused(given):
    with pytest.raises(InputError, match="is not for coroutine functions"):
        porcini.explore(two_adds, **given)


def test_guards_and_files_of_python(tmp_path):
    async def dice():
        return random.randrange(10**6)

    results = {
        seed: porcini.explore(dice, guards=porcini.Guards(seed=seed)).outcomes[0].state["result"]
        for seed in (1, 2)
    }
    assert results[1] != results[2]
    schedule = "0"
    again = porcini.replay(dice, schedule, guards=porcini.Guards(seed=1))
    assert again.outcomes[0].state["result"] == results[1]
    assert porcini.run(dice, guards=porcini.Guards(seed=2)).outcomes[0].state["result"] == results[2]
    (tmp_path / "some.py").write_text("")
    with pytest.raises(InputError) as caught:
        porcini.explore(str(tmp_path / "some.py"))
    assert "some:NAME" in str(caught.value)


def test_a_limit_is_unknown():
    async def count():
        box = Box()
        await asyncio.gather(*(add(box) for _ in range(3)))

    report = explore(count, limits=Limits(max_executions=5))
    assert (report.verdict, report.stopped) == ("unknown", "limit")


def test_exceptions_that_nobody_retrieved_are_noted():
    async def fails():
        raise KeyError("lost")

    async def main():
        task = asyncio.create_task(fails())
        await asyncio.wait([task])

    report = explore(main)
    assert report.verdict == "holds"
    assert any("nobody retrieved" in note and "lost" in note for note in report.notes)


def test_what_is_opaque_is_noted():
    async def main():
        subprocess.list2cmdline([])

    assert any("list2cmdline" in note for note in explore(main).notes)


def test_the_corpus_is_where_it_was():
    assert CORPUS.is_dir()
    assert porcini.explore is explore


async def synchronised() -> int:
    lock, semaphore, condition = asyncio.Lock(), asyncio.Semaphore(1), asyncio.Condition()
    event, queue, done = asyncio.Event(), asyncio.Queue(1), []

    async def gives() -> None:
        async with lock, semaphore:
            await asyncio.sleep(0)
        async with condition:
            done.append(1)
            condition.notify_all()
        await queue.put(1)
        event.set()

    async def takes() -> None:
        async with lock, semaphore:
            await asyncio.sleep(0)
        async with condition:
            await condition.wait_for(lambda: done)
        async with asyncio.timeout(10):
            await event.wait()
        done.append(await queue.get())

    async with asyncio.TaskGroup() as group:
        group.create_task(gives())
        group.create_task(takes())
    return len(done)


def test_nothing_that_asyncio_does_for_synchronisation_is_opaque() -> None:
    report = porcini.explore(synchronised)
    assert report.verdict == "holds"
    assert not [note for note in report.notes if "opaque" in note]


class Entry(NamedTuple):
    value: int
    expires: float


class Pool:
    def __init__(self) -> None:
        self.users = 0
        self.recent: OrderedDict[str, Entry] = OrderedDict()

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[int]:
        await asyncio.sleep(0)
        self.users += 1
        try:
            yield self.users
        finally:
            await asyncio.sleep(0)
            self.users -= 1

    @classmethod
    @contextlib.contextmanager
    def opened(cls) -> Iterator["Pool"]:
        yield cls()


async def manages_contexts() -> None:
    with Pool.opened() as pool:
        async with pool.connection() as number:
            await asyncio.sleep(0)
            assert number == 1


async def expects_an_error() -> None:
    with pytest.raises(ValueError, match="x"):
        await asyncio.sleep(0)
        raise ValueError("x")


async def reads_named_tuples() -> None:
    pool = Pool()
    pool.recent["a"], pool.recent["b"] = Entry(1, 2.0), Entry(3, 4.0)
    assert pool.recent["a"].expires > 1
    pool.recent.move_to_end("a")
    assert pool.recent.popitem(last=False)[1]._replace(value=4).value == 4


@dataclasses.dataclass
class Order:
    lines: list[int]
    parts: dict[str, "Order"]


async def takes_apart() -> None:
    order = Order([1], {"a": Order([], {})})
    assert dataclasses.asdict(order)["parts"]["a"] == {"lines": [], "parts": {}}
    assert datetime.datetime.now(zoneinfo.ZoneInfo("UTC")).year == 2026


async def takes_apart_what_changes() -> int:
    order = Order([], {"a": Order([], {})})

    async def adds() -> None:
        order.parts["a"].lines.append(1)

    task = asyncio.create_task(adds())
    await asyncio.sleep(0)
    found = len(dataclasses.asdict(order)["parts"]["a"]["lines"])
    await task
    return found


def test_fields_of_fields_are_seen() -> None:
    assert {o.state["result"] for o in porcini.explore(takes_apart_what_changes).outcomes} == {0, 1}


async def counts(n: int) -> AsyncIterator[int]:
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def makes_a_pipeline() -> None:
    async def squares(source: AsyncIterator[int]) -> AsyncIterator[int]:
        async for x in source:
            yield x * x

    async def collects() -> list[int]:
        return [x async for x in squares(counts(3))]

    assert await asyncio.gather(collects(), collects()) == [[0, 1, 4], [0, 1, 4]]
    async for x in counts(1):
        assert x == 0
    numbers = counts(2)
    assert await anext(numbers) == 0
    await numbers.aclose()


async def keeps_tasks() -> None:
    loop, tasks = asyncio.get_running_loop(), set[Any]()

    async def work() -> None:
        async for _ in counts(2):
            break  # a task closes the generator

    for _ in range(3):
        task = asyncio.create_task(work())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    timer = loop.call_later(1, tasks.clear)
    loop.call_later(0.5, timer.cancel)
    await asyncio.sleep(2)
    assert len(tasks) == 0


@pytest.mark.parametrize(
    "function",
    [manages_contexts, expects_an_error, reads_named_tuples, makes_a_pipeline, keeps_tasks, takes_apart],
)
def test_what_programs_are_full_of_is_not_opaque(function: Callable[[], Any]) -> None:
    report = porcini.explore(function)
    assert report.verdict == "holds"
    assert report.counts.executions == 1
    assert not [note for note in report.notes if "opaque" in note]


async def who_is_there() -> list[bool]:
    tasks = set()
    made = [asyncio.create_task(asyncio.sleep(0)) for _ in range(2)]
    for task in made:
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.sleep(0)
    return [task in tasks for task in made]


def test_callbacks_in_c_conflict_with_who_looks() -> None:
    found = porcini.explore(who_is_there)
    assert {outcome.state["result"] for outcome in found.outcomes} == {
        (one, two) for one in (True, False) for two in (True, False)
    }
    assert found.counts.executions == 4


def test_a_task_stands_in_the_generator_that_it_waits_for() -> None:
    async def main() -> None:
        async for _ in counts(1):
            pass
        raise ValueError

    steps = str(porcini.explore(main))
    assert "await asyncio.sleep(0)" in steps and "async for" not in steps


def test_what_a_step_lets_go_of_is_gone() -> None:
    class Thing:
        pass

    async def lets_go() -> bool:
        references = []

        async def holds() -> None:
            thing = Thing()
            references.append(weakref.ref(thing))
            await asyncio.sleep(0)  # the step after this does nothing else than let go

        await asyncio.create_task(holds())
        return references[0]() is None

    async def registry() -> None:
        things: weakref.WeakValueDictionary[str, Thing] = weakref.WeakValueDictionary()

        async def use(key: str) -> None:
            thing = things.get(key) or Thing()
            things[key] = thing
            await asyncio.sleep(0)
            assert thing

        await asyncio.gather(use("a"), use("a"), use("b"))

    assert [o.state["result"] for o in porcini.explore(lets_go).outcomes] == [True]
    assert porcini.explore(registry).verdict == "holds"


async def shares_a_generator() -> None:
    numbers, queue = counts(2), asyncio.Queue[int](1)

    async def takes() -> None:
        await queue.put(await anext(numbers))

    await asyncio.gather(takes(), takes(), queue.get(), queue.get())


def test_what_has_no_object_is_told_in_words() -> None:
    text = str(porcini.explore(shares_a_generator))
    assert "already running" in text and "resumes Generator" in text
    for ours in ("Token", "async_generator", "ControlledLoop", "Seen", "[<Future>]"):
        assert ours not in text


def test_what_is_given_is_followed_wherever_it_was_defined(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "given_server.py").write_text("class Server:\n    async def ask(self):\n        return len('x')\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("given_server")

    async def asks(server: Any) -> int:
        return await server().ask()

    report = explore(asks, args=(module.Server,))
    assert not any("opaque" in note for note in report.notes)


async def one_coroutine_for_two_tasks() -> str:
    async def work() -> int:
        await asyncio.sleep(0)
        return 1

    coroutine = work()
    tasks = [asyncio.create_task(coroutine), asyncio.create_task(coroutine)]
    done = await asyncio.gather(*tasks, return_exceptions=True)
    return str([value if isinstance(value, int) else str(value) for value in done])


@pytest.mark.parametrize("engine", ["exhaustive", "optimal", "source"])
def test_whichever_task_is_first_gets_the_coroutine(engine: str) -> None:
    found = {
        str(outcome.state["result"])
        for outcome in porcini.explore(one_coroutine_for_two_tasks, engine=engine).outcomes
    }
    again = "cannot reuse already awaited coroutine"
    assert found == {str([1, again]), str([again, 1])}


LAMBDAS = [lambda: 1, lambda: 2, lambda n=3: n, lambda: (lambda: 4)() + (lambda: 5)()]  # in one line on purpose


@pytest.mark.parametrize("which, result", list(enumerate([1, 2, 3, 9])))
def test_functions_in_one_line_are_told_apart(which: int, result: int) -> None:
    async def main() -> int:
        return LAMBDAS[which]()

    assert porcini.explore(main).outcomes[0].state["result"] == result


def test_many_keys_without_a_text_are_no_problem() -> None:
    """Their values have one path, and a snapshot must not become deep by that."""

    class Key:
        pass

    kept = {Key(): [n] for n in range(5000)}

    async def main(given: dict[Key, list[int]]) -> int:
        return len(given)

    assert porcini.explore(main, args=(kept,)).outcomes[0].state["result"] == 5000


async def a_task_is_done_and_its_join_is_not() -> list[tuple[bool, bool]]:
    seen = []

    async def work() -> None:
        await asyncio.sleep(0)

    async def look() -> None:
        seen.append((all(task.done() for task in tasks), joined.done()))

    tasks = [asyncio.create_task(work()) for _ in range(2)]
    joined = asyncio.gather(*tasks)
    await asyncio.gather(joined, look())
    return seen


async def a_group_is_left_before_it_counts() -> list[int]:
    """If the group's task is done, and the group has not heard of it, leaving it takes another step."""
    seen, x = [], 0

    async def first() -> None:
        seen.append(x)

    async def other() -> None:
        if x:
            seen.append(2)

    watching = asyncio.create_task(other())
    async with asyncio.TaskGroup() as group:
        group.create_task(first())
        await asyncio.sleep(0)
        x = 1
    seen.append(3)
    await watching
    return seen


async def callbacks_in_the_order_in_which_they_were_added() -> list[str]:
    called: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0)

    async def add(name: str) -> None:
        task.add_done_callback(lambda _: called.append(name))

    task = asyncio.create_task(work())
    adding = [asyncio.create_task(add(name)) for name in "ab"]
    await asyncio.sleep(1)
    assert all(one.done() for one in adding)
    return called


@pytest.mark.parametrize(
    "program, outcomes",
    [
        (a_task_is_done_and_its_join_is_not, 3),
        (a_group_is_left_before_it_counts, 7),
        (callbacks_in_the_order_in_which_they_were_added, 2),
    ],
)
def test_what_can_be_seen_of_joins_and_callbacks(program, outcomes) -> None:
    report = explore(program)
    every = every_order(program, max_runs=20_000)
    found = {outcome.state["result"] for outcome in report.outcomes}
    assert every.complete and found == results(every)
    assert len(found) == outcomes


REGISTRY: dict[object, int] = {}


async def cleans_up_at_its_end() -> list[str]:
    """What a run leaves before its end would be found by the next one."""

    async def work(n: int) -> None:
        REGISTRY[n] = len(REGISTRY)
        await asyncio.sleep(0)
        if REGISTRY.get(0) == 1:
            REGISTRY["x"] = 1

    await asyncio.gather(*map(work, range(3)))
    found = sorted(map(str, REGISTRY.items()))
    REGISTRY.clear()
    return found


@pytest.mark.parametrize("engine", ["optimal", "source", "sleep", "exhaustive"])
def test_runs_that_a_search_leaves_come_to_their_end(engine: str) -> None:
    assert len(porcini.explore(cleans_up_at_its_end, engine=engine).outcomes) == 8
    assert not REGISTRY
