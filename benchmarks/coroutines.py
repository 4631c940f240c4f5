"""`make bench-asyncio`: how many schedules, how fast, and what instrumentation costs.

python benchmarks/coroutines.py                 everything
python benchmarks/coroutines.py --profile       where the time of the two speed programs goes
python benchmarks/coroutines.py --no-frontrun   without installing and running PyPI's frontrun beside it
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import functools
import json
import os
import pstats
import subprocess
import sys
import tempfile
import textwrap
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from porcini import Limits, explore
from porcini.coroutines import session
from porcini.coroutines.rehearsing import run_twice
from porcini.engines.catalogue import ENGINES, Options, run_engine
from porcini.engines.stats import SearchStats
from porcini.langs.aio.commuting import Commuting

Program = Callable[[], Any]


class Box:
    def __init__(self) -> None:
        self.value = 0


async def add(box: Box) -> None:
    value = box.value
    await asyncio.sleep(0)
    box.value = value + 1


async def counter(n: int) -> int:
    """Workers that read, wait and write one attribute."""
    box = Box()
    await asyncio.gather(*(add(box) for _ in range(n)))
    return box.value


async def lost_update() -> None:
    assert await counter(2) == 2


async def readers(n: int) -> list[int]:
    """One writer; n readers, each a private step and then one read."""
    box = Box()

    async def write() -> None:
        box.value = 42

    async def read() -> int:
        await asyncio.sleep(0)
        return box.value

    found = await asyncio.gather(write(), *(read() for _ in range(n)))
    return found[1:]


async def results(n: int) -> dict[int, int]:
    """Workers that note their results in one dict, and count."""
    found: dict[int, int] = {}
    box = Box()

    async def work(i: int) -> None:
        box.value += 1
        await asyncio.sleep(0)
        found[i] = i * i
        box.value -= 1

    await asyncio.gather(*map(work, range(n)))
    return found


async def lastzero(n: int) -> int:
    """Writers a[j] = a[j - 1] + 1, each a read and a write; one reader looks for the last zero from the end."""
    a = [0] * (n + 1)

    async def write(j: int) -> None:
        t = a[j - 1]
        await asyncio.sleep(0)
        a[j] = t + 1

    async def read() -> int:
        i = n
        while a[i] != 0:
            i -= 1
            await asyncio.sleep(0)
        return i

    found = await asyncio.gather(read(), *(write(j) for j in range(1, n + 1)))
    return found[0]


async def lock_and_queue() -> int:
    """Four tasks: two producers and two consumers, with a queue between them and a lock around a total."""
    queue: asyncio.Queue[int] = asyncio.Queue()
    lock, total = asyncio.Lock(), Box()

    async def produce(n: int) -> None:
        await queue.put(n)

    async def consume() -> None:
        n = await queue.get()
        async with lock:
            value = total.value
            await asyncio.sleep(0)
            total.value = value + n

    await asyncio.gather(produce(1), produce(2), consume(), consume())
    assert total.value == 3
    return total.value


COUNTS: list[tuple[str, Program, int]] = [
    *((f"counter({n})", functools.partial(counter, n), wanted) for n, wanted in ((2, 4), (3, 36), (4, 576))),
    *((f"readers({n})", functools.partial(readers, n), 2**n) for n in (2, 4, 6)),
    *((f"lastzero({n})", functools.partial(lastzero, n), (n + 3) * 2 ** (n - 2)) for n in (2, 3, 4, 5)),
    *((f"results({n})", functools.partial(results, n), 1) for n in (2, 10)),
]


def counts(console: Console) -> None:
    table = Table(
        "program", "wanted", "executions", "blocked", "per second", title="optimal, to the end, mode any"
    )
    first = explore(lost_update, first=True)
    table.add_row("lost update, until found", "2", str(first.counts.executions), "", "")
    for name, program, wanted in COUNTS:
        found = explore(program, limits=Limits(timeout=60)).counts
        good = found.executions == wanted and not found.blocked
        rate = best(program)
        table.add_row(
            name, f"{wanted:,}", f"{found.executions:,}{'' if good else ' !'}", str(found.blocked), f"{rate:,.0f}"
        )
    console.print(table)


def best(program: Program, seconds: float = 1.5) -> float:
    """Schedules per second of CPU time of the search itself, which is repeated; the best of ten: machines are
    noisy."""
    rate = 0.0
    with session(program) as opened:
        prepared = opened.program()
        run_twice(prepared)
        prepared.commute(Commuting())
        for _ in range(10):
            started, runs = time.process_time(), 0
            while time.process_time() - started < seconds / 10:
                _, stats = run_engine(ENGINES["optimal"], prepared, SearchStats(), Options())
                runs += stats.counts.executions
            rate = max(rate, runs / (time.process_time() - started))
    return rate


def speed(console: Console, others: dict[str, list[float]]) -> None:
    title = "schedules per second of CPU time, footprints on"
    table = Table("program", "asked", "porcini", "frontrun", "its schedules", "ratio", title=title)
    for name, program, asked in (
        ("two tasks", functools.partial(counter, 2), 3000),
        ("four tasks", functools.partial(counter, 4), 0),
        ("lock and queue", lock_and_queue, 1000),
    ):
        rate = best(program, 6)
        other, number = others.get(name, (0, 0))
        table.add_row(
            name,
            f"{asked:,}" if asked else "",
            f"{rate:,.0f}",
            f"{other:,.0f}" if other else "-",
            f"{number:,}" if other else "-",
            f"{rate / other:,.0f}x" if other else "-",
        )
    console.print(table)


FRONTRUN = textwrap.dedent(
    """
    import asyncio, inspect, json, time
    import frontrun

    class Box:
        def __init__(self):
            self.value = 0

    async def add(box):
        value = box.value
        await asyncio.sleep(0)
        box.value = value + 1

    async def finished(found):
        return await found if inspect.isawaitable(found) else found

    def rate(workers):
        started, runs = time.process_time(), 0
        while time.process_time() - started < 2:
            found = asyncio.run(finished(frontrun.explore(
                Box, [add] * workers, lambda box: True, stop_on_first=False, preemption_bound=None)))
            runs += found.num_explored
        return runs / (time.process_time() - started), found.num_explored

    print(json.dumps({"two tasks": rate(2), "four tasks": rate(4)}))
    """
)


def frontrun(console: Console) -> dict[str, list[float]]:
    """Schedules per second of PyPI's `frontrun`, in an environment of its own; empty if it cannot be had."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for command in ([python, "-m", "pip", "install", "-q", "frontrun"], [python, "-c", FRONTRUN]):
            done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=300, check=False)
            if done.returncode:
                console.print(f"frontrun could not be run: {done.stderr.strip().splitlines()[-1]}")
                return {}
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def profile(console: Console) -> None:
    for name, program in (("counter(4)", functools.partial(counter, 4)), ("lock and queue", lock_and_queue)):
        profiler = cProfile.Profile()
        profiler.enable()
        explore(program)
        profiler.disable()
        console.print(f"[bold]{name}")
        pstats.Stats(profiler, stream=sys.stdout).sort_stats("tottime").print_stats(25)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--no-frontrun", action="store_true")
    options = parser.parse_args()
    console = Console()
    if options.profile:
        profile(console)
        return
    started = time.perf_counter()
    counts(console)
    speed(console, {} if options.no_frontrun else frontrun(console))
    console.print("[bold]instrumentation[/] (asked: at most 10x on the attribute-heavy loop)")
    subprocess.run([sys.executable, str(Path(__file__).with_name("aio_instrument.py"))], check=True)
    console.print(f"{time.perf_counter() - started:.0f} s in all")


if __name__ == "__main__":
    main()
