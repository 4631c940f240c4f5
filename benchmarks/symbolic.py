"""Symbolic exploration with reduction against without: paths, questions to the solver, time.

workers       n processes `if x < k_i {y_i := 1} {y_i := 2}`: independent, so one order for each path
withdrawals   n processes that take from one account if the balance allows: all of them race
"""

from __future__ import annotations

import sys
from time import perf_counter

import porcini
from porcini.engines.equivalences import InterferenceFree
from porcini.engines.stats import SearchStats
from porcini.engines.symbolic import Symbolic

LONGEST = 20.0


def workers(n: int) -> str:
    return " || ".join(f"if x < {i} {{ y{i} := 1 }} {{ y{i} := 2 }}" for i in range(n))


def withdrawals(n: int) -> str:
    return " || ".join(f"if b >= {10 * (i + 1)} {{ b := b - {10 * (i + 1)} }} {{ skip }}" for i in range(n))


def measured(source: str, reduced: bool) -> tuple[int, int, float, float] | None:
    """Paths, questions, seconds in all, seconds without the solver."""
    program = porcini.loads(source, "par").symbolic()
    stats = SearchStats(porcini.Limits(timeout=LONGEST))
    engine = Symbolic(program, InterferenceFree(), stats, reduced=reduced)
    started = perf_counter()
    stats.explore(lambda _: engine.search())
    seconds = perf_counter() - started
    if stats.stopped == "limit":
        return None
    return len(engine.paths), engine.assumed.calls, seconds, seconds - engine.assumed.seconds


def table(name: str, program, sizes: range) -> None:
    print(f"\n{name}: reduced, then all orders\n")
    heads = [("n", 3), ("paths", 9), ("calls", 9), ("s", 8), ("own ms/path", 13)]
    heads += [("all paths", 12), ("calls", 9), ("s", 8), ("ratio", 9)]
    print("".join(f"{head:>{width}}" for head, width in heads))
    for n in sizes:
        few, all_ = measured(program(n), True), measured(program(n), False)
        row = f"{n:>3}"
        row += f"{few[0]:>9,}{few[1]:>9,}{few[2]:>8.2f}{1000 * few[3] / few[0]:>13.2f}" if few else f"{'-':>39}"
        row += f"{all_[0]:>12,}{all_[1]:>9,}{all_[2]:>8.2f}" if all_ else f"{'-':>29}"
        row += f"{all_[0] / few[0]:>9.1f}" if few and all_ else f"{'-':>9}"
        print(row, flush=True)


def main() -> int:
    table("n independent workers", workers, range(2, 9))
    table("n withdrawals from one account", withdrawals, range(2, 7))
    return 0


if __name__ == "__main__":
    sys.exit(main())
