"""Programs of which `optimal` once lost classes or outcomes, or ended in an internal error."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import porcini
from porcini.engines.catalogue import Options

EXPLORING = ("exhaustive", "sleep", "source", "dpor", "optimal")
REDUCING = EXPLORING[1:]

OLD_RACES = """
x |-> 0, y |-> 0, p |-> 0, q |-> 0, r |-> 0,
True |> spawn(True |> p := x);
True |> spawn(True |> y := 10 * y + 3);
True |> spawn(True |> r := q);
True |> spawn(True |> x := 5);
True |> spawn(True |> y := 10 * y + x);
True |> spawn(True |> q := q + 1; True |> q := q + 1)
"""

REFERENCES = """
module L; import * from ABS.StdLib;
interface I { Unit sr(I q); Unit both(Int i, Int v); Unit k(Int i); }
class C(I r) implements I {
  Int c = 0; Int s2 = 9; Int s4 = 9; Int s5 = 9;
  Unit sr(I q) { r = q; }
  Unit both(Int i, Int v) { if (r != null) { r!k(i); } c = v; }
  Unit k(Int i) { if (i == 2) { s2 = c; } else if (i == 4) { s4 = c; } else { s5 = c; } }
}
{ I x = new C(null); I y = new C(null); x!sr(y); x!both(2, 1); y!sr(x); y!both(4, 3); y!both(5, 2); }
"""


@pytest.mark.parametrize("engine", REDUCING)
def test_races_of_old_events_with_a_new_rest(engine: str) -> None:
    """`optimal` found 23: it looked at races from the first new event on only."""
    report = porcini.explore(porcini.loads(OLD_RACES), engine=engine)
    assert (report.counts.executions, report.counts.classes, len(report.outcomes)) == (24, 24, 24)


@pytest.mark.parametrize("engine", REDUCING)
def test_the_same_in_the_parallel_language(engine: str) -> None:
    program = porcini.loads("p1 := x || z := 0 || x := 0 || z := 0 || p6 := z || p7 := x", "par")
    report = porcini.explore(program, engine=engine, inputs={"x": 1, "z": 1})
    assert report.counts.classes == 24


@pytest.mark.parametrize("engine", REDUCING)
def test_who_gets_a_message_depends_on_who_came_first(engine: str) -> None:
    """`optimal` found 40: guards that looked as before were not looked at again."""
    report = porcini.explore(porcini.loads(REFERENCES, "abs"), engine=engine)
    assert len(report.outcomes) == 42 and report.counts.executions == report.counts.classes


BLOCKED = """
module M; import * from ABS.StdLib;
interface I { Int takes(Fut<Int> g); }
interface J { Int gives(); }
class C implements I { Int c = 2; Int takes(Fut<Int> g) { c = g.get; return 2; } }
class D implements J { Int gives() { return 0; } }
{ I x = new C(); J y = new D(); Fut<Int> a = y!gives(); Fut<Int> b = y!gives(); x!takes(b); x!takes(a); }
"""


@pytest.mark.parametrize("actors", ["first", "stable", "refined"])
def test_a_marked_task_whose_future_others_look_at(actors: str) -> None:
    """`transdpor` with task selection found 6 classes: `a` was marked when `b` was run, and stayed so when `takes`
    had blocked on it."""
    options = Options(actors=actors, tasks="independent")
    report = porcini.explore(porcini.loads(BLOCKED, "abs"), engine="transdpor", options=options)
    assert report.counts.classes == porcini.explore(porcini.loads(BLOCKED, "abs")).counts.classes == 8


AWAITED = """
module M; import * from ABS.StdLib;
interface I { Int step(); Unit keep(); Unit use(); Unit start(I q); }
class C implements I {
  Fut<Int> h = null;
  Int step() { return 0; }
  Unit keep() { h = null; }
  Unit use() { }
  Unit start(I q) { h = q!step(); await h?; }
}
{ I x = new C(); I y = new C(); x!keep(); x!start(y); x!use(); }
"""


def test_a_marked_task_that_writes_what_another_awaits() -> None:
    """`transdpor` found 2 classes: of a task that waits only the code was looked at, not the guard."""
    options = Options(actors="first", tasks="independent")
    report = porcini.explore(porcini.loads(AWAITED, "abs"), engine="transdpor", options=options)
    assert report.counts.classes == porcini.explore(porcini.loads(AWAITED, "abs")).counts.classes == 3


STARTS_ONLY = """
module M; import * from ABS.StdLib;
interface A { Unit take(); Int read(); }
interface B { Unit buy(A a); }
class C implements A { Int m = 1; Unit take() { suspend; m = 0; } Int read() { return m; } }
class D implements B { Unit buy(A a) { Int seen = await a!read(); a!take(); a!take(); } }
{ A a = new local C(); B anna = new D(); B bert = new D(); anna!buy(a); bert!buy(a); }
"""


def test_steps_that_touch_nothing_but_are_tasks_of_one_actor() -> None:
    """`transdpor` found 40 classes: `take` does nothing before it suspends, and so was compared with nothing."""
    options = Options(actors="first", tasks="all")
    report = porcini.explore(porcini.loads(STARTS_ONLY, "abs"), engine="transdpor", options=options)
    assert report.counts.classes == porcini.explore(porcini.loads(STARTS_ONLY, "abs")).counts.classes == 56


async def awaiting() -> None:
    async def job() -> None:
        pass

    async def waits() -> None:
        await j

    j = asyncio.create_task(job())
    t = asyncio.create_task(waits())

    async def cancels() -> None:
        t.cancel()

    await asyncio.gather(cancels(), t, return_exceptions=True)


async def setting() -> str:
    future = asyncio.get_running_loop().create_future()

    async def waits() -> int:
        return await future

    async def sets() -> None:
        future.set_result(1)

    t = asyncio.create_task(waits())

    async def cancels() -> None:
        t.cancel()

    done = await asyncio.gather(sets(), cancels(), t, return_exceptions=True)
    return repr(done)


async def shielding() -> int:
    async def job() -> int:
        return 1

    j = asyncio.create_task(job())

    async def waits() -> int:
        async with asyncio.timeout(1):
            return await asyncio.wait_for(asyncio.shield(j), 1)

    return await waits()


@pytest.mark.parametrize("main", [awaiting, setting, shielding])
def test_a_task_that_is_cancelled_before_its_first_step(main) -> None:
    """`optimal`: "a run was blocked by its sleep set". Such a task touches nothing that it would have awaited."""
    reports = {engine: porcini.explore(main, engine=engine) for engine in EXPLORING}
    outcomes = {str(sorted(str((o.kind, o.state)) for o in report.outcomes)) for report in reports.values()}
    assert len(outcomes) == 1
    assert len({report.counts.classes for report in reports.values()}) == 1
    assert {reports[engine].counts.executions for engine in REDUCING} == {reports["sleep"].counts.classes}


async def counting() -> str:
    log: list[object] = []

    async def nothing() -> None:
        pass

    async def late() -> None:
        asyncio.get_running_loop().call_soon(log.append, 4)

    async def fails() -> None:
        raise ValueError

    first, second = asyncio.create_task(nothing()), asyncio.create_task(nothing())
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(late())
            group.create_task(fails())
    except BaseException as error:
        log.append(type(error).__name__)
    return repr([log, first.done() and first.cancelled(), second.done() and second.cancelled()])


@pytest.mark.parametrize("engine", REDUCING)
def test_a_group_goes_on_counting_when_nobody_waits_for_it(engine: str) -> None:
    """`optimal` found 15 classes: that a task was counted after the group had failed left no trace, and the last
    step of `counting` was taken for the one before."""
    report = porcini.explore(counting, engine=engine)
    assert (report.counts.executions, report.counts.classes) == (16, 16)


async def joining_late() -> int:
    total = 1

    async def late() -> None:
        nonlocal total
        group.create_task(asyncio.sleep(0))
        total = 10 * total + 3

    async def member() -> None:
        nonlocal total
        total = 5

    late_task = asyncio.create_task(late())
    async with asyncio.TaskGroup() as group:
        group.create_task(member())
    assert late_task is not None
    return total


@pytest.mark.parametrize("engine", EXPLORING)
def test_a_group_takes_a_task_until_its_last_one_is_counted(engine: str) -> None:
    """53 was lost: a task that ends was counted at once, although `late` can see the group and come in between."""
    report = porcini.explore(joining_late, engine=engine, deterministic=True)
    assert {outcome.state["result"] for outcome in report.outcomes} == {5, 53}


EXACT = """
mod EXACT is
  protecting NAT .  protecting QID .
  sorts Thread Cell Conf .  subsorts Thread Cell < Conf .
  op t : Nat Nat -> Thread [ctor] .  op c : Nat -> Cell [ctor] .
  op none : -> Conf [ctor] .  op __ : Conf Conf -> Conf [ctor assoc comm id: none] .
  vars I K V : Nat .
  rl [alone] : t(I, 2) => t(I, 1) .
  rl [add] : t(I, 1) c(V) => t(I, 0) c(s V) .
endm
mod EXACT-POR is
  protecting EXACT .  protecting PORCINI .
  op cell : -> Location [ctor] .  op touches : Qid Conf -> Footprint .  vars I K : Nat .  var S : Conf .
  eq touches('alone, t(I, K) S) = nothing .
  eq touches('add, t(I, K) S) = writes(cell) .
endm
"""


def test_a_rule_that_matches_a_thread_alone(tmp_path: Path) -> None:
    """Maude crashed: it was asked for the sort of a term that it had not computed."""
    theory, description = tmp_path / "exact.maude", tmp_path / "exact.toml"
    theory.write_text(EXACT)
    described = {"module": "EXACT", "initial": "t(0, 2) t(1, 2) c(0)", "state": "Conf", "thread": "Thread"}
    described |= {"tid": "Nat", "dependence": "EXACT-POR"}
    description.write_text("".join(f'{key} = "{value}"\n' for key, value in described.items()))
    assert porcini.explore(porcini.load(str(theory), por=str(description))).counts.classes == 2
