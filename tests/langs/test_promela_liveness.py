"""Runs for ever, as SPIN looks for them: acceptance cycles, cycles without progress, claims, formulas by name.
The verdicts are those of `pan -a`, `pan -l` (with -DNP) and `pan -f`."""

from __future__ import annotations

from pathlib import Path

import pytest

import porcini
from porcini.core.errors import InputError
from porcini.engines.catalogue import Options

ENDS = "active proctype P() { skip }"
SPINS = "byte x; active proctype P() { do :: x = 1 - x od }"
PROGRESSES = "byte x; active proctype P() { progress: do :: x = 1 - x od }"
WAITS = "byte x; active proctype P() { accept: x == 1 }"
ACCEPTS = "byte x; active proctype P() { accept: do :: x = 1 - x od }"
TWO = """byte x; active proctype P() { do :: x < 2; x++; progress: x = 0 od }
active proctype Q() { byte y; do :: y = 1 - y od }"""
FORMULAS = f"{SPINS} ltl a {{ [] (x < 2) }} ltl b {{ [] (x == 0) }}; ltl c {{ [] <> (x == 1) }}"


@pytest.mark.parametrize(
    ("source", "cycles", "fair", "found"),
    [
        (ENDS, "non-progress", False, False),
        (SPINS, "non-progress", False, True),
        (PROGRESSES, "non-progress", False, False),
        (WAITS, "non-progress", False, False),
        (TWO, "non-progress", False, True),
        (TWO, "non-progress", True, False),
        (ENDS, "acceptance", False, False),
        (SPINS, "acceptance", False, False),
        (WAITS, "acceptance", False, False),
        (ACCEPTS, "acceptance", False, True),
    ],
)
def test_cycles(source: str, cycles: str, fair: bool, found: bool) -> None:
    model = porcini.loads(source, "pml")
    report = porcini.check(model, cycles=cycles, options=Options(fair=fair))
    assert report.verdict == ("violated" if found else "holds")
    if report.trail is not None:
        loop = report.trail.loop.schedule
        assert porcini.replay(model, report.trail.stem.schedule, loop=loop).property == "endless"


def test_every_formula_has_its_verdict() -> None:
    report = porcini.check(porcini.loads(FORMULAS, "pml"))
    assert report.formulas == {"a": "holds", "b": "violated", "c": "holds"}
    assert (report.verdict, report.property) == ("violated", "ltl b")


def test_formulas_are_not_checked_where_it_can_fail() -> None:
    source = "byte x; active proctype P() { x = 1; assert(x == 0) } ltl a { [] (x < 2) }"
    report = porcini.check(porcini.loads(source, "pml"))
    assert report.formulas == {"a": "unknown"}
    assert any("not checked" in note for note in report.notes)


def test_a_formula_by_its_name() -> None:
    model = porcini.loads(FORMULAS, "pml")
    assert porcini.check(model, formula="c").verdict == "holds"
    assert porcini.check(model, formula="b").verdict == "violated"
    with pytest.raises(InputError, match="no formula `d`"):
        porcini.check(model, formula="d")


def test_a_claim_from_a_file(tmp_path: Path) -> None:
    model, claim = porcini.loads(SPINS, "pml"), tmp_path / "claim"
    claim.write_text("never { do :: x == 1 -> break :: else od }")
    assert porcini.check(model, claim=claim).verdict == "violated"
    claim.write_text("never { do :: x == 2 -> break :: else od }")
    assert porcini.check(model, claim=claim).verdict == "holds"
    claim.write_text("\nnever { do :: nobody == 2 -> break od }")
    with pytest.raises(InputError) as found:
        porcini.check(model, claim=claim)
    assert (found.value.file, found.value.place and found.value.place.line) == (str(claim), 2)
    claim.write_text("byte y;")
    with pytest.raises(InputError, match="no never claim"):
        porcini.check(model, claim=claim)
    with pytest.raises(InputError, match="two questions"):
        porcini.check(model, ltl="[] true", cycles="acceptance")


def test_labels_are_promela_s() -> None:
    with pytest.raises(InputError, match="Promela"):
        porcini.check("examples/gcl/vineyard.gcl", cycles="acceptance")
