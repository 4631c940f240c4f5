"""Locks that are guarded while a search goes on: few runs, and all outcomes."""

from __future__ import annotations

import asyncio
import copy
import functools
import operator
from collections.abc import Awaitable, Callable
from math import factorial
from typing import Any

import pytest

import porcini
from porcini.langs.aio import recorder, sections
from porcini.langs.aio.sections import Guarded, Levels, Sections


class Box:
    def __init__(self) -> None:
        self.value = 0


def ends(report: porcini.Report) -> set[tuple[str, str]]:
    return {(outcome.kind, str(outcome.state)) for outcome in report.outcomes}


async def _together(work: Callable[[int], Awaitable[object]], n: int) -> None:
    await asyncio.gather(*(work(i) for i in range(1, n + 1)))


async def mixed(n: int) -> int:
    """Sections that do not commute."""
    lock, box = asyncio.Lock(), Box()

    async def work(i: int) -> None:
        async with lock:
            value = box.value
            await asyncio.sleep(0)
            box.value = 10 * value + i

    await _together(work, n)
    return box.value


async def own(n: int, make: Callable[[], Any] = asyncio.Lock) -> dict[int, int]:
    """Sections that commute."""
    lock, found = make(), dict[int, int]()

    async def work(i: int) -> None:
        async with lock:
            await asyncio.sleep(0)
            found[i] = i * i

    await _together(work, n)
    return found


async def at_once(n: int) -> int:
    """Sections of one step."""
    lock, box = asyncio.Lock(), Box()

    async def work(i: int) -> None:
        async with lock:
            box.value = 10 * box.value + i

    await _together(work, n)
    return box.value


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_tasks_behind_a_lock_take_one_run_for_each_order_of_theirs(n: int) -> None:
    report = porcini.explore(functools.partial(mixed, n))
    assert (report.counts.executions, len(report.outcomes)) == (factorial(n), factorial(n))


def test_sections_of_one_step_take_no_more() -> None:
    assert porcini.explore(functools.partial(at_once, 4)).counts.executions == factorial(4)


@pytest.mark.parametrize("make", [asyncio.Lock, lambda: asyncio.Semaphore(2), lambda: asyncio.BoundedSemaphore(1)])
@pytest.mark.parametrize("n", [2, 4, 8])
def test_sections_that_commute_take_one_run(n: int, make: Callable[[], Any]) -> None:
    report = porcini.explore(functools.partial(own, n, make))
    assert (report.verdict, report.counts.executions) == ("holds", 1)


# One program for each exception, and a mutant that does not notice it ------------------------------------------


async def crossing() -> None:
    """Both have a lock and want the other: whoever has one may be stuck."""
    one, two = asyncio.Lock(), asyncio.Lock()

    async def work(first: asyncio.Lock, second: asyncio.Lock) -> None:
        async with first:
            await asyncio.sleep(0)
            async with second:
                pass

    await asyncio.gather(work(one, two), work(two, one))


async def waits_inside() -> None:
    """Who has the lock waits for somebody who wants it."""
    lock, event = asyncio.Lock(), asyncio.Event()

    async def wait() -> None:
        async with lock:
            await event.wait()

    async def let_go() -> None:
        async with lock:
            event.set()

    await asyncio.gather(wait(), let_go())


async def keeps_it() -> str:
    """Who has the lock ends without giving it back."""
    lock, box = asyncio.Lock(), Box()

    async def keep() -> None:
        await lock.acquire()
        box.value = 1

    await asyncio.gather(keep(), keep())
    return "both"


async def takes_its_time() -> list[int]:
    """Time passes in a section, so that others wait longer than they have."""
    lock, late = asyncio.Lock(), list[int]()

    async def work(i: int) -> None:
        try:
            async with asyncio.timeout(1.5), lock:
                await asyncio.sleep(1)
        except TimeoutError:
            late.append(i)

    await _together(work, 2)
    return late


