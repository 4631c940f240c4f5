"""The second half of `make bench`: engines compared, speed and growth of `optimal`."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import porcini
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.stats import SearchStats

sys.path.insert(0, str(Path(__file__).parent / "dpor"))

from programs import PROGRAMS, TRAPS, counter

COUNTS = [
    ("readers", 8, "256"),
    ("lastzero", 5, "64"),
    ("lastzero", 10, "3,328"),
    ("filesystem", 16, "8"),
    ("indexer", 12, "8"),
    ("lastwrite", 4, "24"),
    ("floating_read", 4, "120"),
    ("await_chain", 6, "1"),
    ("spinlock", 4, "24"),
    ("counter", 4, "576"),
    ("independent", 8, "1"),
]
FAST = [("readers", 13, 5000), ("lastzero", 10, 2000), ("indexer", 15, 2000)]
SECONDS = 20.0


def counts(console: Console) -> None:
    title = f"complete runs (+ given up), at most {SECONDS:.0f} s each"
    table = Table("program", "wanted", "optimal", "source", "dpor", "sleep", title=title)
    for column in table.columns:
        column.no_wrap = True
    for name, n, wanted in COUNTS:
        model = porcini.loads(PROGRAMS[name](n))
        cells = []
        for engine in ("optimal", "source", "dpor", "sleep"):
            report = porcini.explore(model, engine=engine, limits=porcini.Limits(timeout=SECONDS))
            cut = "..." if report.stopped == "limit" else ""
            blocked = f" + {report.counts.blocked:,}" if report.counts.blocked else ""
            cells.append(f"{report.counts.executions:,}{blocked}{cut}")
        table.add_row(f"{name}({n})", wanted, *cells)
    for name, (source, classes, _) in TRAPS.items():
        model = porcini.loads(source)
        found = [porcini.explore(model, engine=e).counts for e in ("optimal", "source", "dpor", "sleep")]
        table.add_row(
            name, str(classes), *(f"{c.executions}{f' + {c.blocked}' if c.blocked else ''}" for c in found)
        )
    console.print(table)


def speed(console: Console) -> None:
    table = Table(
        "program",
        "executions",
        "per second",
        "wanted",
        "events per second",
        "peak MB",
        title="optimal, the best of three",
    )
    for name, n, wanted in FAST:
        model = porcini.loads(PROGRAMS[name](n))
        seconds = float("inf")
        for _ in range(3):
            started = time.perf_counter()
            report = porcini.explore(model)
            seconds = min(seconds, time.perf_counter() - started)
        executions, events = report.counts.executions, report.counts.events
        table.add_row(
            f"{name}({n})",
            f"{executions:,}",
            f"{executions / seconds:,.0f}",
            f"{wanted:,}",
            f"{events / seconds:,.0f}",
            peak(),
        )
    console.print(table)


def memory(console: Console) -> None:
    table = Table("program", "executions", "peak MB", title="memory of optimal as executions grow")
    for name, sizes in (("readers", (9, 11, 13)), ("lastzero", (8, 10, 12))):
        for n in sizes:
            report = porcini.explore(porcini.loads(PROGRAMS[name](n)))
            table.add_row(f"{name}({n})", f"{report.counts.executions:,}", peak())
    console.print(table)


def growth(console: Console) -> None:
    table = Table("private steps", "events", "us per event", title="counter(2): cost per event as runs grow")
    for private in (50, 100, 200):
        system = porcini.loads(counter(2, private)).system()
        best = float("inf")
        for _ in range(5):
            stats = SearchStats()
            started = time.perf_counter()
            ENGINES["optimal"](system, stats, Options())
            best = min(best, (time.perf_counter() - started) / stats.counts.events)
        table.add_row(str(private), str(stats.counts.events), f"{best * 1e6:.1f}")
    console.print(table)


def peak() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}"


if __name__ == "__main__":
    out = Console(width=120)
    speed(out)
    counts(out)
    growth(out)
    memory(out)
