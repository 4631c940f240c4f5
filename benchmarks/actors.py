"""`make bench-actors`: P4's Table 1 next to what comes out here, and what it has not: `optimal`.

Execs/States/H with stable actors, without and with task selection; then complete runs under `optimal`, with
independence of fields, and with independence proved by the solver. `=` where the paper's figure comes out.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import porcini
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.stats import SearchStats

PROGRAMS = Path(__file__).parent / "actors"

Row = tuple[str, dict[str, int], str, str, str]
ROWS: list[Row] = [
    ("QSort(5)", {"n": 5}, "qsort", "16/72/23", "16/72/23"),
    ("QSort(6)", {"n": 6}, "qsort", "32/146/55", "32/146/55"),
    ("Fib(5)", {"n": 5}, "fib", "16/72/23", "16/72/23"),
    ("Fib(7)", {"n": 7}, "fib", "4096/16760/6495", "4096/16760/6495"),
    ("Pi(3)", {"n": 3}, "pi", "6/38/3", "6/38/3"),
    ("Pi(5)", {"n": 5}, "pi", "120/932/5", "120/932/5"),
    ("PSort(4,1)", {"n": 4, "k": 1}, "psort", "288/1294/144", "288/1294/144"),
    ("PSort(4,2)", {"n": 4, "k": 2}, "psort", "5760/25829/2880", "288/1304/144"),
    ("RegSim(6,1)", {"n": 6, "k": 1}, "regsim", "10080/27415/0", "720/3923/0"),
    ("RegSim(4,2)", {"n": 4, "k": 2}, "regsim", "11520/31576/0", "384/2132/0"),
    ("DHT(a)", {"variant": 1}, "dht", "1152/3905/0", "36/141/0"),
    ("DHT(b)", {"variant": 2}, "dht", "480/2304/0", "12/85/0"),
    ("Mail(2,2)", {"n": 2, "k": 2}, "mail", "2648/11377/0", "460/2270/0"),
    ("Mail(2,3)", {"n": 2, "k": 3}, "mail", "1665500/5109783/0", "27880/94222/0"),
    ("BB(3,1)", {"n": 3, "k": 1}, "bb", "155520/475205/0", "4320/13214/0"),
    ("BB(4,2)", {"n": 4, "k": 2}, "bb", "1099008/3028298/0", "45792/126192/0"),
    ("Chameneos(3,1)", {}, "chameneos", "-", "-"),
    ("ShortPath(3)", {"n": 3}, "shortpath", "-", "-"),
]
LARGE = {("Mail(2,3)", "all"), ("Mail(2,3)", "independent"), ("BB(4,2)", "all"), ("BB(3,1)", "all")}
"""Left out unless `--all` is given: minutes each."""


def main() -> int:
    everything = "--all" in sys.argv
    console = Console(width=170)
    table = Table("test", "paper, all tasks", "here", "paper, task selection", "here", "optimal", "semantic")
    table.title = "Execs/States/H as in P4's Table 1; complete runs of optimal"
    for column in table.columns:
        column.no_wrap = True
    seconds = steps = 0.0
    speed = ""
    for name, inputs, file, *paper in ROWS:
        model = porcini.load(PROGRAMS / f"{file}.abs")
        cells = [name]
        for tasks, wanted in zip(("all", "independent"), paper, strict=True):
            if (name, tasks) in LARGE and not everything:
                cells += [wanted, "(--all)"]
                continue
            stats = SearchStats()
            started = time.perf_counter()
            ENGINES["transdpor"](model.system(inputs), stats, Options(tasks=tasks))
            took = time.perf_counter() - started
            counts = stats.counts
            if tasks == "independent":
                seconds, steps = seconds + took, steps + counts.events
                if name == "BB(3,1)":
                    speed = f"{counts.events / took:,.0f}"
            found = f"{counts.executions}/{counts.states}/{counts.heuristic}"
            cells += [wanted, f"= {took:.1f} s" if found == wanted else f"{found} {took:.1f} s"]
        for independence in ("syntactic", "semantic"):
            report = porcini.explore(
                model, inputs=inputs, independence=independence, limits=porcini.Limits(timeout=60)
            )
            cut = "..." if report.stopped == "limit" else ""
            cells.append(f"{report.counts.executions:,}{cut}")
        table.add_row(*cells)
    console.print(table)
    console.print(f"with task selection: {steps:,.0f} macro-steps in {seconds:.1f} s; BB(3,1): {speed} per second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
