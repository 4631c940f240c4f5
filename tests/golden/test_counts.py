"""Counts as data: (program, parameter) to executions under each engine.

The `optimal` column is derived where a formula is known, and equals the literature; the others are what the
algorithm gives. `dpor` and `source` count runs as (complete, given up): the literature adds the two up.
"""

from __future__ import annotations

import sys
from math import factorial
from pathlib import Path

import pytest

import porcini

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "dpor"))

from programs import PROGRAMS, TRAPS

OPTIMAL = [
    *[("readers", n, 2**n) for n in (2, 5, 8)],
    *[("lastzero", n, (n + 3) * 2 ** (n - 2)) for n in (5, 7)],
    ("filesystem", 14, 2),
    ("filesystem", 16, 8),
    ("indexer", 11, 1),
    ("indexer", 12, 8),
    *[("lastwrite", n, factorial(n)) for n in (2, 3, 4)],
    *[("floating_read", n, factorial(n + 1)) for n in (2, 3, 4)],
    *[("await_chain", n, 1) for n in (2, 6, 12)],
    *[("spinlock", n, factorial(n)) for n in (2, 3, 4)],
    ("counter", 2, 4),
    ("counter", 3, 36),
    ("counter", 4, 576),
    *[("independent", n, 1) for n in (2, 8)],
]


@pytest.mark.parametrize("name, n, executions", OPTIMAL)
def test_optimal(name: str, n: int, executions: int) -> None:
    report = porcini.explore(porcini.loads(PROGRAMS[name](n)), engine="optimal")
    assert (report.counts.executions, report.counts.blocked) == (executions, 0)


@pytest.mark.parametrize("name, classes", [(name, classes) for name, (_, classes, _) in TRAPS.items()])
@pytest.mark.parametrize("engine", ["exhaustive", "sleep", "dpor", "source", "optimal"])
def test_guard_traps(name: str, classes: int, engine: str) -> None:
    source, _, outcomes = TRAPS[name]
    report = porcini.explore(porcini.loads(source), engine=engine)
    assert (report.counts.classes, len(report.outcomes)) == (classes, outcomes)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_classic_dpor_on_readers(n: int) -> None:
    """(3^N + 1) / 2 runs, of which 2^N are complete."""
    report = porcini.explore(porcini.loads(PROGRAMS["readers"](n)), engine="dpor")
    assert report.counts.executions + report.counts.blocked == (3**n + 1) // 2


OBSERVED = [
    ("source", "lastzero", 5, 64, 33),
    ("dpor", "lastzero", 5, 64, 38),
    ("sleep", "lastzero", 5, 64, 507),
    ("source", "readers", 4, 16, 0),
    ("sleep", "readers", 4, 16, 120),
    ("source", "filesystem", 16, 8, 0),
    ("dpor", "indexer", 12, 8, 0),
]


@pytest.mark.parametrize("engine, name, n, executions, blocked", OBSERVED)
def test_observed(engine: str, name: str, n: int, executions: int, blocked: int) -> None:
    report = porcini.explore(porcini.loads(PROGRAMS[name](n)), engine=engine)
    assert (report.counts.executions, report.counts.blocked) == (executions, blocked)
