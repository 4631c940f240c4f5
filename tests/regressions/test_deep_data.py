"""Data that is nested deeper than Python can compare ended searches with exit status 4; it is a limit."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

import porcini

DEEP = """
module Deep;
data Nat = Z | S(Nat prev);
interface I { Unit go(); }
class C implements I { Nat n = Z; Int k = 0; Unit go() { while (k < 9000) { n = S(n); k = k + 1; } } }
{ I c = new C(); I d = new C(); c!go(); d!go(); }
"""


@pytest.fixture(autouse=True)
def usual_depth() -> Iterator[None]:
    """As in a new process: a command raises the limit for good."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("engine", ["optimal", "graph"])
def test_deep_data_is_a_limit(engine: str) -> None:
    report = porcini.explore(porcini.loads(DEEP, "abs"), engine=engine)
    assert (report.verdict, report.stopped) == ("unknown", "limit")
    assert report.limit is not None and "nested calls" in report.limit
