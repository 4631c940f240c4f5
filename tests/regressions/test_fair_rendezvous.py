"""Weak fairness where a rendezvous moves two processes: the receiver has moved as well, as in SPIN."""

from __future__ import annotations

import porcini
from porcini.engines.catalogue import Options

MODEL = """byte x, y; chan r = [0] of { byte };
active proctype P() { do :: r?y :: break od }
active proctype Q() { do :: r!1 od }
active proctype S() { r?x }
"""


def test_who_receives_again_and_again_is_not_ignored() -> None:
    """P could stop at any time, but moves whenever Q sends to it; S alone can do nothing."""
    report = porcini.check(porcini.loads(MODEL, "pml"), ltl="<> (x > 0)", options=Options(fair=True))
    assert report.verdict == "violated"


def test_who_could_go_and_never_moves_is_ignored() -> None:
    model = """byte x, z; chan r = [0] of { byte };
    active proctype P() { do :: z = 1; break od }
    active proctype Q() { do :: r!1 od }
    active proctype S() { do :: r?x od }"""
    report = porcini.check(porcini.loads(model, "pml"), ltl="<> (z == 1)", options=Options(fair=True))
    assert report.verdict == "holds"