async def cancelled_in_line() -> list[str]:
    lock, said = asyncio.Lock(), list[str]()

    async def work() -> None:
        try:
            await lock.acquire()
        except asyncio.CancelledError:
            said.append("in line")
            raise
        try:
            await asyncio.sleep(0)
        finally:
            lock.release()

    tasks = [asyncio.create_task(work()) for _ in range(2)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return said


async def asks() -> list[bool]:
    lock, seen = asyncio.Lock(), list[bool]()

    async def work(_: int) -> None:
        async with lock:
            await asyncio.sleep(0)

    async def ask() -> None:
        seen.append(lock.locked())

    await asyncio.gather(work(1), work(2), ask())
    return seen


async def looks_inside() -> list[bool]:
    lock, seen = asyncio.Lock(), list[bool]()

    async def work(_: int) -> None:
        async with lock:
            await asyncio.sleep(0)

    async def look() -> None:
        seen.append(lock._locked)

    await asyncio.gather(work(1), work(2), look())
    return seen


def _looking(look: Callable[[asyncio.Lock], object]) -> Callable[[], Awaitable[list[object]]]:
    async def program() -> list[object]:
        lock, seen = asyncio.Lock(), list[object]()

        async def work(_: int) -> None:
            async with lock:
                await asyncio.sleep(0)

        async def see() -> None:
            seen.append(look(lock))

        await asyncio.gather(work(1), work(2), see())
        return seen

    return program


LOOKS: list[Callable[[asyncio.Lock], object]] = [
    lambda lock: "unlocked" in repr(lock),
    lambda lock: "unlocked" in f"{lock}",
    lambda lock: vars(lock)["_locked"],
    lambda lock: lock.__dict__["_locked"],
    lambda lock: getattr(lock, "_" + "locked"),
    lambda lock: operator.attrgetter("_locked")(lock),
    lambda lock: copy.copy(lock)._locked,
    lambda lock: bool(lock._waiters),
    lambda lock: type(lock).locked(lock),
    lambda lock: asyncio.Condition(lock).locked(),
    lambda lock: eval("lock._locked", {"lock": lock}),
]


@pytest.mark.parametrize("look", LOOKS)
def test_who_looks_sees_both(look: Callable[[asyncio.Lock], object]) -> None:
    program = _looking(look)
    every = ends(porcini.explore(program, engine="exhaustive"))
    assert ends(porcini.explore(program)) == every
    assert len(every) == 2


async def given_back_by_another() -> list[int]:
    lock, order = asyncio.Lock(), list[int]()

    async def take(i: int) -> None:
        await lock.acquire()
        order.append(i)

    async def give_back() -> None:
        await asyncio.sleep(0)
        if order:
            lock.release()

    tasks = [asyncio.create_task(each) for each in (take(1), take(2), give_back())]
    await asyncio.sleep(1)
    return order[: len(tasks)]


async def check_then_act() -> int:
    """What is looked at before a free lock is taken stays so."""
    lock, box = asyncio.Lock(), Box()

    async def work() -> None:
        if box.value == 0:
            async with lock:
                box.value += 1 if box.value == 0 else 10

    await asyncio.gather(work(), work())
    return box.value


async def first_come_first_served() -> list[int]:
    """Who waits for longer goes first: the second one comes a second later."""
    lock, order = asyncio.Lock(), list[int]()

    async def work(i: int) -> None:
        await asyncio.sleep(i)
        async with lock:
            order.append(i)

    async with lock:
        tasks = [asyncio.create_task(work(i)) for i in (1, 2)]
        await asyncio.sleep(5)
    await asyncio.gather(*tasks)
    return order


EXCEPTIONS: list[Any] = [
    *(crossing, waits_inside, keeps_it, takes_its_time, cancelled_in_line, asks, looks_inside),
    *(given_back_by_another, check_then_act, first_come_first_served, functools.partial(mixed, 3)),
]


@pytest.mark.parametrize("engine", ["optimal", "source", "dpor", "sleep"])
@pytest.mark.parametrize("program", EXCEPTIONS)
def test_all_outcomes_and_no_other(program: Any, engine: str) -> None:
    every = porcini.explore(program, engine="exhaustive")
    assert ends(porcini.explore(program, engine=engine)) == ends(every)


@pytest.mark.parametrize("program", EXCEPTIONS)
def test_every_schedule_is_one_of_asyncios_own_locks(program: Any) -> None:
    for outcome in porcini.explore(program).outcomes:
        again = porcini.replay(program, porcini.show_schedule(outcome.schedule)).outcomes[0]
        assert (again.kind, again.state) == (outcome.kind, outcome.state)


def _unnoticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    method = getattr(Guarded, name)

    def silent(self: Guarded, *args: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Sections, "exception", lambda *_: None)
            return method(self, *args)

    monkeypatch.setattr(Guarded, name, silent)


def no_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sections, "check", lambda self: None)


def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "looks_inside", lambda *_: False)
    assert recorder.sections is sections


@pytest.mark.parametrize(
    "program, mutate",
    [
        (crossing, "stuck"),
        (asks, "is_taken"),
        (cancelled_in_line, "give_up"),
        (looks_inside, nobody_looks),
        (functools.partial(mixed, 2), no_check),
        (check_then_act, no_check),
    ],
)
def test_what_goes_unnoticed_is_missed(monkeypatch: pytest.MonkeyPatch, program: Any, mutate: Any) -> None:
    """Each exception is needed: without it, outcomes are lost, or a run is none of asyncio's own locks."""
    every = ends(porcini.explore(program, engine="exhaustive"))
    given_up: list[Levels] = []
    monkeypatch.setattr(Levels, "give_up", lambda self: given_up.append(self) or setattr(self, "_changes", 99))
    assert ends(porcini.explore(program)) == every
    assert not given_up
    if isinstance(mutate, str):
        _unnoticed(monkeypatch, mutate)
    else:
        mutate(monkeypatch)
    assert ends(porcini.explore(program)) != every or given_up


async def kept_join() -> int:
    """Whether an order of asyncio's own locks is found must not depend on the order that was run."""
    box, lock = Box(), asyncio.Lock()

    async def first() -> None:
        async with lock:
            await asyncio.sleep(0)

    async def second() -> None:
        if join.done():
            box.value = 10
        async with lock:
            if not join.done():
                box.value += 1

    tasks = [asyncio.create_task(first()), asyncio.create_task(second())]
    join = asyncio.gather(*tasks)
    await join
    return box.value


def test_all_engines_keep_the_same_locks_guarded() -> None:
    found = [porcini.explore(kept_join, engine=engine) for engine in ("optimal", "source", "dpor", "sleep")]
    assert len({report.counts.classes for report in found}) == 1
