"""`make bench`: how `permute` grows with the trace, and how fast a run is."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

import porcini

PAIR = "x := x + 2 <| flag |> x := x - 1; True |> flag := not flag"
BINDINGS = "x |-> 0, y |-> 0, flag |-> true,"


def vineyard(n: int) -> porcini.Model:
    """Example 5 of P0 with the four choice/flip pairs of its second process repeated n times."""
    pairs = "; ".join([PAIR] * (4 * n))
    return porcini.loads(
        f"{BINDINGS} True |> spawn(x == 0 or flag |> x := 2 * x); True |> spawn({pairs}; True |> y := y + 1)"
    )


def permutations(console: Console) -> None:
    table = Table(
        "n", "steps", "traces", "seconds", "us per class x step", title="permute, Example 5 repeated n times"
    )
    porcini.permute(vineyard(2))  # so that the first row does not pay for what is made once
    for n in (25, 50, 100, 200):
        model = vineyard(n)
        started = time.perf_counter()
        report = porcini.permute(model)
        seconds = time.perf_counter() - started
        steps, traces = 8 * n + 1, len(report.traces or ())
        assert traces == 4 * n + 1, traces
        table.add_row(str(n), str(steps), str(traces), f"{seconds:.2f}", f"{seconds / (traces * steps) * 1e6:.2f}")
    console.print(table)


def running(console: Console) -> None:
    table = Table("program", "events", "events per second", title="run")
    programs = {
        "one loop of guarded assignments": "n |-> 0, n < 300000 |>* n := n + 1",
        "four of them": "n |-> 0, proc p { n < 300000 |>* n := n + 1 } " + "; ".join(["True |> p()"] * 4),
    }
    for name, source in programs.items():
        model = porcini.loads(source)
        started = time.perf_counter()
        report = porcini.run(model, limits=porcini.Limits(max_depth=10_000_000))
        seconds = time.perf_counter() - started
        table.add_row(name, f"{report.counts.events:,}", f"{report.counts.events / seconds:,.0f}")
    console.print(table)


if __name__ == "__main__":
    out = Console()
    permutations(out)
    running(out)
